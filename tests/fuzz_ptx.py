#!/usr/bin/env python3
"""Random and damaged PTX for the parser: a module or diagnostics with places inside of the text, nothing else.

    python -m tests.fuzz_ptx [--count N] [--seed S] [--jobs J] [--seconds T]

An input is a module from a grammar, instructions of the signatures with their neighbours, or a piece of the PTX of the tests or
of other compilers in which tokens or bytes were dropped, doubled, exchanged or replaced. It may take 10 s of CPU time and 20
bytes of memory for each of its bytes, beside 200 MB. A module that is accepted is laid out too (oric fmt): it stays the same,
and laying it out again changes nothing. An input that ends otherwise is kept in a file; number and seed say which it was.
"""

from __future__ import annotations

import random
import re
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from oric.ptx import format_text, parse_module
from oric.ptx.recorder import Recorder
from oric.support.diagnostics import CompileError, diagnostics_for

from tests import fuzz_run
from tests.fuzz_run import peak
from tests.ptx.agreement import module, neighbours, number, split
from tests.ptx.grammar import expand
from tests.ptx.records import described
from tests.ptx.signature_examples import Example, examples
from tests.ptx_corpus.archive import COMPILERS, modules

HERE = Path(__file__).parent
SECONDS = 10.0
BYTES_EACH, BYTES_MORE = 20, 200_000_000
FOREIGN = 1_500_000  # characters of each other compiler's modules
PIECE = 3_000  # characters of a corpus file that are damaged, mostly
TARGETS = ("sm_90", "sm_90a", "sm_100a", "sm_75", "sm_120a")
VERSIONS = ("9.0", "9.0", "9.0", "8.3", "7.8")
JUNK = (
    "0f",
    "0x",
    "'",
    '"',
    "\x00",
    "é",
    "\ud800",
    "<",
    "/*",
    "*/",
    "//",
    "::",
    "1e999",
    "{{",
    "}}",
    "[",
    ".v4",
    ".b128",
    "@!",
    "\r\n",
    "#line 1",
    "\f",
    "%",
    "$",
)
_TOKEN = re.compile(r"\s+|//[^\n]*|[\w$%.:]+|.", re.DOTALL)


@cache
def corpus() -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The PTX of the tests, of the examples and of other compilers, with the places where its functions begin."""
    texts = [text for compiler in COMPILERS for _, text in modules(compiler, FOREIGN)]
    texts += [p.read_text(encoding="utf-8") for p in sorted([*HERE.rglob("*.ptx"), *(HERE.parent / "examples").glob("*.ptx")])]
    return tuple((text, tuple(m.start() for m in re.finditer(r"\.entry|\.func|\.visible", text)) or (0,)) for text in texts)


@cache
def vocabulary() -> tuple[str, ...]:
    """Words of the language."""
    words = {m[0] for text, _ in corpus() for m in _TOKEN.finditer(text[:20_000])}
    return (*sorted(words), *JUNK)


@cache
def instructions() -> tuple[Example, ...]:
    """Instructions of the signatures."""
    return tuple(examples())


@cache
def fitting(version: str, target: str) -> tuple[str, ...]:
    """Instructions that modules of this version and target have."""
    have, sm = int(version.replace(".", "")), number(target)
    found = []
    for example in examples():
        ptx, least, arch = example.gates
        gone = example.removed is not None and have >= example.removed[0] and sm >= example.removed[1]
        if ptx <= have and least <= sm and (not arch or target in arch) and not gone:
            found.append(example.text)
    return tuple(found)


@cache
def productions() -> dict[str, tuple[str, ...]]:
    """What the grammar takes from the signatures."""
    texts = [example.text for example in instructions()]
    return {"signature": tuple(_renamed(text) + ";" for text in texts), "head": tuple({t.split(" ")[0]: None for t in texts})}


def _renamed(text: str) -> str:
    """An example with the registers that the grammar declares."""
    names = {"b32": "r", "u32": "r", "s32": "r", "b64": "rd", "u64": "rd", "s64": "rd", "f32": "f", "f64": "fd", "pred": "p"}
    return re.sub(r"%([a-z]+\d*)_", lambda m: f"%{names.get(m[1], 'rs')}", text)


def from_grammar(rng: random.Random) -> str:
    """A module of the grammar, sometimes with some tokens damaged."""
    text = expand(rng, "module", productions())
    return damage_tokens(rng, text) if rng.random() < 0.4 else text


def from_signatures(rng: random.Random) -> str:
    """Instructions of the signatures, their neighbours, and these with operands and words of others."""
    version, target = rng.choice(VERSIONS), rng.choice(TARGETS)
    if rng.random() < 0.3:
        return module(version, target, rng.sample(fitting(version, target), 8))[0]
    lines = []
    for _ in range(rng.choice((1, 2, 4, 8))):
        example = rng.choice(instructions())
        text = example.text if rng.random() < 0.4 else rng.choice(list(neighbours(example)))
        if rng.random() < 0.4:
            head, _, tail = text.partition(" ")
            operands = split(tail)
            other = rng.choice(instructions()).text
            if operands and rng.random() < 0.7:
                operands[rng.randrange(len(operands))] = rng.choice(split(other.partition(" ")[2]) or ["7"])
            else:
                words = head.split(".")
                words.insert(rng.randrange(1, len(words) + 1), rng.choice(other.partition(" ")[0].split(".")))
                head = ".".join(words)
            text = f"{head} {', '.join(operands)}"
        lines.append(text)
    return module(version, target, lines)[0]


def piece(rng: random.Random) -> str:
    """A module of the corpus: whole, or its head and a part that begins with a function."""
    text, starts = rng.choice(corpus())
    if len(text) <= PIECE or rng.random() < 0.01:
        return text
    start = rng.choice(starts)
    return text[: min(starts[0], 600)] + text[start : start + rng.randrange(200, PIECE)] + ("\n}\n" if rng.random() < 0.5 else "")


def damage_tokens(rng: random.Random, text: str) -> str:
    """Some tokens dropped, doubled, exchanged, replaced by others; or the end cut off."""
    tokens = _TOKEN.findall(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        if not tokens:
            break
        at, kind = rng.randrange(len(tokens)), rng.randrange(10)
        if kind < 2:
            tokens[at] = ""
        elif kind == 2:
            tokens[at] *= rng.choice((2, 2, 3, 50))
        elif kind == 3:
            other = rng.randrange(len(tokens))
            tokens[at], tokens[other] = tokens[other], tokens[at]
        elif kind < 8:
            tokens[at] = rng.choice(vocabulary())
        elif kind == 8:
            begin = rng.randrange(len(tokens))
            tokens[at:at] = tokens[begin : begin + rng.randrange(1, 30)]
        elif rng.random() < 0.3:
            del tokens[at:]
    return "".join(tokens)


def damage_bytes(rng: random.Random, text: str) -> str:
    """Some bytes changed."""
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if not data:
            break
        at, kind = rng.randrange(len(data)), rng.randrange(6)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at] = rng.randrange(256)
        elif kind == 2:
            del data[at : at + rng.choice((1, 1, 2, 10, 100))]
        elif kind == 3:
            other = rng.randrange(len(data))
            data[at:at] = data[other : other + rng.choice((1, 2, 10, 100))]
        elif kind == 4:
            data[at:at] = rng.choice(JUNK).encode("utf-8", "surrogatepass")
        else:
            data[at : at + 1] = rng.randbytes(rng.choice((1, 1, 4)))
    return data.decode("utf-8", "surrogateescape")


KINDS: dict[str, Callable[[random.Random], str]] = {
    "grammar": from_grammar,
    "signatures": from_signatures,
    "tokens": lambda rng: damage_tokens(rng, piece(rng)),
    "bytes": lambda rng: damage_bytes(rng, piece(rng) if rng.random() < 0.7 else from_grammar(rng)),
}
WEIGHTS = (35, 25, 20, 20)


def answer(text: str) -> str:
    """Parse a text, and lay it out if it is a module; returns what came of it."""
    diag = diagnostics_for(text, "f.ptx")
    recorder = Recorder(diag.source)
    try:
        parse_module(text, "f.ptx", recorder, None, diag)
    except CompileError as error:
        assert error.diagnostics is diag and diag.error_count, "stopped without an error"
    rendered = diag.render()
    assert bool(rendered) == bool(diag.items), "messages that are not shown"
    for item in diag.items:
        assert -1 <= item.offset <= len(text), f"a place outside of the text: {item.offset} {item.message}"
    if diag.error_count:
        return "refused"
    pretty = format_text(text)
    again = diagnostics_for(pretty, "f.ptx")
    other = Recorder(again.source)
    parse_module(pretty, "f.ptx", other, None, again)
    assert not again.error_count and described(other.result) == described(recorder.result), "laid out it is another module"
    assert format_text(pretty) == pretty, "laid out twice it differs"
    return "accepted"


@contextmanager
def limits(size: int) -> Iterator[None]:
    """The CPU time that an input may take, and its memory.

    Raises:
        fuzz_run.TooLong: time is over.
        MemoryError: it took more memory.
    """
    before, highest = _resident(), peak()
    with fuzz_run.at_most(SECONDS):
        yield
    if peak() > highest and peak() - before > BYTES_EACH * size + BYTES_MORE:
        raise MemoryError(f"{peak() - before} bytes for {size}")


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize()


def step(rng: random.Random, _: None, tried: fuzz_run.Input) -> str:
    """One input."""
    tried.kind = rng.choices(tuple(KINDS), WEIGHTS)[0]
    text = KINDS[tried.kind](rng)
    tried.data = text.encode("utf-8", "surrogatepass")
    with limits(len(text)):
        return f"{tried.kind} {answer(text)}"


def start(_: random.Random) -> None:
    """Chunks share nothing."""


FUZZER = fuzz_run.Fuzzer(start, step, ".ptx", chunk=500, said=50_000, count=500_000)


if __name__ == "__main__":
    sys.exit(fuzz_run.main(FUZZER, __doc__, sys.argv[1:]))
