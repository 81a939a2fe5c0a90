"""Rewrite rules: each is proved, wrong ones are refuted, and the functions that they name do what their sentences say."""

from __future__ import annotations

import random
import re
import shutil
from functools import cache
from pathlib import Path

import pytest
import yaml
from oric.ir import conditions
from oric_tables import rewrites
from oric_tables.numbers import OFFSET_REACH
from oricgen.cli import main
from oricgen.errors import UsageError
from oricgen.rewriting import checks, resolve
from oricgen.rewriting.model import Rule
from oricgen.rewriting.orders import PERMUTATIONS
from oricgen.rewriting.parse import pattern
from oricgen.rewriting.proof import Prover, Refuted
from oricgen.rewriting.resolve import Resolver
from oricgen.rewriting.show import show

from tests import specification
from tests.generator import planted
from tests.generator.planted import Mistake

RULES = resolve.load(specification.spec())
TUPLES = 10_000
WRONG = planted.read(Path(__file__).with_name("wrong_rules.yaml"))


@cache
def prover() -> Prover:
    return Prover(Resolver(specification.spec()), RULES)


def place(rule: Rule) -> str:
    return f"{Path(rule.path).name}:{rule.line}"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rule", RULES.rules, ids=place)
def test_a_rule_is_proved(rule: Rule) -> None:
    assert prover().prove(rule) >= TUPLES


@pytest.mark.parametrize("name", RULES.commute)
def test_sources_that_commute_are_proved(name: str) -> None:
    assert prover().prove_commute(name, RULES.commute[name]) >= TUPLES


@pytest.mark.parametrize("rule", RULES.rules, ids=place)
def test_what_is_shown_of_a_rule_is_the_rule(rule: Rule) -> None:
    assert pattern(show(rule.match), "", 0) == rule.match
    assert pattern(show(rule.make), "", 0, made=True) == rule.make


# -- wrong rules -----------------------------------------------------------------------------------------------------


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mistake", WRONG, ids=[m.name for m in WRONG])
def test_a_wrong_rule_is_refuted(mistake: Mistake) -> None:
    """It passes all checks but the proof, which names file, line and operands."""
    spec = specification.spec().edited({mistake.file: mistake.text()})
    rules, resolver = resolve.load(spec), Resolver(spec)
    checks.check(rules, resolver)
    (line,) = mistake.lines()
    found = [rule for rule in rules.rules if (rule.path, rule.line) == (f"spec/{mistake.file}", line)]
    swaps = [item for item in rules.commute.items() if (item[1].path, item[1].line) == (f"spec/{mistake.file}", line)]
    tried = Prover(resolver, rules)
    with pytest.raises(Refuted) as error:
        if found:
            tried.prove(found[0])
        else:
            tried.prove_commute(*swaps[0])
    assert str(error.value).startswith(f"spec/{mistake.file}:{line}: ")
    assert mistake.message in str(error.value)


def test_there_are_enough_wrong_rules() -> None:
    listed = yaml.safe_load((planted.FOLDER / "rewrites.yaml").read_text(encoding="utf-8"))
    assert len(WRONG) >= 30 and len(WRONG) + len(listed) >= 80
    assert len({m.name for m in WRONG}) == len(WRONG)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("VIADD(x, RZ)", "DRSQ(x)", "cannot be proved: it fits nothing, or there is no value"),
        ('"VIADD(x, RZ)", make: "x"', '"IADD3(x, #k, RZ)", make: "x", if: ["k == 5", "k == 6"]', "cannot be proved"),
    ],
)
def test_a_rule_that_cannot_be_tried_is_refused(old: str, new: str, message: str) -> None:
    text = (planted.ROOT / "spec/rewrites/algebra.yaml").read_text(encoding="utf-8")
    assert text.count(old) == 1
    edited = specification.spec().edited({"rewrites/algebra.yaml": text.replace(old, new)})
    rules = resolve.load(edited)
    line = text[: text.index(old)].count("\n") + 1
    (rule,) = [rule for rule in rules.rules if rule.path.endswith("algebra.yaml") and rule.line == line]
    with pytest.raises(Exception, match=re.escape(f"spec/rewrites/algebra.yaml:{line}: {message}")):
        Prover(Resolver(edited), rules).prove(rule)


def test_sources_of_an_opaque_operation_cannot_be_proved() -> None:
    text = (planted.ROOT / "spec/rewrites/algebra.yaml").read_text(encoding="utf-8")
    edited = specification.spec().edited(
        {"rewrites/algebra.yaml": text.replace("\n  FADD: {sources", "\n  SHFL: {sources: [Rb, Rc]}\n  FADD: {sources")}
    )
    rules = resolve.load(edited)
    with pytest.raises(Exception, match="SHFL: cannot be proved: it has no value"):
        Prover(Resolver(edited), rules).prove_commute("SHFL", rules.commute["SHFL"])


def test_a_build_of_another_specification_proves_nothing() -> None:
    resolver = Resolver(specification.spec())
    resolver.operations = dict(list(resolver.operations.items())[1:])
    with pytest.raises(UsageError, match="build/ is that of another specification"):
        Prover(resolver, RULES)


# -- functions -------------------------------------------------------------------------------------------------------

TESTED = {"reachable", "reachable64", "exponent", "logic"}  # by the tests below, against the sentence of each


def test_every_function_has_a_test() -> None:
    assert set(RULES.functions) == TESTED


def test_reachable_is_the_range_of_offsets() -> None:
    """An offset of a memory operation can hold the sum of two signed words."""
    limit = OFFSET_REACH
    rng = random.Random(1)
    edges = [0, 1, -1, limit, limit - 1, -limit, -limit - 1, (1 << 31) - 1, -(1 << 31)]
    pairs = [(a, b) for a in edges for b in edges]
    pairs += [(rng.randrange(-limit, limit), rng.randrange(-limit, limit)) for _ in range(500)]
    for a, b in pairs:
        assert conditions.reachable(a & 0xFFFFFFFF, b & 0xFFFFFFFF) == (-limit <= a + b < limit), (a, b)
    assert not conditions.reachable(0x7FFFFFFF, 0x7FFFFFFF), "the sum does not wrap"


def test_reachable64_is_the_range_of_offsets() -> None:
    """An offset of a memory operation can hold the sum of a number of 64 bits and a signed word."""
    limit = OFFSET_REACH
    words = [0, 1, -1, limit - 1, -limit, (1 << 31) - 1, -(1 << 31)]
    numbers = [*words, limit, -limit - 1, 1 << 32, -(1 << 32), (1 << 32) - 8, (1 << 63) - 1 - (1 << 31), -(1 << 63) + (1 << 31)]
    for number in numbers:
        for word in words:
            assert conditions.reachable64(number, word & 0xFFFFFFFF) == (-limit <= number + word < limit), (number, word)


def test_exponent_counts_the_zeros_behind_the_last_bit() -> None:
    """The number of zeros behind the last bit that is set, 64 when none is."""
    assert conditions.exponent(0) == 64
    for at in range(63):
        assert (
            conditions.exponent(1 << at) == conditions.exponent(-(1 << at)) == conditions.exponent(5 << at & (1 << 63) - 1) == at
        )
    assert conditions.exponent(-(1 << 63)) == 63


def test_logic_is_the_table_of_a_function_of_functions() -> None:
    """The table of a function (first) of three functions of x, y, z."""
    rng = random.Random(2)
    for _ in range(300):
        table, a, b, c = (rng.randrange(256) for _ in range(4))
        made = conditions.logic(table, a, b, c)
        for row in range(8):
            inner = (a >> row & 1) << 2 | (b >> row & 1) << 1 | c >> row & 1
            assert made >> row & 1 == table >> inner & 1
        assert 0 <= made < 256
    assert conditions.logic(0x6A, 0xF0, 0xCC, 0xAA) == 0x6A


def test_truth_tables_of_sources_in_another_order() -> None:
    for number, order in enumerate(PERMUTATIONS):
        for table in range(256):
            made = rewrites.REORDERED[number * 256 + table]
            for row in range(8):
                bits = [row >> 2 & 1, row >> 1 & 1, row & 1]  # of the sources in the first order
                moved = [0, 0, 0]
                for j, place_ in enumerate(order):
                    moved[place_] = bits[j]
                assert made >> row & 1 == table >> (moved[0] << 2 | moved[1] << 1 | moved[2]) & 1


# -- the command -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("known_specification")
class TestCommand:
    def test_it_prints_what_was_tried(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["prove", "signs.yaml", "spec/rewrites/addresses.yaml"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line.partition(":")[0] for line in lines] == ["spec/rewrites/addresses.yaml", "spec/rewrites/signs.yaml"]
        count = re.fullmatch(r".*: 3 rules, 0 operations that commute, (\d+) tuples of operands", lines[0])
        assert count and int(count[1]) >= 3 * TUPLES

    def test_a_refuted_rule_is_an_error(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        wrong = next(m for m in WRONG if m.file == "rewrites/addresses.yaml")
        shutil.copytree(planted.ROOT / "spec", tmp_path / "spec")
        (tmp_path / "spec" / wrong.file).write_text(wrong.text(), encoding="utf-8")
        assert main(["--root", str(tmp_path), "prove", "addresses.yaml"]) == 1
        said = capsys.readouterr()
        assert said.err.startswith(f"oricgen: error: spec/{wrong.file}:{wrong.lines()[0]}: ")
        assert "the sides differ" in said.err and said.out.startswith("spec/rewrites/addresses.yaml: 3 rules")

    def test_an_unknown_file(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["prove", "sums.yaml"]) == 2
        assert "sums.yaml: no such file of spec/rewrites; there are spec/rewrites/addresses.yaml," in capsys.readouterr().err
