"""Qualifiers in any order that PTX allows, and written twice where it allows that: the same code."""

from __future__ import annotations

import importlib
import random
from functools import cache
from itertools import product
from typing import Any

from oric.ir.text import all_instructions, operands_of
from oric.lower import OriBuilder
from oric.lower.program import Program, Tables
from oric.ptx import parse_module
from oric.ptx.builder import Variant
from oric.ptx.lexer import PtxError
from oric.ptx.recorder import Recorder
from oric.ptx.signatures import entry_of
from oric.ptx.state import State
from oric.support.diagnostics import ERROR, Diagnostics, NotSupported, Source
from oric_tables import lower_index
from oric_tables import ptx_index as ix
from oric_tables.targets import TARGETS

from tests.ptx.agreement import module
from tests.ptx.records import attributes
from tests.ptx.signature_examples import examples

TARGET = TARGETS["sm_90a"]
OF_RULE = 2  # mnemonics of a rule
ORDERS = 1  # of a mnemonic


def shuffled(rng: random.Random, mnemonic: str) -> str:
    """The qualifiers in another order, types, spaces, priorities and layouts in theirs; perhaps one of them a second time."""
    family, *words = mnemonic.split(".")
    fixed = [word for word in words if _sort(word)]
    again = [word for word in words if word in ix.REPEATABLE]
    rng.shuffle(words)
    kept = {sort: iter([word for word in fixed if _sort(word) == sort]) for sort in ("type", "space", "priority", "layout")}
    words = [next(kept[_sort(word)]) if _sort(word) else word for word in words]
    if again and rng.random() < 0.5:
        words.insert(rng.randrange(len(words) + 1), rng.choice(again))
    return ".".join((family, *words))


def _sort(word: str) -> str:
    """What words have their order among themselves: the first of two priorities of a policy is the primary one, the first of two
    layouts is that of A.
    """
    if word in ("row", "col"):
        return "layout"
    if word.startswith("L2::evict_"):
        return "priority"
    return "type" if word in ix.TYPES else "space" if word.partition("::")[0] in ix.SPACES else ""


@cache
def mnemonics() -> tuple[str, ...]:
    """Mnemonics of the rules: of each some ways to fill its slots, a few of them."""
    rng = random.Random(5)
    found = []
    for family, modules in lower_index.FAMILIES.items():
        for name in modules:
            for slots, _, _ in importlib.import_module(f"oric_tables.{name}").RULES[family]:
                ways = [(*words, "") if optional else words for _, words, optional in slots]
                every = list(product(*(rng.sample(way, min(len(way), 2)) for way in ways)))
                found += [".".join((family, *filter(None, way))) for way in rng.sample(every, min(len(every), OF_RULE))]
    return tuple(dict.fromkeys(found))


def variant(text: str) -> Variant | None:
    """The variant of a mnemonic; None when the parser refuses it."""
    state = State("", Recorder(Source("", "")), Diagnostics(Source("", "")), "")
    state.version, state.target, state.sm, state.sm_suffix = 90, "sm_90a", 90, "a"
    try:
        return entry_of(state, text, 0).variant
    except PtxError:
        return None


def programs(tables: Tables, found: Variant) -> list[tuple[Any, ...]]:
    """What is done with a variant: nothing, or what each program in question does."""
    try:
        every = tables.select(found)
    except NotSupported:
        return []
    same = sorted({*attributes(every[0])} - {"text", "first", "last"})
    return [(*(getattr(program, name) for name in same), lines(tables, program)) for program in every]


def lines(tables: Tables, program: Program) -> list[tuple[Any, ...]]:
    """The lines of a program, wherever they lie in the tables: operations, modifiers, guards and operands."""
    return [
        (
            tables.op[line], tables.mods[line], tables.free[line],
            operand(tables, tables.own[line] - 1) if tables.own[line] else None,
            [operand(tables, o) for o in range(tables.start[line], tables.operands_end(line))],
            [
                (tables.set_index[s], tables.set_shift[s], tables.set_mask[s])
                for s in range(tables.set_start[line], tables.set_start[line + 1])
            ],
        )
        for line in range(program.first, program.last)
    ]  # fmt: skip


def operand(tables: Tables, o: int) -> tuple[int, ...]:
    return tables.index[o], tables.keep[o], tables.flip[o], tables.slot[o], tables.view[o]


def test_every_order_of_a_rule_s_qualifiers_selects_the_same_programs() -> None:
    rng = random.Random(6)
    tables = Tables(TARGET)
    orders = 0
    for text in mnemonics():
        if (plain := variant(text)) is None:
            continue
        want = programs(tables, plain)
        for other in {shuffled(rng, text) for _ in range(ORDERS)} - {text}:
            if (found := variant(other)) is not None:
                assert programs(tables, found) == want, f"{text} and {other}"
                orders += bool(want)
    assert orders > 500


def refused(lines: list[str], builder: Any) -> set[int]:
    """Lines of a module with these instructions that get an error."""
    text, first = module("9.0", TARGET.name, lines)
    diag = Diagnostics(Source(text, "m.ptx"), 10**9)
    parse_module(text, "m.ptx", builder, None, diag)
    return {diag.source.line_of(item.offset) - first for item in diag.items if item.severity == ERROR}


def code(lines: list[str]) -> tuple[list[tuple[Any, ...]], set[int]]:
    """The Ori instructions of a kernel that consists of these PTX instructions, and the lines that have none."""
    builder = OriBuilder(TARGET)
    gone = refused(lines, builder)
    (f,) = builder.ir.functions
    return [(f.op[i], f.mods[i], f.guard[i], operands_of(f, i)) for i in all_instructions(f)], gone


def test_every_instruction_becomes_the_same_code_in_every_order() -> None:
    rng = random.Random(7)
    lines = [e.text for e in examples() if e.name.split(".")[0] in lower_index.FAMILIES][::2]
    other = [" ".join((shuffled(rng, line.split(" ")[0]), *line.split(" ")[1:])) for line in lines]
    bad = refused(lines, Recorder(Source("", ""))) | refused(other, Recorder(Source("", "")))
    plain = [line for number, line in enumerate(lines) if number not in bad]
    mixed = [line for number, line in enumerate(other) if number not in bad]
    instructions, missing = code(plain)
    assert code(mixed) == (instructions, missing)
    assert sum(a != b for n, (a, b) in enumerate(zip(plain, mixed, strict=True)) if n not in missing) > 200
