"""The table of intrinsics, against the documents' numbers and what was observed."""

import pytest
from oric.lower.intrinsics import UnknownIntrinsic, is_intrinsic, resolve, support
from oric_tables import intrinsics as tables
from oricgen.tables import helpers, intrinsics, targets

from tests import specification

SPEC = specification.spec()
MODEL = intrinsics.load(SPEC)
TEXT = {row.values["message"]: row.values["text"] for row in MODEL.router["messages"]}
RESOLVER = ("name", "subop")  # messages of the name resolver; all others come from the checks behind it
# OCG intrinsics, "Category Summary"
CATEGORIES = {
    "arithmetic": "add mnmx viadd",
    "packed_float": "fadd2 ffma2 fmul2 fmax3 fmin3",
    "vector_integer": "viaddmax viaddmin vimax vimin vimax3 vimin3",
    "async_copy": "cp_async_commit cp_async_wait cp_async_bulk cp_red_async_bulk cp_async_tensor cp_async_prefetch_tensor",
    "memory": "ld_mc ldc s2r write_async cctl_c cache",
    "async_reduction": "red_async fence_view_async",
    "tensor_core": "tcbar mmareadshma tccp tcmma tcshift tcatomsws tcldsws tcstsws",
    "tensor_memory": "ldtm sttm",
    "control": "acqblk preexit getnextworkid virtcount memclear acqshminit",
}
# number of sub-operations that the document lists (tcbar: without mmareadshma)
SUBOPS = {
    "add": 5, "cp_async_wait": 6, "cp_red_async_bulk": 21, "cp_async_tensor": 10, "ld_mc": 21, "s2r": 0, "write_async": 16,
    "red_async": 19, "tcbar": 7, "tccp": 12, "tcmma": 28, "tcatomsws": 9, "ldtm": 30, "sttm": 18, "memclear": 2,
}  # fmt: skip


@pytest.mark.row("R5-23")
def test_categories() -> None:
    found = {name: {op.name for op in MODEL.operations.values() if op.category == name} for name in CATEGORIES}
    assert found == {name: set(words.split()) for name, words in CATEGORIES.items()}
    assert [len(words) for words in found.values()] == [3, 5, 6, 6, 6, 2, 8, 2, 6]


def test_counts() -> None:
    counts = intrinsics.counts(SPEC)
    assert (counts["operations"], counts["slots"], counts["routing keys"]) == (44, 43, 7)
    assert MODEL.table["size"] == 0x29A8 == 43 * 248
    for name, count in SUBOPS.items():
        extra = 1 if name == "tcbar" else 0
        assert len(MODEL.operations[name].subops) == count + extra, name


def test_offsets_are_the_documented_ones() -> None:
    offsets = {
        op.name: (op.slot, op.row.values["documented"]["slot"], op.row.values["offset"]) for op in MODEL.operations.values()
    }
    assert offsets["add"] == (0, 0, 128)
    assert offsets["tcbar"] == (31, 31, 7816)
    assert offsets["mmareadshma"] == (None, 32, 7880)
    assert offsets["tccp"] == (32, 33, 8064)
    assert offsets["sttm"] == (42, 43, 10544)
    assert MODEL.operations["tcbar"].subops[7] == "mmareadshma"


def test_routing_namespaces() -> None:
    keys = [row.values["key"] for row in MODEL.router["keys"]]
    assert keys == [70, 243, 245, 246, 247, 257, 261]
    ranges = {row.values["range"]: row.values for row in MODEL.router["ranges"]}
    assert (ranges["memory"]["first"], ranges["memory"]["last"]) == (178, 189)
    assert (ranges["reduction"]["first"], ranges["reduction"]["last"], ranges["reduction"]["also"]) == (416, 420, [434])
    assert (ranges["barrier"]["first"], ranges["barrier"]["last"], ranges["tensor"]["first"]) == (445, 448, 467)


@pytest.mark.parametrize("row", MODEL.calls, ids=[row.key for row in MODEL.calls])
def test_the_resolver_answers_as_observed(row: intrinsics.Row) -> None:
    """Accepted calls and calls that later checks refuse resolve; the resolver's own messages have ptxas's words."""
    name = tables.PREFIX + row.values["call"]
    assert is_intrinsic(name)
    message = row.values.get("message")
    if message in RESOLVER:
        with pytest.raises(UnknownIntrinsic) as caught:
            resolve(name)
        assert str(caught.value) == row.values["text"]
        assert caught.value.id == {"name": "C7300", "subop": "C7305"}[message]
        return
    found = resolve(name)
    assert "_".join((found.operation, *found.subops)) == row.values["call"]
    assert found.slot == MODEL.operations[found.operation].slot


def test_other_names_are_no_intrinsics() -> None:
    for name in ("__nv_ptx_builtin_ocg", "__nv_ptx_builtin_ocgadd", "__nv_ptx_builtin_xyz", "add"):
        assert not is_intrinsic(name)


def test_documented_sub_operations_that_ptxas_refuses() -> None:
    for name in ("viadd_f16x2", "write_async_shared_u32", "write_async_shared_f64"):
        with pytest.raises(UnknownIntrinsic, match="Unexpected instrinsic subop"):
            resolve(tables.PREFIX + name)
    with pytest.raises(UnknownIntrinsic, match=r"name \(__nv_ptx_builtin_ocg_mmareadshma\)"):
        resolve(tables.PREFIX + "mmareadshma")
    assert resolve(tables.PREFIX + "tcbar_mmareadshma").subops == ("mmareadshma",)


def test_every_intrinsic_has_an_answer_on_every_target() -> None:
    names, known = (*tables.OPERATIONS, *tables.HELPERS), targets.load(SPEC).by_name
    answers = {(name, target): support(name, target) for name in names for target in known}
    assert set(answers.values()) == {"native", "expanded", "unsupported", "unknown"}
    for (_, target), answer in answers.items():
        assert (answer == "unknown") == (not known[target].ptxas), target
    expected = {
        ("add", "sm_75"): "native", ("fadd2", "sm_90a"): "expanded", ("fadd2", "sm_100a"): "native",
        ("viaddmax", "sm_80"): "expanded", ("viaddmax", "sm_90"): "native", ("viaddmax", "sm_120"): "expanded",
        ("tcshift", "sm_100"): "unsupported", ("tcshift", "sm_100a"): "native", ("ldtm", "sm_120a"): "unsupported",
        ("mmareadshma", "sm_100a"): "unsupported", ("acqshminit", "sm_100a"): "unsupported",
        ("__cuda_sm20_div_s64", "sm_90"): "expanded", ("__cuda_sm20_div_s64", "sm_50"): "unknown",
    }  # fmt: skip
    assert {key: answers[key] for key in expected} == expected
    with pytest.raises(KeyError):
        support("sub", "sm_90")


def test_documented_messages_are_there() -> None:
    """OCG intrinsics, "OCG Validation Strings", "OCG SASS-Level Handlers", "Diagnostic Strings": sixteen texts."""
    found = [row.values for row in MODEL.router["messages"] if "documented" in row.values]
    assert len(found) == 16
    assert [v["message"] for v in found if v["documented"] != "same"] == ["domain", "bytemask_counted"]


def test_helpers() -> None:
    counts = helpers.counts(SPEC)
    assert counts["functions documented"] == 8
    assert counts["functions"] == counts["functions observed"] + 4
    assert {row.key for row in helpers.load(SPEC)["helpers"]} == tables.HELPERS
    assert all(row.values["source"] for row in (*helpers.rows(SPEC), *intrinsics.rows(SPEC)))
