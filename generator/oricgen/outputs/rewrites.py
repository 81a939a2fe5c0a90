"""``oric_tables/rewrites.py``: the algebraic rules of spec/rewrites as tables by opcode word."""

from __future__ import annotations

import ast
import itertools
from pathlib import PurePath
from typing import Any

from ..errors import SpecError
from ..isa import rows
from ..isa.model import Operation
from ..render import template
from ..spec import Spec

FOLDER = "rewrites"
# Codes of source patterns; a variable is its number, with KEEP_SIGNS when signs are kept; immediates lie above IMM.
ANY, ZERO, TRUE, FALSE = -1, -2, -3, -4
KEEP_SIGNS, IMM = 16, 1 << 32
_PLAIN = {"?": ANY, "RZ": ZERO, "PT": TRUE, "!PT": FALSE}
_FOLD_NAMES = {"a", "b", "c", "m", "bin", "int"}


class _Tables:
    """The rules while they are collected."""

    def __init__(self, spec: Spec) -> None:
        machine = rows.load(spec)
        self.operations = {o.name: o for o in machine.operations}
        self.words = rows.opcode_words(spec, machine)
        self.rules: dict[int, list[tuple[Any, ...]]] = {}
        self.fold: dict[int, tuple[str, tuple[int, ...], str]] = {}
        self.commute: dict[int, tuple[Any, ...]] = {}

    def operation(self, name: str, path: PurePath, line: int) -> Operation:
        """The operation of that name."""
        if name not in self.operations:
            raise SpecError(path, line, f"{name}: there is no such operation in spec/encoding")
        return self.operations[name]


def render(spec: Spec) -> dict[str, str]:
    """Render the rules."""
    tables = _Tables(spec)
    for name, data in spec.family(FOLDER).items():
        path = spec.path(name)
        for number, rule in enumerate(data["rules"]):
            _rule(tables, rule, path, data["rules"].line_of(number))
        for op, text in data["fold"].items():
            _fold(tables, op, text, path, data["fold"].line_of(op))
        for op, entry in data["commute"].items():
            _commute(tables, op, entry, path, data["commute"].line_of(op))
    return {"oric_tables/rewrites.py": template("rewrites.py.j2", rules=tables.rules, fold=tables.fold, commute=tables.commute)}


def _pattern(token: Any) -> int:
    if isinstance(token, int):
        return IMM + (token & 0xFFFFFFFF)
    if token in _PLAIN:
        return _PLAIN[token]
    return "xyz".index(token[0]) + (KEEP_SIGNS if token.endswith("*") else 0)


def _rule(tables: _Tables, rule: Any, path: PurePath, line: int) -> None:
    operation = tables.operation(rule["op"], path, line)
    result = tables.operation(rule["replace"], path, line)
    sources = [i for i, o in enumerate(operation.operands) if not o.writes]
    targets = [i for i, o in enumerate(result.operands) if not o.writes]
    search, made = [_pattern(t) for t in rule["search"]], [_pattern(t) for t in rule["with"]]
    if len(search) > len(sources) or len(made) > len(targets):
        raise SpecError(path, line, f"{operation.name}: it or {result.name} has fewer sources")
    if targets[: len(made)] != list(range(1, len(made) + 1)):
        raise SpecError(path, line, f"{operation.name}: the sources of {result.name} do not follow its destination")
    bound = {p & ~KEEP_SIGNS for p in search if 0 <= p < IMM}
    for pattern in made:
        if pattern in (ANY,) or (0 <= pattern < IMM and pattern & ~KEEP_SIGNS not in bound):
            raise SpecError(path, line, f"{operation.name}: 'with' names something that 'search' does not")
    mask, value = _mods(operation, rule, path, line)
    orders = {tuple(search)}
    if "orders" in rule:
        orders = {(*order, *search[3:]) for order in itertools.permutations(search[:3])}
    entries = [
        (tuple(zip(sources, o, strict=False)), mask, value, tables.words[result.name], tuple(made)) for o in sorted(orders)
    ]
    earlier = tables.rules.setdefault(tables.words[operation.name], [])
    if all(any(_covers(before, entry) for before in earlier) for entry in entries):
        raise SpecError(path, line, f"{operation.name}: the rule is never used: earlier ones take all that it fits")
    earlier += entries


def _covers(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    """Whether the first rule fits everything that the second fits."""
    wanted = dict(other[0])
    sources = all(pattern in {ANY, wanted.get(place, ANY)} for place, pattern in one[0])
    return sources and one[1] & ~other[1] == 0 and other[2] & one[1] == one[2]


def _mods(operation: Operation, rule: Any, path: PurePath, line: int) -> tuple[int, int]:
    """Mask and value of the packed modifiers that a rule asks for."""
    wanted = dict(rule.get("mods", {}))
    known = {m.name for m in operation.mods}
    for name in [*wanted, *rule.get("any", [])]:
        if name not in known:
            raise SpecError(path, line, f"{operation.name}: there is no modifier '{name}'")
    mask = value = 0
    for mod in operation.mods:
        if mod.name in rule.get("any", []):
            continue
        mask |= (1 << mod.width) - 1 << mod.shift
        if mod.name in wanted:
            key = wanted[mod.name]
            key = str(key).lower() if isinstance(key, bool) else key
            if isinstance(key, str) and key not in mod.codes:
                raise SpecError(path, line, f"{operation.name}: modifier '{mod.name}' has no value '{key}'")
            value |= (mod.codes[key] if isinstance(key, str) else key) << mod.shift
    return mask, value


def _fold(tables: _Tables, name: str, text: str, path: PurePath, line: int) -> None:
    operation = tables.operation(name, path, line)
    try:
        names = {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)}
    except SyntaxError as error:
        raise SpecError(path, line, f"{name}: '{text}' is no expression: {error.msg}") from error
    if not names <= _FOLD_NAMES:
        raise SpecError(path, line, f"{name}: '{text}' uses unknown names: {', '.join(sorted(names - _FOLD_NAMES))}")
    places = {o.name: i for i, o in enumerate(operation.operands)}
    order = tuple(places.get(n, -1) for n in ("Ra", "Rb", "Rc"))
    tables.fold[tables.words[name]] = (operation.ident.lower(), order, text)


def _commute(tables: _Tables, name: str, entry: Any, path: PurePath, line: int) -> None:
    operation = tables.operation(name, path, line)
    places = {o.name: i for i, o in enumerate(operation.operands)}
    for source in entry["sources"]:
        if source not in places:
            raise SpecError(path, line, f"{name}: there is no operand '{source}'")
    swaps = []
    for mod_name, values in entry.get("swap", {}).items():
        mod = next((m for m in operation.mods if m.name == mod_name), None)
        if mod is None or not set(values) | set(values.values()) <= set(mod.codes):
            raise SpecError(path, line, f"{name}: modifier '{mod_name}' has no such values")
        table = {mod.codes[a]: mod.codes[b] for a, b in values.items()}
        swaps.append((mod.shift, (1 << mod.width) - 1, dict(sorted(table.items()))))
    tables.commute[tables.words[name]] = (tuple(places[s] for s in entry["sources"]), tuple(swaps))
