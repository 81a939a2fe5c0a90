"""The notation of a pattern, from its tree."""

from __future__ import annotations

from .model import Anything, Constant, Literal, ModifierTest, Node, Source, Truth, Variable


def show(source: Source) -> str:
    """The text that :func:`oricgen.rewriting.parse.pattern` reads."""
    match source:
        case Anything():
            return "?"
        case Variable(name, keeps, negated):
            return "-" * negated + name + "*" * keeps
        case Constant(text):
            return f"#{text}" if text.isidentifier() else f"#({text})"
        case Literal(value, exact):
            return ("-" if exact else "") + (hex(value) if value > 9 else str(value) if value else "RZ")
        case Truth(value):
            return "PT" if value else "!PT"
        case Node():
            inside = ", ".join(show(s) for s in source.sources)
            return f"{'-' * source.negated}{source.operation}{''.join(map(_modifier, source.modifiers))}({inside})"


def _modifier(test: ModifierTest) -> str:
    tail = test.value or test.bound or (f"#({test.text})" if test.text else "")
    return f"{{{test.name}={tail}}}" if tail else f"{{{test.name}}}"
