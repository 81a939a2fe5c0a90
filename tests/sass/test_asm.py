"""`oric asm`: what `oric disasm` prints comes back byte for byte, edits take effect, and mistakes are named with their place."""

from __future__ import annotations

import lzma
import random
import re
from functools import cache
from pathlib import Path

import oric
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oric.sass.asm_build import assemble_text
from oric.sass.asm_cli import main
from oric.sass.asm_read import AsmError
from oric.sass.cli import main as disasm
from oric.sass.listing import list_cubin
from oric.sass.text import text_lines
from oric.support.elf import CubinError, read
from oric.support.targets import find_target

from tests.kernels import cases
from tests.sass.nvdisasm_text import cubins

CUBINS = cubins()
CONTAINER = "container.sm_90.cubin"


@cache
def listing(name: str) -> str:
    """What `oric disasm` prints for a cubin of the tests."""
    cubin = read(CUBINS[name])
    return "\n".join([*text_lines(list_cubin(cubin), cubin), ""])


@pytest.mark.parametrize("name", list(CUBINS))
def test_cubins_come_back_byte_for_byte(name: str) -> None:
    assert assemble_text(listing(name)) == CUBINS[name]


@pytest.mark.parametrize("target", cases.TARGETS)
@pytest.mark.parametrize("file", cases.files())
def test_cubins_of_our_compiler_come_back_byte_for_byte(file: str, target: str) -> None:
    image = oric.compile(cases.ptx(file, target), arch=target).image
    cubin = read(image)
    assert assemble_text("\n".join(text_lines(list_cubin(cubin), cubin))) == image


@pytest.mark.parametrize("target", cases.TARGETS)
def test_listing_keeps_its_meaning_without_what_the_assembler_knows(target: str) -> None:
    """String tables and gaps may go: the file is laid out anew, and the kernel still gives what numpy gives."""
    text = listing(f"reduction.{target}.cubin")
    text = re.sub(r"(?m)^\t\.section\t\.(?:sh)?strtab.*\n(?:\t\.string.*\n)*", "", text)
    text = re.sub(r", gap=\w+", "", text)
    image = assemble_text(text)
    assert image != CUBINS[f"reduction.{target}.cubin"]
    module = oric.sim.load(image)
    case = next(c for c in cases.CASES if c.file == "reduction")
    for step in case.build():
        module.launch(step.kernel, grid=step.grid, block=step.block, args=step.args)
        step.check()


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, made = tmp_path / "x.cubin", tmp_path / "x.sass"
    source.write_bytes(CUBINS[CONTAINER])
    assert disasm([str(source)]) == 0
    made.write_text(capsys.readouterr().out)
    assert main([str(made), "-o", str(tmp_path / "y.cubin")]) == 0
    assert (tmp_path / "y.cubin").read_bytes() == CUBINS[CONTAINER]
    source.unlink()
    assert main([str(made)]) == 0
    assert source.read_bytes() == CUBINS[CONTAINER]
    made.write_text(made.read_text().replace(" EXIT ;", " EXITS ;", 1))
    assert main([str(made)]) == 1
    said = capsys.readouterr().err.splitlines()
    assert re.fullmatch(rf"{re.escape(str(made))}:\d+:\d+: error: unknown mnemonic 'EXITS'; there is EXIT.*", said[0])
    assert said[2].index("^") == said[1].index("EXITS")
    assert main([str(tmp_path / "none")]) == 1
    assert main(["--nonsense"]) == 1
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    assert main([str(tmp_path / "binary")]) == 1
    assert [line.split(": ")[1] for line in capsys.readouterr().err.splitlines()] == ["error"] * 3


def test_an_output_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No traceback, and nothing is left beside the place."""
    path = tmp_path / "code.sass"
    path.write_text("\n".join(listing(sorted(cubins())[0]).splitlines()) + "\n", encoding="utf-8")
    output = tmp_path / "missing" / "code.cubin"
    assert main([str(path), "-o", str(output)]) == 1
    assert f"Output file '{output}' could not be written" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["code.sass"]


def test_every_wrong_instruction_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = tmp_path / "x.sass"
    made.write_text(re.sub(r" (ULDC|EXIT|IMAD)( .*)?;", r" \1X\2;", listing("saxpy.sm_90.cubin")))
    assert main([str(made)]) == 1
    assert len(re.findall("error: unknown mnemonic '(?:ULDC|EXIT|IMAD)X'", capsys.readouterr().err)) > 2


def lines_of(name: str, *changes: tuple[str, str]) -> str:
    text = listing(name)
    for old, new in changes:
        changed = re.sub(old, new, text, count=1, flags=re.MULTILINE)
        assert changed != text, old
        text = changed
    return text


def test_inserted_instructions_move_the_rest() -> None:
    """Branches, the records of exits, and the symbol's size follow; the kernel computes the same."""
    nop = "[B------:R-:W-:-:S01] NOP ;\n"
    text = lines_of("reduction.sm_90.cubin", (r"^(\[.*\] +/\*0010\*/)", nop * 3 + r"\1"))
    old, new = read(CUBINS["reduction.sm_90.cubin"]), read(assemble_text(text))
    changed = [name for name in old.functions if old.functions[name].text != new.functions[name].text]
    assert len(changed) == 1
    before, after = old.functions[changed[0]], new.functions[changed[0]]
    assert len(after.text) == len(before.text) + 48
    assert after.exits == tuple(place + 48 for place in before.exits)
    assert new.symbols[after.symbol].size == len(after.text)
    module = oric.sim.load(assemble_text(text))
    for case in (c for c in cases.CASES if c.file == "reduction"):
        for step in case.build():
            module.launch(step.kernel, grid=step.grid, block=step.block, args=step.args)
            step.check()


def test_unknown_words_stay(tmp_path: Path) -> None:
    text = lines_of(CONTAINER, (r"^\[.*/\*0000\*/.*;", "/*0000*/ .word 0xffffffffffffffff 0x123456789abcdef0 ;"))
    cubin = read(assemble_text(text))
    assert any(f.text[:16] == b"\xff" * 8 + bytes.fromhex("f0debc9a78563412") for f in cubin.functions.values())


NOP = "[B------:R-:W-:-:S01] NOP ;\n"
MISTAKES = [
    (r"^\t\.target\tsm_90$", "\t.target\tsm_900", "unknown target 'sm_900'"),
    (r"^\t\.target\tsm_90$", "\t.target\tsm_90\n\t.target\tsm_90", "a second .target"),
    (r"^\t\.target\tsm_90$", "", "the first directive must be .target"),
    (r"^\t\.info\tREGCOUNT", "\t.info\tREGCOUNTS", "there is no attribute 'REGCOUNTS'"),
    (r"^\t\.info\tREGCOUNT, \w+", "\t.info\tREGCOUNT, nobody", "there is no symbol 'nobody'"),
    (r"^\t\.info\tMAXREG_COUNT, \d+", "\t.info\tMAXREG_COUNT, many", "expected a number; found 'many'"),
    (r"^\t\.info\tMAXREG_COUNT, \d+", "\t.info\tMAXREG_COUNT, 70000", "70000 does not fit the record"),
    (r"^\t\.info\tEXIT_INSTR_OFFSETS, @\w+", "\t.info\tEXIT_INSTR_OFFSETS, @eeee", "no instruction is marked /*eeee*/"),
    (r"^\t\.info\tEXIT_INSTR_OFFSETS, @\w+", "\t.info\tEXIT_INSTR_OFFSETS, there", "there is no label 'there'"),
    (r"^\t\.section\t\.nv\.constant3.*", r"\t.section\t.nv.constant3, sise=3", "expected one of index="),
    (r"^\t\.section\t\.nv\.constant3.*", r"\t.section\t.nv.constant3, align=3", "a power of two"),
    (r"index=\d+", "index=9999", "index= is 1 to"),
    (r"^\t\.reloc\tR_CUDA_64", "\t.reloc\tR_CUDA_65", "there is no relocation 'R_CUDA_65'; there is"),
    (r"^\t\.reloc\t.*", "\t.reloc\tR_CUDA_64", "expected .reloc TYPE, PLACE, SYMBOL"),
    (r"^\t\.symbol\t(\S+), kernel", r"\t.symbol\t\1, colonel", "'colonel' is no kind of symbol"),
    (r"^\t\.symbol\t.*", "\t.symbol\tx", "expected .symbol NAME, KIND, SECTION, VALUE, SIZE"),
    (r"^\t\.segment\t.*", "\t.segment\tload", "expected .segment TYPE, FLAGS"),
    (r"^\t\.segment\t.*", "\t.segment\tload, r, .nowhere, .text.k_empty", "there is no section '.nowhere'"),
    (r"^\t\.zero\t\d+", "\t.zero\t-1", "that many zeros"),
    (r"^\t\.hex\t\S+", "\t.hex\t0x12", "hexadecimal digits"),
    (r"^\t\.hex\t\S+", "\t.hax\t12", "unknown directive '.hax'; there is .hex"),
    (r"^(\[.*BRA) .*;", r"\1 `(.L_x_9999) ;", "there is no label '.L_x_9999'"),
    (r"^\[B------", "[B-----", "expected a control code like [B0-----:R-:W1:-:S04]"),
    (r"^(\[.*EXIT) ;", r"\1 ; NOP", "and nothing but a comment behind it"),
    (r"^\[B------", "[B--2---:R-:W-:-:S01] NOP ;\n[B1-----", "expected 0 or - for scoreboard 0; found '1'"),
    (r":S\d\d\]", ":S16]", "a stall count is at most 15"),
    (r"^\[.*?\](.*;)", r"\1", "an instruction needs its control code"),
    (r"^(\[.*?)(NOP|EXIT) +;", r"\1\2", "expected ';' at the end of the instruction"),
    (r"^(\[.*?)(NOP|EXIT) +;", r"\1 ;", "there is no instruction before the ';'"),
    (r"^(\.L_x_\d+):$", r"\1:\n[B------:R-:W-:-:S01] NOP ;\n\1:", "is there twice"),
    (r"^\t\.section\t\.nv\.info\.", "[B------:R-:W-:-:S01] NOP ;\n\t.section\t.nv.info.", "a section of code"),
    (r"^\t\.section\t\.nv\.info$", "\t.section\t.nv.info, info=0\n\t.word\t1", "instructions, or data, or entries"),
    (r"^\t\.section\t\.nv\.constant4", f"\t.section\t.nothing\n{NOP}\t.section\t.nv.constant4", "a section of code"),
    (r"^\t\.section\t\.nv\.info$", "\t.section\t.nv.info\n\t.symbol\tx, object, -, 0, 0", "does not belong"),
    (r"^\t\.section\t\.nv\.info$", "nonsense\n\t.section\t.nv.info", "expected an instruction, a label or a directive"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "said"), MISTAKES)
def test_mistakes_are_named(old: str, new: str, said: str) -> None:
    text = lines_of(CONTAINER, (old, new))
    with pytest.raises(AsmError) as caught:
        assemble_text(text)
    assert said in str(caught.value)
    lines = text.split("\n")
    assert 1 <= caught.value.line <= len(lines)
    assert 1 <= caught.value.column <= len(lines[caught.value.line - 1]) + 1
    if new:
        assert caught.value.line in range(*_changed(listing(CONTAINER), text)), lines[caught.value.line - 1]


def _changed(old: str, new: str) -> tuple[int, int]:
    """Lines that differ, and a line behind (a missing end is noticed there)."""
    a, b = old.split("\n"), new.split("\n")
    first = next(n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
    last = next((n for n, (x, y) in enumerate(zip(a[::-1], b[::-1], strict=False)) if x != y), len(a))
    return first + 1, max(len(b) - last + 1, first + 3)


def test_empty_and_other_texts() -> None:
    for text, said in (
        ("", "no .target"),
        ("// nothing\n", "no .target"),
        ("MOV R1, R2", "expected ';'"),
        ("\x7fELF", "expected an"),
    ):
        with pytest.raises(AsmError, match=said):
            assemble_text(text)


@settings(max_examples=60)
@given(st.data())
def test_damaged_texts_are_cubins_or_errors(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["saxpy.sm_90.cubin", "histogram.sm_80.cubin", "jump_table.sm_90.cubin"]))
    text = listing(name)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 5))
        text = text[:place] + data.draw(st.text("[]{}();:,.@#\"'/*0123456789abcRUPxé\n\t \\", max_size=5)) + text[place + cut :]
    try:
        image = assemble_text(text)
    except AsmError as error:
        assert 1 <= error.line <= text.count("\n") + 1
        return
    try:
        read(image)
    except CubinError:
        return  # a file as the text describes it: a section may be missing


def test_stored_texts_are_deterministic() -> None:
    for name in list(CUBINS)[:4]:
        assert listing(name) == "\n".join([*text_lines(list_cubin(read(CUBINS[name])), read(CUBINS[name])), ""])
        assert lzma.compress(assemble_text(listing(name))) == lzma.compress(assemble_text(listing(name)))


HAND_WRITTEN = """\
        .target {target}
        .kernel k{options}
        .registers {registers}
        .param 4
        .param 8
        .param 3, 1
        .param 16
{facts}
[B------:R-:W-:-:S05] MOV R{registers_used}, 1 ;
{code}
[B------:R-:W-:-:S05] EXIT ;
"""


def hand_written(
    target: str = "sm_90", code: str = "", facts: str = "", registers: int = 8, used: int = 7, options: str = ""
) -> str:
    return HAND_WRITTEN.format(target=target, code=code, facts=facts, registers=registers, registers_used=used, options=options)


@pytest.mark.parametrize("target", cases.TARGETS)
def test_kernels_by_hand(target: str) -> None:
    """The facts become what the reader of cubins, the loader of the simulator and a second round see."""
    facts = ".shared 100\n.barriers 2\n.frame 32\n.maxthreads 64, 2, 1"
    code = "[B------:R-:W-:-:S05] BAR.SYNC 0x1 ;\n[B------:R-:W-:-:S05] BRA `(l) ;\nl:"
    image = assemble_text(hand_written(target, code, facts))
    cubin = read(image)
    (kernel,) = cubin.functions.values()
    found = find_target(target)
    assert (kernel.name, kernel.is_entry, kernel.registers, kernel.barriers, kernel.frame_size) == ("k", True, 8, 2, 32)
    assert [(p.ordinal, p.offset, p.size) for p in kernel.params] == [(0, 0, 4), (1, 8, 8), (2, 16, 3), (3, 32, 16)]
    assert (kernel.param_base, kernel.param_size) == (found.bank0_params, 48)
    assert len(kernel.constants[0]) == found.bank0_params + 48
    assert (kernel.shared_size, kernel.max_threads) == (found.shared_base + 100, (64, 2, 1))
    assert kernel.exits == (0x30,)
    assert len(kernel.text) == 128
    assert cubin.symbols[kernel.symbol].size == 128
    text = "\n".join(text_lines(list_cubin(cubin), cubin))
    assert "NOP;" in text
    assert assemble_text(text) == image
    compiled = read(oric.compile(cases.ptx("saxpy", target), arch=target).image)
    sharing = read(oric.compile(cases.ptx("reduction", target), arch=target).image)
    assert [s[:2] for s in cubin.segments] == [s[:2] for s in sharing.segments]
    order = [s.name.replace(".saxpy", ".k") for s in compiled.sections]
    mine = [s.name for s in cubin.sections if s.name in order]
    assert mine == [name for name in order if name in mine]
    assert {".note.nv.tkinfo", ".note.nv.cuinfo"} <= set(mine)  # a driver asks for both
    oric.sim.load(image)


def test_two_kernels_and_constants() -> None:
    more = """
        .kernel second
        .registers 8
        [B------:R-:W-:-:S05] EXIT ;
        .section .nv.constant3, align=4
        .word 1, 2, 0x3
        .section .symtab
        .symbol table, object, .nv.constant3, 0, 12
    """
    cubin = read(assemble_text(hand_written() + more))
    assert list(cubin.functions) == ["k", "second"]
    assert cubin.constants[3] == bytes([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0])
    assert [(s.name, s.size, cubin.sections[s.section].name) for s in cubin.symbols if s.name == "table"] == [
        ("table", 12, ".nv.constant3")
    ]
    assert {f.registers for f in cubin.functions.values()} == {8}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"used": 8}, "R8 is not among the 8 registers"),
        ({"code": "[B------:R-:W-:-:S05] BAR.SYNC 0x1 ;"}, "needs '.barriers N'"),
        ({"code": "[B------:R-:W-:-:S12] NOP ;"}, "stall counts 0 and 12 to 15 stand with Y"),
        ({"code": "[B------:R-:W-:-:S01] BRA `(nowhere) ;"}, "there is no label 'nowhere'"),
        ({"registers": 300, "used": 1}, "'.registers' takes a number from 0 to 255"),
        ({"facts": ".registers 9"}, "a second '.registers'"),
        ({"facts": ".param 0"}, "expected .param SIZE"),
        ({"facts": ".param 8, 3"}, "a power of two"),
        ({"facts": ".param 99999"}, "expected .param SIZE"),
        ({"facts": ".param 3000\n.param 3000\n" + ".param 3000\n" * 9}, "the parameters take"),
        ({"facts": ".maxthreads 2000, 1, 1"}, "together at most 1024 threads"),
        ({"facts": ".shared 9999999"}, "'.shared' takes a number"),
        ({"facts": ".frame -1"}, "'.frame' takes a number"),
        ({"facts": ".frame x"}, "expected a number; found 'x'"),
        ({"target": "sm_70"}, "sm_70"),
        ({"options": ", colour=3"}, "expected one of index="),
    ],
)
def test_mistakes_of_kernels_by_hand(given: dict[str, object], said: str) -> None:
    with pytest.raises(AsmError, match=re.escape(said)):
        assemble_text(hand_written(**given))  # type: ignore[arg-type]


def test_facts_outside_of_kernels() -> None:
    for text, said in ((".registers 3", "belongs into a section"), (".section .text.k\n.registers 3", "behind '.kernel NAME'")):
        with pytest.raises(AsmError, match=said):
            assemble_text(f".target sm_90\n{text}\n")
    with pytest.raises(AsmError, match=re.escape("a kernel needs '.registers N'")):
        assemble_text(".target sm_90\n.kernel k\n[B------:R-:W-:-:S05] EXIT ;\n")
    with pytest.raises(AsmError, match=re.escape("expected a name behind '.kernel'")):
        assemble_text(".target sm_90\n.kernel\n")


@pytest.mark.parametrize("seed", range(40))
def test_damaged_cubins_come_back_with_the_same_code(seed: int) -> None:
    """Whatever can be listed is refused with a place or assembles to the same words; nothing else is raised."""
    rng = random.Random(seed)
    data = bytearray(
        CUBINS[rng.choice(["saxpy.sm_90.cubin", "saxpy.sm_80.cubin", "object.sm_80.cubin", "jump_table.sm_90.cubin"])]
    )
    headers = int.from_bytes(data[40:48], "little")
    for _ in range(rng.randint(1, 6)):
        data[rng.choice([rng.randrange(len(data)), rng.randrange(headers, len(data))])] = rng.choice(
            [0, 1, 255, rng.randrange(256)]
        )
    try:
        cubin = read(bytes(data))
        text = "\n".join(text_lines(list_cubin(cubin), cubin))
    except CubinError:
        return
    try:
        image = assemble_text(text)
    except AsmError as error:
        assert 1 <= error.line <= text.count("\n") + 1
        return
    try:
        again = read(image)
    except CubinError:
        return
    assert [f.text for f in again.functions.values()] == [f.text for f in cubin.functions.values()]
