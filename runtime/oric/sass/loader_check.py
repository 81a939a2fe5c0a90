"""What a cubin says of its code, held against that code: the places that records name, registers, stack, barriers, sizes.

Two compilers make other code of the same source, so these values are not compared between their files (``oric diff``); each must
fit the code beside it. Which records name which operations is ``code_records`` of ``spec/cubin.yaml``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from oric_tables import cubin as tables
from oric_tables import cubin_layout, ops
from oric_tables.numbers import OPERAND_KINDS
from oric_tables.op import E_BARRIER, E_CONSTANT, E_LOCAL
from oric_tables.targets import TARGETS

from oric.support.elf import Cubin, CubinError, Function, Symbol, model_of, target_of
from oric.support.elf_format import ET_EXEC

from . import mbarrier_check
from .code import INSTRUCTION_BYTES, Code
from .facts import section_name, symbol_name
from .instruction import Instruction
from .loader_view import is_local_function

_OF_KERNELS: Final = ("REGCOUNT", "FRAME_SIZE", "MIN_STACK_SIZE")
_CODE_ALIGN: Final = 128
_WRAP: Final = 1 << 32
_BARRIER: Final = "Ra"  # the operand of barrier instructions that says which
_RESERVED_REGISTERS: Final = min(t.reserved_regs for t in TARGETS.values())
_REGISTERS: Final = 255  # numbers from here on are no registers
_BANKS: Final = (0, 2, 3, 4)  # constant banks that are in the file
_WORD: Final = 4


class Problem(NamedTuple):
    """Something that a file says of its code and that is not so; ``function`` is "" for the file as a whole."""

    function: str
    message: str


def problems(cubin: Cubin) -> list[Problem]:
    """What does not fit.

    Raises:
        CubinError: the encodings of the target are not known.
    """
    isa = model_of(cubin)
    out = [Problem("", message) for message in _of_symbols(cubin)]
    for function in cubin.functions.values():
        code = _Code(cubin, function, Code(isa, function.text))
        for part in (_section, _places, _registers, _stack, _barriers, _mbarriers, _banks):
            out += [Problem(function.name, message) for message in part(code)]
    return out


class _Code:
    """A function with its code, and what is asked of it more than once."""

    def __init__(self, cubin: Cubin, function: Function, code: Code) -> None:
        self.cubin = cubin
        self.function = function
        self.code = code
        self.names = [ops.op(code.insns[i].op).name if code.insns[i].op else "" for i in range(code.count)]
        self.records = {r.name: r for r in function.records}
        inner = [s.value for s in cubin.symbols_of(function.section) if is_local_function(cubin, s)]
        self.has_inner = bool(inner)
        self.own = min((*inner, len(function.text)))  # the code of the kernel itself ends where the first function inside begins

    def named(self, record: str) -> set[int]:
        """The byte offsets that a record names."""
        found = self.records.get(record)
        if found is None:
            return set()
        layout = tables.ATTRIBUTES[found.code].layout
        return set(self.function.branch_targets) if layout == "branch_targets" else set(found.words())


def _of_symbols(cubin: Cubin) -> Iterator[str]:
    """Functions lie in their section; registers and stack are told of every kernel."""
    told: dict[str, set[int]] = {}
    for record in cubin.records:
        told.setdefault(record.name, set()).update(record.words()[:1])
    for symbol in cubin.symbols:
        if not symbol.is_function or not 0 < symbol.section < len(cubin.sections):
            continue
        size = cubin.sections[symbol.section].size
        if symbol.value % INSTRUCTION_BYTES or symbol.value + symbol.size > size:
            yield f"function {symbol.name} does not lie in {section_name(cubin, symbol.section)}"
        for name in _OF_KERNELS:
            if _is_kernel(cubin, symbol) and cubin.type == ET_EXEC and symbol.number not in told.get(name, ()):
                yield f"kernel {symbol.name} has no {name}"


def _is_kernel(cubin: Cubin, symbol: Symbol) -> bool:
    return symbol.name in cubin.kernels and cubin.kernels[symbol.name].symbol == symbol.number


def _section(c: _Code) -> Iterator[str]:
    """Whole lines of code, decoded; sh_info names the function, and its registers where the layout has them there."""
    section = c.cubin.sections[c.function.section]
    if section.size % _CODE_ALIGN or section.align != _CODE_ALIGN:
        yield f"{section.size} bytes of code at multiples of {section.align}, not whole lines of {_CODE_ALIGN}"
    for number in c.code.bad:
        yield f"no instruction has the word at {number * INSTRUCTION_BYTES:#x}"
    if section.info & 0xFFFFFF != c.function.symbol:
        yield f"sh_info of its section names symbol {symbol_name(c.cubin, section.info & 0xFFFFFF)}"
    layout = _layout(c.cubin)
    if layout is not None and layout.section_info_has_registers and section.info >> 24 != c.function.registers & 0xFF:
        yield f"sh_info of its section says {section.info >> 24} registers, REGCOUNT {c.function.registers}"


def _places(c: _Code) -> Iterator[str]:
    """Records name all places that they must and none that they must not."""
    for name, row in tables.CODE_RECORDS.items():
        named = c.named(name)
        elsewhere = c.named(row.other) if row.other else set()
        if row.every or row.also:
            end = c.own if row.other else len(c.function.text)  # in a function inside a call of it is named instead
            for number, operation in enumerate(c.names[: end // INSTRUCTION_BYTES]):
                at = number * INSTRUCTION_BYTES
                if operation in row.every and at not in named and at not in elsewhere:
                    yield f"{name}{f' or {row.other}' if row.other else ''} does not name {_text(c, at)}"
            for at in sorted(named):
                if not _is_instruction(c, at):
                    yield f"{name} names {at:#x}, which is no instruction"
                elif c.names[at // INSTRUCTION_BYTES] not in (*row.every, *row.also):
                    yield f"{name} names {_text(c, at)}"
        if row.needed_with and name not in c.records:
            there = next((n for n, operation in enumerate(c.names) if operation in row.needed_with), None)
            if there is not None:
                yield f"there is no {name}, but {_text(c, there * INSTRUCTION_BYTES)}"
        if row.register and _has_record(c.cubin, name):
            reads = next((n for n, text in enumerate(c.code.plain_texts) if text.endswith(f" {row.register}")), None)
            if reads is not None and name not in c.records:
                yield f"there is no {name}, but {_text(c, reads * INSTRUCTION_BYTES)}"
            if reads is None and name in c.records:
                yield f"there is {name}, but nothing reads {row.register}"
    yield from _masks(c)
    yield from _targets(c)


def _masks(c: _Code) -> Iterator[str]:
    places, masks = c.records.get("COOP_GROUP_INSTR_OFFSETS"), c.records.get("COOP_GROUP_MASK_REGIDS")
    counts = [len(r.words()) if r is not None else 0 for r in (places, masks)]
    if counts[0] != counts[1]:
        yield f"COOP_GROUP_INSTR_OFFSETS names {counts[0]} places, COOP_GROUP_MASK_REGIDS {counts[1]} masks"


def _targets(c: _Code) -> Iterator[str]:
    for branch, targets in c.function.branch_targets.items():
        for target in dict.fromkeys(targets):
            if not _is_instruction(c, target):
                yield f"INDIRECT_BRANCH_TARGETS of {_text(c, branch)} has {target:#x}, which is no instruction"


def _has_record(cubin: Cubin, name: str) -> bool:
    """Whether files of the target have a record at all."""
    layout = _layout(cubin)
    return layout is not None and any(tables.ATTRIBUTES[code].name == name for code, *_ in layout.records)


def _layout(cubin: Cubin) -> cubin_layout.Layout | None:
    """How files of the target are laid out, where that is known."""
    try:
        return cubin_layout.LAYOUTS.get(str(target_of(cubin).elf.get("layout")))
    except CubinError:
        return None


def _is_instruction(c: _Code, at: int) -> bool:
    return at % INSTRUCTION_BYTES == 0 and at // INSTRUCTION_BYTES < c.code.count


def _text(c: _Code, at: int) -> str:
    return f"{at:#x} {c.code.plain_texts[at // INSTRUCTION_BYTES]}" if _is_instruction(c, at) else f"{at:#x}"


def _registers(c: _Code) -> Iterator[str]:
    """As many registers as the code names and the SM keeps; of a kernel."""
    highest = max(
        (u.number + u.width for uses in c.code.all_uses for u in uses if u.file == "R" and u.number < _REGISTERS), default=0
    )
    if c.function.is_entry and c.function.registers < highest + _RESERVED_REGISTERS:
        yield f"REGCOUNT is {c.function.registers}, but the code has {highest} registers and the SM keeps {_RESERVED_REGISTERS}"


def _stack(c: _Code) -> Iterator[str]:
    """The code takes the frame off a stack pointer, or reaches below it; the least stack has room for that."""
    size = c.function.frame_size
    if not c.function.is_entry or c.has_inner:
        return
    depths = _depths(c)
    reached = any(ops.op(c.code.insns[n].op).effects & E_LOCAL for n in range(c.code.count) if c.code.insns[n].op)
    if size and reached and size not in depths and not any(local and depth <= size for depth, local in depths.items()):
        yield f"FRAME_SIZE is {size}, but the code neither takes that off a register nor reaches below one"
    for depth, local in depths.items():
        if local and depth > size:
            yield f"FRAME_SIZE is {size}, but the code reaches {depth} bytes below a register"
    if c.function.min_stack < size:
        yield f"MIN_STACK_SIZE is {c.function.min_stack}, FRAME_SIZE {size}"


def _depths(c: _Code) -> dict[int, bool]:
    """How far the code goes down: negative immediates, and whether one is the displacement of an access of local memory."""
    immediate = OPERAND_KINDS.index("imm")
    out: dict[int, bool] = {}
    for number in range(c.code.count):
        insn = c.code.insns[number]
        local = bool(insn.op and ops.op(insn.op).effects & E_LOCAL)
        for slot in range(insn.nops if insn.op else 0):
            x = insn.ops[slot]
            value = x.value - _WRAP if x.value >= _WRAP // 2 else x.value
            if x.kind == immediate and value < 0:
                out[-value] = out.get(-value, False) or local
    return out


def _barriers(c: _Code) -> Iterator[str]:
    """NUM_BARRIERS counts the barriers of the CTA that the code names; which ones a register names, nothing tells."""
    needed = 0
    for number in range(c.code.count):
        if c.code.insns[number].op and ops.op(c.code.insns[number].op).effects & E_BARRIER:
            named = [o.value for o in Instruction(c.code, number).operands if o.name == _BARRIER and o.kind == "imm"]
            needed = max(needed, *(value + 1 for value in named), 0)
    said = c.records.get("NUM_BARRIERS")
    if (said.value if said is not None else 0) < needed:
        yield f"NUM_BARRIERS is {said.value if said is not None else 'missing'}, but the code has {needed} barriers"


def _mbarriers(c: _Code) -> Iterator[str]:
    places, count, layout = c.records.get(mbarrier_check.PLACES), c.records.get(mbarrier_check.COUNT), _layout(c.cubin)
    if layout is not None:
        data = None if places is None else places.data
        yield from mbarrier_check.mbarrier_problems(c.code, data, None if count is None else count.value, layout.no_uniform)


def _banks(c: _Code) -> Iterator[str]:
    """Words of constant banks that the code names are in the file."""
    banks = {bank: len(data) for bank, data in {**c.cubin.constants, **c.function.constants}.items()}
    sizes = {bank: -(-banks.get(bank, 0) // _WORD) * _WORD for bank in _BANKS}  # a last half is read as a word
    bank_kind = OPERAND_KINDS.index("cbank")
    for number in range(c.code.count):
        insn = c.code.insns[number]
        for slot in range(insn.nops if insn.op else 0):
            x = insn.ops[slot]
            if x.kind == bank_kind and x.reg in sizes and x.value >= sizes[x.reg] and not _is_indexed(c, number):
                yield f"{_text(c, number * INSTRUCTION_BYTES)} is beyond the bank, which has {banks.get(x.reg, 0)} bytes"


def _is_indexed(c: _Code, number: int) -> bool:
    """Whether a load of a constant bank has an index in a register."""
    effects = ops.op(c.code.insns[number].op).effects
    return bool(effects & E_CONSTANT) and any(not u.writes and u.file in ("R", "UR") for u in c.code.all_uses[number])
