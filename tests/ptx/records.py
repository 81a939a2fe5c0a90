"""What :func:`oric.ptx.parse` recorded, without places: two texts of the same module have the same description."""

from __future__ import annotations

import re
from typing import Any

from oric.ptx.builder import Function, Variable
from oric.ptx.recorder import Instruction, Module

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*")


def described(module: Module) -> list[Any]:
    """Everything recorded of a module, as plain data."""
    header = module.header
    assert header is not None
    out: list[Any] = [(header.version, header.target, header.options, header.address_size)]
    out += [_symbol(symbol) for symbol in module.symbols]
    out += [
        module.pragmas,
        module.files,
        module.aliases,
        [(name, _COMMENT.sub("", text).split()) for name, text in module.sections],
    ]
    for body in module.bodies:
        out += [body.parameters, body.variables, body.labels, body.tables, body.lines]
        out.append([(r.type, r.count, r.name, r.first) for r in body.registers])
        out.append([(s.variant.text, s.guard, s.operands) if isinstance(s, Instruction) else s.name for s in body.statements])
    return out


def attributes(of: object) -> tuple[str, ...]:
    """The names of an object's attributes, whether its class is compiled by mypyc or not."""
    names: tuple[str, ...] = getattr(of, "__mypyc_attrs__", None) or getattr(type(of), "__slots__", None) or tuple(vars(of))
    return names


def _symbol(symbol: Variable | Function) -> Any:
    own = {
        name: getattr(symbol, name)
        for name in attributes(symbol)
        if name not in ("body_at", "loc", "params", "returns", "relocs")
    }
    if isinstance(symbol, Variable):
        return own, [[getattr(r, name) for name in attributes(r)] for r in symbol.relocs]
    return own, [_symbol(v) for v in symbol.params], [_symbol(v) for v in symbol.returns]
