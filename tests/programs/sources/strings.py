"""Launches of strings.cu; the references are Python's own functions or the definition of what is asked."""

from __future__ import annotations

import base64
import fnmatch
import itertools
from typing import Any

import numpy as np

from tests.programs.case import Case, out, program

WORDS = ("a", "ab", "abab", "ba", "x")


def letters(rng: Any, rows: int, length: int, alphabet: bytes = b"ab") -> Any:
    return rng.choice(np.frombuffer(alphabet, np.int8), (rows, length))


def rows_of(texts: list[bytes], width: int) -> Any:
    made = np.zeros((len(texts), width), np.uint8)
    for row, text in zip(made, texts, strict=True):
        row[: len(text)] = np.frombuffer(text, np.uint8)
    return made


@program()
def match_kmp(rng: Any) -> Case:
    texts, pattern = letters(rng, 64, 40), b"abaab"
    want = [sum(bytes(row[i:]).startswith(pattern) for i in range(40)) for row in texts]
    return Case(2, 32, [texts, np.frombuffer(pattern, np.int8).copy(), out(64, np.int32), 40, 5], {2: want})


@program()
def match_horspool(rng: Any) -> Case:
    texts, pattern = letters(rng, 64, 50, b"abc").astype(np.uint8), b"bca"
    want = [bytes(row).find(pattern) for row in texts]
    return Case(2, 32, [texts, np.frombuffer(pattern, np.uint8).copy(), out(64, np.int32), 50, 3], {2: want})


@program()
def base64_encode(rng: Any) -> Case:
    data = rng.integers(0, 256, 3 * 96).astype(np.uint8)
    return Case(3, 32, [data, out(4 * 96, np.uint8)], {1: np.frombuffer(base64.b64encode(data.tobytes()), np.uint8)})


@program()
def base64_decode(rng: Any) -> Case:
    data = rng.integers(0, 256, 3 * 96).astype(np.uint8)
    text = np.frombuffer(base64.b64encode(data.tobytes()), np.uint8).copy()
    return Case(3, 32, [text, out(3 * 96, np.uint8)], {1: data})


@program()
def utf8_decode(rng: Any) -> Case:
    texts = ["plain", "größe", "日本語", "emoji 🙂🙃", "", "aé漢🙂z"] * 5
    encoded = [text.encode() for text in texts] + [b"ok\xff", b"\xc3", b"\xe6\x97x", b"\x80"]
    width = 32
    rows, points, lengths = rows_of(encoded, width), out((len(encoded), width), np.int32), out(len(encoded), np.int32)
    want = points.copy()
    counts = []
    for row, text in enumerate(encoded):
        start = text.decode(errors="strict") if row < len(texts) else text[: -1 if row == 30 else 0].decode()[:2]
        want[row, : len(start)] = [ord(c) for c in start]
        counts.append(len(start) if row < len(texts) else -1)
    return Case(1, len(encoded), [rows, points, lengths, width], {1: want, 2: counts})


@program()
def number_text(rng: Any) -> Case:
    numbers = rng.integers(-(1 << 63), (1 << 63) - 1, 64) >> rng.integers(0, 63, 64)
    numbers[:3] = [-(1 << 63), (1 << 63) - 1, 0]
    texts = out((64, 24), np.uint8)
    want = texts.copy()
    for row, value in zip(want, numbers, strict=True):
        text = str(value).encode() + b"\0"
        row[: len(text)] = np.frombuffer(text, np.uint8)
    return Case(2, 32, [numbers, texts, out(64, np.int64)], {1: want, 2: numbers})


def longest(a: bytes, b: bytes) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        before = 0
        for j, y in enumerate(b):
            row[j + 1], before = (before + 1 if x == y else max(row[j], row[j + 1])), row[j + 1]
    return row[-1]


@program()
def common_subsequence(rng: Any) -> Case:
    a, b = letters(rng, 3, 48, b"acgt"), letters(rng, 3, 48, b"acgt")
    want = [longest(bytes(x), bytes(y)) for x, y in zip(a, b, strict=True)]
    return Case(3, 64, [a, b, out(3, np.int32), 48], {2: want})


def best_distance(pattern: bytes, text: bytes) -> int:
    """Of the pattern from the text as a whole."""
    row = list(range(len(pattern) + 1))
    for j, y in enumerate(text):
        before, row[0] = row[0], j + 1
        for i, x in enumerate(pattern):
            row[i + 1], before = min(before + (x != y), row[i] + 1, row[i + 1] + 1), row[i + 1]
    return row[-1]


@program()
def distance_bits(rng: Any) -> Case:
    p, s = letters(rng, 32, 40, b"abc"), letters(rng, 32, 50, b"abc")
    want = [best_distance(bytes(x), bytes(y)) for x, y in zip(p, s, strict=True)]
    return Case(1, 32, [p, s, out(32, np.int32), 40, 50], {2: want})


@program()
def prefix_decode(rng: Any) -> Case:
    codes = ["0", "10", "110", "1110", "11110", "111110", "11111100", "11111101", "11111110", "11111111"]
    lengths, symbols = np.zeros(256, np.uint8), np.zeros(256, np.uint8)
    for symbol, code in enumerate(codes):
        for rest in itertools.product("01", repeat=8 - len(code)):
            index = int(code + "".join(rest), 2)
            lengths[index], symbols[index] = len(code), symbol
    count, words = 40, 12
    want = np.minimum(rng.geometric(0.4, (32, count)) - 1, 9).astype(np.uint8)
    rows = ["".join(codes[s] for s in row).ljust(32 * words, "0") for row in want]
    bits = np.frombuffer(b"".join(int(row, 2).to_bytes(4 * words, "big") for row in rows), "<u4").copy()
    return Case(1, 32, [bits, lengths, symbols, out((32, count), np.uint8), words, count], {3: want})


@program()
def expand_copies(rng: Any) -> Case:
    most, size = 24, 200
    tokens, counts = np.zeros((32, most), np.uint16), rng.integers(8, most, 32).astype(np.int32)
    result = out((32, size), np.uint8)
    want = result.copy()
    for row in range(32):
        text = bytearray()
        for k in range(counts[row]):
            if k < 3 or rng.random() < 0.4:
                tokens[row, k] = rng.integers(0, 256)
                text.append(int(tokens[row, k]))
            else:
                back, length = int(rng.integers(1, min(len(text), 15) + 1)), int(rng.integers(1, 9))
                tokens[row, k] = length << 12 | back << 8 | (1 << 8 if back == 0 else 0)
                for _ in range(length):
                    text.append(text[-back])
        want[row, : len(text)] = np.frombuffer(bytes(text), np.uint8)
    return Case(1, 32, [tokens, counts, result, most, size], {2: want})


@program()
def count_tokens(rng: Any) -> Case:
    texts = letters(rng, 32, 60, b"ab1 7+ ")
    want = np.zeros((32, 4), np.int32)
    for row, text in zip(want, texts, strict=True):
        state = 0
        for c in bytes(text).decode():
            kind = 0 if c == " " else 1 if c.isalpha() else 2 if c.isdigit() else 3
            step = [[0, 1, 2, 3], [0, 1, 1, 3], [0, 3, 2, 3], [0, 3, 3, 3]][state][kind]
            row[state] += step == 0
            state = step
        row[state] += 1
    return Case(1, 32, [texts, out((32, 4), np.int32), 60], {1: want})


@program()
def wildcards(rng: Any) -> Case:
    pairs = [(b"".join(rng.choice([b"a", b"b"], 9)), b"".join(rng.choice([b"a", b"b", b"?", b"*"], 6))) for _ in range(60)]
    pairs += [(b"", b""), (b"", b"*"), (b"abc", b"*c"), (b"abc", b"*d")]
    want = [fnmatch.fnmatchcase(text.decode(), pattern.decode()) for text, pattern in pairs]
    args = [rows_of([t for t, _ in pairs], 12), rows_of([p for _, p in pairs], 8), out(64, np.uint8), 12, 8]
    return Case(1, 64, args, {2: want})


@program()
def run_lengths(rng: Any) -> Case:
    data = np.repeat(rng.integers(0, 4, 256), rng.integers(1, 6, 256))[:256].astype(np.uint8)
    starts = np.flatnonzero(np.concatenate([[True], data[1:] != data[:-1]]))
    values, places = out(256, np.uint8), out(256, np.int32)
    want_values, want_places = values.copy(), places.copy()
    want_values[: starts.size], want_places[: starts.size] = data[starts], starts
    return Case(1, 256, [data, values, places, out(1, np.int32)], {1: want_values, 2: want_places, 3: [starts.size]})


@program()
def suffix_order(rng: Any) -> Case:
    text = letters(rng, 1, 96, b"ab").astype(np.uint8)[0]
    want = sorted(range(96), key=lambda k: bytes(text[k:]))
    return Case(1, 96, [text, out(96, np.int32)], {1: want})
