"""PTX text with calls of intrinsics in it."""

from __future__ import annotations

import re

PREFIX = "__nv_ptx_builtin_ocg_"
Operands = list[tuple[str, str]]  # type and register (or constant) of each


def b32(*registers: str) -> Operands:
    """Operands of 32 bits."""
    return [("b32", register) for register in registers]


class Calls:
    """Calls in a module.

    Attributes:
        declared: the declaration of each function called, by the name behind the prefix.
        made: how many calls there are, by operation.
    """

    def __init__(self) -> None:
        self.declared: dict[str, str] = {}
        self.made: dict[str, int] = {}

    def call(self, guard: str, name: str, arguments: Operands, results: Operands | None = None, before: str = "") -> str:
        """The text of a call; several results are the elements of an array."""
        results = results or []
        operation = name.split("_", maxsplit=1)[0]
        self.made[operation] = self.made.get(operation, 0) + 1
        places = [sum(int(type_[1:]) // 8 for type_, _ in results[:n]) for n in range(len(results) + 1)]
        returned = f"(.param .align 16 .b8 r[{places[-1]}]) " if results else ""
        taken = ", ".join(f".param .{type_} a{n}" for n, (type_, _) in enumerate(arguments))
        self.declared[name] = f".extern .func {returned}{PREFIX}{name} ({taken});"
        lines = [before, f"{{ .param .align 16 .b8 R[{max(4, places[-1])}];"]
        lines += [f".param .{t} A{n}; st.param.{t} [A{n}], {operand};" for n, (t, operand) in enumerate(arguments)]
        given = ", ".join(f"A{n}" for n in range(len(arguments)))
        lines.append(f"{guard}call.uni {'(R), ' if results else ''}{PREFIX}{name}, ({given});")
        lines += [f"ld.param.{t} {register}, [R+{at}];" for at, (t, register) in zip(places, results, strict=False)]
        return "\n".join([*lines, "}"])


def with_calls(text: str) -> str:
    """A module whose ``[[NAME TYPE RESULT, … <- TYPE ARGUMENT, …]]`` are made calls, under the guard in front of them."""
    calls = Calls()

    def operands(written: str) -> Operands:
        return [(type_, operand) for type_, operand in (part.split() for part in written.split(",") if part.strip())]

    def made(found: re.Match[str]) -> str:
        guard, name, results, arguments = found.groups()
        return calls.call(guard or "", name, operands(arguments), operands(results))

    text = re.sub(r"(@!?%?\w+ )?\[\[(\w+)(.*?)<-(.*?)\]\]", made, text)
    assert calls.made
    head, body = text.split(".visible", 1)
    return head + "\n".join(calls.declared.values()) + "\n.visible" + body
