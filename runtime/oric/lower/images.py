"""Phase 21: fetches and accesses of surfaces get the operations of the machine, by where their handles are from.

A handle that is a word of bank 0 (a reference, a parameter) is named by its place there up to sm_89; any other lies in front of
the words behind the coordinates. From sm_90 on handles are in uniform registers: a loop goes through those of the threads where
they may have several. Source: observed (ptxas 13.0.88).
"""

from __future__ import annotations

from typing import Final, final

from librt.vecs import append, vec
from mypy_extensions import i64
from oric_tables import ops
from oric_tables.op import FETCH, FETCH_QUAD, MOV, QUAD_TURNS, SULD_D, SURED, SUST_D, SUST_P

from oric.ir import operand as opd
from oric.ir.cursor import Cursor
from oric.ir.edges import make_edges
from oric.ir.function import NONE, Function
from oric.ir.images import COMPONENTS, HEADER_BANK, MOST_HALVES, PAIRS, SINGLE, WORD, Fetch, fetch_of, has_header, is_header
from oric.ir.legality import legality_of
from oric.ir.optable import OPS
from oric.ir.passes import PassContext

from .alike import Alike
from .emit import Emitter, integer, packed, part
from .turns import check_place

_SURFACES: Final = frozenset({SULD_D, SUST_D, SUST_P, SURED})
_FETCHES: Final = frozenset({FETCH, FETCH_QUAD})
_RESULT, _ABSENT, _TEXTURE, _SAMPLER, _WORDS, _NUMBER = 0, 1, 2, 3, 4, -1  # operands of fetches
_VECTORS: Final = 3  # of words, in a fetch for which the threads of a quad take turns
_HALVED: Final = frozenset({"tex_halves", "tld_halves", "tld4_halves"})  # templates of such
_SELECT: Final = (0x4410, 0x4432)  # of PRMT: the lower or the upper half of a word, zeros above
_SAMPLER_SHIFT: Final = 16  # of the id of a sampler in the word of a pair


def place_images(f: Function, ctx: PassContext) -> bool:
    """Phase 21; returns whether there was anything."""
    if not has_images(f):
        return False
    _Placer(f, ctx).run()
    return True


def has_images(f: Function) -> bool:
    """Whether phase 21 has anything to do in a function."""
    b: i64 = 0
    while b < f.blocks():
        i = f.head[b]
        while i != NONE:
            if f.op[i] in _FETCHES or f.op[i] in _SURFACES or has_header(f, i):
                return True
            i = f.next[i]
        b += 1
    return False


@final
class _Placer:
    """Goes through a function, block after block."""

    def __init__(self, f: Function, ctx: PassContext) -> None:
        self.f = f
        self.ctx = ctx
        self.target = ctx.target
        self.uniform = "uniform_handles" in ctx.target.features
        self.takes_words: bool = legality_of(ctx.target.isa_name).takes_words
        self.cursor = Cursor(f)
        self.emitter = Emitter(ctx.target, None)
        self.emitter.begin_function(f)
        self.defs: dict[int, list[int]] = {}  # word -> instructions that write it
        self.reads: dict[int, list[tuple[int, int]]] = {}  # register -> operands that read it
        self.alike: Alike | None = None  # of the function as it came, where handles are in uniform registers
        self.refs: list[tuple[int, int]] = []

    def run(self) -> None:
        """Place everything."""
        f = self.f
        self._look()
        if self.uniform:
            self.alike = Alike(f, self.defs)
        order = vec[i64]()
        before = f.blocks()
        made = before
        b: i64 = 0
        while b < before:
            order = append(order, b)
            if self._has_any(b):
                self._block(b)
            while made < f.blocks():
                order = append(order, made)
                made += 1
            b += 1
        if made > before:
            self.emitter.resolve_labels()
            self.cursor.reorder(order)
            make_edges(f)
        self._place_headers()

    # -- what there is -----------------------------------------------------------------------------------

    def _look(self) -> None:
        f = self.f
        for b in range(f.blocks()):
            i = f.head[b]
            while i != NONE:
                for at in range(f.count[i]):
                    operand = f.get(i, at)
                    if opd.is_register(operand) and operand & opd.INDEX not in (opd.RZ, opd.PT):
                        self._note(i, at, operand)
                i = f.next[i]

    def _note(self, i: int, at: int, operand: i64) -> None:
        f = self.f
        if OPS.writes_at(f.op[i], at):
            first = f.words_of(operand)
            for word in range(first, first + opd.count_of(operand)):
                self.defs.setdefault(word, []).append(i)
        else:
            self.reads.setdefault(operand & opd.INDEX, []).append((i, at))

    def _has_any(self, b: i64) -> bool:
        f = self.f
        i = f.head[b]
        while i != NONE:
            if f.op[i] in _FETCHES or f.op[i] in _SURFACES:
                return True
            i = f.next[i]
        return False

    def _definition(self, operand: i64) -> int:
        """The only instruction that writes a word, whatever happens; NONE where there is none."""
        found = self.defs.get(self.f.words_of(operand), [])
        if len(found) == 1 and not self.f.guard[found[0]]:
            return found[0]
        return NONE

    def _source(self, operand: i64) -> i64:
        """What a register of one word holds: a word of a constant bank, or the register that it was copied from."""
        f = self.f
        while opd.is_register(operand) and operand & opd.INDEX != opd.RZ:
            i = self._definition(operand)
            if i == NONE or f.op[i] != MOV or f.mods[i] or f.get(i, 1) & opd.SIGNS:
                break
            source = f.get(i, 1)
            if opd.is_register(source):
                if source & opd.INDEX != opd.RZ and self._definition(source) == NONE:
                    break
            elif not _is_place(source):
                break
            operand = source
        return operand

    def _is_zero(self, operand: i64) -> bool:
        """Whether a register of one word has the bits of 0."""
        f = self.f
        if not opd.is_register(operand):
            return operand == opd.RZ_OPERAND
        i = self._definition(operand)
        if i == NONE or f.op[i] != MOV or f.mods[i]:
            return False
        source = f.get(i, 1)
        return source & opd.TYPE in (opd.IS_IMM, opd.IS_POOL) and f.imm_value(source) == 0

    def _is_uniform(self, operand: i64) -> bool:
        """Whether the threads of a warp that come by have the same value in a word."""
        return self.alike is not None and self.alike.is_alike(operand)

    # -- code ----------------------------------------------------------------------------------------------

    def _block(self, b: i64) -> None:
        f = self.f
        emitter = self.emitter
        i = self.cursor.empty(b)
        emitter.block = b
        while i != NONE:
            following = f.next[i]
            emitter.line = f.line[i]
            if f.op[i] in _FETCHES:
                self._fetch(i)
                f.block[i] = NONE
            elif f.op[i] in _SURFACES:
                self._surface(i)
            else:
                emitter.stand().link(i)
            i = following

    def _fetch(self, i: i64) -> None:
        f = self.f
        self.ctx.count("fetches of textures")
        made = fetch_of(int(f.imm_value(f.get(i, f.count[i] + _NUMBER))))
        texture, sampler = (self._source(f.get(i, at)) for at in (_TEXTURE, _SAMPLER))
        if f.op[i] == FETCH_QUAD:
            check_place(f, self.ctx, i)
            vectors = [f.get(i, _WORDS + n) for n in range(_VECTORS)]
            _Maker(self, i, made, self._mask(i, made)).take_turns(texture, sampler, vectors)
            return
        words = [f.get(i, _WORDS + n) for n in range(made.first + made.rest)]
        if made.level == "LL" and self.ctx.opt_level and self._is_zero(words[made.first]):
            made.level = "LZ"
            made.rest -= 1
            del words[made.first]
        _Maker(self, i, made, self._mask(i, made)).make(texture, sampler, words)

    def _mask(self, i: i64, made: Fetch) -> int:
        """The components that are read; one at least."""
        if made.stem == "txq":
            return made.mask
        whole = self.f.get(i, _RESULT) & opd.INDEX
        read = 0
        for reader, at in self.reads.get(whole, []):
            operand = self.f.get(reader, at)
            if self._counts(reader):
                read |= (3 if made.halves == PAIRS else 1) << opd.first_of(operand)
        return read & made.mask or made.mask & -made.mask or 1

    def _counts(self, reader: int) -> bool:
        """Whether anything comes of a copy of a result."""
        f = self.f
        if f.op[reader] != MOV:
            return True
        dest = f.get(reader, 0)
        return not opd.is_register(dest) or bool(self.reads.get(dest & opd.INDEX))

    def replace(self, whole: i64, words: dict[int, int]) -> None:
        """Let who reads words of a result read others."""
        f = self.f
        for reader, at in self.reads.get(whole & opd.INDEX, []):
            operand = f.get(reader, at)
            f.set(reader, at, words.get(opd.first_of(operand), opd.RZ_OPERAND))

    # -- surfaces ------------------------------------------------------------------------------------------

    def _surface(self, i: i64) -> None:
        """An access of a surface: the handle moves to where it belongs."""
        f = self.f
        self.ctx.count("accesses of surfaces")
        at = ops.op(f.op[i]).index("Rc")
        source = self._source(f.get(i, at))
        if not self.uniform and not _is_place(source):
            self.emitter.stand().link(i)
            return
        operands = {o.name: f.get(i, n) for n, o in enumerate(ops.op(f.op[i]).operands) if n < f.count[i] and o.name != "Rc"}
        if not self.uniform:
            operands["bank"] = opd.imm(0)
            operands["slot"] = self._slot(source)
            self.make(f.op[i], f.mods[i], operands, f.guard[i])
        else:
            self.by_uniform(f.op[i], f.mods[i], operands, f.guard[i], source, None)
        f.block[i] = NONE

    # -- handles -------------------------------------------------------------------------------------------

    def _slot(self, place: i64) -> i64:
        """The number of a word of bank 0."""
        return self.f.imm(self._offset(place) // WORD)

    def _offset(self, place: i64) -> int:
        """The offset of a word in bank 0, which references get here."""
        if not is_header(place):
            return int(place & opd.INDEX)
        number = int(place & opd.INDEX) // WORD
        return self._header(number)

    def _header(self, key: int) -> int:
        """The place of a header behind the parameters."""
        attributes = self.f.attributes
        if key not in attributes.headers:
            attributes.headers.append(key)
        return attributes.headers_start(self.target) + WORD * attributes.headers.index(key)

    def _drop_copies(self) -> None:
        """Take away the copies of headers that nobody reads any more, as what reads them names their places now."""
        f = self.f
        while True:
            read: set[int] = set()
            copies: list[int] = []
            for b in range(f.blocks()):
                i = f.head[b]
                while i != NONE:
                    for at in range(f.count[i]):
                        operand = f.get(i, at)
                        if opd.is_register(operand) and not OPS.writes_at(f.op[i], at):
                            read.add(operand & opd.INDEX)
                    if f.op[i] == MOV and opd.is_register(f.get(i, 0)) and is_header(self._source(f.get(i, 0))):
                        copies.append(i)
                    i = f.next[i]
            dead = [i for i in copies if f.get(i, 0) & opd.INDEX not in read]
            for i in dead:
                self.cursor.remove(i)
            if not dead:
                return

    def _place_headers(self) -> None:
        """What else names headers: code that reads them as numbers."""
        f = self.f
        self._drop_copies()
        for b in range(f.blocks()):
            i = f.head[b]
            while i != NONE:
                for at in range(f.count[i]):
                    operand = f.get(i, at)
                    if is_header(operand):
                        f.set(i, at, opd.const_bank(0, self._offset(operand)) | operand & opd.SIGNS)
                i = f.next[i]

    def word_of_handle(self, dest: i64, source: i64, absent: i64) -> None:
        """Put a handle into a uniform register; ``absent``: a predicate for threads that have another one."""
        emitter = self.emitter
        if source == opd.RZ_OPERAND:
            program = emitter.tables.template("no_handle")
            env = emitter.open(program)
            env.put(0, dest)
            emitter.run(program, env)
            emitter.close()
        elif _is_place(source):
            offset = self._offset(source)
            self._bank_word(dest, offset)
        else:
            program = emitter.tables.template("uniform_word")
            env = emitter.open(program)
            env.put(0, dest)
            env.put(1, source)
            env.put(6, absent)
            emitter.run(program, env)
            emitter.close()

    def _bank_word(self, dest: i64, offset: int) -> None:
        emitter = self.emitter
        program = emitter.tables.template("handle_word")
        env = emitter.open(program)
        env.put(0, dest)
        env.put(1, opd.const_bank(0, offset if self.takes_words else 0))
        env.put_value(2, integer(offset))
        emitter.run(program, env)
        emitter.close()

    def by_uniform(self, op: int, mods: int, operands: dict[str, int], guard: i64, first: i64, second: i64 | None) -> None:
        """An operation with its handles in uniform registers: one after the other, where threads may have several."""
        emitter = self.emitter
        varying = [s for s in (first, second) if s is not None and not _is_place(s) and not self._is_uniform(s)]
        size = 1 if second is None else 2
        handle = emitter.new("UR", size)
        words = [handle] if second is None else [part(handle, 0), part(handle, 1)]
        sources = [first] if second is None else [first, second]
        operands["URa"] = handle
        if self.takes_words:
            operands["slot"] = opd.imm(0)
        if not varying:
            for word, source in zip(words, sources, strict=True):
                self.word_of_handle(word, source, opd.PT_OPERAND)
            self.make(op, mods, operands, guard)
            return
        over: i64 = -1
        if guard:
            over = emitter.make_label()
            emitter.branch(over, guard ^ opd.NEGATE)
        again = emitter.make_label()
        emitter.place(again)
        others: list[int] = []
        for word, source in zip(words, sources, strict=True):
            others.append(emitter.new_p() if source in varying else opd.PT_OPERAND)
            self.word_of_handle(word, source, others[-1])
        others = [p for p in others if p != opd.PT_OPERAND]
        absent = others[0]
        if len(others) > 1:
            absent = emitter.new_p()
            emitter.template("either", 0, absent, packed(others[0]), packed(others[1]))
        self.make(op, mods, operands, absent ^ opd.NEGATE)
        emitter.branch(again, absent)
        if over >= 0:
            emitter.place(over)

    def make(self, op: int, mods: int, operands: dict[str, int], guard: i64) -> None:
        """Append an operation whose operands are given by name."""
        cursor = self.emitter.stand()
        cursor.make(op, mods, guard)
        columns = ops.op(op).operands
        last = max(n for n, o in enumerate(columns) if o.name in operands)
        for column in columns[: last + 1]:
            cursor.put(operands.get(column.name, opd.NO_OPERAND))


@final
class _Maker:
    """Makes one fetch, of the components that ``mask`` says."""

    def __init__(self, placer: _Placer, i: i64, made: Fetch, mask: int) -> None:
        self.placer = placer
        self.emitter = placer.emitter
        self.fetch = made
        self.mask = mask
        self.chosen = [n for n in range(COMPONENTS) if mask >> n & 1]
        self.guard: int = placer.f.guard[i]
        self.whole: int = placer.f.get(i, _RESULT)
        self.native = False  # it makes halves itself
        self.words: list[int] = []  # of the result, in order
        self.operands: dict[str, int] = {}
        absent = placer.f.get(i, _ABSENT)
        if absent != opd.PT_OPERAND:
            self.operands["Pu"] = absent

    def make(self, texture: i64, sampler: i64, words: list[int]) -> None:
        """Append it."""
        first = self.fetch.first
        name = self.fetch.stem
        if self.placer.uniform:
            self._pack(words[:first], words[first:])
            self._take_results()
            second = sampler if self.fetch.independent else opd.RZ_OPERAND
            op = self._op(name)
            self.placer.by_uniform(op, self._mods(op), self.operands, self.guard, texture, second)
            self._give_results()
            return
        place = self._place(texture, sampler)
        halved = f"{name}_halves" in _HALVED
        if place >= 0:
            self.operands["bank"] = opd.imm(0)
            self.operands["slot"] = self.placer.f.imm(place)
        else:
            handle = self._joined(texture, sampler)
            name += "_register"
            at = first if halved else 0
            words = [*words[:at], handle, *words[at:]]
            first += 0 if halved else 1
        if len(words) <= MOST_HALVES and halved:
            name += "_halves"
            first = -(-len(words) // 2)
            self.native = self.fetch.halves != 0
        self._pack(words[:first], words[first:])
        self._take_results()
        op = self._op(name)
        self.placer.make(op, self._mods(op), self.operands, self.guard)
        self._give_results()

    def take_turns(self, texture: i64, sampler: i64, vectors: list[int]) -> None:
        """Append the operation for which the threads of a quad take turns, behind phase 21 as well; it has no guard."""
        emitter = self.emitter
        place = self._place(texture, sampler)
        rest = self.fetch.rest
        behind = opd.reg(vectors[-1] & opd.INDEX, 1, rest) if rest else opd.RZ_OPERAND
        if place < 0:
            behind = opd.reg(vectors[-1] & opd.INDEX, 0, rest + 1)
            emitter.copy(part(behind, 0), self._joined(texture, sampler), 0)
        around: i64 = -1
        if self.guard:
            around = emitter.make_label()
            emitter.branch(around, self.guard ^ opd.NEGATE)
        self.words = [emitter.new_r() for _ in self.chosen]
        absent = emitter.new_r() if "Pu" in self.operands else opd.RZ_OPERAND
        self.fetch.mask = self.mask
        numbers = [emitter.code.imm(self.fetch.number()), emitter.code.imm(place)]
        cursor = emitter.stand()
        cursor.make(QUAD_TURNS)
        unused = [opd.RZ_OPERAND] * (COMPONENTS - len(self.words))
        for operand in (*self.words, *unused, absent, opd.RZ_OPERAND, *vectors[:-1], behind, *numbers):
            cursor.put(operand)
        if "Pu" in self.operands:
            emitter.template2("is_any", 0, self.operands["Pu"], absent)
        self._give_results()
        if around >= 0:
            emitter.place(around)

    def _take_results(self) -> None:
        """Registers for the components, the first two of which are in one."""
        count = len(self.chosen)
        new = self.emitter.new
        sizes = (1, 1 if count > 2 else 0) if self.native else (min(count, 2), max(count - 2, 0))
        low = new("R", sizes[0])
        high = new("R", sizes[1]) if sizes[1] else opd.RZ_OPERAND
        self.operands["Rd"], self.operands["Rv"] = low, high
        for register, size in ((low, sizes[0]), (high, sizes[1])):
            self.words += [part(register, n) if size > 1 else register for n in range(size)]

    def _give_results(self) -> None:
        """Who reads the result reads these registers, or the halves in them."""
        if not self.fetch.halves:
            self.placer.replace(self.whole, dict(zip(self.chosen, self.words, strict=True)))
            return
        emitter = self.emitter
        if not self.native:
            words = [*self.words, opd.RZ_OPERAND]
            self.words = []
            for n in range(0, len(self.chosen), 2):
                self.words.append(emitter.new_r())
                emitter.template("two_halves", 0, self.words[-1], packed(words[n]), packed(words[n + 1]))
        found: dict[int, int] = {}
        for at, component in enumerate(self.chosen):
            word = self.words[at // 2]
            if self.fetch.halves == SINGLE:
                half = emitter.new_r()
                emitter.template("permute", 0, half, packed(word), integer(_SELECT[at % 2]), packed(opd.RZ_OPERAND))
                word = half
            found[component] = word
        self.placer.replace(self.whole, found)

    def _place(self, texture: i64, sampler: i64) -> int:
        """The word of bank 0 that has the handle, -1 for none."""
        placer = self.placer
        if not _is_place(texture):
            return -1
        if not self.fetch.independent:
            return placer._offset(texture) // WORD
        if is_header(texture) and is_header(sampler):
            key = int(texture & opd.INDEX) // WORD | (int(sampler & opd.INDEX) // WORD + 1) << _SAMPLER_SHIFT
            return placer._header(key) // WORD
        return -1

    def _joined(self, texture: i64, sampler: i64) -> i64:
        """A register with the handle."""
        emitter = self.emitter
        if not self.fetch.independent:
            return self._in_register(texture)
        joined = emitter.new_r()
        emitter.template("both_handles", 0, joined, packed(self._in_register(texture)), packed(self._in_register(sampler)))
        return joined

    def _in_register(self, source: i64) -> i64:
        if opd.is_register(source):
            return source
        word = self.emitter.new_r()
        self.emitter.copy(word, source, 0)
        return word

    def _pack(self, first: list[int], rest: list[int]) -> None:
        self.operands["Ra"] = self._vector(first)
        if rest:
            self.operands["Rb"] = self._vector(rest)

    def _vector(self, words: list[int]) -> i64:
        """Words that lie beside each other."""
        if len(words) == 1:
            return words[0]
        if all(word == opd.RZ_OPERAND for word in words):
            return opd.RZ_OPERAND
        register = self.emitter.new("R", 2 if len(words) == 2 else COMPONENTS)
        for n, word in enumerate(words):
            self.emitter.copy(part(register, n), word, 0)
        return opd.reg(register & opd.INDEX, 0, len(words))

    def _op(self, name: str) -> int:
        tables = self.emitter.tables
        line = tables.template(name).first  # which may make the tables longer
        return int(tables.op[line])

    def _mods(self, op: int) -> int:
        """The modifiers, in the values of the operation."""
        fetch = self.fetch
        known = ops.op(op).mods
        values: dict[str, str | int | bool] = {"mask": f"{self.mask:#x}"}
        if "dim" in known:
            values["dim"] = fetch.dim
        if fetch.level:
            values["lod"] = fetch.level
        if "component" in known:
            values["component"] = "RGBA"[fetch.component]
        if self.native:
            values["f16"] = "F16.RN"
        for flag in fetch.flags:
            values[flag] = flag.upper()
        return ops.op(op).pack(**values)


def _is_place(operand: i64) -> bool:
    """Whether an operand is a word of bank 0, or will be."""
    if operand & opd.TYPE != opd.IS_SYMBOL or not operand & opd.CONST_BANK:
        return False
    return opd.aux_of(operand) == 0 or opd.aux_of(operand) == HEADER_BANK
