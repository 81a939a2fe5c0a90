"""`oric dump`: descriptors beside the machine code, and refusals."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import oric
import pytest
from oric.cli import ERROR_STATUS, main
from oric.cli.dump import all_kinds
from oric.sass.listing import list_cubin
from oric.support.elf import read
from oric_tables import descriptor as tables

from tests.kernels import cases

ATOMICS = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<6>;
    .reg .pred %q<2>;
    .shared .align 16 .b8 buffer[1024];
    ld.param.u64 %rd1, [p];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mov.u32 %r4, buffer;
    mad.lo.u32 %r5, %r1, 4, %r4;
    ld.shared.u8 %r2, [%r5];
    st.shared.u32 [%r5], %r2;
    atom.shared.add.u32 %r3, [%r5], 1;
    red.global.add.u32 [%rd2], %r3;
    setp.eq.u32 %q1, %r3, 0;
    @%q1 st.global.u32 [%rd2+4], %r3;
    ret;
}
"""


def dump(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["dump", *words]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out.splitlines()


def test_every_instruction_has_its_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Offset and text are those of the disassembled cubin; five words follow; the operand words decode."""
    for name in ("saxpy", "histogram", "reduction"):
        path = tmp_path / f"{name}.ptx"
        path.write_text(cases.ptx(name, "sm_90"))
        lines = dump(capsys, "--descriptors", str(path), "-arch", "sm_90")
        listed = {f.name: f.lines for f in list_cubin(read(oric.compile(path.read_text(), "sm_90").image)).functions}
        heads = [i for i, line in enumerate(lines) if line.startswith("// ")]
        for start, end in zip(heads, [*heads[1:], len(lines)], strict=True):
            function = lines[start].split()[1]
            found = re.findall(r"^/\*([0-9a-f]{4})\*/ (\S+)", "\n".join(lines[start:end]), re.MULTILINE)
            expected = [(f"{line.offset:04x}", line.text.split()[0]) for line in listed[function]]
            count = int(re.search(r"(\d+) instructions", lines[start]).group(1))
            assert len(found) == count
            assert found == expected[:count]
            assert {text for _, text in expected[count:]} <= {"BRA", "NOP"}, "the rest is padding"
        words = [line.split()[1:] for line in lines if line.startswith("    words ")]
        assert len(words) == sum(line.startswith("/*") for line in lines)
        assert all(len(row) == 5 for row in words)
        for text in re.findall(r" (?:R|UR)[0-9Z]+ (0x[0-9a-f]{4})", "\n".join(lines)):
            assert tables.register_of(int(text, 16)) is not None


def test_what_is_shown_of_an_instruction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(ATOMICS)
    lines = dump(capsys, "--descriptors", str(path), "-arch", "sm_90", "-O0")

    def after(mnemonic: str) -> list[str]:
        start = next(i for i, line in enumerate(lines) if re.match(rf"/\*\w+\*/ (@\S+ )?{mnemonic}\b", line))
        end = next(i for i in range(start + 1, len(lines)) if not lines[i].startswith("    "))
        return [line.strip() for line in lines[start + 1 : end]]

    isetp = after("ISETP")
    assert isetp[0] == "words    0000003b 00000000 00000000 00000000 00000000"
    assert isetp[1] == "category 59: case 0x07 ISETP"
    load = after("LDS")
    assert load[0] == "words    000001b9 00000011 00000080 00000000 0000000c"
    assert load[1] == "category 441: base memory operation, sub-opcode 0xf9"
    assert "113 data width = narrow (61) in a3[2] 7-10" in load[2]
    assert "120 memory space = shared (1) in a3[1] 0-3" in load[2]
    assert "115 source register class = default (0)" in load[3]
    assert load[4] == "flags    operand count 12"
    store = after("STG")
    assert store[1] == "category unknown, one of 449-456: case 0xb8-0xbe LDG/STG/LDL/STL, sub-handler memory"
    assert any(line.startswith("operands guard P") for line in store), "the guard is an operand too"
    assert after("REDG")[1].startswith("category 441: base memory operation, sub-opcode 0x106, sub-handler memory")
    assert after("S2R")[1] == "category unknown: no document has a case of S2R"


@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_every_sample_kernel_can_be_dumped(arch: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernels = sorted(Path(cases.__file__).parent.glob(f"*.{arch}.ptx"))
    assert len(kernels) > 5
    for path in kernels:
        assert dump(capsys, "--descriptors", str(path), "-arch", arch)[0].startswith("// ")


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["dump", *words]) == ERROR_STATUS
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(ATOMICS)
    good = str(path)
    said = [
        (refused(capsys, good), f"oric: error: 'oric dump' needs one of {', '.join(all_kinds())}\n"),
        (refused(capsys, "--descriptors"), "oric: error: exactly one input file is expected, 0 given\n"),
        (refused(capsys, "--descriptors", good, good), "oric: error: exactly one input file is expected, 2 given\n"),
        (
            refused(capsys, "--descriptors", good, "-o", "x"),
            "oric: error: option '--output-file' means nothing to 'oric dump --descriptors'\n",
        ),
        (refused(capsys, "--image", good, "--function"), "oric: error: '--function' needs the name of a function\n"),
        (
            refused(capsys, "--image", good, "--function", "x", "-arch", "sm_90"),
            "oric: error: there is no function 'x' (there is k)\n",
        ),
        (refused(capsys, "--descriptors", good, "--bogus"), "oric: error: Unknown option '-bogus'\n"),
    ]
    for printed, expected in said:
        assert printed == expected
    assert "sm_12345" in refused(capsys, "--descriptors", good, "-arch", "sm_12345")
    missing = refused(capsys, "--descriptors", str(tmp_path / "none.ptx"), "-arch", "sm_90")
    assert "could not be opened" in missing
    path.write_text(ATOMICS.replace("setp.eq", "setpp.eq"))
    assert f"{good}:20:5: error: unknown instruction 'setpp'" in refused(capsys, "--descriptors", good, "-arch", "sm_90")


TWO = ATOMICS + ATOMICS[ATOMICS.index(".visible") :].replace("entry k", "entry two")


def test_an_image_is_shown_struct_by_struct(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(ATOMICS)
    lines = dump(capsys, "--image", str(path), "-arch", "sm_90")
    found = [line for line in lines if line.startswith("instruction ")]
    assert re.search(r"^instruction 0 at 0x60: \+8 next=1 \+16 id=", found[0])
    assert any(re.search(r"\+84 operands=0x1[0-9a-f]+,.* // (@\S+ )?STG", line) for line in found)
    assert sum(line.startswith("block ") for line in lines) >= 1
    assert any(re.match(r"register \d+ at 0x[0-9a-f]+: \+8 id=\d+ .*\+68 physical_reg=\d+", line) for line in lines)
    size = int(re.fullmatch(r"// k for sm_90: (\d+) bytes", lines[0]).group(1))
    assert f"+4 size={size:#x} " in lines[1]


def test_an_image_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "k.ptx", tmp_path / "k.image"
    path.write_text(TWO)
    said = refused(capsys, "--image", str(path), "-arch", "sm_90", "-o", str(out))
    assert said == "oric: error: '-o' takes the image of one function: --function with one of k, two\n"
    assert dump(capsys, "--image", "--function", "two", str(path), "-arch", "sm_90", "-o", str(out)) == []
    data = out.read_bytes()
    magic, size, count = struct.unpack_from("<III", data)
    assert (magic, size) == (0x4F524949, len(data)) and count > 10 and data.rstrip(b"\0").endswith(b"two")
    assert dump(capsys, "--image", "--function", "two", str(path), "-arch", "sm_90")[0] == f"// two for sm_90: {size} bytes"
    assert "could not be" in refused(capsys, "--image", "--function", "k", str(path), "-arch", "sm_90", "-o", "/nowhere/x")


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert any("--descriptors" in line for line in dump(capsys, "--help"))


def test_the_example_of_the_documentation_is_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    root = Path(__file__).resolve().parents[2]
    text = (root / "docs" / "descriptors.md").read_text(encoding="utf-8")
    shown = [line.removeprefix("    ") for line in text.splitlines() if line.startswith("    ")]
    printed = dump(capsys, "--descriptors", str(root / "examples" / "saxpy.ptx"), "-arch", "sm_90")
    assert len(shown) == 12
    starts = [i for i, line in enumerate(shown) if line.startswith("/*")]
    for start, end in zip(starts, [*starts[1:], len(shown)], strict=True):
        place = printed.index(shown[start])
        assert printed[place : place + end - start] == shown[start:end]
