"""Line tables: their form is ptxas's, and what they tell of an instruction is what ptxas's tell of its twin."""

from __future__ import annotations

import json
import lzma
import re
import shutil
import subprocess

import oric
import pytest
from oric.cubin.lines import _Sequence
from oric.driver import CompileOptions, compile_inputs, compile_text
from oric.driver.front import PtxInput
from oric.support.elf import Cubin, read
from oric.support.lines import PTX_LINES, source_lines

from tests.cubin import regenerate_lines as golden
from tests.cubin.line_program import header, sequences
from tests.cubin.line_twins import Agreement, Code, Line, compare, lines_of, ptxas
from tests.ptx_corpus.archive import COMPILERS, modules

TABLES = (".debug_line", ".debug_str", PTX_LINES, ".nv_debug_ptx_txt")
LOOSELY = 0.94  # of twins that are found by their operation alone, some of which are other statements'
AGREEING = 0.95  # of the twins have the same lines at least
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def made(text: str, arch: str = "sm_80", level: int = 3, line_info: bool | None = None) -> Cubin:
    return read(compile_text(text, CompileOptions(arch, level, line_info=line_info)).image)


def example(number: str) -> str:
    return (golden.FOLDER / f"lines.sm_{number}.ptx").read_text(encoding="utf-8")


def vendor(number: str) -> Cubin:
    return read(lzma.decompress((golden.FOLDER / f"lines.sm_{number}.cubin.xz").read_bytes()))


def facts(cubin: Cubin) -> list[str]:
    """What there is of line tables: sections with all but their sizes, symbols, relocations, in the order of the file."""
    twins = 0x10000000  # flag of what ptxas writes twice from sm_100 on
    own = [s for s in cubin.sections if not s.flags & twins]
    shown = [s for s in own if "debug" in s.name]
    out = [
        f"{s.name} {s.type} {s.flags:#x} {s.align} {s.entsize} {cubin.sections[s.link].name} "
        f"{cubin.sections[s.info].name if s.flags & 0x40 else s.info}"
        for s in shown
    ]
    out += [f"{s.name} {s.info} {s.other}" for s in cubin.symbols if "debug" in s.name]
    out.append(f"flags {cubin.flags:#x}")  # with the number of a section behind these
    for name in (".debug_line", PTX_LINES):
        section = cubin.section(name)
        if section is not None:
            out += [f"{name} {cubin.symbols[r.symbol].name} {r.type}" for r in cubin.relocations_of(section.index)]
    return out


# -- the form ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", golden.TARGETS)
def test_sections_are_those_of_ptxas(number):
    ours, theirs = made(example(number), f"sm_{number}"), vendor(number)
    assert facts(ours) == facts(theirs)
    assert bytes(ours.section(".nv_debug_ptx_txt").data) == bytes(theirs.section(".nv_debug_ptx_txt").data)
    names = bytes(theirs.section(".debug_str").data)
    assert bytes(ours.section(".debug_str").data) == names + b"_Z6seriesfi\0"  # what ptxas does not inline
    for name in (".debug_line", PTX_LINES):
        assert header(ours, name) == header(theirs, name)
        assert [s.kernel for s in sequences(ours, name)] == [s.kernel for s in sequences(theirs, name)]
        assert all(s.plain for s in sequences(ours, name))


@pytest.mark.parametrize("number", golden.TARGETS)
def test_rows_are_encoded_as_ptxas_encodes_them(number):
    """Programs of ptxas come out the same from their rows; those with changes that make no row cannot."""
    found = 0
    for name in (".debug_line", PTX_LINES):
        for sequence in sequences(vendor(number), name):
            again = _Sequence()
            for row in sequence.rows:
                again.put(row.address, row.file, row.line, row.caller, row.name, True)
            if sequence.plain and b"\x03\x00\x01" not in sequence.data:
                assert again.end(sequence.end) == sequence.data
                found += 1
    assert found >= 2


def test_a_row_names_the_row_of_the_call():
    """Kernel `inlined`: scaled() in twice() in the kernel; each call has one row, however often it is referred to."""
    sequence = next(s for s in sequences(made(example("80")), ".debug_line") if s.kernel == "_Z7inlinedPfi")
    strings = bytes(made(example("80")).section(".debug_str").data)
    chains = set()
    for row in sequence.rows:
        chain = [row.line]
        while row.caller:
            chain.append(strings[row.name :].split(b"\0")[0].decode())
            row = sequence.rows[row.caller - 1]
            chain.append(row.line)
        chains.add(tuple(chain))
    assert (3, "_Z6scaledfi", 5, "_Z5twicefi", 19) in chains
    assert (3, "_Z6scaledfi", 6, "_Z5twicefi", 19) in chains


@pytest.mark.skipif(shutil.which("llvm-dwarfdump") is None, reason="there is no llvm-dwarfdump")
def test_llvm_reads_it(tmp_path):
    cubin = compile_text(example("80"), CompileOptions("sm_80"))
    (tmp_path / "a.cubin").write_bytes(cubin.image)
    done = subprocess.run(
        ["llvm-dwarfdump", "--debug-line", str(tmp_path / "a.cubin")], capture_output=True, text=True, check=True
    )
    rows = re.findall(r"^0x([0-9a-f]{16}) +(\d+) +0 +(\d+) +0 +0 +is_stmt$", done.stdout, re.MULTILINE)
    ours = [(r.address, r.line, r.file) for s in sequences(read(cubin.image), ".debug_line") for r in s.rows]
    assert [(int(at, 16), int(line), int(file)) for at, line, file in rows] == ours


# -- what is told -----------------------------------------------------------------------------------------------------


def agreement(text: str, target: str, theirs: Code) -> Agreement:
    return compare(lines_of(compile_text(text, CompileOptions(target, 0)).image), theirs)


def test_lines_are_those_of_the_twins():
    """At -O0, of stored modules: by the statement of the PTX and by the operation alone."""
    stored = json.loads(lzma.decompress(golden.GOLDEN.read_bytes()))
    total = Agreement()
    for name, (text, target) in golden.stored().items():
        theirs = {
            kernel: [Line(operation, tuple(sources), ptx) for operation, sources, ptx in code]
            for kernel, code in stored[name].items()
        }
        found = agreement(text, target, theirs)
        assert found.by_statement > 30
        total = total.plus(found)
    assert total.by_statement > 3000 and total.by_operation > 500
    assert total.of_these >= AGREEING * total.by_statement, total
    assert total.among_these >= AGREEING * total.by_operation, total


@pytest.mark.measure
@pytest.mark.skipif(shutil.which("ptxas") is None, reason="there is no ptxas")
def test_lines_are_those_of_ptxas_in_all_stored_modules():
    total = Agreement()
    for compiler in COMPILERS:
        for _, text in modules(compiler):
            if len(text) > 300_000 or not re.search(r"^\s*\.loc\s", text, re.MULTILINE):
                continue
            target = re.search(r"\.target\s+(sm_\w+)", text)[1]
            theirs = ptxas(text, target, "-O0", "-lineinfo")
            try:
                total = total.plus(agreement(text, target, lines_of(theirs))) if theirs else total
            except oric.CompileError:
                continue
    print(total)
    assert total.by_statement > 30_000
    assert total.of_these >= AGREEING * total.by_statement
    assert total.among_these >= LOOSELY * total.by_operation


INLINED = f"""{HEAD}.file 1 "/x/y.cu"
.func (.reg .u32 r) g(.reg .u32 a)
{{
 .reg .u32 %r<9>;
 .loc 1 100 3
 mul.lo.u32 %r1, a, a;
 .loc 1 101 3
 xor.b32 r, %r1, 77;
 ret;
}}
.func (.reg .u32 r) h(.reg .u32 a)
{{
 .reg .u32 %r<9>;
 popc.b32 %r1, a;
 .loc 1 201 3
 call (%r2), g, (%r1);
 .loc 1 202 3
 brev.b32 r, %r2;
 ret;
}}
.visible .entry k(.param .u64 p, .param .u32 n)
{{
 .reg .u64 %rd<4>; .reg .u32 %r<9>;
 .loc 1 5 3
 ld.param.u64 %rd1, [p];
 ld.param.u32 %r1, [n];
 .loc 1 7 3
 call (%r2), h, (%r1);
 .loc 1 8 3
 st.global.u32 [%rd1], %r2;
 .loc 1 9 3
 call (%r2), h, (%r2);
 .loc 1 10 3
 st.global.u32 [%rd1+4], %r2;
 ret;
}}
"""


def sources_of(image: bytes, operation: str) -> list[tuple[str, ...]]:
    return [line.sources for line in lines_of(image)["k"] if line.operation.split(".")[0] == operation]


def test_functions_of_the_module_are_inlined_with_their_names():
    """A body where no .loc is in force is of the call; names go to .debug_str."""
    image = compile_text(INLINED, CompileOptions("sm_80")).image
    assert sources_of(image, "POPC") == [("/x/y.cu:7",), ("/x/y.cu:9",)]
    assert sources_of(image, "BREV") == [("/x/y.cu:202", "/x/y.cu:7"), ("/x/y.cu:202", "/x/y.cu:9")]
    assert sources_of(image, "LOP3") == [
        ("/x/y.cu:101", "/x/y.cu:201", "/x/y.cu:7"),
        ("/x/y.cu:101", "/x/y.cu:201", "/x/y.cu:9"),
    ]
    assert set(bytes(read(image).section(".debug_str").data).split(b"\0")) == {b"h", b"g", b""}


def test_functions_that_stay_have_their_lines():
    """A copy behind the kernel begins with its first .loc."""
    text = INLINED.replace("popc.b32 %r1, a;", "popc.b32 %r1, a; setp.eq.u32 %p, a, 9; @%p call (%r5), h, (%r1);").replace(
        ".reg .u32 %r<9>;\n popc", ".reg .u32 %r<9>; .reg .pred %p;\n popc"
    )
    cubin = made(text)
    sequence = sequences(cubin, ".debug_line")[0]
    start = next(s.value for s in cubin.symbols if s.name == "$k$h")
    assert next(row.line for row in sequence.rows if row.address == start) == 201
    assert sources_of(compile_text(text, CompileOptions("sm_80")).image, "BREV") == [("/x/y.cu:202",)]


# -- what the PTX may say ---------------------------------------------------------------------------------------------


def test_the_return_of_a_function_has_its_line():
    text = """.version 9.0
.target sm_80
.address_size 64
.file 1 "/x/y.cu"
.visible .func (.reg .u32 q) f(.reg .u32 n)
{
  .reg .pred %p; .loc 1 5 0
  setp.eq.u32 %p, n, 0; mov.u32 q, 7; @%p bra end; .loc 1 8 0
  sub.u32 n, n, 1; call (q), f, (n);
end: .loc 1 11 0
  ret;
}
.visible .entry k(.param .u64 out)
{
  .reg .u64 %d; .reg .u32 %r; .loc 1 20 0
  ld.param.u64 %d, [out]; call (%r), f, (5); st.global.u32 [%d], %r; ret;
}
"""
    told = sources_of(oric.compile(text, arch="sm_80").image, "RET")
    assert [lines[0] for lines in told] == ["/x/y.cu:11"], told


def entry(body: str, around: str = '.file 1 "/x/y.cu"\n') -> str:
    return (
        f"{HEAD}{around}.visible .entry k(.param .u64 p)\n{{\n .reg .u64 %rd<4>;\n ld.param.u64 %rd1, [p];\n{body}\n ret;\n}}\n"
    )


def stores(body: str, around: str = '.file 1 "/x/y.cu"\n') -> list[tuple[str, ...]]:
    return sources_of(compile_text(entry(body, around), CompileOptions("sm_80")).image, "STG")


def test_statements_that_share_a_line():
    one = " st.global.u32 [%rd1], 5; .loc 1 6 3 st.global.u32 [%rd1+4], 6; .loc 1 7 3 st.global.u32 [%rd1+8], 7;"
    assert stores(f" .loc 1 5 3\n{one}") == [("/x/y.cu:5",), ("/x/y.cu:6",), ("/x/y.cu:7",)]


def test_a_line_of_0_is_no_line():
    """What is in front stays in force, as in ptxas's tables."""
    body = " .loc 1 5 3\n st.global.u32 [%rd1], 5;\n .loc 1 0 3\n st.global.u32 [%rd1+4], 5;"
    assert stores(body) == [("/x/y.cu:5",)] * 2


def test_a_loc_ends_with_its_function():
    text = entry(" .loc 1 5 3\n st.global.u32 [%rd1], 5;") + entry(" bar.sync 0;", "").replace(" k(", " other(")[len(HEAD) :]
    assert [s.kernel for s in sequences(made(text), ".debug_line")] == ["k"]
    assert [s.kernel for s in sequences(made(text), PTX_LINES)] == ["other", "k"]


def test_a_file_that_nobody_has_named():
    """Its number is in the table all the same (observed)."""
    cubin = made(entry(" .loc 7 5 3\n st.global.u32 [%rd1], 5;"))
    assert {row.file for row in sequences(cubin, ".debug_line")[0].rows} == {7}


@pytest.mark.parametrize(("line", "told"), [(4294967295, -1), (2147483648, -2147483648)])
def test_lines_have_32_bits_with_a_sign(line, told):
    rows = sequences(made(entry(f" .loc 1 5 3\n st.global.u32 [%rd1], 5;\n .loc 1 {line} 3\n bar.sync 0;")), ".debug_line")[
        0
    ].rows
    assert (rows[-1].line - told) % (1 << 32) == 0


def test_a_loc_without_any_file_is_told():
    result = compile_text(entry(" .loc 1 5 3", ""), CompileOptions("sm_80"))
    told = ".loc directive without .file directive is found, line information in generated binary may not be complete"
    assert [w for w in result.warnings if told in w]
    assert not compile_text(entry(" .loc 1 5 3"), CompileOptions("sm_80")).warnings


@pytest.mark.parametrize(
    ("loc", "said"),
    [
        (".loc 1 2 3, function_name nowhere, inlined_at 1 5 3", "nowhere"),
        (".loc 1 2 3, function_name .debug_str, inlined_at 1 6 3", "1 6 3"),
        (".loc 1 4294967296 3", "does not fit 32 bits"),
        (".loc 1 2", "a column"),
        (".loc 1 -2 3", "a line number"),
    ],
)
def test_mistakes_are_named(loc, said):
    with pytest.raises(oric.CompileError, match=said):
        oric.compile(entry(f" .loc 1 5 3\n st.global.u32 [%rd1], 5;\n {loc}\n st.global.u32 [%rd1], 6;"), arch="sm_80")


def test_names_by_an_offset_in_the_section():
    body = " .loc 1 5 3\n .loc 1 6 3, function_name .debug_str+4, inlined_at 1 5 3\n st.global.u32 [%rd1], 5;"
    strings = ".section .debug_str {\nL0: .b8 65,66,67,0 // a comment: .b8 1\n .b16 0x4544 /* L1: */\n .b8 0 }\n"
    cubin = made(entry(body) + strings)
    row = sequences(cubin, ".debug_line")[0].rows[-1]
    assert (row.line, row.name, bytes(cubin.section(".debug_str").data)) == (6, 4, b"ABC\0DE\0")


def test_files_and_folders():
    files = '.file 1 "/y.cu"\n.file 9 "a//b.cu"\n.file 3 "./c.cu"\n.file 4 "../d.cu", 5, 300\n.file 6 "a/f.cu", 7\n'
    expected = b".\0..\0a\0a/\0\0/y.cu\0\0\0\0c.cu\0\1\0\0d.cu\0\2\5\xac\2f.cu\0\3\7\0b.cu\0\4\0\0\0"
    assert header(made(entry(" .loc 1 5 3", files)), ".debug_line")[20:] == expected


TEXT = (
    "// c0\n  \t .version 8.0 // vers\n/* a\n b */ .target sm_80\n.address_size 64 \t \n.file 1 \"/x/y.cu\"\n"
    ".section .debug_str {\nL0:\n.b8 65,0 }\n.visible .entry k()\n{ .loc 1 5 3 \n .loc 1 6 3 bar.sync 0;\r\n\t bar.sync 0; // x\n"
    " ret; }\n// after\n\n"
)  # fmt: skip
LINES = [
    "", ".version 8.0 // vers", "/* a", "b */ .target sm_80", ".address_size 64 \t ", "", ".section .debug_str {", "L0:", "",
    ".visible .entry k()", "{ .loc 1 5 3 ", "", "bar.sync 0; // x", "ret; }", "",
]  # fmt: skip


def test_the_text_of_the_ptx():
    assert bytes(made(TEXT).section(".nv_debug_ptx_txt").data).decode().split("\0") == LINES


def test_inputs_share_the_numbers_of_files():
    first, second = (entry(" .loc 1 5 3\n bar.sync 0;").replace(" k(", f" k{n}(") for n in (1, 2))
    with pytest.raises(oric.CompileError, match="Duplicate file index #1"):
        compile_inputs([PtxInput(first, "a"), PtxInput(second, "b")], CompileOptions("sm_80"))
    second = second.replace(".file 1", ".file 2").replace("y.cu", "z.cu").replace(".loc 1 5", ".loc 2 6")
    cubin = read(compile_inputs([PtxInput(first, "a"), PtxInput(second, "b")], CompileOptions("sm_80")).image)
    code = lines_of(cubin.data)
    assert {s for line in code["k1"] for s in line.sources} == {"/x/y.cu:5"}
    assert {s for line in code["k2"] for s in line.sources} == {"/x/z.cu:6"}
    text = bytes(cubin.section(".nv_debug_ptx_txt").data).decode().split("\0")
    ptx = source_lines(cubin, PTX_LINES)
    for name in ("k1", "k2"):
        barrier = next(line.ptx for line in code[name] if line.operation.startswith("BAR"))
        assert text[barrier - 1] == "bar.sync 0;" and barrier > (name == "k2") * first.count("\n")
    assert len(ptx) == 2


# -- when there are tables ----------------------------------------------------------------------------------------------


def names(cubin: Cubin) -> list[str]:
    return [name for name in TABLES if cubin.section(name) is not None]


def test_tables_are_there_when_asked_for_or_when_the_ptx_has_lines():
    plain = entry(" st.global.u32 [%rd1], 5;")
    assert names(made(plain)) == []
    assert names(made(plain, line_info=True)) == [".debug_line", PTX_LINES, ".nv_debug_ptx_txt"]
    assert sequences(made(plain, line_info=True), ".debug_line") == []
    assert len(sequences(made(plain, line_info=True), PTX_LINES)) == 1
    assert names(made(INLINED)) == list(TABLES)
    assert names(made(INLINED, line_info=False)) == []


def test_a_module_without_code():
    """The second table is a copy of the first one then (observed)."""
    cubin = made(f'{HEAD}.file 1 "/x/y.cu"\n', line_info=True)
    assert bytes(cubin.section(".debug_line").data) == bytes(cubin.section(PTX_LINES).data)
    assert bytes(cubin.section(".nv_debug_ptx_txt").data).count(b"\0") == 3


@pytest.mark.parametrize("level", [0, 3])
def test_the_code_is_the_same_with_lines_and_without(level):
    for number in golden.TARGETS:
        arch = f"sm_{number}"
        with_lines, without = (compile_text(example(number), CompileOptions(arch, level, line_info=x)) for x in (True, False))
        text = [
            {s.name: bytes(s.data) for s in read(c.image).sections if s.name.startswith(".text")} for c in (with_lines, without)
        ]
        assert text[0] == text[1]
