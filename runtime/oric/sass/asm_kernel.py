"""``.kernel``: the sections, records and symbols that a kernel written by hand needs, from a few facts.

What a cubin of the target holds, and in which order, comes from ``oric_tables.cubin_layout`` (``spec/cubin.yaml``: layouts). The
sections become the same directives that a listing has; sections that the text has itself (constants, globals and their symbols)
are added to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from oric_tables import cubin_layout as layout_tables
from oric_tables import op, ops
from oric_tables._native import lib
from oric_tables.numbers import NO_SCOREBOARD, YIELDING_STALLS
from oric_tables.targets import TARGETS, Target

from oric.support import notes

from . import asm_facts as facts
from .asm_facts import quoted
from .asm_read import AsmError, Source, SourceInstruction, SourceSection, Statement, number_of
from .assemble import Assembler, TextError, operand_texts
from .code import INSTRUCTION_BYTES, Code
from .instruction import Control

_CODE_ALIGN: Final = 128  # code is filled up to a multiple of it
_LONGEST_ALIGN: Final = 16  # of a parameter whose alignment is not said
_FILLER_CONTROL: Final = Control(0, True, NO_SCOREBOARD, NO_SCOREBOARD, 0).pack()
_SHARED_ALIGN: Final = 16
_SIZES: Final = {"maxthreads": "max_threads", "reqthreads": "required_threads"}
_SINGLE: Final = ("registers", "barriers", "frame", "shared", *_SIZES)


class _Kernel:
    """The facts of one ``.kernel``."""

    def __init__(self, section: SourceSection, target: Target) -> None:
        self.section = section
        self.at = section.statement
        self.name = section.name.removeprefix(facts.TEXT_PREFIX)
        self.target = target
        self.given: dict[str, Statement] = {}
        self.params: list[tuple[int, int]] = []  # offset, size
        self.param_size = 0
        for statement in section.facts:
            if statement.word == "param":
                self._param(statement)
            elif statement.word in self.given:
                raise statement.error(f"a second '.{statement.word}' in one kernel")
            else:
                self.given[statement.word] = statement
        if "registers" not in self.given:
            raise self.at.error("a kernel needs '.registers N'")
        self.registers = self._number("registers", 0, 256)
        self.barriers = self._number("barriers", 0, target.cta_barriers + 1)
        self.frame = self._number("frame", 0, 1 << 24)
        self.shared = self._number("shared", 0, target.max_shared + 1)
        self.special: set[int] = set()  # numbers of the special registers that are read
        self.effects = self._effects()

    def _number(self, word: str, place: int, end: int) -> int:
        statement = self.given.get(word)
        if statement is None:
            return 0
        value = number_of(statement, statement.values[place]) if len(statement.values) > place else -1
        if not 0 <= value < end:
            raise statement.error(f"'.{word}' takes a number from 0 to {end - 1}")
        return value

    def _param(self, statement: Statement) -> None:
        values = [number_of(statement, v) for v in statement.values]
        if not 1 <= len(values) <= 2 or not 0 < values[0] <= self.target.param_bytes:
            raise statement.error("expected .param SIZE[, ALIGNMENT] in bytes")
        size = values[0]
        align = values[1] if len(values) > 1 else min(size & -size, _LONGEST_ALIGN)
        if align < 1 or align & (align - 1):
            raise statement.error("the alignment of a parameter is a power of two", statement.values[-1])
        offset = -(-self.param_size // align) * align
        self.params.append((offset, size))
        self.param_size = offset + size
        if self.param_size > self.target.param_bytes:
            raise statement.error(f"the parameters take {self.param_size} bytes; {self.target.param_bytes} are possible")

    def threads(self, word: str) -> list[str]:
        """The three sizes of ``.maxthreads`` or ``.reqthreads``; empty when not given."""
        statement = self.given.get(word)
        if statement is None:
            return []
        values = [number_of(statement, v) for v in statement.values]
        if len(values) != 3 or min(values) < 1 or values[0] * values[1] * values[2] > self.target.max_threads:
            raise statement.error(f"expected three sizes, together at most {self.target.max_threads} threads")
        return list(map(str, values))

    def _effects(self) -> list[int]:
        """What each instruction does (``op.E_``), and its registers held against those declared.

        Labels count as places of the kernel itself; what does not assemble is told later, with its place.
        """
        assembler = Assembler(self.target.isa)
        out = []
        for number, instruction in enumerate(self.section.instructions):
            offset = number * INSTRUCTION_BYTES
            try:
                targets = dict.fromkeys(operand_texts(instruction.text), offset)
                word = instruction.word or assembler.word(instruction.text, offset, instruction.control, targets)
            except TextError:
                out.append(0)
                continue
            code = Code(self.target.isa, word.to_bytes(INSTRUCTION_BYTES, "little"))
            out.append(0 if code.bad else ops.op(code.insns[0].op).effects)
            self._check(instruction, code, out[-1])
            self.special |= {x.reg for x in code.insns[0].ops[0 : code.insns[0].nops] if x.kind == lib.ORIC_K_SREG}
        return out

    def _check(self, instruction: SourceInstruction, code: Code, effects: int) -> None:
        for use in code.uses()[0]:
            if use.file == "R" and use.number + use.width > self.registers:
                message = f"R{use.number + use.width - 1} is not among the {self.registers} registers of '.registers'"
                raise AsmError(instruction.line, instruction.column, message)
        control = Control.unpack(instruction.control)
        if instruction.word is None and YIELDING_STALLS >> control.stall & 1 and not control.yields:
            message = "stall counts 0 and 12 to 15 stand with Y, not with -, in front of S"
            raise AsmError(instruction.line, instruction.column, message)
        if effects & op.E_BARRIER and not self.barriers:
            raise AsmError(
                instruction.line, instruction.column, "a kernel with barriers needs '.barriers N', the highest and one"
            )

    def places(self, effect: int) -> list[str]:
        """The offsets of the instructions with an effect."""
        return [hex(n * INSTRUCTION_BYTES) for n, found in enumerate(self.effects) if found & effect]

    # -- sections ------------------------------------------------------------------------------------------------

    def statement(self, word: str, *values: object) -> Statement:
        """A directive as if it stood in the place of ``.kernel``."""
        return Statement(word, [str(v) for v in values], self.at.line, self.at.raw)

    def made(self, kind: int, **options: object) -> SourceSection:
        """A section of the kernel."""
        name = layout_tables.SECTIONS[kind].name.replace("{owner}", self.name)
        return SourceSection(name, self.at, {key: str(value) for key, value in options.items()})

    def fill(self) -> None:
        """A jump to itself and no operations up to a multiple of 128 bytes, as compilers leave behind the code."""
        code = self.section.instructions
        texts = [f"{ops.op(op.BRA).name} {len(code) * INSTRUCTION_BYTES:#x}"]
        while (len(code) + len(texts)) * INSTRUCTION_BYTES % _CODE_ALIGN:
            texts.append(ops.op(op.NOP).name)
        code += [SourceInstruction(self.at.line, 1, text, _FILLER_CONTROL, "") for text in texts]
        self.effects += [0] * len(texts)

    def sections(self, layout: layout_tables.Layout) -> Iterator[SourceSection]:
        """The sections besides the code."""
        info = self.made(layout_tables.KERNEL_INFO)
        for code, form, fact, value in layout.records:
            name = facts.record_name(code, form, False)
            rows = _FACTS[fact](self) if fact else [[] if form == facts.NONE else [str(value)]]
            info.entries += [self.statement("info", name, *row) for row in rows]
        yield info
        bank0 = self.made(layout_tables.CONSTANT0)
        bank0.data = bytearray(self.param_base() + self.param_size)
        yield bank0
        if self.shared:
            align = self._number("shared", 1, 1 << 16) if len(self.given["shared"].values) > 1 else _SHARED_ALIGN
            yield self.made(layout_tables.SHARED, align=align, size=self.target.shared_base + self.shared)
        if layout.section_info_has_registers:
            self.section.options.setdefault("registers", str(self.registers))

    def param_base(self) -> int:
        """Where the parameters begin in bank 0."""
        few = self.param_size <= layout_tables.SHORT_PARAMETERS
        return int(self.target.bank0_params if few else self.target.bank0_large_params)

    def described(self, few: bool) -> list[list[str]]:
        """The parameters, the last one first, if there are few bytes of them (or many)."""
        if (self.param_size <= layout_tables.SHORT_PARAMETERS) != few:
            return []
        return [[str(n), hex(at), str(size)] for n, (at, size) in reversed(list(enumerate(self.params)))]

    def bank0(self) -> str:
        """The name of the section with the parameters."""
        return str(layout_tables.SECTIONS[layout_tables.CONSTANT0].name).replace("{owner}", self.name)


def _if(condition: object, row: list[str]) -> list[list[str]]:
    return [row] if condition else []


# What records are made from (spec/cubin.yaml: records): rows of values; none leaves the record out.
_FACTS: Final[dict[str, Callable[[_Kernel], list[list[str]]]]] = {
    "api_version": lambda k: [[hex(layout_tables.API_VERSION)]],
    "annotations": lambda k: [],
    "mbarrier_instructions": lambda k: [],
    "mbarriers": lambda k: [],
    "param_cbank": lambda k: _if(k.params, [quoted(k.bank0()), hex(k.param_base()), str(k.param_size)]),
    "param_size": lambda k: _if(k.params, [str(k.param_size)]),
    "params": lambda k: k.described(few=True),
    "long_params": lambda k: k.described(few=False),
    "register_limit": lambda k: [[str(k.target.max_regs)]],
    "barriers": lambda k: _if(k.barriers, [str(k.barriers)]),
    "warp_wide": lambda k: [],
    "coop_masks": lambda k: [],
    "coop_offsets": lambda k: [],
    "externs": lambda k: [],
    "syscalls": lambda k: [],
    "exits": lambda k: _if(k.places(op.E_EXIT), k.places(op.E_EXIT)),
    "indirect_branches": lambda k: [],
    "grid_depth": lambda k: _if(layout_tables.REGISTER_RECORDS["CTAIDZ_USED"] in k.special, []),
    "max_threads": lambda k: _if(k.threads("maxthreads") and not k.threads("reqthreads"), k.threads("maxthreads")),
    "required_threads": lambda k: _if(k.threads("reqthreads"), k.threads("reqthreads")),
    "convergence": lambda k: _if(k.places(op.E_CONVERGENCE | op.E_CALL), ["0"]),
    "blocks_are_clusters": lambda k: [],
    "cluster": lambda k: [],
    "cluster_rank": lambda k: [],
    "explicit_cluster": lambda k: [],
    "workarounds": lambda k: _if(k.target.elf["sw_war"], [str(k.target.elf["sw_war"])]),
    "fragments": lambda k: [],
    "headers": lambda k: [],
    "texture_headers": lambda k: [],
    "surface_headers": lambda k: [],
    "wmma": lambda k: [],
    "sparse_products": lambda k: [["0"]],
    "tensor_count": lambda k: [["0"]],
    "tensor_own": lambda k: [],
    "tensor_pair": lambda k: [],
    "reserved_used": lambda k: _if(layout_tables.LAYOUTS[k.target.elf["layout"]].reserved_variables, []),
}


def expand_kernels(source: Source, target: str) -> None:
    """Add what the kernels of a text need to its sections, in the order in which a compiler leaves them.

    Raises:
        AsmError: a fact is missing or wrong, or what a cubin of the target holds is not known.
    """
    kernels = [section for section in source.sections if section.is_kernel]
    if not kernels:
        return
    if target not in TARGETS:
        raise kernels[0].statement.error(f"what a cubin for {target} holds besides code is not known: change a disassembled one")
    _Module(source, [_Kernel(section, TARGETS[target]) for section in kernels]).expand()


class _Module:
    def __init__(self, source: Source, kernels: list[_Kernel]) -> None:
        self.source = source
        self.kernels = kernels
        self.target = kernels[0].target
        self.layout = layout_tables.LAYOUTS[self.target.elf["layout"]]
        self.first = kernels[0]

    def expand(self) -> None:
        """Make the sections and put them in order."""
        for kernel in self.kernels:
            kernel.fill()
            for section in kernel.sections(self.layout):
                self._add(section)
        self._add(self._info())
        self._notes()
        callgraph = self.first.made(layout_tables.CALLGRAPH)
        callgraph.entries = [self.first.statement("call", "#0", hex(end)) for end in layout_tables.CALLGRAPH_ENDS]
        self._add(callgraph)
        if self.layout.rel_action:
            action = self.first.made(layout_tables.REL_ACTION)
            action.data = bytearray(self.layout.rel_action)
            self._add(action)
        if self.layout.reserved_shared:
            size, align = self.layout.reserved_size, self.layout.reserved_align
            self._add(self.first.made(layout_tables.SHARED_RESERVED, size=size, align=align))
        for kind in (layout_tables.SHSTRTAB, layout_tables.STRTAB, layout_tables.SYMTAB):
            if layout_tables.SECTIONS[kind].name not in {s.name for s in self.source.sections}:
                self._add(self.first.made(kind))
        self.source.sections.sort(key=self._rank)
        self._symbols()
        if not self.source.segments:
            self.source.segments = list(self._segments())

    def _add(self, section: SourceSection) -> None:
        """Add a section, or its contents to that of the same name."""
        for there in self.source.sections:
            if there.name == section.name:
                there.entries = section.entries + there.entries
                there.data = there.data or section.data
                return
        self.source.sections.append(section)

    def _rank(self, section: SourceSection) -> int:
        kind = facts.kind_of(section.name).number
        rank = self.layout.ranks[kind] if kind >= 0 else -1
        return rank if rank >= 0 else len(self.layout.ranks)

    def _info(self) -> SourceSection:
        info = self.first.made(layout_tables.INFO)
        for word, values in (
            (layout_tables.ATTR_REGCOUNT, [k.registers for k in self.kernels]),
            (layout_tables.ATTR_FRAME_SIZE, [k.frame for k in self.kernels]),
            (layout_tables.ATTR_MIN_STACK_SIZE, [k.frame for k in self.kernels]),
        ):
            name = facts.record_name(word, facts.SIZED, False)
            info.entries += [
                self.first.statement("info", name, quoted(k.name), v) for k, v in zip(self.kernels, values, strict=True)
            ]
        return info

    def _notes(self) -> None:
        tables = layout_tables
        flags = tables.SECTIONS[tables.CUINFO].flags | self.layout.cuinfo_flags
        cuinfo = self.first.made(tables.CUINFO, flags=flags)
        if self.layout.compat:
            cuinfo.options["info"] = tables.SECTIONS[tables.COMPAT].name
            compat = self.first.made(tables.COMPAT)
            for form, code, fact, value, words in self.layout.compat:
                name = facts.record_name(code, form, True)
                found = [int(self.target.variant == "a")] if fact else list(words) if form == facts.SIZED else [value]
                compat.entries.append(self.first.statement("info", name, *found))
            self._add(compat)
        cuinfo.data = bytearray(notes.cuda_note(self.target.number))
        self._add(cuinfo)
        tool = self.first.made(tables.TKINFO)
        tool.data = bytearray(notes.tool_note(""))
        self._add(tool)

    def _symbols(self) -> None:
        table = next(s for s in self.source.sections if s.name == layout_tables.SECTIONS[layout_tables.SYMTAB].name)
        own = table.entries
        rows: list[tuple[str, tuple[int, int], str, str, str]] = []
        late: list[tuple[str, tuple[int, int], str, str, str]] = []
        for section in self.source.sections:
            kind = facts.kind_of(section.name).number
            if kind >= 0 and layout_tables.SECTIONS[kind].symbol:
                row = (section.name, layout_tables.SYM_SECTION, quoted(section.name), "0", "0")
                (late if kind in self.layout.late else rows).append(row)
        if self.layout.reserved_shared:
            home = quoted(layout_tables.SECTIONS[layout_tables.SHARED_RESERVED].name)
            start = str(self.layout.reserved_start)
            rows += [
                (name, kind, home if defined else "-", start, str(size))
                for name, kind, size, defined in layout_tables.RESERVED_SHARED_SYMBOLS
            ]
            rows += [
                (name, layout_tables.SYM_RESERVED_OBJECT, home, str(place), str(size))
                for name, place, size in self.layout.reserved_variables
            ]
        kernels = [(k.name, layout_tables.SYM_KERNEL, quoted(k.section.name), "0", "@end") for k in self.kernels]
        said = [self._symbol(row) for row in rows]
        table.entries = [*said, *own, *(self._symbol(row) for row in [*kernels, *late])]

    def _symbol(self, row: tuple[str, tuple[int, int], str, str, str]) -> Statement:
        name, (info, other), *rest = row
        return self.first.statement("symbol", quoted(name), f"{info:#x}/{other:#x}", *rest)

    def _segments(self) -> Iterator[Statement]:
        names: dict[int, list[str]] = {}
        for section in self.source.sections:
            names.setdefault(facts.kind_of(section.name).number, []).append(section.name)
        order = [section.name for section in self.source.sections]
        for kind, flags, wanted in self.layout.segments:
            inside = sorted((n for k in wanted for n in names.get(k, [])), key=order.index)
            if inside:
                yield self.first.statement("segment", kind, flags, quoted(inside[0]), quoted(inside[-1]))
            elif not wanted:
                yield self.first.statement("segment", kind, flags)
