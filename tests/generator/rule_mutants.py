"""Wrong rules that a machine plants: each rewrite rule, and each row of sources that commute, changed at one place.

A change may leave a rule right (a condition that is there for the code, a value that nobody reads). Which of them do is no
business of those who make them: where the proof lets one pass, :mod:`tests.generator.rule_values` has another opinion of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from oricgen.errors import SpecError
from oricgen.isa.model import Operation
from oricgen.rewriting import checks, resolve
from oricgen.rewriting.model import (
    Anything,
    Commute,
    Constant,
    Literal,
    ModifierTest,
    Node,
    Rule,
    Rules,
    Source,
    Truth,
    Variable,
)
from oricgen.rewriting.proof import Prover, Refuted
from oricgen.rewriting.resolve import PAIR, Resolver

from tests import specification
from tests.generator.rule_values import Opinion, Unknown

# Comparisons in conditions, each with those that stand for a mistake of the author.
_COMPARISONS = {"<": ("<=",), "<=": ("<",), "==": ("!=",), "!=": ("==",), ">": (">=",), ">=": (">",)}
_NUMBER = re.compile(r"(?<![\w#])(0x[0-9a-f]+|\d+)\b")
_COMPARISON = re.compile(r"<=|>=|==|!=|(?<!<)<(?![<=])|(?<!>)>(?![>=])")
_OPERATORS = {" + ": " - ", " - ": " + ", " << ": " >> ", " & ": " | ", " | ": " & "}
_ALL = 0xFFFFFFFF


@dataclass(frozen=True)
class Planted:
    """A wrong rule: what was done to the rule, and the rule as it is now."""

    kind: str
    rule: Rule

    @property
    def name(self) -> str:
        """What it is called in lists and messages: stays the same when rules are added elsewhere."""
        return f"{self.kind}: {self.rule.text()}"


@dataclass(frozen=True)
class PlantedOrder:
    """A wrong row of sources that may change places."""

    kind: str
    operation: str
    row: Commute

    @property
    def name(self) -> str:
        """As of a rule."""
        return f"{self.kind}: {self.operation}"


# -- trees -----------------------------------------------------------------------------------------------------------


def _changed(root: Source, change: _Change) -> Iterator[tuple[str, Source]]:
    """The tree with each of the changes of each of its nodes and leaves, one at a time."""
    yield from change(root)
    if isinstance(root, Node):
        for at, source in enumerate(root.sources):
            for kind, new in _changed(source, change):
                yield kind, replace(root, sources=(*root.sources[:at], new, *root.sources[at + 1 :]))


class _Change:
    """Changes of a node or leaf of one side of a rule."""

    def __init__(self, resolver: Resolver, rules: Rules, made: bool) -> None:
        self.resolver, self.rules, self.made = resolver, rules, made

    def __call__(self, source: Source) -> Iterator[tuple[str, Source]]:
        """Every change of this one; what is below it is the caller's."""
        match source:
            case Variable(_, _, negated):
                yield "the other sign", replace(source, negated=not negated)
                if not self.made:
                    yield "any operand", Anything()
            case Truth(value):
                yield "the other truth", Truth(not value)
            case Literal(value, exact):
                yield "a number one more", Literal(value + 1 & _ALL)
                yield "a number one less", Literal(value - 1 & _ALL)
                if exact:
                    yield "a zero of the other sign", Literal(value)
            case Constant(text) if self.made:
                yield "a constant one more", Constant(f"({text}) + 1")
                yield "a constant of the other sign", Constant(f"-({text})")
                yield from (("another operator", Constant(new)) for new in _operators(text))
            case Node():
                yield from self._node(source)

    def _node(self, node: Node) -> Iterator[tuple[str, Node]]:
        if not self.made or node.negated:
            yield "the other sign of a result", replace(node, negated=not node.negated)
        yield from self._sources(node)
        for at, test in enumerate(node.modifiers):
            for new in self._modifiers(node, test):
                yield "another modifier", replace(node, modifiers=(*node.modifiers[:at], new, *node.modifiers[at + 1 :]))
        if node.operation in self.resolver.operations:
            for name in self._others(self.resolver.operations[node.operation]):
                known = {m.name for m in self.resolver.operations[name].mods}
                kept = tuple(test for test in node.modifiers if test.name in known)
                yield "another operation", replace(node, operation=name, modifiers=kept)

    def _sources(self, node: Node) -> Iterator[tuple[str, Node]]:
        """Sources that are next to each other change places, where that is not allowed."""
        row = self.rules.commute.get(node.operation)
        free = {} if row is None or row.swap or row.table or row.negated is not None else set(row.positions)
        slots = self.resolver.slots(node.operation)
        for at, (one, other) in enumerate(zip(node.sources, node.sources[1:], strict=False)):
            first, second = slots[at], slots[at + 1]
            if one != other and first.words == second.words and not {first.position, second.position} <= set(free):
                swapped = (*node.sources[:at], other, one, *node.sources[at + 2 :])
                yield "sources in each other's place", replace(node, sources=swapped)

    def _modifiers(self, node: Node, test: ModifierTest) -> Iterator[ModifierTest]:
        """A modifier with another value, or one value of those that it may have."""
        modifier = self.resolver.modifier(node, test.name)
        assert modifier is not None
        if test.text:
            yield replace(test, text=f"({test.text}) ^ 1")
            yield replace(test, text=f"({test.text}) + 1")
        elif test.value:
            others = [name for name in modifier.codes if name != test.value] or [str(int(test.value, 0) ^ bit) for bit in (1, 8)]
            yield from (replace(test, value=name) for name in others[:3])
        elif self.made and modifier.codes:
            yield from (replace(test, value=name, bound="") for name in list(modifier.codes)[:2])

    def _others(self, operation: Operation) -> Iterator[str]:
        """Operations of the patterns that take the same sources and make as much."""
        shape = _shape(operation)
        used = {node.operation for rule in self.rules.rules for node in rule.match.nodes()}
        used |= {rule.make.operation for rule in self.rules.rules if isinstance(rule.make, Node)}
        for name in sorted(used & set(self.resolver.operations) - {operation.name}):
            if _shape(self.resolver.operations[name]) == shape:
                yield name


def _shape(operation: Operation) -> list[tuple[str, int, bool]]:
    return [
        (o.kind, Resolver.width(operation, at), o.writes)
        for at, o in enumerate(operation.operands)
        if not o.kind.endswith("pred") or not at
    ]


# -- expressions -----------------------------------------------------------------------------------------------------


def _operators(text: str) -> Iterator[str]:
    for old, new in _OPERATORS.items():
        for found in re.finditer(re.escape(old), text):
            yield text[: found.start()] + new + text[found.end() :]


def _conditions(text: str) -> Iterator[tuple[str, str]]:
    """A condition with another comparison, and with numbers that are one off."""
    for found in _COMPARISON.finditer(text):
        for new in _COMPARISONS[found[0]]:
            yield "another comparison", text[: found.start()] + new + text[found.end() :]
    for found in _NUMBER.finditer(text):
        for kind, step in (("a bound one more", 1), ("a bound one less", -1)):
            if int(found[0], 0) + step >= 0:
                yield kind, f"{text[: found.start()]}{int(found[0], 0) + step:#x}{text[found.end() :]}"


# -- rules -----------------------------------------------------------------------------------------------------------


def of_rule(rule: Rule, resolver: Resolver, rules: Rules) -> Iterator[Planted]:
    """Every wrong variant of a rule."""
    for kind, new in _changed(rule.make, _Change(resolver, rules, True)):
        yield Planted(f"made {kind}", replace(rule, make=new))
    for kind, new in _changed(rule.match, _Change(resolver, rules, False)):
        assert isinstance(new, Node)
        if new.negated:
            continue  # nothing is around the root that could read it with a minus
        yield Planted(f"matched {kind}", replace(rule, match=new))
    for variable in _variables(rule, resolver):
        yield Planted("made another variable", replace(rule, make=variable))
    for at, text in enumerate(rule.conditions):
        rest = rule.conditions[:at], rule.conditions[at + 1 :]
        yield Planted("a condition that is forgotten", replace(rule, conditions=(*rest[0], *rest[1])))
        for kind, new_text in _conditions(text):
            yield Planted(f"a condition with {kind}", replace(rule, conditions=(*rest[0], new_text, *rest[1])))
    for column, other in (("unsigned", "signed"), ("signed", "unsigned")):
        for name, bits in getattr(rule, column):
            yield Planted("a width that is forgotten", replace(rule, **{column: ()}))
            for wide in (bits + 1, 2 * bits):
                yield Planted("another width", replace(rule, **{column: ((name, wide),)}))
            yield Planted("a width of the other sign", replace(rule, **{column: (), other: ((name, bits),)}))


def _variables(rule: Rule, resolver: Resolver) -> Iterator[Variable]:
    """In place of a variable that is made alone: the others of as many words."""
    if not isinstance(rule.make, Variable):
        return
    words = {}
    for node in rule.match.nodes():
        for source, slot in zip(node.sources, resolver.slots(node.operation), strict=False):
            if isinstance(source, Variable):
                words[source.name] = slot.words
    yield from (Variable(n, rule.make.keeps_signs) for n in words if n != rule.make.name and words[n] == words[rule.make.name])


def of_order(name: str, row: Commute, resolver: Resolver) -> Iterator[PlantedOrder]:
    """Every wrong variant of a row of sources that commute."""
    for modifier, values in row.swap:
        yield PlantedOrder(f"no {modifier.name} changes its name", name, replace(row, swap=()))
        for one in values:
            kept = {old: new for old, new in values.items() if old != one}
            kind = f"{modifier.texts.get(one, one)} of {modifier.name} stays"
            yield PlantedOrder(kind, name, replace(row, swap=((modifier, kept),)))
    if row.table is not None:
        yield PlantedOrder("no truth table", name, replace(row, table=None))
    if row.negated is not None:
        yield PlantedOrder("a predicate that stays", name, replace(row, negated=None))
    if row.any_nan:
        yield PlantedOrder("a NaN that is that one", name, replace(row, any_nan=False))
    for slot in resolver.slots(name):
        like = next(s for s in resolver.slots(name) if s.position == row.positions[0])
        if slot.position not in row.positions and slot.words == like.words and slot.words > 0:
            positions = (row.positions[0], slot.position)
            yield PlantedOrder("another source", name, replace(row, positions=positions, table=None))


def orders(resolver: Resolver, rules: Rules) -> list[PlantedOrder]:
    """All wrong rows, and such rows of operations whose sources do not commute."""
    found = [planted for name, row in rules.commute.items() for planted in of_order(name, row, resolver)]
    used = {node.operation for rule in rules.rules for node in rule.match.nodes()} - {PAIR}
    for name in sorted(used & set(resolver.operations) - set(rules.commute)):
        slots = [s for s in resolver.slots(name) if s.words > 0]
        if len(slots) > 1 and slots[0].words == slots[1].words:
            found.append(PlantedOrder("sources that do not commute", name, Commute((slots[0].position, slots[1].position))))
    return found


def all_rules(resolver: Resolver, rules: Rules) -> list[Planted]:
    """All wrong rules, each text once."""
    known = {rule.text() for rule in rules.rules}
    found: dict[str, Planted] = {}
    for rule in rules.rules:
        for planted in of_rule(rule, resolver, rules):
            if planted.rule.text() not in known and _is_well_made(planted.rule, resolver, rules):
                found.setdefault(planted.rule.text(), planted)
    return list(found.values())


def _is_well_made(rule: Rule, resolver: Resolver, rules: Rules) -> bool:
    """Whether only the proof can see that a rule is wrong: all that it names is there, and something may be what it looks for."""
    try:
        resolve.check_names(resolver, rules, rule)
        checks.reachable(rule, resolver)
    except SpecError:
        return False
    return True


# -- judging ---------------------------------------------------------------------------------------------------------

# Right rules that no second opinion is on, and why they are right.
RIGHT = {
    "a condition with another comparison: "
    "in FADD, FMUL, FFMA, FSETP, FMNMX: FADD{ftz=flushes}(x*, -RZ) => x* if flushes < root_ftz": "it fires less often",
}
DRAWS, TRIES = 200, 2000


@dataclass
class Verdicts:
    """What became of wrong rules; ``missed`` are those that mean something else and that the proof lets pass."""

    refuted: int = 0
    vacuous: int = 0  # they fit nothing, which the proof refuses too
    right: int = 0  # the change left them right
    missed: list[str] = field(default_factory=list)

    def rule(self, planted: Planted, prover: Prover) -> None:
        """Prove a wrong rule; where that is done, ask for another opinion."""
        try:
            prover.prove(planted.rule)
        except Refuted:
            self.refuted += 1
            return
        except (SpecError, ValueError):  # nothing fits; a constant makes no sense
            self.vacuous += 1
            return
        try:
            found = Opinion(planted.rule, prover.resolver).differs(DRAWS, TRIES)
        except Unknown as unknown:
            found = "" if planted.name in RIGHT else f"there is no second opinion on {unknown}"
        if found:
            self.missed.append(f"{planted.name}: {found}")
        self.right += not found

    def order(self, planted: PlantedOrder, prover: Prover) -> None:
        """Prove a wrong row of sources that commute; none of them is right."""
        try:
            prover.prove_commute(planted.operation, planted.row)
        except Refuted:
            self.refuted += 1
            return
        self.missed.append(planted.name)


def main() -> int:
    """Say what becomes of all of them: python -m tests.generator.rule_mutants."""
    spec = specification.spec()
    rules, verdicts = resolve.load(spec), Verdicts()
    prover = Prover(Resolver(spec), rules)
    for planted in all_rules(prover.resolver, rules):
        verdicts.rule(planted, prover)
    for order in orders(prover.resolver, rules):
        verdicts.order(order, prover)
    print(f"{verdicts.refuted} wrong rules refuted, {verdicts.vacuous} that fit nothing, {verdicts.right} that are right")
    print(*verdicts.missed, sep="\n")
    return len(verdicts.missed)


if __name__ == "__main__":
    raise SystemExit(main())
