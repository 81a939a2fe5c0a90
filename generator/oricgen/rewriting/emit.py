"""Prints matchers: straight-line typed Python that mypyc compiles, a function a rule and one for each operation at the root."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from ..isa.model import Operand, Operation
from .model import Anything, Constant, Literal, ModifierTest, Node, Rule, Rules, Source, Truth, Variable
from .orders import Order, orders
from .resolve import ADDRESSES, BASE, DIRECT, OFFSET, PAIR, ROOT, Resolver, code_of, words

_FULL = 0xFFFFFFFF
_WHOLE = 2  # words of a pair


class RuleFunction:
    """The function ``_rule_N`` of a rule: ``(v, i)``, for operand rules ``(v, i, at, s0, d0, root modifiers...)``, for addresses
    ``(v, i, base position, offset position)``. It returns whether it fired, or the operand that is learnt (``fact``)."""

    def __init__(self, number: int, rule: Rule, rules: Rules, resolver: Resolver) -> None:
        self.number = number
        self.rule = rule
        self.rules = rules
        self.resolver = resolver
        self.lines: list[str] = []
        self.constants: list[str] = []  # module level
        self.depth = 1
        self.loops = 0
        self.names = 0
        self.variables: dict[str, str] = {}  # of the rule -> local
        self.pending = list(rule.conditions)
        self.is_address = rule.match.operation in ADDRESSES
        self.fact = is_fact(rule, resolver)
        self.inside = [name for name in self._root_names() if rule.within is not None and not self.is_address]

    def text(self) -> str:
        """The definition."""
        rule = self.rule
        parameters = ["v: Values", "i: i64"]
        if self.is_address:
            parameters += ["base: i64", "offset: i64"]
        elif rule.within is not None:
            parameters += ["at: i64", "s0: i64", "d0: i64", *(f"{name}: i64" for name in self.inside)]
        self._match()
        result = "i64" if self.fact else "bool"
        head = f"def _rule_{self.number}({', '.join(parameters)}) -> {result}:\n    # {rule.path}:{rule.line}: {rule.text()}\n"
        return "\n".join(
            [
                "",
                "",
                *self.constants,
                *([""] * 2 if self.constants else []),
                head.rstrip(),
                "    f = v.f",
                *self.lines,
                f"    return {'0' if self.fact else 'False'}",
            ]
        )

    def _root_names(self) -> list[str]:
        """Modifiers of the operation around that the rule names."""
        found = {name for text in self.rule.conditions for name in _names(text)}
        return sorted(name for name in found if name.startswith(ROOT) and name not in self.rules.functions)

    # -- lines -------------------------------------------------------------------------------------------

    def _say(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def _unless(self, condition: str) -> None:
        self._say(f"if {condition}:")
        self._say(f"    {'continue' if self.loops else 'return 0' if self.fact else 'return False'}")

    def _local(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def _bind(self, name: str, local: str) -> None:
        """A name of the rule has its value; conditions that have all they need are tested at once."""
        self.variables[name] = local
        for text in self.pending.copy():
            if _names(text) <= {*self.variables, *self.rules.functions, *self.inside}:
                self.pending.remove(text)
                self._unless(f"not ({self._expression(text)})")

    # -- matching ----------------------------------------------------------------------------------------

    def _match(self) -> None:
        root = self.rule.match
        if self.is_address:
            first, second = self._local("s"), self._local("s")
            self._say(f"{first} = f.get(i, base)")
            self._say(f"{second} = f.get(i, offset)")
            self._sources(root, [first, second], 0, "")
        elif self.rule.within is not None:
            self._node(root, "d0", 1, True)
        else:
            self._node(root, "i", 0, False)
        assert not self.pending
        self._make()

    def _node(self, node: Node, at: str, level: int, checks: bool) -> None:
        """``at`` is the local with the instruction; ``level`` 0 is the root, whose definitions are at hand."""
        operation = self.resolver.operations[node.operation]
        self._modifiers(node, operation, at)
        if checks:
            self._unless(f"not v.is_only_result({at})")
            if self.rule.alone:
                self._unless(f"not v.is_read_once({at})")
        slots = self.resolver.slots(node.operation)
        rest = [i for i in range(len(operation.operands)) if i > slots[len(node.sources) - 1].position]
        added = [i for i in rest if _is_added(operation.operands[i])]
        for i in added:
            self._unless(f"v.carries_in({at}, {i})")
        if any(not operation.operands[i].writes for i in rest if i not in added):
            self._unless(f"not v.rest_is_default({at}, {rest[0]})")
        found = orders(self.rule.match, node, self.rules.commute, self.resolver)
        places = self._places(node, found)
        locals_ = [self._local("s") for _ in node.sources]
        for source, local, place in zip(node.sources, locals_, places, strict=True):
            if not isinstance(source, Anything):
                self._say(f"{local} = f.get({at}, {place})")
        self._table(node, operation, at, found)
        self._sources(node, locals_, level, at, places)

    def _places(self, node: Node, found: list[Order]) -> list[str]:
        """Where each source stands, as an expression; opens a loop over the orders when there are several."""
        if len(found) == 1:
            return [str(p) for p in found[0].positions]
        name = f"_ORDERS_{self.number}_{self.names}"
        numbers = [n for order in found for n in (*order.positions, order.table)]
        self.constants.append(f"{name}: Final = vec[i64]({numbers})")
        width = len(node.sources) + 1
        turn = self._local("k")
        self._say(f"{turn}: i64 = 0")
        self._say(f"while {turn} < {len(numbers)}:")
        self.depth += 1
        self.loops += 1
        here = self._local("k")
        self._say(f"{here} = {turn}")
        self._say(f"{turn} += {width}")
        self._order = f"{name}[{here} + {width - 1}]"
        return [f"{name}[{here} + {n}]" for n in range(len(node.sources))]

    def _modifiers(self, node: Node, operation: Operation, at: str) -> None:
        tests = {t.name: t for t in node.modifiers}
        mask = value = 0
        for modifier in operation.mods:
            test = tests.get(modifier.name)
            if test is not None and not test.value:
                continue
            mask |= (1 << modifier.width) - 1 << modifier.shift
            if test is not None:
                code = code_of(modifier, test.value)
                assert code is not None
                value |= code << modifier.shift
        if mask:
            self._unless(f"f.mods[{at}] & {mask:#x} != {value:#x}")

    def _table(self, node: Node, operation: Operation, at: str, found: list[Order]) -> None:
        """Bind the modifiers that are passed on or named; a truth table as that of the sources in the order of the rule."""
        entry = self.rules.commute.get(node.operation)
        for test in node.modifiers:
            if test.value:
                continue
            modifier = next(m for m in operation.mods if m.name == test.name)
            name = test.bound or test.name
            local = self._local("m")
            text = f"f.mods[{at}] >> {modifier.shift} & {(1 << modifier.width) - 1}"
            is_table = entry is not None and entry.table is not None and entry.table.name == test.name
            if is_table and len(found) > 1:
                text = f"REORDERED[({self._order}) * 256 + ({text})]"
            if name in self.variables:
                self._unless(f"({text}) != {self.variables[name]}")
                continue
            self._say(f"{local} = {text}")
            self._bind(name, local)

    def _sources(self, node: Node, locals_: list[str], level: int, at: str, places: list[str] | None = None) -> None:
        slots = self.resolver.slots(node.operation)
        nested: list[tuple[Node, str, str]] = []
        for number, (source, local, slot) in enumerate(zip(node.sources, locals_, slots, strict=False)):
            is_predicate = slot.operand is not None and slot.operand.kind in ("pred", "upred")
            if isinstance(source, Node):
                nested.append((source, local, places[number] if places is not None and level == 0 else ""))
            else:
                self._leaf(source, local, is_predicate, slot.words)
        for source, local, place in nested:
            if source.operation == PAIR:
                self._pair(source, local, level)
                continue
            inner = self._local("d")
            self._unless(f"{local} & SIGNS != {'NEGATE' if source.negated else '0'}")
            self._say(f"{inner} = v.inner[{place}]" if place else f"{inner} = v.maker_of({local})")
            operation = self.resolver.operations[source.operation]
            self._unless(f"{inner} < 0 or f.op[{inner}] != {operation.number}")
            self._node(source, inner, level + 1, True)

    def _pair(self, source: Node, local: str, level: int) -> None:
        """The words of a pair of registers; a lower word that is a copy stands for what it copies."""
        self._unless(f"not is_pair({local})")
        low, high = self._local("s"), self._local("s")
        self._say(f"{low} = v.copied(opd.word({local}, 0))")
        self._say(f"{high} = opd.word({local}, 1)")
        self._sources(source, [low, high], level + 1, "")

    def _leaf(self, source: Source, local: str, is_predicate: bool, size: int) -> None:
        match source:
            case Anything():
                return
            case Truth(value):
                wanted = "PT_OPERAND" if value else "NOT_PT_OPERAND"
                default = f" and not is_absent({local})" if value else ""
                self._unless(f"{local} != {wanted}{default}")
            case Literal(_, True):
                self._unless(f"{local} != RZ_OPERAND | NEGATE")
            case Literal(value, _) if size == _WHOLE:
                self._unless(f"not v.is_whole({local}, {signed(value)})")
            case Literal(value, _):
                self._unless(f"v.constant({local}) != {value & _FULL:#x} or {local} & ABSOLUTE")
            case Constant(text) if size == _WHOLE:
                self._unless(f"not v.has_whole({local})")
                found = self._local("c")
                self._say(f"{found} = v.whole({local})")
                self._bind(text, found)
            case Constant(text):
                found = self._local("c")
                self._say(f"{found} = v.constant({local})")
                self._unless(f"{found} == NOT_CONSTANT")
                self._bind(text, found)
            case Variable(name, keeps, negated):
                self._variable(name, local, keeps, negated, is_predicate)

    def _variable(self, name: str, local: str, keeps: bool, negated: bool, is_predicate: bool) -> None:
        self._unless(f"is_absent({local})")
        if negated:
            self._unless(f"{local} & SIGNS != NEGATE")
            local = f"({local} ^ NEGATE)"
        elif not keeps:
            self._unless(f"{local} & SIGNS")
        if name in self.variables:
            self._unless(f"{local} != {self.variables[name]}")
            return
        if name == self.rule.is_register:
            self._unless(f"not opd.is_register({local})")
        for which, limits in enumerate((self.rule.unsigned, self.rule.signed)):
            for _, bits in (limit for limit in limits if limit[0] == name):
                self._unless(f"v.width_of({local}, {which}) > {bits}")
        self._bind(name, local)

    def _expression(self, text: str) -> str:
        """An expression of the rule with locals for its names."""

        def replaced(match: re.Match[str]) -> str:
            name = match[0]
            return self.variables.get(name, f"conditions.{name}" if name in self.rules.functions else name)

        return re.sub(r"\b[a-z]\w*\b", lambda m: m[0] if m[0] in {"and", "or", "not"} else replaced(m), text)

    # -- making ------------------------------------------------------------------------------------------

    def _made(self, source: Source, is_predicate: bool = False, size: int = 1) -> str:
        match source:
            case Variable(name, _, negated):
                local = self.variables[name]
                if not negated:
                    return local
                return f"{local} ^ NEGATE" if is_predicate else f"v.negated({local})"
            case Truth(value):
                return "PT_OPERAND" if value else "NOT_PT_OPERAND"
            case Literal(_, True):
                return "RZ_OPERAND | NEGATE"
            case Literal(value, _):
                return f"v.number({value & _FULL:#x})" if size != _WHOLE else f"v.whole_number({signed(value)})"
            case Constant(text) if size == _WHOLE:
                return f"v.whole_number({self._expression(text)})"
            case Constant(text):
                return f"v.number({self._expression(text)})"
            case Anything():
                return "NO_OPERAND"
        raise AssertionError(source)

    def _make(self) -> None:
        make = self.rule.make
        if self.fact:
            self._say(f"v.fired = {self.number}")
            self._say(f"return {self._made(make, True)}")
        elif self.is_address:
            assert isinstance(make, Node)
            base, offset = make.sources
            self._done(f"v.make_address(i, base, {self._made(base)}, offset, {self._offset(offset)})")
        elif self.rule.within is not None:
            self._done(f"v.put_source(i, at, s0, {self._made(make)})")
        elif isinstance(make, Node):
            operation = self.resolver.operations[make.operation]
            slots = self.resolver.slots(make.operation)
            made = [self._made(s, slot.words == 0, slot.words) for s, slot in zip(make.sources, slots, strict=False)]
            carried = [f"v.put_predicate(i, {slots[n].position}, {made[n]})" for n in range(DIRECT, len(made))]
            made = made[:DIRECT] + ["0"] * (DIRECT - len(made))
            mods = " | ".join(filter(None, (self._modifier(operation, t) for t in make.modifiers))) or "0"
            arguments = f"i, {operation.number}, {mods}, {min(len(make.sources), DIRECT)}, {', '.join(made)}"
            self._done(f"v.make({arguments})", carried)
            if self.rule.register:
                self._done(f"v.make_with_register({arguments}, {make.sources.index(Variable(self.rule.register))})", carried)
        elif words(self.resolver.operations[self.rule.match.operation], 0) == _WHOLE:
            self._done(f"v.make_copies(i, {self._made(make, size=_WHOLE)})")
        else:
            self._done(f"v.make_copy(i, {self._made(make)})")

    def _offset(self, source: Source) -> str:
        assert isinstance(source, Constant | Literal)
        return self._expression(source.text) if isinstance(source, Constant) else str(source.value)

    def _done(self, call: str, further: Sequence[str] = ()) -> None:
        self._say(f"if {call}:")
        for line in further:
            self._say(f"    {line}")
        self._say(f"    v.fired = {self.number}")
        self._say("    return True")

    def _modifier(self, operation: Operation, test: ModifierTest) -> str:
        modifier = next(m for m in operation.mods if m.name == test.name)
        mask = (1 << modifier.width) - 1
        if test.value:
            code = code_of(modifier, test.value)
            return f"{code} << {modifier.shift}" if code else ""
        if test.text:
            return f"(({self._expression(test.text)}) & {mask}) << {modifier.shift}"
        return f"{self.variables[test.bound or test.name]} << {modifier.shift}"


def signed(value: int) -> int:
    """A number of 64 bits, or its pattern, as the signed number that matchers compute with."""
    value &= (1 << 64) - 1
    return value - (value >> 63 << 64)


def _is_added(operand: Operand) -> bool:
    """Whether a source that is left out is the false predicate: what a sum carries in."""
    return not operand.writes and operand.default is not None and operand.default.negated


def _names(text: str) -> set[str]:
    return {n.id for n in ast.walk(ast.parse(text, mode="eval")) if isinstance(n, ast.Name)}


def is_fact(rule: Rule, resolver: Resolver) -> bool:
    """Whether a rule says what a predicate is, which becomes known and changes nothing by itself."""
    if rule.within is not None or isinstance(rule.make, Node) or rule.match.operation in ADDRESSES:
        return False
    return resolver.operations[rule.match.operation].operands[0].kind in ("pred", "upred")


def nested_operations(rule: Rule) -> set[str]:
    """Operations of which a source of the root must be made."""
    return {s.operation for s in rule.match.sources if isinstance(s, Node) and s.operation != PAIR}


def _literals(node: Node) -> dict[int, int]:
    """Constant -> how many sources of a pattern must be it."""
    found = Counter(s.value & _FULL for s in node.sources if isinstance(s, Literal) and not s.exact)
    return dict(found)


def _counted(literals: list[int], places: list[tuple[int, int]]) -> list[str]:
    """Lines that count in ``n0``, ``n1`` ... how many sources (positions, words) are each of the constants.

    Of a pair the lower word is looked at: the rule itself looks at both.
    """
    if not literals:
        return []
    lines = [f"n{n}: i64 = 0" for n in range(len(literals))]
    for place, size in places:
        lines.append(f"k{place} = v.{'lower' if size == _WHOLE else 'constant'}(v.f.get(i, {place}))")
        for n, value in enumerate(literals):
            lines += [f"{'el' if n else ''}if k{place} == {value:#x}:", f"    n{n} += 1"]
    return lines


class Dispatch:
    """The functions that choose rules by the operation at the root."""

    def __init__(self, rules: Rules, resolver: Resolver) -> None:
        self.rules = rules
        self.resolver = resolver
        self.functions = [RuleFunction(n, rule, rules, resolver) for n, rule in enumerate(rules.rules)]
        self.looks: dict[str, dict[int, int]] = {}  # operation -> (operation that makes a source -> its bit)

    def roots(self) -> dict[int, str]:
        """Operation number -> body of its function, for what changes instructions."""
        out: dict[int, str] = {}
        plain: dict[int, list[RuleFunction]] = {}
        inside: dict[int, list[RuleFunction]] = {}
        for function in self.functions:
            rule = function.rule
            if function.fact or function.is_address:
                continue
            if rule.within is None:
                plain.setdefault(self.resolver.operations[rule.match.operation].number, []).append(function)
            else:
                for operation in rule.within.operations:
                    inside.setdefault(operation.number, []).append(function)
        by_number = {o.number: o for o in self.resolver.operations.values()}
        for number in sorted({*plain, *inside}):
            lines = self._plain(by_number[number], plain.get(number, [])) + self._inside(
                by_number[number], inside.get(number, [])
            )
            out[number] = "\n".join(f"    {line}" for line in [*lines, "return False"])
        return out

    def _plain(self, operation: Operation, functions: list[RuleFunction]) -> list[str]:
        if not functions:
            return []
        slots = [s for s in self.resolver.slots(operation.name) if s.words]
        literals = sorted({n for f in functions for n in _literals(f.rule.match)})
        lines = _counted(literals, [(s.position, s.words) for s in slots])
        nested = [f for f in functions if nested_operations(f.rule)]
        lines += self._calls([f for f in functions if f not in nested], literals, {})
        if nested:
            wanted = sorted(set().union(*(nested_operations(f.rule) for f in nested)))
            bits = {name: 1 << n for n, name in enumerate(wanted)}
            lines.append("seen: i64 = 0")
            lines += [f"seen |= _look_{operation.ident}(v, i, {s.position})" for s in slots]
            self.looks[operation.ident] = {self.resolver.operations[name].number: bit for name, bit in bits.items()}
            lines += self._calls(nested, literals, bits)
        if sum(1 for o in operation.operands if o.writes) > 1:
            return ["if v.is_only_result(i):", *(f"    {line}" for line in lines)]
        return lines

    def _calls(self, functions: list[RuleFunction], literals: list[int], bits: dict[str, int]) -> list[str]:
        """Calls of rules, each behind what can be seen of the sources before their order is looked at."""
        lines = []
        for f in functions:
            needs = [f"n{literals.index(value)} >= {count}" for value, count in sorted(_literals(f.rule.match).items())]
            mask = sum(bits[name] for name in nested_operations(f.rule))
            if mask:
                needs.append(f"seen & {mask} == {mask}")
            lines.append(f"if {' and '.join([*needs, f'_rule_{f.number}(v, i)'])}:")
            lines += ["    v.combined += 1"] if any(isinstance(s, Node) for s in f.rule.match.sources) else []
            lines.append("    return True")
        return lines

    def _inside(self, operation: Operation, functions: list[RuleFunction]) -> list[str]:
        lines = []
        mods = {m.name: m for m in operation.mods}
        for slot in self.resolver.slots(operation.name):
            if slot.operand is None or slot.operand.kind != "gpr" or not functions:
                continue
            lines += [f"s{slot.position} = v.f.get(i, {slot.position})", f"d{slot.position} = v.maker_of(s{slot.position})"]
            lines.append(f"if d{slot.position} >= 0:")
            for f in functions:
                inner = self.resolver.operations[f.rule.match.operation]
                extra = []
                for name in f.inside:
                    modifier = mods.get(name.removeprefix(ROOT))
                    extra.append("0" if modifier is None else f"v.f.mods[i] >> {modifier.shift} & {(1 << modifier.width) - 1}")
                arguments = ", ".join(["v", "i", str(slot.position), f"s{slot.position}", f"d{slot.position}", *extra])
                lines.append(f"    if v.f.op[d{slot.position}] == {inner.number} and _rule_{f.number}({arguments}):")
                lines += ["        v.combined += 1", "        return True"]
        return lines

    def facts(self) -> dict[int, str]:
        """Operation number -> what looks for the rule that says what its predicate is."""
        found: dict[str, list[RuleFunction]] = {}
        for f in self.functions:
            if f.fact:
                found.setdefault(f.rule.match.operation, []).append(f)
        out = {}
        for name, functions in found.items():
            lines: list[str] = []
            if any(nested_operations(f.rule) for f in functions):
                places = [s.position for s in self.resolver.slots(name) if s.words]
                lines += [f"v.inner[{place}] = v.maker_of(v.f.get(i, {place}))" for place in places]
            for f in functions:
                lines += [f"found = _rule_{f.number}(v, i)", "if found:", "    return found"]
            out[self.resolver.operations[name].number] = "\n".join(f"        {line}" for line in lines)
        return out

    def addresses(self) -> dict[str, list[int]]:
        """ADDRESS32 and ADDRESS64 -> their rules."""
        return {name: [f.number for f in self.functions if f.rule.match.operation == name] for name in ADDRESSES}


def accesses(rules: Rules, resolver: Resolver) -> dict[int, tuple[int, int, int, int]]:
    """Operation number -> positions of base and offset, mask of modifiers that must have their default, position that must be
    left out (-1: none), for the operations with an address; what any rule for addresses asks for holds for all of them."""
    out = {}
    within = [r.within for r in rules.rules if r.match.operation in ADDRESSES and r.within is not None]
    for operation in within[0].operations if within else ():
        places = {o.name: n for n, o in enumerate(operation.operands)}
        mods: Mapping[str, int] = {m.name: (1 << m.width) - 1 << m.shift for m in operation.mods}
        mask = 0
        for name in {n for w in within for n in w.default}:
            mask |= mods.get(name, 0)
        absent = [places[n] for w in within for n in w.absent if n in places]
        out[operation.number] = (places[BASE], places[OFFSET], mask, absent[0] if absent else -1)
    return out


__all__ = ["Dispatch", "RuleFunction", "accesses", "is_fact"]
