"""Source lines as nvdisasm -gi prints them, control-flow graphs, live registers; and what damaged line information says."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

import pytest
from oric.sass import decode
from oric.sass.cli import main
from oric.sass.code import Code
from oric.sass.flow import Flow, flow_of
from oric.sass.lines import add_sources
from oric.sass.listing import list_cubin
from oric.sass.live import add_live
from oric.sass.text import live_text, text_lines
from oric.support.elf import Cubin, CubinError, read
from oric.support.targets import find_target

DATA = Path(__file__).parents[1] / "data"
LINES = DATA / "containers" / "lines.sm_90.cubin.xz"
CONTAINER = DATA / "cubin" / "container.sm_90.cubin"
_SHOWN = re.compile(r"\s*/\*[0-9a-f]{4,}\*/|\s*//## File")


def lines_cubin() -> Cubin:
    return read(lzma.decompress(LINES.read_bytes()))


def shown(lines: list[str]) -> list[str]:
    return [line.strip() for line in lines if _SHOWN.match(line)]


def test_source_lines_are_those_of_nvdisasm() -> None:
    """Inlined calls included: `line 3 inlined at "...", line 6`."""
    cubin = lines_cubin()
    listing = list_cubin(cubin)
    add_sources(listing, cubin)
    expected = (DATA / "containers" / "lines.sm_90.txt").read_text(encoding="utf-8").splitlines()
    assert shown(text_lines(listing, cubin, plain=True)) == shown(expected)
    assert sum("inlined at" in line for line in shown(expected)) == 5


def test_damaged_line_information_is_named() -> None:
    data = lzma.decompress(LINES.read_bytes())
    section = read(data).section(".debug_line")
    assert section is not None
    at = section.offset
    for place, value, message in ((4, 9, "DWARF version 9 is not supported"), (0, 0xF0, "longer than"), (13, 0, "is damaged")):
        broken = bytearray(data)
        broken[at + place] = value
        cubin = read(bytes(broken))
        with pytest.raises(CubinError, match=message):
            add_sources(list_cubin(cubin), cubin)


def graph(name: str, cubin: Cubin) -> tuple[Code, Flow]:
    function = next(f for f in list_cubin(cubin).functions if f.name == name)
    assert function.facts is not None
    return function.code, flow_of(function.code, function.facts.branch_targets, tuple(function.labels))


def edges_of(flow: Flow, offset: int) -> list[tuple[int, str]]:
    """Where the block that ends behind the instruction at ``offset`` goes: offsets and kinds."""
    block = next(b for b in flow.blocks if b.end == offset // 16 + 1)
    return [(flow.blocks[edge.to].first * 16, edge.kind) for edge in block.edges]


def test_indirect_branches_go_where_the_container_says() -> None:
    _, flow = graph("k_switch", read(CONTAINER.read_bytes()))
    assert edges_of(flow, 208) == [(288, "indirect"), (352, "indirect"), (224, "indirect"), (864, "indirect")]


def test_blocks_of_a_function_with_branches_and_a_call() -> None:
    """Conditional branches fall through, a call goes to its callee, returns go behind the call, an exit nowhere."""
    code, flow = graph("_Z5linesPfS_i", lines_cubin())
    assert flow.blocks[0].first == 0 and flow.blocks[-1].end == code.count
    assert all(a.end == b.first for a, b in zip(flow.blocks, flow.blocks[1:], strict=False))
    assert edges_of(flow, 0xA0) == [(0x1C0, "branch"), (0xB0, "fall")]
    assert edges_of(flow, 0x180) == [(0x220, "call")]
    assert edges_of(flow, 0x210) == []
    returns = [edge for block in flow.blocks for edge in block.edges if edge.kind == "return"]
    assert returns and {flow.blocks[edge.to].first * 16 for edge in returns} == {0x190}


def test_live_registers() -> None:
    """In front of an instruction; through the callee of a call; a guarded write leaves the old value alive."""
    cubin = lines_cubin()
    listing = list_cubin(cubin)
    add_live(listing)
    function = listing.functions[0]
    assert function.live is not None
    live = {line.offset: function.live[number] for number, line in enumerate(function.lines)}
    assert live[0] == ()
    assert live[0x60] == ("R3", "R4", "R5", "R6", "R7", "UR4", "B0")
    assert live[0xA0] == ("R4", "R5", "R6", "R7", "UR4", "UR5", "P0", "B0")
    assert {"R0", "R2", "R3"} <= set(live[0x180]) and "R9" not in live[0x180]
    assert live[0x210] == ()


def test_live_text_joins_runs() -> None:
    assert live_text(("R0", "R1", "R2", "R5", "UR4", "UR5", "P0")) == "R0-R2 R5 UR4-UR5 P0"
    assert live_text(()) == "-"


def test_graph_in_dot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lines.cubin"
    path.write_bytes(lzma.decompress(LINES.read_bytes()))
    assert main(["--cfg", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("digraph code {\n") and out.endswith("}\n")
    assert "  f0b0180 -> " not in out
    assert '    f0b0170 -> f0b0220 [label="call", style=dashed];\n' in out
    assert '/*00a0*/ @P0 BRA `(.L_x_1)\\l"];' in out


def test_lines_and_live_registers_in_the_listing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lines.cubin"
    path.write_bytes(lzma.decompress(LINES.read_bytes()))
    assert main(["--lines", "--live", str(path)]) == 0
    out = capsys.readouterr().out
    assert '\t//## File "/tmp/kernels/lines.cu", line 10\n' in out
    assert "BSSY B0, `(.L_x_0) ;  // live: R3-R5 UR4\n" in out


def test_decoded_instructions_say_what_they_read_and_write() -> None:
    [fma] = [i for i in decode(lines_cubin().functions["_Z5linesPfS_i"].text, "sm_90") if i.offset == 0x80]
    assert fma.text == "IMAD.WIDE R4, R3, 0x4, R4" and fma.mnemonic == "IMAD.WIDE"
    assert [(u.names, u.align) for u in fma.writes] == [(["R4", "R5"], 2)]
    assert [u.names for u in fma.reads] == [["R3"], ["R4", "R5"]]
    assert str(fma.control) == "[B-1----:R-:W-:Y:S04]"
    [load] = [i for i in decode(lines_cubin().functions["_Z5linesPfS_i"].text, "sm_90") if i.offset == 0xB0]
    assert "load" in load.effects and load.modifiers["size"] is not None
    assert {name for use in load.reads for name in use.names} == {"R4", "R5", "UR4", "UR5"}


def test_places_outside_of_the_code_begin_no_block() -> None:
    """Symbols and records of a damaged file can name any offset."""
    code = Code(find_target("sm_90").isa, read(CONTAINER.read_bytes()).functions["k_empty"].text)
    flow = flow_of(code, {1 << 52: (0, 16), 16: (1 << 52, 8)}, (1 << 52, 7, 16), (1 << 52,))
    assert [block.first for block in flow.blocks] == [0, 1, *[b.first for b in flow.blocks[2:]]]
    assert flow_of(Code(code.isa, b""), {}).blocks == []
