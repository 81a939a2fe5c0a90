"""The documented system of intrinsics, row by row, on calls that are compiled."""

from __future__ import annotations

import pytest
from oric.driver import CompileOptions, compile_functions
from oric.lower.ocg_record import Record
from oric.support.ocg_source import PREFIX, module
from oric_tables import ocg, ocg_records
from oric_tables.intrinsics import GROUPS, OPERATIONS

from .answer import CODE, of_ours
from .enumeration import Item
from .store import LEGAL, stored

SM = "sm_100a"


def code(call: str, params: str = "", target: str = SM) -> str:
    """The instructions of a call, which must compile."""
    answer = of_ours(target, call, params)
    assert answer.startswith(CODE), (target, call, answer)
    return answer


def refusal(call: str, params: str = "", target: str = SM) -> str:
    """The message of a call, which must be refused."""
    answer = of_ours(target, call, params)
    assert not answer.startswith(CODE), (target, call, answer)
    return answer


def instrinsic(text: str) -> str:
    return f'(C7308) Instrinsic - "{text}"'


def record(call: str, params: str, target: str = SM) -> Record:
    [(f, _)] = compile_functions(module([(call, params)], target), CompileOptions(target, 3))
    [found] = f.intrinsics
    return Record(f.name, found)


@pytest.mark.row("R5-01")
def test_calls_compile_and_targets_without_an_instruction_refuse() -> None:
    assert "IADD3" in code("add_s32", "b32 <- b32*2")
    assert "IADD3" in code("add_s32", "b32 <- b32*2", "sm_75")
    assert "UTCBAR" in code("tcbar", "<- b32")
    assert refusal("tcbar", "<- b32", "sm_90") == f"'{PREFIX}tcbar' has no instruction for sm_90"


@pytest.mark.row("R5-03")
def test_sums_and_extremes() -> None:
    assert "FADD" in code("add_f32", "f32 <- f32*2")
    assert "VIADD" in code("viadd_32", "b32 <- b32*2")
    assert "IMNMX" in code("mnmx_s32", "b32 <- b32*6", "sm_120a")
    assert refusal("viadd_f16x2", "b32 <- b32*2") == "(C7305) Unexpected instrinsic subop (f16x2)"


@pytest.mark.row("R5-04")
def test_vector_integers() -> None:
    assert "VIADDMNMX.S16x2.RELU" in code("viaddmax_s16x2_relu", "b32 <- b32*3")
    assert "VIMNMX3.U32" in code("vimin3_u32", "b32 <- b32*3")
    assert "VIMNMX" in code("vimax_s32", "b32 <- b32*2")
    assert refusal("vimax_u16x2_relu", "b32 <- b32*2") == instrinsic(".RELU not allowed with unsigned type")


@pytest.mark.row("R5-05", "R5-06")
def test_packed_floats() -> None:
    """What they compute: tests/lower/test_ocg_values.py."""
    assert "FADD2.FTZ.RZ" in code("fadd2_ftz_rz", "f32*2 <- f32*4")
    assert "FFMA2.RM" in code("ffma2_rm", "f32*2 <- f32*6")
    assert "FMUL2.RP" in code("fmul2_rp", "f32*2 <- f32*4")
    assert "FMNMX3.FTZ.NAN" in code("fmin3_ftz_nan", "f32 <- f32*3")


@pytest.mark.row("R5-07")
def test_groups_of_copies() -> None:
    assert "LDGDEPBAR" in code("cp_async_commit_mem_shared_global")
    assert "DEPBAR.LE SB0, 0x2" in code("cp_async_wait_mem_shared_global_read", "<- b32=2")
    assert refusal("cp_async_commit") == "(C7304) Unexpected instrinsic subop number (0)"


@pytest.mark.row("R5-08")
def test_bulk_copies() -> None:
    assert "UBLKCP.S.G" in code("cp_async_bulk_mbarrier_shared_global", "<- b32*5")
    assert "DST_G_BYTE_MASK" in code("cp_async_bulk_global_shared_bytemask", "<- b32*4")
    told = refusal("cp_async_bulk_counted_global_shared_bytemask", "<- b32*5")
    assert told == "(C7300) Unexpected instrinsic name (byte mask not allowed with counted)"


@pytest.mark.row("R5-09")
def test_bulk_reductions() -> None:
    assert "UBLKRED.G.S.ADD.F16.RN" in code("cp_red_async_bulk_global_shared_add_f16", "<- b32*4")
    assert refusal("cp_red_async_bulk_global_shared_f16x2_add", "<- b32*4") == "(C7305) Unexpected instrinsic subop (f16x2_add)"


@pytest.mark.row("R5-10")
def test_tensor_prefetches() -> None:
    for n in range(1, 6):
        assert f"UTMAPF.L2.{n}D " in code(f"cp_async_prefetch_tensor_global_{n}d", f"<- b32*{n + 2}")
    assert "IM2COL" in code("cp_async_prefetch_tensor_global_4d_im2col", "<- b32*7")
    told = refusal("cp_async_prefetch_tensor_global_1d_im2col", "<- b32*4")
    assert told == "(C7307) Unexpected instrinsic subop (1d) in position (1)"


@pytest.mark.row("R5-11")
def test_caches() -> None:
    assert "UTMACCTL.PF" in code("cache_tensor_pf", "<- b64")
    assert "CCTL.C.IVALL" in code("cctl_c_ldc_shallow_ivall", "", "sm_80")
    assert refusal("cctl_c_ldc") == instrinsic("Exactly one of the 'shallow' or 'deep' modifiers must be used.")


@pytest.mark.row("R5-12")
def test_loads_that_reduce() -> None:
    for op in ("add", "min", "max", "and", "or", "xor"):
        assert f"LDGMC.E.{op.upper()}.64" in code(f"ld_mc_{op}_u64", "b64 <- b64")
    for count, type_ in ((1, "f16x2"), (2, "bf16x4"), (4, "f16x8")):
        assert "LDGMC.E.MIN" in code(f"ld_mc_min_{type_}", f"b32{f'*{count}' if count > 1 else ''} <- b64")


@pytest.mark.row("R5-13", "R3-50", "R4-23")
def test_constant_banks_and_system_registers() -> None:
    assert "c[0x1][R" in code("ldc_u32", "b32 <- b32=1 b32", "sm_90a")
    assert "S2R R, SR_TID.X" in code("s2r", "b32 <- b32=33")
    assert refusal("s2r", "b32 <- b32=256") == instrinsic("S2R register must be between 0 and 255 inclusive")
    assert refusal("s2r", "b32 <- b32") == instrinsic("S2R requires a constant/immediate register number")
    assert refusal("ldc_u32", "b32 <- b32*2") == instrinsic("LDC requires a constant/immediate bank number")


@pytest.mark.row("R5-14")
def test_asynchronous_stores_and_reductions() -> None:
    assert "STAS.128" in code("write_async_shared_v4_b32", "<- b32*6")
    assert "REDAS.ADD" in code("red_async_shared_add_u32", "<- b32*3")
    assert refusal("write_async_shared_b32", "<- b32*5") == instrinsic("Vector type does not match number of subops")


@pytest.mark.row("R5-15")
@pytest.mark.parametrize("what", ["all", "global", "shared", "dshared"])
def test_fences(what: str) -> None:
    assert "FENCE.VIEW.ASYNC" in code(f"fence_view_async_{what}")


@pytest.mark.row("R5-16")
def test_the_eighth_part_of_tcbar() -> None:
    assert "UTCBAR" in code("tcbar_mmareadshma", "<- b32")
    assert refusal("tcbar_mmareadshma", "") == instrinsic("Must have 1 input with a1t0 and no multicast")
    assert refusal("mmareadshma", "<- b32") == f"(C7300) Unexpected instrinsic name ({PREFIX}mmareadshma)"


@pytest.mark.row("R5-17")
def test_copies_and_shifts_in_tensor_memory() -> None:
    for shape in OPERATIONS["tccp"].groups["shape"]:
        assert "UTCCP.T.S" in code(f"tccp_{shape}", "<- b32 b64")
    assert "UTCSHIFT.2CTA.DOWN" in code("tcshift_cta2", "<- b32")


@pytest.mark.row("R5-18", "R5-24", "R5-26")
def test_products() -> None:
    for kind, mnemonic in (("h", "UTCHMMA"), ("i", "UTCIMMA"), ("q", "UTCQMMA")):
        assert mnemonic in code(f"tcmma_gdesc_{kind}", "<- b64*2 b32 b64 b32*5")
    assert "UTCOMMA.4X" in code("tcmma_gdesc_o_blockscale_4x", "<- b64*2 b32 b64 b32*3")
    assert refusal("tcmma_gdesc_o", "<- b64*2 b32 b64 b32*5") == instrinsic("tcmma_*_o must be specified with blockscale")


@pytest.mark.row("R5-19")
def test_software_scoreboards() -> None:
    for op, params in (("and", "b32 <- b32"), ("or", "b32 <- b32"), ("findandset", "b32 <- b32*2"), ("cas", "b32*2 <- b32*2")):
        assert "UTCATOMSWS" in code(f"tcatomsws_{op}", params)
    for op, params in (("tcldsws_cta1", "b32 <-"), ("tcstsws_cta1", "<- b32")):
        assert refusal(op, params) == f"'{PREFIX}{op}' has no instruction for {SM}"


@pytest.mark.row("R5-20", "R5-26")
def test_tensor_memory() -> None:
    assert "LDTM.16dp256bit.x2" in code("ldtm_16dp256bit_x2", "b32*8 <- b32")
    assert "STTM.x4" in code("sttm_32dp32bit_x4", "<- b32*5")
    assert "LDTM.STAT.x2.MAX.F32" in code("ldtm_32dp32bit_x2_stat_max_f32", "b32*3 <- b32", "sm_103a")
    assert refusal("sttm_32dp32bit_x2", "<- b32*2") == instrinsic(
        "Inputs vector length is inconsistent with layout and num modifiers"
    )
    assert refusal("ldtm_16dp32bit_x1", "b32 <- b32") == instrinsic("fused and l16dp32bit must be specified together")


@pytest.mark.row("R5-21")
def test_work() -> None:
    assert "ACQBULK" in code("acqblk")
    assert "PREEXIT" in code("preexit")
    assert "UGETNEXTWORKID.BROADCAST" in code("getnextworkid_broadcast", "<- b32*2")
    told = refusal("getnextworkid_selfcast_broadcast", "<- b32*2")
    assert told == instrinsic("Cannot use both the selfcast and the broadcast modifier.")


@pytest.mark.row("R5-22")
def test_counts_and_clears() -> None:
    assert "UVIRTCOUNT" in code("virtcount_u32", "<- b32")
    assert "UMEMSETS.64" in code("memclear_b32", "<- b32*2")
    for target in ("sm_80", "sm_90a", SM, "sm_120a"):
        assert refusal("acqshminit", "", target) == f"'{PREFIX}acqshminit' has no instruction for {target}"


@pytest.mark.row("R5-24", "R5-35")
@pytest.mark.parametrize("name", sorted(ocg.EXAMPLES))
def test_every_operation_has_an_example(name: str) -> None:
    call, params, target = ocg.EXAMPLES[name]
    code(call, params, target)


# Of each documented text, a call that is told it (OCG intrinsics, "OCG Validation Strings", "Diagnostic Strings").
DOCUMENTED = [
    ("Op {add, min, max, inc, dec, and, or, xor} not specified", "red_async_shared_u32", "<- b32*3"),
    ('Domain param "_shared" or "_global" required', "write_async", ""),
    ("Unsupported non _add global memory reduction", "red_async_global_min_u32", "<- b64 b32"),
    ("Required scope with memory order semantics", "write_async_release_global_b32", "<- b64 b32"),
    ("Exactly one of the 'shallow' or 'deep' modifiers must be used.", "cctl_c_ldc", ""),
    ("Cannot use both the selfcast and the broadcast modifier.", "getnextworkid_selfcast_broadcast", "<- b32*2"),
    ("LDC requires a constant/immediate bank number", "ldc_u32", "b32 <- b32*2"),
    ("S2R register must be between 0 and 255 inclusive", "s2r", "b32 <- b32=256"),
    (".RELU not allowed with unsigned type", "vimin3_u32_relu", "b32 <- b32*3"),
    ("fused and l16dp32bit must be specified together", "ldtm_16dp32bit_x1", "b32 <- b32"),
    ("Inputs vector length is inconsistent with layout and num modifiers", "sttm_32dp32bit_x2", "<- b32*2"),
]


@pytest.mark.row("R5-25", "R5-30")
@pytest.mark.parametrize(("text", "call", "params"), DOCUMENTED)
def test_documented_texts(text: str, call: str, params: str) -> None:
    assert refusal(call, params) == instrinsic(text)


@pytest.mark.row("R5-25")
def test_texts_of_the_resolver_and_of_types() -> None:
    assert refusal("addx") == f"(C7300) Unexpected instrinsic name ({PREFIX}addx)"
    assert refusal("add_s32", "b32 <- b32") == "(C7301) Unexpected instrinsic param number (2)"
    assert refusal("fadd2_rm", "b32*2 <- b32*4") == "(C7302) Unexpected instrinsic type (???) in param (0)"
    assert refusal("cp_async_commit") == "(C7304) Unexpected instrinsic subop number (0)"
    assert refusal("add_zzz") == "(C7305) Unexpected instrinsic subop (zzz)"
    assert refusal("ldc", "b32 <- b32=1 b32") == "(C7306) Unexpected instrinsic subop in position (0)"
    assert refusal("add_s32_sat", "b32 <- b32*2") == "(C7307) Unexpected instrinsic subop (sat) in position (1)"


@pytest.mark.row("R5-30")
def test_a_scope_without_an_order_is_told() -> None:
    import oric

    text = module([("write_async_gpu_shared_b32", "<- b32*3")], SM)
    made = oric.compile(text, SM)
    assert any("Deprecated scope without memory order semantics" in warning for warning in made.warnings)


@pytest.mark.row("R5-31", "R5-32")
def test_routes() -> None:
    """Ranges and keys of their own; the operations that no range names are in the last."""
    assert set(ocg_records.RANGE_OF.values()) | {ocg_records.DEFAULT} == set(ocg_records.RANGES)
    assert (record("ld_mc_add_u32", "b32 <- b64").range, record("ld_mc_add_u32", "b32 <- b64").key) == ("memory", 245)
    assert record("write_async_shared_b32", "<- b32*3").key == 243
    assert record("write_async_release_gpu_global_b32", "<- b64 b32").key == 247
    assert record("red_async_shared_add_u32", "<- b32*3").key == 246
    assert record("cp_async_prefetch_tensor_global_1d", "<- b32*3").key == 257
    assert record("fence_view_async_all", "").range == "barrier"
    assert ocg_records.RANGES["memory"] == (178, 189)


@pytest.mark.row("R5-33", "R5-34")
def test_buffers() -> None:
    """312 bytes; slot 4 has the register of a barrier, the control words a bit for each sub-operation."""
    found = record("write_async_shared_b32", "<- b32*3")
    assert len(found.data()) == 312
    assert found.buffer[4] & 0xF0000000 == 0x90000000
    release = record("write_async_release_gpu_global_b32", "<- b64 b32")
    assert (release.buffer[27], release.buffer[28]) == (0x60000001, 0x60081001)
    assert found.buffer[28] == 0x60081000


@pytest.mark.row("R2-47")
def test_lowering_asks_what_a_target_supports() -> None:
    """Of the stored calls that ptxas makes code of, those that the table calls unsupported are refused."""
    from oric.lower.intrinsics import UNSUPPORTED, resolve, support

    asked: dict[tuple[str, str], Item] = {}
    for item, _ in stored(LEGAL):
        asked.setdefault((resolve(PREFIX + item.call).operation, GROUPS[item.target]), item)
    for (name, _), item in asked.items():
        if support(name, item.target) == UNSUPPORTED:
            assert not of_ours(*item).startswith(CODE), item
