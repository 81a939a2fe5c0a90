"""Rules that cannot fire, that an earlier rule takes everything from, or that do not end are refused."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from ..errors import Mistakes, SpecError
from .model import Anything, Commute, Constant, Literal, ModifierTest, Node, Rule, Rules, Source, Truth, Variable
from .orders import orders
from .resolve import ADDRESSES, PAIR, Resolver
from .show import show

COPY = "MOV"


def check(rules: Rules, resolver: Resolver) -> None:
    """Check all rules.

    Raises:
        SpecError: the first rule, or function, that is refused.
    """
    with Mistakes() as each:
        for rule in rules.rules:
            with each:
                reachable(rule, resolver)
                _ends(rule, rules.rank)
    with Mistakes() as each:
        for number, rule in enumerate(rules.rules):
            with each:
                for earlier in rules.rules[:number]:
                    if _takes_all(earlier, rule, rules.commute, resolver):
                        why = f"{earlier.path}:{earlier.line} takes all that it fits"
                        raise SpecError(rule.path, rule.line, f"the rule is never used: {why}")
        with each:
            _functions(rules)


# -- reachable -------------------------------------------------------------------------------------------------


def reachable(rule: Rule, resolver: Resolver) -> None:
    """Check that something can be what a rule looks for.

    Raises:
        SpecError: the rule is never used.
    """
    for node in rule.match.nodes():
        if node.operation == COPY:
            raise SpecError(rule.path, rule.line, f"the rule is never used: copies are read through, no {COPY} is met")
        slots = resolver.slots(node.operation)
        for source, slot in zip(node.sources, slots, strict=False):
            _source(rule, node, source, slot.words, slot.operand.marks if slot.operand is not None else "", slot.operand is None)
        if node.operation not in ADDRESSES and all(isinstance(s, Constant | Literal) for s in node.sources):
            raise SpecError(rule.path, rule.line, f"the rule is never used: {node.operation} of constants is computed before")
    if isinstance(rule.make, Node):
        for source, slot in zip(rule.make.sources, resolver.slots(rule.make.operation), strict=False):
            marks = slot.operand.marks if slot.operand is not None else ""
            if isinstance(source, Variable) and source.negated and slot.words and "-" not in marks:
                raise SpecError(rule.path, rule.line, f"{rule.make.operation} has no signs at the source '{show(source)}'")
    for text in rule.conditions:
        if not any(isinstance(n, ast.Name) for n in ast.walk(ast.parse(text, mode="eval"))):
            raise SpecError(rule.path, rule.line, f"'{text}' is always the same")


def _source(rule: Rule, node: Node, source: Source, words: int, marks: str, is_address: bool) -> None:
    is_negated = (isinstance(source, Variable | Node) and source.negated) or (isinstance(source, Literal) and source.exact)
    keeps = isinstance(source, Variable) and source.keeps_signs
    takes_signs = not words and not is_address  # predicates can be negated
    if not takes_signs and ((is_negated and "-" not in marks) or (keeps and not marks)):
        raise SpecError(rule.path, rule.line, f"the rule is never used: {node.operation} has no signs at that source")
    if isinstance(source, Literal) and words == 1 and not -(1 << 31) <= source.value < 1 << 32:
        raise SpecError(rule.path, rule.line, f"the rule is never used: {source.value} has more than 32 bits")


# -- ends ------------------------------------------------------------------------------------------------------


def _ends(rule: Rule, rank: Mapping[str, int]) -> None:
    known = {leaf.text for leaf in rule.match.leaves() if isinstance(leaf, Constant) and f"{leaf.text} != 0" in rule.conditions}
    before, after = _measure(rule, rule.match, rank, known), _measure(rule, rule.make, rank, None)
    if before <= after:
        raise SpecError(
            rule.path, rule.line,
            f"the rule may go on for ever: operations, rank, sources that are not zero are {before} before and {after} after; "
            "one of them must become less, those before it stay the same",
        )  # fmt: skip


def _measure(rule: Rule, source: Source, rank: Mapping[str, int], known: set[str] | None) -> tuple[int, int, int]:
    """Operations of a tree, rank of its root, sources that are not zero: what every rule makes less, in this order.

    ``known`` are the constants that are not zero; None: all may be.
    """
    if not isinstance(source, Node):
        return 0, 0, 0
    if isinstance(rule.make, Node) and source.operation not in rank and source.operation not in ADDRESSES:
        raise SpecError(rule.path, rule.line, f"{source.operation} has no place under 'rank'")
    zero = {leaf for leaf in source.leaves() if isinstance(leaf, Constant) and known is not None and leaf.text not in known}
    leaves = [*source.leaves()][: -1 if source.operation in ADDRESSES else None]  # an offset is there in any case
    nonzero = sum(1 for leaf in leaves if leaf != Literal(0) and leaf not in zero)
    operations = sum(1 for node in source.nodes() if node.operation != PAIR)
    return operations, rank.get(source.operation, 0), nonzero


# -- shadowed --------------------------------------------------------------------------------------------------


def _takes_all(one: Rule, other: Rule, commute: Mapping[str, Commute], resolver: Resolver) -> bool:
    """Whether the first rule fits everything that the second fits; one that asks to be the only reader does not fit others."""
    if (one.alone and not other.alone) or one.unsigned or one.signed:
        return False
    return (not one.conditions or one.conditions == other.conditions) and covers(one, other, commute, resolver)


def covers(one: Rule, other: Rule, commute: Mapping[str, Commute], resolver: Resolver) -> bool:
    """Whether the pattern of the first rule, conditions apart, fits everything that the second fits."""
    if (one.within is None) != (other.within is None):
        return False
    if one.within is not None and other.within is not None and not set(other.within.text()) <= set(one.within.text()):
        return False
    return any(True for _ in _ways(one.match, other.match, {}, one.match, commute, resolver))


def _ways(
    one: Node, other: Node, names: dict[str, Source], root: Node, commute: Mapping[str, Commute], resolver: Resolver
) -> Iterator[dict[str, Source]]:
    """What the variables of ``one`` stand for, for each way in which it fits whatever fits ``other``."""
    if one.operation != other.operation or one.negated != other.negated:
        return
    if len(one.sources) != len(other.sources) or not _covers_modifiers(one.modifiers, other.modifiers):
        return
    plain = [slot.position for slot in resolver.slots(one.operation)]
    for order in orders(root, one, commute, resolver):
        if order.table and any(not t.value for t in one.modifiers):
            continue  # another order is another table
        there = [other.sources[plain.index(position)] for position in order.positions]
        yield from _each(list(zip(one.sources, there, strict=True)), names, root, commute, resolver)


def _each(
    pairs: list[tuple[Source, Source]], names: dict[str, Source], root: Node, commute: Mapping[str, Commute], resolver: Resolver
) -> Iterator[dict[str, Source]]:
    if not pairs:
        yield names
        return
    (mine, theirs), *rest = pairs
    if isinstance(mine, Node):
        if isinstance(theirs, Node):
            for found in _ways(mine, theirs, names, root, commute, resolver):
                yield from _each(rest, found, root, commute, resolver)
        return
    bound = dict(names)
    if _covers(mine, theirs, bound):
        yield from _each(rest, bound, root, commute, resolver)


def _covers_modifiers(one: tuple[ModifierTest, ...], other: tuple[ModifierTest, ...]) -> bool:
    mine, theirs = {t.name: t.value for t in one}, {t.name: t.value for t in other}
    for name, value in theirs.items():
        if name not in mine or (mine[name] and mine[name] != value):
            return False
    return all(not value or name in theirs for name, value in mine.items())


def _covers(one: Source, other: Source, names: dict[str, Source]) -> bool:
    """Whether a leaf fits whatever fits the other; binds its variable."""
    match one:
        case Anything():
            return True
        case Variable(name, keeps, negated):
            if isinstance(other, Anything | Truth | Node):
                return False
            if isinstance(other, Variable) and not keeps and (other.keeps_signs or other.negated != negated):
                return False
            if isinstance(other, Literal) and (other.exact or negated):
                return False
            return names.setdefault(name, other) == other
        case Constant(text):
            return isinstance(other, Constant | Literal) and names.setdefault(f"#{text}", other) == other
        case _:
            return one == other


# -- functions -------------------------------------------------------------------------------------------------


def _functions(rules: Rules) -> None:
    used: set[str] = set()
    for rule in rules.rules:
        for text in _expressions(rule):
            used |= {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)}
    for name, function in rules.functions.items():
        if name not in used:
            raise SpecError(function.path, function.line, f"{name}: no rule names this function")


def _expressions(rule: Rule) -> list[str]:
    made = [rule.make] if isinstance(rule.make, Node) else []
    out = [*rule.conditions, *(m.text for node in made for m in node.modifiers if m.text)]
    leaves = list(rule.make.leaves()) if isinstance(rule.make, Node) else [rule.make]
    return out + [leaf.text for leaf in leaves if isinstance(leaf, Constant)]
