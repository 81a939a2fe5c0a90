"""Fetches of textures and queries: their words in the order in which the hardware wants them."""

from __future__ import annotations

from typing import Any, Final

from mypy_extensions import i64
from oric_tables.op import FETCH, FETCH_QUAD

from oric.ir import operand as opd
from oric.ir.calls import WORD
from oric.ir.images import COMPONENTS, KINDS, PAIRS, SINGLE, Fetch, header, stride
from oric.support import nodes
from oric.support.diagnostics import NotSupported

from .driver import call_driver
from .emit import FLOATING, INTEGER, OPERAND, integer, packed, part
from .memory import Memory
from .moves import extract, in_register
from .program import DESC, A, B, C, D, E, Program

_FETCH_WORDS: Final = 7  # of coordinates and what follows them
_NO_LEVEL: Final = 0xC2000000  # -32.0, below every level of detail: where a kernel leaves it to the hardware
_OFFSET_PLACE: Final = 16  # of an offset beside a layer
_OFFSET_BITS: Final = 0xFFF
_HANDLE_ALIGN: Final = 8  # of arguments
_VECTOR_ALIGN: Final = 16
_HALF: Final = 2  # bytes
_ISA_CLASS: Final = 2  # of modules with fetches
_SIZES: Final = {
    "unified": ".nv.unified.texrefDescSize",
    "independent": ".nv.independent.texrefDescSize",
    "sampler": ".nv.independent.samplerrefDescSize",
    "surface": ".nv.surfrefDescSize",
}


def fetch(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``tex`` and ``tld4``."""
    _Fetcher(b, program, guard, operands).run()


class _Fetcher:
    """One fetch. ``words``: coordinates, then what follows them."""

    def __init__(self, b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
        self.b = b
        self.program = program
        self.guard: int = guard
        self.results: Any = operands[0]
        self.resident: Any = None
        if self.results[0] == nodes.PAIR:
            _, self.results, self.resident = self.results
        _, self.place, *more = operands[1]
        self.coordinates = more.pop()
        self.texture: int = handle(b, self.place)
        self.sampler: int = handle(b, more[0]) if more else opd.RZ_OPERAND
        self.independent = bool(more)
        self.rest = list(operands[2:])
        self.geometry = program.tokens["geom"]
        self.stem = program.options["op"]
        self.flags: list[str] = []
        self.first: list[int] = []
        self.words: list[int] = []
        self.level = ""

    def run(self) -> None:
        """Make it."""
        if self._lacks_operation():
            if "uniform_handles" in self.b.target.features:
                self._call_driver()
                return
            found = self.program.options["turns"].split()
            if self.geometry in found[::2]:
                self._take_turns(found[found.index(self.geometry) + 1])
                return
        dim = self._dimensions()
        self._place_coordinates()
        if self.stem == "txd":
            self._take_derivatives()
        else:
            self._take_level()
            offset = self._take_offset()
            if offset is not None:
                self.flags.append("aoffi")
                self.words.append(offset)
            if self.rest and not self._is_offset(self.rest[0]):
                self.flags.append("dc")
                self.words.append(self._word(self.rest[0]))
        made = self._described(self.stem, dim)
        words = [*self.first, *self.words]
        self._emit(FETCH, made, words + [opd.RZ_OPERAND] * (_FETCH_WORDS - len(words)))

    def _described(self, stem: str, dim: str) -> Fetch:
        """What the fetch is beside its operands."""
        mask = sum(1 << n for n, item in enumerate(self._items()) for n in self._components(n) if item[0] != nodes.SINK)
        component = "rgba".index(self.program.tokens.get("comp", "r"))
        sizes = len(self.first), len(self.words)
        return Fetch(stem, dim, *sizes, mask, self.level, component, tuple(self.flags), self.independent, self._halves())

    # -- what no operation does ----------------------------------------------------------------------------

    def _lacks_operation(self) -> bool:
        """Whether no operation takes the derivatives: in three dimensions, or with a value to compare with."""
        if self.stem != "txd":
            return False
        return self.geometry not in self.program.options or self._compared() is not None

    def _compared(self) -> Any:
        """The value to compare with, behind the derivatives and an offset; None for none."""
        behind = self.rest[2:]
        if behind and behind[0][0] == nodes.VEC:
            behind.pop(0)
        return behind[0] if behind and not self._is_offset(behind[0]) else None

    def _take_turns(self, dim: str) -> None:
        """The threads of a quad help each other (:mod:`oric.lower.turns`). Derivatives that are not there are 0."""
        compared = self._compared()
        self._place_coordinates(scaled=False)
        spatial = len(self.first) - (self.geometry[0] == "a")
        derivatives = [word for _ in range(2) for word in self._elements(self.rest.pop(0), stride(spatial))]
        offset = self._take_offset()
        if offset is not None:
            self.flags.append("aoffi")
            self.words.append(offset)
        if compared is not None:
            self.flags.append("dc")
            self.words.append(self._word(compared))
        vectors = [self._together(self.first), self._together(derivatives), self._together(self.words, 1)]
        self._emit(FETCH_QUAD, self._described("tex", dim), vectors)

    def _together(self, words: list[int], before: int = 0) -> i64:
        """A register that has these words, behind ``before`` others."""
        count = before + len(words)
        register = self.b.new("R", 1 << (count - 1).bit_length())
        for n, word in enumerate(words, before):
            self.b.copy(part(register, n), word, 0)
        return opd.reg(register & opd.INDEX, 0, count)

    def _call_driver(self) -> None:
        """Call it: the handle with its kind, coordinates, derivatives, offset, value to compare with."""
        b, program = self.b, self.program
        if "uniform_handles" not in b.target.features or self.independent or b.ir.separate:
            raise NotSupported(program.text)
        vectors = [self._elements(node, len(node[1])) for node in (self.coordinates, *self.rest[:2])]
        arguments = [(self._whole_handle(), _HANDLE_ALIGN), *((words, _VECTOR_ALIGN) for words in vectors)]
        name = f"{program.options['driver']}{'_pred' if self.resident is not None else ''}_{self.geometry}_v4"
        name += f"_{program.tokens['dtype'].removesuffix('x2')}_{program.tokens['ctype']}"
        if len(self.rest) > 2 and self.rest[2][0] == nodes.VEC:
            name += "_offset"
            arguments.append((self._elements(self.rest[2], len(self.rest[2][1])), _VECTOR_ALIGN))
        compared = self._compared()
        if compared is not None:
            name += "_depth_compare"
            arguments.append(([self._word(compared)], WORD))
        call_driver(b, name, 1 + (COMPONENTS // 2 if self._halves() else COMPONENTS), arguments, self.guard, self._take_answer)

    def _whole_handle(self) -> list[int]:
        """Both words of the handle."""
        node = self.place
        if node[0] in (nodes.REG, nodes.ADDR_REG):
            pair = self.b.register(node[1])
            return [part(pair, 0), part(pair, 1)]
        return [self.texture, self.b.constant(KINDS["texref"])]

    def _take_answer(self, words: list[int]) -> None:
        """The first word says whether the texture is resident, the others are the result."""
        b = self.b
        if self.resident is not None and self.resident[0] != nodes.SINK:
            b.template2("is_any", 0, b.dest(self.resident), words[0])
        halves = self._halves()
        for n, item in enumerate(self._items()):
            if item[0] == nodes.SINK:
                continue
            if halves == SINGLE:
                extract(b, b.dest(item), words[1 + n // 2], n % 2, _HALF, False, 0)
            else:
                b.copy(part(b.dest(item), 0), words[1 + n], 0)

    # -- what there is -----------------------------------------------------------------------------------

    def _dimensions(self) -> str:
        dim = self.program.options.get(self.geometry)
        if dim is None:
            raise NotSupported(self.program.text)
        return "1D" if self.independent and self.geometry == "1d" else dim

    def _items(self) -> Any:
        return self.results[1]

    def _components(self, item: int) -> tuple[int, ...]:
        """The components that an element of the result has."""
        step = COMPONENTS // len(self._items())
        return tuple(range(step * item, step * item + step))

    def _is_offset(self, node: Any) -> bool:
        """Whether a scalar behind the coordinates is an offset, which says nothing, rather than a value to compare with."""
        if node[0] == nodes.VEC or node[0] == nodes.INT:
            return True
        return node[0] == nodes.REG and self.b.is_integer(node[1])

    def _word(self, node: Any) -> i64:
        """A register with a word of 32 bits."""
        b = self.b
        value = b.value(node[1][0] if node[0] == nodes.VEC else node)
        if value.kind == OPERAND:
            return part(value.bits, 0)
        if value.kind in (INTEGER, FLOATING) and not value.bits:
            return opd.RZ_OPERAND
        return in_register(b, value)

    def _elements(self, node: Any, count: int) -> list[int]:
        """So many elements of a vector; a scalar stands for the first."""
        items = node[1][:count] if node[0] == nodes.VEC else [node]
        found = [self._word(item) for item in items]
        return found + [opd.RZ_OPERAND] * (count - len(found))

    def _is_flat(self) -> bool:
        """Whether a line is taken for a plane, at 0 in the other direction."""
        return self.geometry == "1d" and self._dimensions() != "1D"

    # -- words ---------------------------------------------------------------------------------------------

    def _place_coordinates(self, scaled: bool = True) -> None:
        """The coordinates, with the layer in front; a sample goes behind them. ``scaled``: as the faces of a cube want them."""
        geometry = self.geometry
        layered = geometry[0] == "a"
        sampled = geometry.endswith("ms")
        spatial = {"1d": 1, "2d": 2, "3d": 3, "cube": 3}[geometry.removeprefix("a").removesuffix("ms")]
        found = self._elements(self.coordinates, sampled + layered + spatial)
        if sampled:
            self.flags.append("ms")
            self.words.append(found.pop(0))
        layer = [self._layer(found.pop(0))] if layered else []
        if scaled and geometry.endswith("cube"):
            found = self._scaled(found)
        if self._is_flat():
            found.append(opd.RZ_OPERAND)
        self.first = layer + found

    def _layer(self, index: i64) -> i64:
        """A layer: at most the greatest number of 16 bits."""
        if index == opd.RZ_OPERAND:
            return index
        dest = self.b.new_r()
        self.b.template("layer", 0, dest, packed(index))
        return dest

    def _scaled(self, found: list[int]) -> list[int]:
        """A direction whose largest component is 1."""
        b = self.b
        scale = b.new_r()
        b.template("cube_scale", 0, scale, *(packed(word) for word in found))
        out = []
        for word in found:
            out.append(b.new_r())
            b.template("scale", 0, out[-1], packed(word), packed(scale))
        return out

    def _take_level(self) -> None:
        """The level of detail."""
        options = self.program.options
        if "level" in options:
            word = self._word(self.rest.pop(0))
            self.level = "LZ" if word == opd.RZ_OPERAND else "LL"
            if self.stem == "tld":
                self.flags.append("cl")
        elif self.stem == "tex" and "implicit_level" not in self.b.target.features:
            word = self.b.constant(_NO_LEVEL)
            self.level = "LL"
        else:
            self.level = "LZ" if self.stem == "tld" else ""
        if self.level == "LL":
            self.words.append(word)

    def _take_offset(self) -> i64 | None:
        """The offsets in one word; None where there are none. Such in no vector say nothing."""
        b = self.b
        if not self.rest or self.rest[0][0] != nodes.VEC:
            return None
        node = self.rest.pop(0)
        step = int(self.program.options["offset"])
        count = {"1d": 1, "2d": 2, "3d": 3}[self.geometry.removeprefix("a").removesuffix("ms")]
        made, *others = self._elements(node, count)
        mask = 0x3F if step > COMPONENTS else 0xF
        for n, word in enumerate(others, 1):
            dest = b.new_r()
            b.template("insert_bits", 0, dest, packed(word), integer(step * n), integer(mask << step * n), packed(made))
            made = dest
        return made

    def _take_derivatives(self) -> None:
        """The derivatives, those of a coordinate beside each other; an offset stands above the layer, behind the coordinates."""
        b = self.b
        count = {"1d": 1, "2d": 2}[self.geometry.removeprefix("a")]
        by_x, by_y = (self._elements(self.rest.pop(0), count) for _ in range(2))
        self.words = [word for pair in zip(by_x, by_y, strict=True) for word in pair]
        if self._is_flat():
            self.words += [opd.RZ_OPERAND] * 2
        layer = [self.first.pop(0)] if self.geometry[0] == "a" else []
        offset = self._take_offset()
        if offset is not None:
            self.flags.append("aoffi")
            dest = b.new_r()
            b.template(
                "insert_bits", 0, dest, packed(offset), integer(_OFFSET_PLACE), integer(_OFFSET_BITS << _OFFSET_PLACE),
                packed(layer[0] if layer else opd.RZ_OPERAND),
            )  # fmt: skip
            layer = [dest]
        self.first += layer

    # -- the operation and its results ---------------------------------------------------------------------

    def _emit(self, op: i64, made: Fetch, words: list[int]) -> None:
        b = self.b
        whole = b.new("R", COMPONENTS)
        absent = opd.PT_OPERAND if self.resident is None or self.resident[0] == nodes.SINK else b.new_p()
        emit_fetch(b, op, made, whole, absent, self.texture, self.sampler, words, self.guard)
        if absent != opd.PT_OPERAND:
            b.template2("move_pred", self.guard, b.dest(self.resident), absent ^ opd.NEGATE)
        step = COMPONENTS // len(self._items())
        for n, item in enumerate(self._items()):
            if item[0] != nodes.SINK:
                b.copy(part(b.dest(item), 0), part(whole, step * n), self.guard)

    def _halves(self) -> int:
        """How the result has halves: two in an element, one, or none."""
        if not self.program.tokens["dtype"].startswith("f16"):
            return 0
        return PAIRS if len(self._items()) < COMPONENTS else SINGLE


def handle(b: Memory, node: Any) -> i64:
    """A register with the handle that an operand names: its lower word, or the header of a reference."""
    if node[0] in (nodes.REG, nodes.ADDR_REG):
        return part(b.register(node[1]), 0)
    if node[0] in (nodes.SYM, nodes.ADDR_SYM):
        return reference(b, node[1])
    if node[0] == nodes.INT or node[0] == nodes.ADDR_IMM:
        return in_register(b, integer(node[1]))
    raise b.unexpected(node, "as a handle")


def reference(b: Memory, symbol: int) -> i64:
    """A register with the header of a reference."""
    place = b.place_of(symbol)
    if b.ir.linked:
        raise NotSupported(f"{place.name} of type .{place.space} in an object to link")
    word = b.new_r()
    b.copy(word, header(place.ir_id), 0)
    return word


def emit_fetch(
    b: Memory, op: i64, made: Fetch, whole: i64, absent: i64, texture: i64, sampler: i64, words: list[int], guard: i64
) -> None:
    """Append the macro operation of a fetch."""
    b.ir.isa_class = max(b.ir.isa_class, _ISA_CLASS)
    number = b.code.imm(made.number())
    cursor = b.stand()
    cursor.make(op, 0, guard)
    for operand in (whole, absent, texture, sampler, *words, number):
        cursor.put(operand)


def query_header(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``txq`` and ``suq`` of what the hardware knows: a component of the dimensions, of a level."""
    mask = int(program.options[program.tokens["query"]])
    level = opd.RZ_OPERAND
    if len(operands) > 2:
        node = operands[2][1][0] if operands[2][0] == nodes.VEC else operands[2]
        value = b.value(node)
        level = part(value.bits, 0) if value.kind == OPERAND else in_register(b, value)
    whole = b.new("R", COMPONENTS)
    words = [level, *[opd.RZ_OPERAND] * (_FETCH_WORDS - 1)]
    made = Fetch("txq", "1D", 1, 0, mask)
    emit_fetch(b, FETCH, made, whole, opd.PT_OPERAND, handle(b, operands[1]), opd.RZ_OPERAND, words, guard)
    if operands[0][0] != nodes.SINK:
        b.copy(part(b.dest(operands[0]), 0), part(whole, mask.bit_length() - 1), guard)


def query_table(b: Memory, program: Program, guard: i64, operands: list[Any]) -> None:
    """``txq`` and ``suq`` of what the driver's tables tell."""
    query = program.tokens["query"]
    if b.ir.linked:
        raise NotSupported(f"{program.text} in an object to link")
    kind, offset = _table(b, program, query)
    index = _index(b, kind, operands[1])
    base = b.new_pair()
    b.template2(f"{kind}_table", 0, base, opd.RZ_OPERAND)
    size = b.linked_size(_SIZES[kind if kind != "texture" else "independent" if b.ir.independent_textures else "unified"])
    program = b.tables.template("table_word")
    env = b.open(program)
    dest = opd.RZ_OPERAND if operands[0][0] == nodes.SINK else part(b.dest(operands[0]), 0)
    for entry, value in ((D, dest), (A, index), (B, base), (C, size)):
        env.put(entry, value)
    if program.uses_desc:
        env.put(DESC, b.descriptor())
    env.put_value(E, integer(offset))
    b.emit(program, env, guard)
    b.close()


def _table(b: Memory, program: Program, query: str) -> tuple[str, int]:
    """Which of the tables has it, and where in an entry."""
    options = program.options
    if "surface" in options:
        return "surface", _place_of(options["surface"], query)
    if not b.ir.independent_textures:
        return "texture", _place_of(options["unified"], query)
    if query in options["sampler"].split():
        return "sampler", _place_of(options["sampler"], query)
    return "texture", _place_of(options["independent"], query)


def _place_of(text: str, query: str) -> int:
    words = text.split()
    return int(words[words.index(query) + 1])


def _index(b: Memory, kind: str, node: Any) -> i64:
    """The number of an entry: up to sm_89 a part of the handle."""
    found = handle(b, node)
    if "uniform_handles" in b.target.features:
        return found
    named = node[0] in (nodes.SYM, nodes.ADDR_SYM)
    dest = b.new_r()
    b.template2("texture_part" if kind != "sampler" else "sampler_header" if named else "sampler_part", 0, dest, found)
    return dest
