"""Which lowering rules fit a PTX mnemonic: for tables whose rows name the rule that does something."""

from __future__ import annotations

from dataclasses import dataclass

from ..lowering import patterns
from ..lowering.compiler import instances
from ..spec import Spec
from . import lowering

NO_RULE = "none"


@dataclass(frozen=True)
class RuleIndex:
    """The patterns of all rules by family, in the order in which they are tried."""

    families: dict[str, list[tuple[patterns.Pattern, str]]]

    def fitting(self, mnemonic: str) -> list[str]:
        """The rules, named by their patterns, whose slots take all qualifiers of ``div.rn.f32``."""
        family, *words = mnemonic.split(".")
        return list(dict.fromkeys(name for pattern, name in self.families.get(family, ()) if _fits(pattern, words)))

    def wrong(self, mnemonic: str, rule: str) -> str:
        """What is wrong with saying that ``rule`` takes ``mnemonic``; "" when it is right."""
        found = self.fitting(mnemonic)
        if rule == NO_RULE:
            return f"rule is none, but '{found[0]}' takes {mnemonic}" if found else ""
        if rule in found:
            return ""
        known = any(name == rule for rows in self.families.values() for _, name in rows)
        if not known:
            return f"'{rule}' is no rule of spec/lowering"
        return f"rule '{rule}' does not take {mnemonic}; " + (f"'{found[0]}' does" if found else "no rule does")


def index(spec: Spec) -> RuleIndex:
    """The index of spec/lowering."""
    return spec.memo("rule index", lambda: _index(spec))


def _index(spec: Spec) -> RuleIndex:
    rules = lowering.load(spec)
    families: dict[str, list[tuple[patterns.Pattern, str]]] = {}
    for name, data in rules.files.items():
        for entry in data.get("rules", ()):
            for one in instances(entry):
                pattern = patterns.parse(one["ptx"], rules.sets, str(spec.path(name)), entry.line_of("ptx"))
                families.setdefault(pattern.family, []).append((pattern, one["ptx"]))
    return RuleIndex(families)


def _fits(pattern: patterns.Pattern, words: list[str]) -> bool:
    at = 0
    for slot in pattern.slots:
        if at < len(words) and words[at] in slot.tokens:
            at += 1
        elif not slot.optional:
            return False
    return at == len(words)
