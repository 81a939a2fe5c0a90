"""Launches of texts.cu, judged by Python's own libraries where it has them."""

from __future__ import annotations

import ast
import base64
import re
from typing import Any

import numpy as np

from tests.programs.portable.case import Case, out, program


def _room(texts: list[bytes], wide: int) -> Any:
    return np.array([list(x.ljust(wide, b"\0")) for x in texts], np.uint8)


@program()
def match_pattern(rng: Any) -> Case:
    patterns = ["a*b", "^ab?c", "a.c$", "b+a+$", "^a*$", "c?ab", ".*cb", "^.b.*a$"] * 4
    texts = ["".join(rng.choice(list("abc"), rng.integers(0, 12))) for _ in range(32)]
    found = [re.search(p, x) for p, x in zip(patterns, texts, strict=True)]
    want = [m.start() if m else -1 for m in found]
    args = [_room([p.encode() for p in patterns], 16), _room([x.encode() for x in texts], 16), out(32, np.int32), 16]
    return Case(1, 32, args, {2: want}, stack=4096)


def _expression(rng: Any, deep: int) -> str:
    kind = rng.integers(0, 8) if deep else 0
    if kind < 2:
        return str(rng.integers(0, 40))
    if kind == 2:
        return f"-{_expression(rng, 0)}"
    if kind < 5:
        return f"({_expression(rng, deep - 1)})"
    return _expression(rng, deep - 1) + str(rng.choice(list("+-*/%"))) + _expression(rng, deep - 1)


def _c_value(text: str) -> int | None:
    """Python's parser, with C's division; None: it divides by zero."""

    def value(node: Any) -> int:
        if isinstance(node, ast.Expression):
            return value(node.body)
        if isinstance(node, ast.UnaryOp):
            return -value(node.operand)
        if isinstance(node, ast.Constant):
            return int(str(node.value))
        a, b = value(node.left), value(node.right)
        if isinstance(node.op, ast.Div | ast.Mod):
            whole = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return whole if isinstance(node.op, ast.Div) else a - b * whole
        return a + b if isinstance(node.op, ast.Add) else a - b if isinstance(node.op, ast.Sub) else a * b

    try:
        return value(ast.parse(text, mode="eval"))
    except ZeroDivisionError:
        return None


@program()
def parse_expressions(rng: Any) -> Case:
    texts: list[str] = []
    while len(texts) < 28:
        text = _expression(rng, 4)
        found = _c_value(text)
        if 5 < len(text) < 40 and found is not None and abs(found) < 1 << 31:
            texts.append(text)
    want = [*map(_c_value, texts), 0, 5, 0, 0]
    wrong = [0] * 28 + [1, 1, 2, 3]
    texts += ["(0", "0*+5", "0/0", "0)"]
    return Case(
        1, 32, [_room([x.encode() for x in texts], 41), out(32, np.int32), out(32, np.int32), 41], {1: want, 2: wrong}, stack=8192
    )


@program()
def levenshtein(rng: Any) -> Case:
    a, b = (rng.choice(np.frombuffer(b"abc", np.uint8), (32, n)) for n in (13, 16))
    want = []
    for x, y in zip(a, b, strict=True):
        d = np.add.outer(np.arange(14), np.arange(17))  # the shortest way over the whole grid, relaxed until nothing changes
        same = x[:, None] == y
        for _ in range(30):
            d[1:] = np.minimum(d[1:], d[:-1] + 1)
            d[:, 1:] = np.minimum(d[:, 1:], d[:, :-1] + 1)
            d[1:, 1:] = np.minimum(d[1:, 1:], d[:-1, :-1] + ~same)
        want.append(d[-1, -1])
    return Case(1, 32, [a, b, out(32, np.int32), 13, 16], {2: want})


@program()
def base64_both(rng: Any) -> Case:
    texts = [rng.bytes(t % 20) for t in range(32)]
    args = [
        _room(texts, 20),
        np.array([len(x) for x in texts], np.int32),
        out((32, 28), np.uint8),
        out((32, 20), np.uint8),
        20,
        28,
    ]
    return Case(1, 32, args, {2: _room([base64.b64encode(x) for x in texts], 28), 3: _room(texts, 20)})


@program()
def prefix_codes(rng: Any) -> Case:
    lengths = [2, 5, 5, 4, 3, 5, 5, 4, 4, 6, 5, 5, 6, 5, 3, 4]
    assert sum(2**-n for n in lengths) == 1
    codes, code = {}, 0
    for length in range(1, 8):
        for s in range(16):
            if lengths[s] == length:
                codes[s] = f"{code:0{length}b}"
                code += 1
        code <<= 1
    symbols = rng.integers(0, 16, (32, 40)).astype(np.uint8)
    streams = ["".join(codes[s] for s in row) for row in symbols.tolist()]
    stream = np.array([[int(x.ljust(256, "0")[k : k + 32], 2) for k in range(0, 256, 32)] for x in streams], np.uint32)
    used = [len(x) for x in streams]
    args = [stream, np.array(lengths, np.uint8), out(symbols.shape, np.uint8), out(32, np.int32), 40, 8]
    return Case(1, 32, args, {2: symbols, 3: used})


def _packed(text: bytes) -> bytes:
    """LZ4's block format, with the longest match of each place."""
    packed, at, start = b"", 0, 0

    def number(n: int) -> bytes:
        return b"" if n < 15 else b"\xff" * ((n - 15) // 255) + bytes([(n - 15) % 255])

    while at < len(text):
        best, back = 0, 0
        for b in range(1, at + 1):
            n = 0
            while at + n < len(text) and text[at + n] == text[at - b + n]:
                n += 1
            if n > best:
                best, back = n, b
        if best < 4:
            at += 1
            continue
        n, m = at - start, best - 4
        packed += bytes([min(n, 15) << 4 | min(m, 15)]) + number(n) + text[start:at] + back.to_bytes(2, "little") + number(m)
        at = start = at + best
    n = len(text) - start
    return packed + bytes([min(n, 15) << 4]) + number(n) + text[start:]


@program()
def lz_decode(rng: Any) -> Case:
    texts = []
    for t in range(32):
        word = bytes(rng.choice(list(b"xyz"), 1 + t % 7))
        texts.append(rng.bytes(t) + word * 6 + bytes(rng.choice(list(b"ab"), 20)) + b"-" * (t * 2))
    packed = [_packed(x) for x in texts]
    room, most = max(map(len, packed)), max(map(len, texts))
    args = [
        _room(packed, room),
        np.array([len(x) for x in packed], np.int32),
        np.zeros((32, most), np.uint8),
        out(32, np.int32),
        room,
        most,
    ]
    return Case(1, 32, args, {2: _room(texts, most), 3: [len(x) for x in texts]})


@program()
def json_depths(rng: Any) -> Case:
    parts = ["{", "}", "[", "]", ":", '"a:b"', '"\\"["', "t", "f", "7", ",", " "]
    texts = ["".join(rng.choice(parts, 12))[:40] for _ in range(32)]
    want = []
    for text in texts:
        bare = re.sub(r'"(\\.|[^"\\])*("|$)', "", text)
        depths = np.cumsum([(c in "{[") - (c in "}]") for c in bare] or [0])
        names = bare.count(":") + 100 * (bare.count("t") + bare.count("f")) + 10000 * bare.count("7")
        want.append((depths[-1], max(0, depths.max()), names))
    return Case(1, 32, [_room([x.encode() for x in texts], 40), out((32, 3), np.int32), 40], {1: want})
