"""The typed module that tools get: everything that stands in the text has its place."""

import re
from pathlib import Path

from oric.ptx import builder as b
from oric.ptx import parse
from oric.ptx.recorder import Directive, Instruction, LabelMark

TEXT = """.version 9.0
.target sm_90
.address_size 64
.file 1 "a.cu" // the source
.global .u32 w; .global .align 8 .u64 table[2] = {7, w+8};
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<4>;
	.pragma "nounroll";
	.loc 1 12 3
	{ /* inner */
		mov.u32 %r3, %tid.x;
	}
	t: .branchtargets DONE;
DONE:
	ret;
}
"""


def lines_of(module, directives):
    return [(d.kind, d.values, module.location(d.loc).line) for d in directives]


def test_statements_directives_and_their_places():
    module = parse(TEXT, "a.ptx")
    body = module.function("k")
    assert lines_of(module, module.directives) == [("file", (1, "a.cu"), 4)]
    assert lines_of(module, body.directives) == [
        ("pragma", ("nounroll",), 9),
        ("loc", (1, 12, 3), 10),
        ("{", (), 11),
        ("}", (), 13),
        ("branch", ("t", 0), 14),
    ]
    assert [d.index for d in body.directives] == [0, 0, 0, 1, 1]
    kinds = [(type(s), module.location(s.loc)) for s in body.statements]
    assert kinds == [(Instruction, (12, 3)), (LabelMark, (15, 1)), (Instruction, (16, 2))]
    assert module.location(body.end) == (17, 1)
    assert isinstance(body.directives[0], Directive)


def test_registers_have_their_names():
    body = parse(TEXT).function("k")
    kind, handle = body.instructions()[0].operands[0]
    assert kind == b.REG
    assert body.register_name(handle) == "%r3"


def test_comments_and_initialisers():
    module = parse(TEXT)
    assert [(text, module.location(loc)) for text, loc in module.comments()] == [
        ("// the source", (4, 16)),
        ("/* inner */", (11, 4)),
    ]
    table = module.symbols[1]
    assert isinstance(table, b.Variable)
    assert table.init is not None and table.init[:8] == (7).to_bytes(8, "little")
    assert [(r.offset, r.addend) for r in table.relocs] == [(8, 8)]


def test_the_example_of_the_page_runs(monkeypatch, capsys):
    root = Path(__file__).resolve().parents[2]
    monkeypatch.chdir(root)
    example = re.search(r"```python\n(.*?)```", (root / "docs/ptx.md").read_text(), re.S)
    assert example is not None
    exec(example[1], {})
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("sm_75 ['saxpy', ")
    assert any(re.fullmatch(r"\d+:2: fma\.rn\.f32 \['%f\d', .*\]", line) for line in out)
