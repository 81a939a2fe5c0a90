"""A proof that an allocation keeps what a function does.

Before registers are assigned, and before anything is spilled, an image of the function is taken; afterwards the kernel
(``alloc/verify.c``) follows the values over all paths: every instruction must read, from hardware registers and from the memory
of spills, the values that it read on virtual registers. It shares nothing with the allocator, neither liveness nor interference.
What it finds is told by the ten documented problems, and three of this project's own. Source: Ori IR, "Operand Kinds".
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64
from oric_tables._native import ffi, lib
from oric_tables.op import ISETP, LDC, LDL, LOP3, MOV, R2UR, S2R, SEL, STL
from oric_tables.operand_kinds import STABLE_SPECIAL
from oric_tables.ori_operands import KIND_TEXTS, PROBLEM_REMAT, PROBLEM_TEXTS
from oric_tables.record_tags import NAME_PREFIX, REMAT_MESSAGE
from oric_tables.registers import DISPLAY

from oric.ir import machine
from oric.ir import operand as opd
from oric.ir.function import Function
from oric.ir.kinds import GUARD, operand_kind
from oric.ir.lineinfo import line_of
from oric.ir.machine import MachineFunction
from oric.ir.optable import OPS
from oric.ir.passes import PassContext
from oric.ir.verify import MalformedCode

from .predicates import AND, AND_NOT, OR, bit_mods, nonzero_mods
from .repeatable import repeatable
from .spill import size_mods

ALWAYS: Final = [False]  # whether every allocation is proved, asked for or not: the tests do
_MOST: Final = 20  # problems that are told
_NO_ACCESS: Final = -1  # no modifiers of an access
_SIZES: Final = (1, 2, 4)  # words of one access


def wanted(ctx: PassContext) -> bool:
    """Whether the allocations of a compilation are proved."""
    return ctx.verify or ALWAYS[0]


@final
class Proof:
    """An image of a function before its registers are allocated."""

    def __init__(self, f: Function, ctx: PassContext) -> None:
        self.f = f
        self.ctx = ctx
        self.before = _image(machine.Lent(f, ctx.target.isa, ctx.target.uniform_regs))
        self.originals = _originals(f)

    def check(self, view: MachineFunction, limits: list[int]) -> None:
        """Compare with the function as it is: ``view`` has its instructions in their order, copies to themselves included.

        Raises:
            MalformedCode: something is read that is not what was read before.
        """
        found = ffi.new("oric_problem[]", _MOST)
        count = lib.oric_verify(self.before, view.lent.c, view.fn, self._code(limits), found, _MOST)
        if count < 0:
            raise MemoryError("no memory for the verifier")
        if count:
            texts = [self._text(found[n]) for n in range(min(count, _MOST))]
            more = [f"and {count - _MOST} more"] if count > _MOST else []
            wrong = [found[n] for n in range(min(count, _MOST)) if found[n].kind == PROBLEM_REMAT]
            raise MalformedCode(f"{self.f.name} after register allocation", [*texts, *more, *self._remat(wrong)])

    def _remat(self, problems: list[Any]) -> list[str]:
        """The documented lines where registers are not made again as they were: original definitions by their names, each with
        the instructions that stand for it now. Source: Data structures, "The _ORI_ Name Prefix".
        """
        now: dict[int, list[int]] = {}
        for problem in problems:
            now.setdefault(self._owner(problem.value), []).append(problem.insn)
        lines = [f"{REMAT_MESSAGE} in '{self.f.name}'"] if problems else []
        for n in sorted(now):
            lines.append(f"  {self.originals.get(n, 'a register that was not to be made again')}")
            lines += [f"    now {self._place(i)}" for i in now[n] if i >= 0]
        return lines

    def _owner(self, word: int) -> int:
        """The register of a word, -1 for none."""
        f = self.f
        for n in range(f.registers()):
            if f.reg_word[n] <= word < f.reg_word[n] + f.reg_size[n]:
                return n
        return -1

    def _code(self, limits: list[int]) -> Any:
        """How spills look in this function."""
        f = self.f
        facts = f.attributes
        code = ffi.new("oric_spill_code *")
        code.load_op, code.store_op, code.test_op, code.select_op, code.move_op, code.read_op = LDL, STL, ISETP, SEL, MOV, S2R
        code.constant_op, code.to_uniform_op = LDC, R2UR
        for number in STABLE_SPECIAL:
            code.stable[number] = 1
        for size in range(len(code.load_mods)):
            code.load_mods[size] = code.store_mods[size] = _NO_ACCESS
        for size in _SIZES:
            code.load_mods[size], code.store_mods[size] = size_mods(LDL, size), size_mods(STL, size)
        code.test_mods, code.select_mods = nonzero_mods(), 0
        code.test_source, code.select_first, code.select_second = opd.RZ_OPERAND, opd.RZ_OPERAND, opd.imm(1)
        code.logic_op = LOP3
        code.bit_clear_mods, code.bit_set_mods, code.bit_test_mods = bit_mods(AND_NOT), bit_mods(OR), bit_mods(AND)
        base = facts.spill_base
        code.base = f.reg_word[base & opd.INDEX] if base else -1
        stack: i64 = self.ctx.target.bank0_stack
        code.base_source = opd.const_bank(0, stack) if f.is_entry else f.sp
        code.base_bank, code.base_offset = opd.const_bank(0, 0), opd.imm(stack)
        code.lowest, code.highest = (-facts.frame_size, -facts.local_size) if base else (0, 0)
        for file, limit in enumerate(limits):
            code.limit[file] = limit
        return code

    def _text(self, problem: Any) -> str:
        """A line: the problem, the register, where it shows, and which instruction is in the way."""
        text = PROBLEM_TEXTS[problem.kind]
        if problem.value >= 0:
            text = f"{text}: {self._register(problem.value)}"
        if problem.insn >= 0:
            slot = {-1: "", GUARD: " as guard"}.get(problem.slot, f" as operand {problem.slot}")
            if 0 <= problem.slot < OPS.slots[self.f.op[problem.insn]]:
                slot = f"{slot} ({KIND_TEXTS[operand_kind(self.f, problem.insn, problem.slot)]})"
            text = f"{text}{slot} at {self._place(problem.insn)}"
        return text if problem.other < 0 else f"{text}; {self._place(problem.other)} writes there"

    def _register(self, word: int) -> str:
        f = self.f
        for n in range(f.registers()):
            first: i64 = f.reg_word[n]
            if first <= word < first + f.reg_size[n]:
                name = f"{DISPLAY[f.reg_type[n]]}{n}"
                return name if f.reg_size[n] == 1 else f"word {word - first} of {name}"
        return "the top of the stack"

    def _place(self, i: int) -> str:
        from oric.ir.text import format_instruction

        return f"'{format_instruction(self.f, i)}' from line {line_of(self.f.line[i])}"


def original_name(f: Function, n: int) -> str:
    """The name of a register as it was defined before allocation."""
    return f"{NAME_PREFIX}{DISPLAY[f.reg_type[n]]}{n}"


def _originals(f: Function) -> dict[int, str]:
    """The original definition of each register that may be made again in place of waiting in memory, as text."""
    from oric.ir.text import format_instruction

    return {
        n: f"{original_name(f, n)}: {'; '.join(format_instruction(f, i) for i in made)}"
        for n, made in repeatable(f, set(), {}).items()
    }


def _image(lent: machine.Lent) -> Any:
    """The image of what is lent, which the caller keeps meanwhile: a local of this function would go with its last use."""
    before = lib.oric_before_new(lent.c)
    if before == ffi.NULL:
        raise MemoryError("no memory for the image of a function")
    return ffi.gc(before, lib.oric_before_free)
