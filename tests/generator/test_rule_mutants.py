"""Wrong rules planted by a machine in every rewrite rule: the proof refutes each that means something else."""

from __future__ import annotations

import zlib
from functools import cache

import pytest
from oricgen.rewriting import resolve
from oricgen.rewriting.proof import Prover
from oricgen.rewriting.resolve import Resolver

from tests import specification
from tests.generator import rule_mutants
from tests.generator.rule_mutants import Planted, Verdicts
from tests.generator.rule_values import Opinion, Unknown

PARTS = 8  # of the whole set: each may run in a process of its own
SHARE = 24  # one of so many is tried in each run of the tests
LEAST = 2000  # that are refuted
KINDS = 20  # of changes


@cache
def prover() -> Prover:
    spec = specification.spec()
    return Prover(Resolver(spec), resolve.load(spec))


@cache
def planted() -> list[Planted]:
    """All of them in an order of chance, which is the same in each run."""
    return sorted(rule_mutants.all_rules(prover().resolver, prover().rules), key=lambda one: zlib.crc32(one.name.encode()))


def judged(some: list[Planted]) -> Verdicts:
    verdicts = Verdicts()
    for one in some:
        verdicts.rule(one, prover())
    assert verdicts.missed == []
    return verdicts


def test_every_rule_has_wrong_variants_of_many_kinds() -> None:
    rules = prover().rules.rules
    lines = {(one.rule.path, one.rule.line) for one in planted()}
    assert lines == {(rule.path, rule.line) for rule in rules}
    assert len({one.kind for one in planted()}) >= KINDS


def test_a_sample_is_refuted() -> None:
    assert judged(planted()[::SHARE]).refuted >= LEAST // SHARE


@pytest.mark.measure
@pytest.mark.parametrize("part", range(PARTS))
def test_all_are_refuted(part: int) -> None:
    assert judged(planted()[part::PARTS]).refuted >= LEAST // PARTS


def test_wrong_sources_that_commute_are_refuted() -> None:
    verdicts = Verdicts()
    for one in rule_mutants.orders(prover().resolver, prover().rules):
        verdicts.order(one, prover())
    assert verdicts.missed == []
    assert verdicts.refuted >= len(prover().rules.commute)


def test_the_second_opinion_agrees_on_the_rules() -> None:
    """It knows all operations but those of floats, and has nothing against a rule."""
    unknown = 0
    for rule in prover().rules.rules:
        try:
            assert Opinion(rule, prover().resolver).differs(30, 1000) == "", rule.text()
        except Unknown:
            unknown += 1
            assert rule.within is not None
    assert unknown <= 2


def test_right_rules_are_among_those_planted() -> None:
    assert set(rule_mutants.RIGHT) <= {one.name for one in planted()}
