"""Every rewrite rule fires, in each order of sources that commute, and the function does the same afterwards."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from oric.ir.cursor import Cursor
from oric.ir.interpret import STORED, Thread, difference
from oric.phases.optimize import Walk, general_optimize_early
from oric_rules import matchers
from oric_tables.targets import TARGETS
from oricgen.rewriting import resolve
from oricgen.rewriting.model import Rule
from oricgen.rewriting.proof import Prover
from oricgen.rewriting.resolve import ADDRESSES, Resolver

from tests import specification
from tests.ir.functions import context
from tests.ir.rules import Builder, Built, Unfit

RULES = resolve.load(specification.spec())
DRAWS = 60
SEEDS = range(4)
FOLDED = -2  # in place of a rule: the instruction was evaluated


@cache
def builder_parts() -> tuple[Resolver, Prover]:
    resolver = Resolver(specification.spec())
    return resolver, Prover(resolver, RULES)


def place(rule: Rule) -> str:
    return f"{Path(rule.path).name}:{rule.line}"


def builder(rule: Rule, seed: int) -> Builder:
    return Builder(rule, RULES, *builder_parts(), random.Random(f"{rule.text()} {seed}"))


def built(rule: Rule, seed: int) -> Built | None:
    try:
        return builder(rule, seed).build(seed)
    except Unfit:
        return None


def fired(case: Built) -> list[int]:
    """Numbers of the rules that are applied to the root, one after the other, as phase 13 does it."""
    walk = Walk(case.f, TARGETS[case.arch].isa_name)
    values = walk.values
    values.block = 0
    i = case.f.head[0]
    while i != case.root:
        following = case.f.next[i]
        walk._visit(i)
        i = following
    values.substitute(i)
    out: list[int] = []
    for _ in range(4):
        if walk._fold(i):
            return [*out, FOLDED]
        values.fired = -1
        if not matchers.rewrite(values, i) and not matchers.rewrite_address(values, i):
            break
        out.append(values.fired)
    values.fired = -1
    if matchers.HAS_FACTS[case.f.op[i]] and matchers.fact(values, i):
        out.append(values.fired)
    return out


@pytest.mark.sampled(2)
@pytest.mark.parametrize("number", range(len(RULES.rules)), ids=[place(r) for r in RULES.rules])
def test_a_rule_fires(number: int) -> None:
    """The first rule that is applied is this one, or one in front of it that fits this draw too."""
    rule = RULES.rules[number]
    found = [case for seed in range(DRAWS) if (case := built(rule, seed)) is not None]
    assert found, "no function can be made"
    first = Counter((fired(case) or [-1])[0] for case in found)
    said = {matchers.TEXTS[n] if n >= 0 else {FOLDED: "folded", -1: "nothing"}[n]: count for n, count in first.items()}
    assert first[number], f"never fires: {rule.text()}: {said}"
    later = [n for n in first if n > number]
    assert not later or _turns(rule), said


def _turns(rule: Rule) -> bool:
    """Whether sources of the pattern change places for a constant, so that it is another pattern."""
    return any(
        node.operation in RULES.commute and RULES.commute[node.operation].negated is not None for node in rule.match.nodes()
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("number", range(len(RULES.rules)), ids=[place(r) for r in RULES.rules])
def test_a_function_does_the_same_afterwards(number: int) -> None:
    rule = RULES.rules[number]
    compared = 0
    for seed in range(0, DRAWS, 4):
        before, after = built(rule, seed), built(rule, seed)
        if before is None or after is None:
            continue
        general_optimize_early(after.f, context(after.arch))
        for state in SEEDS:
            one, other = Thread(before.f, state), Thread(after.f, state)
            one.run()
            other.run()
            assert one.ended and any(event[0] == STORED for event in one.events)
            told = difference(one, other)
            assert not told, f"{told}\n{before.text()}\n{after.text()}"
            compared += 1
    assert compared


SEVERAL = [
    number
    for number, rule in enumerate(RULES.rules)
    if rule.within is None and rule.match.operation not in ADDRESSES and len(builder(rule, 0).orders(rule.match)) > 1
]


@pytest.mark.parametrize("number", SEVERAL, ids=[place(RULES.rules[n]) for n in SEVERAL])
def test_a_rule_fires_in_each_order(number: int) -> None:
    rule = RULES.rules[number]
    count = len(builder(rule, 0).orders(rule.match))
    seen = set()
    for seed in range(30 * count):
        if seed % count not in seen and (case := built(rule, seed)) is not None and number in fired(case)[:1]:
            seen.add(seed % count)
    assert seen == set(range(count))


@pytest.mark.parametrize("number", range(0, len(RULES.rules), 5))
def test_a_result_that_is_lost_is_seen(number: int) -> None:
    """What the function does depends on the instruction that the rule fits."""
    rule = RULES.rules[number]
    for seed in range(DRAWS):
        before, after = built(rule, seed), built(rule, seed)
        if before is None or after is None:
            continue
        Cursor(after.f).remove(after.root)
        threads = Thread(before.f, seed), Thread(after.f, seed)
        for thread in threads:
            thread.run()
        if difference(*threads):
            return
    pytest.fail("nothing is seen")
