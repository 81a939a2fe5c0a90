"""Debug data of the PTX: copied and relocated as ptxas does it."""

from __future__ import annotations

import json
import lzma
import shutil
import subprocess

import oric
import pytest
from oric.driver import CompileOptions, compile_text
from oric.support.elf import Cubin, read

from tests.cubin import regenerate_lines as golden

ADDRESS = 8
TEXT = """.version 9.0
.target sm_80
.address_size 64
.file 1 "/x/y.cu"
.global .align 8 .u64 G = 4;
.global .align 8 .u64 H = 5;
.const .align 8 .u64 C = 3;
.func (.reg .u32 r) gone(.reg .u32 a)
{
Gone0:
 add.u32 r, a, 1;
 ret;
}
.func stays(.reg .u32 a)
{
 .reg .pred %p;
 .loc 1 50 1
Stays0:
 setp.eq.u32 %p, a, 0;
 bar.sync 0;
 @%p ret;
Stays1:
 call stays, (a);
 ret;
Stays2:
}
.visible .entry k(.param .u64 p, .param .u32 n)
{
 .reg .u64 %rd<9>; .reg .u32 %r<9>;
 .local .align 8 .b8 depot[16];
 .shared .align 8 .b8 S1[8];
 .shared .align 8 .b8 S2[8];
 .loc 1 5 3
Start:
 ld.param.u64 %rd1, [p];
 ld.param.u32 %r1, [n];
 st.local.u32 [depot+4], %r1;
 st.volatile.shared.u32 [S1], %r1;
 st.volatile.shared.u32 [S2], %r1;
 .loc 1 6 3
Middle:
 bar.sync 0;
 call (%r2), gone, (%r1);
 st.global.u32 [%rd1], %r2;
 call stays, (%r1);
 ld.local.u32 %r3, [depot+4];
 st.global.u32 [%rd1+4], %r3;
 ld.global.u64 %rd2, [G];
 ld.global.u64 %rd4, [H];
 ld.const.u64 %rd3, [C];
 st.global.u64 [%rd1+8], %rd2;
 st.global.u64 [%rd1+16], %rd3;
 st.global.u64 [%rd1+24], %rd4;
 ret;
End:
}
.section .debug_str { Name: .b8 65,0 }
.section .debug_loc { Loc: .b64 Start
.b64 End
Loc2: .b16 -1 }
.section .debug_macinfo { }
.section .debug_info {
Begin: .b32 Last-Begin // .b32 5
.b8 3
"""
REFERENCES = {
    "k": 0, "G": 0, "H": 0, "C": 0, "S1": 0, "S2": 8, "p": 0x160, "n": 0x168, "Start": 0, "gone": 0, "Gone0": 0, "nowhere": 0,
    ".debug_abbrev": 0, ".debug_loc+4": 4, "Loc2": 16, "Name": 0, ".debug_str+1": 1, "Begin": 0,
}  # fmt: skip
OF_SYMBOLS = {
    "k": ("k", 2),
    "Start": ("k", 2),
    "gone": ("gone", 2),
    "Gone0": ("gone", 2),
    "G": ("G", 2),
    "H": ("H", 2),
    "C": ("C", 4),
}


def module(references: list[str]) -> str:
    lines = "".join(f".b64 {name}\n" for name in references)
    return f"{TEXT}{lines}.b32 G\n.b8 3\n.b64 depot\n.b8 35,4\nLast:\n}}\n.section .debug_abbrev {{ .b8 0x11, 1 }}\n"


def made(text: str, arch: str = "sm_80") -> Cubin:
    return read(compile_text(text, CompileOptions(arch, 0, debug=True)).image)


def contents(cubin: Cubin, name: str) -> tuple[bytes, dict[int, tuple[str, int, int]]]:
    section = cubin.section(name)
    found = cubin.relocations_of(section.index)
    return bytes(section.data), {r.offset: (cubin.symbols[r.symbol].name, r.type, r.addend) for r in found}


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
def test_every_kind_of_reference(arch):
    base = {"sm_80": (0x160, 0), "sm_90": (0x210, 0x400), "sm_100": (0x380, 0x400)}[arch]
    names = list(REFERENCES)
    data, relocations = contents(made(module(names).replace("sm_80", arch), arch), ".debug_info")
    assert int.from_bytes(data[:4], "little") == len(data)  # the distance of two labels
    for number, name in enumerate(names):
        at = 5 + ADDRESS * number
        value = REFERENCES[name] + {"p": base[0] - 0x160, "n": base[0] - 0x160, "S1": base[1], "S2": base[1]}.get(name, 0)
        assert int.from_bytes(data[at : at + ADDRESS], "little") == value, name
        assert relocations.get(at) == ((*OF_SYMBOLS[name], 0) if name in OF_SYMBOLS else None), name
    at = 5 + ADDRESS * len(names)
    assert relocations[at] == ("G", 1, 0)
    assert len(relocations) == len(OF_SYMBOLS) + 1
    assert data[at + 4 :] == bytes((0x91, 0x70)) + b"\x96" * 7 + bytes((35, 4))  # DW_OP_fbreg -16, then nothing


@pytest.mark.parametrize("arch", ["sm_75", "sm_90", "sm_100"])
def test_objects_have_relocations_of_sections(arch):
    """A linker puts sections of several objects one behind the other; the distance of two labels stays."""
    places = {".debug_abbrev": (".debug_abbrev", 0), ".debug_line": (".debug_line", 0), ".debug_loc+4": (".debug_loc", 4),
              "Loc2": (".debug_loc", 16), "Name": (".debug_str", 0), "Begin": (".debug_info", 0)}  # fmt: skip
    text = module([]).replace(".b32 G\n", "".join(f".b32 {name}\n" for name in places) + ".b64 Loc2\n.b32 Last-Begin\n")
    image = oric.compile(text.replace("sm_80", arch), arch, 0, relocatable=True, debug=True).image
    data, relocations = contents(read(image), ".debug_info")
    found = [relocations.pop(5 + 4 * n) for n in range(len(places))]
    assert found == [(section, 1, addend) for section, addend in places.values()]
    assert relocations == {5 + 4 * len(places): (".debug_loc", 2, 16)}
    assert int.from_bytes(data[:4], "little") == len(data)


def test_labels_of_the_code():
    """Of the kernel, and of a function; in the places, too, and of ptxas's kinds of relocations."""
    cubin = made(module(["Middle", "End", "Stays0", "Stays1", "Stays2", "stays"]))
    data, relocations = contents(cubin, ".debug_info")
    stays = next(s for s in cubin.symbols if s.name == "stays")
    kernel = next(s for s in cubin.symbols if s.name == "k")
    values = []
    for at in range(5, 5 + 6 * ADDRESS, ADDRESS):
        values.append(int.from_bytes(data[at : at + ADDRESS], "little"))
        assert relocations[at] == ("k" if len(values) < 3 else "stays", 2, values[-1])
    middle, end, first, second, last, function = values
    assert 0 < middle < end <= kernel.size
    assert 0 == first == function < second < last <= stays.size
    data, relocations = contents(cubin, ".debug_loc")
    assert relocations == {0: ("k", 2, 0), 8: ("k", 2, end)}
    names = [s.name for s in cubin.sections if s.name.startswith(".rel") and "debug_" in s.name]
    assert names == [
        *(".rel.debug_line", ".rel.nv_debug_line_sass", ".rel.debug_loc", ".rela.debug_info"),
        *(".rel.debug_info", ".rel.debug_frame"),
    ]


def test_sections_without_bytes_are_left_out():
    found = [s.name for s in made(module([])).sections if s.name.startswith(".debug_")]
    assert found == [".debug_frame", ".debug_line", ".debug_str", ".debug_abbrev", ".debug_loc", ".debug_info"]


def test_debug_data_is_copied_for_the_debugger_only():
    cubin = read(compile_text(module([]), CompileOptions("sm_80", 0, line_info=True)).image)
    assert [s.name for s in cubin.sections if s.name.startswith(".debug_")] == [".debug_frame", ".debug_line", ".debug_str"]


def test_stored_modules_have_the_data_that_ptxas_writes():
    """All but addresses of code and places in frames."""
    theirs = json.loads(lzma.decompress(golden.DEBUG.read_bytes()))
    for name, text in golden.with_debug_data().items():
        ours = golden.debug_data(compile_text(text, CompileOptions("sm_75", 0, debug=True)).image)
        assert list(ours) == list(theirs[name])
        for section, (data, relocations) in ours.items():
            other = bytes.fromhex(theirs[name][section][0])
            assert len(other) == len(data) // 2
            assert [list(r) for r in relocations] == theirs[name][section][1]
            code = {at + k for at, _, _ in theirs[name][section][1] for k in range(ADDRESS)}
            differ = [at for at, pair in enumerate(zip(bytes.fromhex(data), other, strict=True)) if pair[0] != pair[1]]
            frame = [at for at in differ if at not in code]
            assert len(frame) <= 3, (name, section, frame)


@pytest.mark.skipif(shutil.which("llvm-dwarfdump") is None, reason="there is no llvm-dwarfdump")
def test_llvm_reads_it(tmp_path):
    text = golden.with_debug_data()["kernels.transpose.sm_75.G.ptx"]
    (tmp_path / "a.cubin").write_bytes(compile_text(text, CompileOptions("sm_75", 0, debug=True)).image)
    done = subprocess.run(
        ["llvm-dwarfdump", "--debug-info", str(tmp_path / "a.cubin")], capture_output=True, text=True, check=True
    )
    assert 'DW_AT_name\t("transpose")' in done.stdout
    assert "DW_OP_addr 0x160" in done.stdout  # its first parameter
    assert "error" not in done.stdout
