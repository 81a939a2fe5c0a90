"""Hostile texts: one or few short errors, no traceback, no recursion overflow, cost in proportion to the size."""

import random

import pytest
from oric.ptx import parse
from oric.support.diagnostics import CompileError

HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"
ENTRY = HEADER + ".visible .entry k()\n{\n"
N = 20_000

BROKEN = {
    "nothing": "",
    "zeros": "\0" * N,
    "random bytes": random.Random(1).randbytes(N).decode("latin-1"),
    "undecodable": ENTRY + "\udcff\udcfe x;",
    "one long word": "x" * N * 50,
    "long word in module": HEADER + "x" * N * 50,
    "long word in body": ENTRY + "x" * N * 50,
    "many words": ENTRY + "x " * N * 10,
    "long number": ENTRY + "mov.u32 %tid, " + "1" * N * 50 + ";\n}\n",
    "long register name": ENTRY + ".reg .u32 %r<5>;\nmov.u32 %r" + "1" * N * 50 + ", 5;\n}\n",
    "long register name, letters at its end": ENTRY + ".reg .u32 %r<5>;\nmov.u32 %r" + "1" * N * 50 + "a, 5;\n}\n",
    "many operands": ENTRY + "add.s32 " + ",".join(["%tid"] * N) + ";\n}\n",
    "long mnemonic": ENTRY + "add" + ".ftz" * N + ".f32 a, b;\n}\n",
    "scopes": ENTRY + "{" * 10_000 + "}" * 10_000 + "}\n",
    "open scopes": ENTRY + "{" * 10_000,
    "braces in the module": HEADER + "{" * 10_000,
    "vectors in vectors": ENTRY + "mov.b64 %tid, " + "{" * 10_000 + ";}\n",
    "parentheses": ENTRY + "mov.u32 %tid, " + "(" * 10_000 + "1" + ")" * 10_000 + ";}\n",
    "signs": ENTRY + "mov.u32 %tid, " + "-" * N + "1;}\n",
    "conditionals": ENTRY + "mov.u32 %tid, " + "1?1:" * 10_000 + "1;}\n",
    "brackets": ENTRY + "ld.u32 %tid, " + "[" * N + ";}\n",
    "open comment": ENTRY + "/* abc " * N,
    "stars": ENTRY + "/*" + "*" * N * 10,
    "open string": HEADER + '.pragma "abc\n' * 1000,
    "quotes": ENTRY + '"' * N,
    "signs without instruction": ENTRY + "@" * N,
    "dots": ENTRY + "." * N,
    "semicolons": ENTRY + ";" * N,
    "huge register file": ENTRY + ".reg .b32 %r<2000000000>;\n}\n",
    "huge gap": HEADER + ".global .u8 x[2][9999999999] = {{1}, {1}};\n",
    "initialiser nested": HEADER + ".global .u8 x[2] = " + "{" * 10_000 + ";\n",
    "errors": ENTRY + "foo.bar x;\n" * N,
    "labels that stand nowhere": ENTRY + "".join(f"bra L{i};\n" for i in range(N)) + "}\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_short_errors(name):
    with pytest.raises(CompileError) as caught:
        parse(BROKEN[name], "f.ptx")
    text = str(caught.value)
    assert 0 < len(text) < 25_000
    assert text.count(": error: ") <= 101
    assert all(len(line) < 700 for line in text.splitlines())


def test_many_errors_end_with_a_last_word():
    with pytest.raises(CompileError, match=r"too many errors \(100\), giving up"):
        parse(BROKEN["errors"], "f.ptx")


SOUND = {
    "one line": ENTRY + ".reg .b32 %r<9>;" + "add.s32 %r1, %r2, %r3;" * N + "}\n",
    "labels": ENTRY + "".join(f"L{i}:\n" for i in range(N)) + "}\n",
    "branches to labels below": ENTRY + "".join(f"bra L{i};\n" for i in range(N)) + "".join(f"L{i}:\n" for i in range(N)) + "}\n",
    "scopes in a row": ENTRY + ".reg .b32 %r<9>;" + "{ .reg .b32 t; add.s32 t, %r1, %r2; }\n" * N + "}\n",
    "scopes in scopes, with labels": ENTRY + "{ bra X; " * 300 + "X: ret; " + "}X: " * 300 + "}\n",
    "registers": ENTRY + "".join(f".reg .b32 a{i};\n" for i in range(N)) + "}\n",
    "ranges": ENTRY + "".join(f".reg .b32 a{i}_<5>;\n" for i in range(N)) + "}\n",
    "variables": HEADER + "".join(f".global .u32 g{i} = {i};\n" for i in range(N)),
    "functions": HEADER + "".join(f".func f{i}() {{ ret; }}\n" for i in range(N)),
    "table": HEADER + ".global .u32 x[] = {" + ",".join(["1"] * N * 10) + "};\n",
    "sum": ENTRY + ".reg .u32 r; mov.u32 r, " + "1+" * N + "1;}\n",
    "line numbers": ENTRY + ".loc 1 2 3\n" * N + "}\n",
    "largest register file used little": ENTRY + ".reg .b32 %r<16000000>; add.s32 %r1, %r15999999, 1; ret;\n}\n",
}


@pytest.mark.parametrize("name", SOUND)
def test_large_and_sound(name):
    assert parse(SOUND[name], "f.ptx").header is not None


def test_truncated_at_every_place():
    from pathlib import Path

    text = (Path(__file__).parents[2] / "examples/saxpy.ptx").read_text(encoding="utf-8")
    end = text.rindex("}") + 1
    for length in range(end):
        if text[:length].strip() and "}" not in text[:length] and ".entry" in text[:length]:
            with pytest.raises(CompileError):
                parse(text[:length], "f.ptx")
