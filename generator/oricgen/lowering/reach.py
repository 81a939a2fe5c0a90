"""Whether every lowering rule, and every case of it, is ever chosen.

The compiler tries the rules of a family in order and stops at the first that holds for all operands. So a rule is dead when,
on every target, all PTX instructions that it fits have no signature or are taken by an earlier rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

Words = tuple[str, ...]
Slots = Sequence[tuple[str, tuple[str, ...], bool]]  # name, words, optional
Alternative = tuple[Any, ...]  # as the compiler of rules makes it
Context = tuple[str, frozenset[str]]  # encoding model, features of a target
_ISAS, _WHEN, _TEST = 0, 1, 2  # columns of an alternative


@dataclass(frozen=True)
class Rule:
    """A compiled rule and where it stands."""

    name: str
    path: str
    line: int
    case_lines: tuple[int, ...]  # of each alternative
    slots: Slots
    count: int  # of operands, -1 for any
    alternatives: Sequence[Alternative]

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """All words that its pattern has."""
        return frozenset(word for _, words, _ in self.slots for word in words)


def spellings_in(rule: Rule, form: Slots) -> list[Words]:
    """What is written as a form of spec/ptx and fits the pattern of a rule; word by word, as most end at the first."""
    begun: list[tuple[Words, int]] = [((), 0)]
    for _, words, optional in rule.slots:
        longer = []
        for spelled, at in begun:
            ends = ((word, _behind(form, at, word)) for word in words)
            longer += [((*spelled, word), end) for word, end in ends if end is not None]
            longer += [(spelled, at)] if optional else []
        begun = longer
    return [spelled for spelled, at in begun if all(optional for _, _, optional in form[at:])]


def _behind(slots: Slots, at: int, word: str) -> int | None:
    """The slot behind the one that takes a word, from slot ``at`` on; None where a slot that must stand is passed."""
    for number in range(at, len(slots)):
        _, choices, optional = slots[number]
        if word in choices:
            return number + 1
        if not optional:
            return None
    return None


def can_make(rule: Rule, words: Words, context: Context) -> bool:
    """Whether a rule can make code of what is written so, of some operands."""
    return any(_possible(row, context) and _expressible(row, rule, words, context) for row in rule.alternatives)


def dead(rules: list[Rule], signatures: list[Slots], contexts: Sequence[Context]) -> Iterator[tuple[Rule, int, str]]:
    """Each rule or case of an instruction that is never chosen: the rule, the number of the case, why."""
    for place, rule in enumerate(rules):
        for case in range(len(rule.alternatives)):
            why = _never_chosen(rules[:place], rule, case, signatures, contexts)
            if why:
                yield rule, case, why


def _never_chosen(earlier: list[Rule], rule: Rule, case: int, forms: list[Slots], contexts: Sequence[Context]) -> str:
    """Why a case is dead; "" when it is not."""
    row = rule.alternatives[case]
    here = [context for context in contexts if _possible(row, context)]
    if not here:
        return "no target has its operations and features"
    why = "no instruction of spec/ptx is written so"
    for words in _spellings(rule.slots):
        if not any(tokens_of(form, words) is not None for form in forms):
            continue
        able = [context for context in here if _expressible(row, rule, words, context)]
        if not able:
            why = "its operations have no modifiers for these qualifiers"
        for context in able:
            taken = _taken_by(earlier, rule, case, words, context)
            if not taken:
                return ""
            why = f"all that it fits is taken by {taken}"
    return why


def _taken_by(earlier: list[Rule], rule: Rule, case: int, words: Words, context: Context) -> str:
    """What the compiler chooses before this case, whatever the operands are; "" for nothing."""
    for number, before in enumerate(rule.alternatives[:case], 1):
        if _certain(before, rule, words, context):
            return f"case {number}"
    for other in earlier:
        if other.count not in {-1, rule.count} or not other.vocabulary.issuperset(words):
            continue
        if any(_certain(row, other, words, context) for row in other.alternatives):
            return f"'{other.name}' ({other.path}:{other.line})"
    return ""


def _possible(row: Alternative, context: Context) -> bool:
    isa, features = context
    return (row[_ISAS] is None or isa in row[_ISAS]) and all(
        (name[1:] not in features) if name.startswith("!") else name in features for name in row[_WHEN]
    )


def _expressible(row: Alternative, rule: Rule, words: Words, context: Context) -> bool:
    """The words are an instance of the rule, and its operations have a modifier for each on the target."""
    tokens = tokens_of(rule.slots, words)
    sets = [s for line in row[-1] if not isinstance(line, int) for s in line[2] if not s[0].startswith("=")]
    return tokens is not None and all(name not in tokens or _has(table, tokens[name], context[0]) for name, table in sets)


def _has(table: dict[str, Any], token: str, isa: str) -> bool:
    """Whether a set says something for a qualifier on an encoding model."""
    return token in table and (isinstance(table[token], int) or isa in table[token])


def _certain(row: Alternative, rule: Rule, words: Words, context: Context) -> bool:
    """The row is chosen on this target whatever the operands are."""
    return not row[_TEST] and _possible(row, context) and _expressible(row, rule, words, context)


def _spellings(slots: Slots) -> Iterator[Words]:
    """All mnemonics that a pattern fits, as words behind the family."""
    choices: list[list[Words]] = [[*((word,) for word in words), *([()] if optional else [])] for _, words, optional in slots]
    for combination in product(*choices):
        yield tuple(word for part in combination for word in part)


def tokens_of(slots: Slots, words: Words) -> dict[str, str] | None:
    """Slot name -> word when the words fit the slots in order, None otherwise; the compiler does the same."""
    tokens: dict[str, str] = {}
    at = 0
    for name, choices, optional in slots:
        if at < len(words) and words[at] in choices:
            tokens[name] = words[at]
            at += 1
        elif not optional:
            return None
    return tokens if at == len(words) else None
