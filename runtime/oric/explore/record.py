"""The code of every function behind every phase, as rows that are kept once.

A row is a line of Ori: its text, the number of its instruction, its line of the PTX. Of a phase only what differs from the one
before is kept (:mod:`oric.explore.deltas`); rows of one phase are different, since the number of an instruction occurs once.
"""

from __future__ import annotations

from typing import Any, Final

from oric_tables.ori_operands import KIND_SPILL_REFILL

from oric.ir import operand as opd
from oric.ir.function import Function, edges_of
from oric.ir.lineinfo import line_of
from oric.ir.machine import MachineFunction
from oric.ir.optable import LOCAL, OPS, STORE
from oric.ir.passes import PassContext
from oric.ir.text import (
    FACTS,
    all_instructions,
    block_lines,
    format_instruction,
    head_lines,
    instructions_of,
    operands_of,
)
from oric.phases.manager import name_of

from .deltas import edits, steps
from .pressure import live_counts

_LISTED: Final = 6  # registers in a line of the heading
BLOCK_KEY: Final = -1_000_000  # and down: keys of blocks; lines of the heading have those from -1 down
_DECLARED: Final = "    reg "
Row = tuple[int, int, str]  # key: an instruction, or below 0 what is none; line of the PTX; text


class Recorder:
    """Takes the code of functions behind phases.

    ``functions`` has what it found in the order of their first phases, by name and, for code that every kernel has a copy of
    (it runs through the phases behind the kernel), the name of that; "" for others.
    """

    def __init__(self) -> None:
        self.functions: dict[tuple[str, str], Recording] = {}
        self._last = ""

    def listen(self, f: Function, ctx: PassContext, index: int) -> None:
        """Take the code behind a phase (``CompileOptions.listeners``)."""
        if not f.subroutine:
            self._last = f.name
        owner = self._last if f.subroutine else ""
        self.functions.setdefault((f.name, owner), Recording(f.name, owner)).take(f, index, name_of(index))

    def in_order(self) -> list[Recording]:
        """Kernels and functions of an object, each with the functions behind its code."""
        found = list(self.functions.values())
        names = [recording.name for recording in found if not recording.owner]
        for recording in found:
            recording.owner = recording.owner or _owner(recording.name, names)
            recording.finish()
        place = {name: at for at, name in enumerate(recording.name for recording in found if recording.owner == recording.name)}
        return sorted(found, key=lambda recording: (place.get(recording.owner, len(place)), recording.owner != recording.name))


def _owner(name: str, names: list[str]) -> str:
    """The kernel behind whose code a function lies, which its name begins with (``$kernel$function``), or itself."""
    return max((other for other in names if name.startswith(f"${other}$")), key=len, default=name)


class Recording:
    """One function: rows, and phases as edits of the rows of the phase before. ``owner``: in whose section of code it lies.

    ``lines``: of the machine code, instruction by instruction, the lines of the PTX; ``spills``: places of those that are there
    because registers did not suffice; ``fills``: of those that only wait, which are in the machine code alone.
    """

    def __init__(self, name: str, owner: str = "") -> None:
        self.name = name
        self.owner = owner
        self.is_entry = False
        self.block: tuple[int, int, int] | None = None
        self.lines: list[int] = []
        self.spills: list[int] = []
        self.fills: list[int] = []
        self._function: Function | None = None
        self._before: dict[int, int] = {}
        self._phases: list[dict[str, Any]] = []
        self._rows: dict[Row, int] = {}
        self._graphs: dict[str, int] = {}
        self._graph_list: list[dict[str, Any]] = []
        self._last: list[int] = []
        self._texts = _Texts()
        self._state: tuple[object, ...] = ()

    def take(self, f: Function, index: int, name: str) -> None:
        """Take the code behind a phase."""
        self.is_entry, self.block = f.is_entry, f.attributes.reqntid or f.attributes.maxntid
        phase: dict[str, Any] = {"index": index, "name": name}
        self._phases.append(phase)
        self._function, self._before = f, _waits(f)  # encoding forgets them
        state = _state_of(f)
        if state == self._state:
            return
        heading = _heading_of(f)
        rows = [self._number((-1 - at, 0, text)) for at, text in enumerate(heading)]
        rows += [self._number(row) for row in self._code(f)]
        changed = edits(self._last, rows)
        self._state, self._last = state, rows
        if not changed:
            return
        phase["edits"] = changed
        self._take_facts(f, phase)

    def _take_facts(self, f: Function, phase: dict[str, Any]) -> None:
        phase["graph"] = self._graph(f)
        phase["live"] = {name: steps(counts) for name, counts in live_counts(f).items()}
        phase["spills"] = [at for at, i in enumerate(all_instructions(f)) if _is_spill(f, i)]

    def finish(self) -> None:
        """Fill in what is said of the machine code, of the code as it is now: behind the last phase."""
        f = self._function
        if f is None:
            return
        self._function = None
        for i in all_instructions(f):
            for _ in range(self._before.get(i, 0)):
                self.fills.append(len(self.lines))
                self.lines.append(0)
            if _is_spill(f, i):
                self.spills.append(len(self.lines))
            self.lines.append(int(line_of(f.line[i])))

    def document(self) -> dict[str, Any]:
        """The function as the data of the page have it."""
        rows = sorted(self._rows, key=self._rows.__getitem__)
        texts = list(dict.fromkeys(text for _, _, text in rows))
        number = {text: at for at, text in enumerate(texts)}
        return {
            "name": self.name,
            "entry": self.is_entry,
            "texts": texts,
            "row_keys": steps([key for key, _, _ in rows]),
            "row_lines": steps([line for _, line, _ in rows]),
            "row_texts": steps([number[text] for _, _, text in rows]),
            "phases": self._phases,
            "graphs": self._graph_list,
        }

    def _number(self, row: Row) -> int:
        return self._rows.setdefault(row, len(self._rows))

    def _code(self, f: Function) -> list[Row]:
        """The rows of blocks and instructions."""
        out: list[Row] = []
        self._texts.begin(f)
        for b, heading in enumerate(block_lines(f)):
            out.append((BLOCK_KEY - b, 0, heading))
            out += [(i, int(line_of(f.line[i])), self._texts.of(f, i)) for i in instructions_of(f, b)]
        return out

    def _graph(self, f: Function) -> int:
        """The number of the control-flow graph."""
        graph = edges_of(f)
        loops = graph.loops()
        made = {
            "successors": [graph.successors(b) for b in range(graph.blocks)],
            "depth": [int(loops.depth[b]) for b in range(graph.blocks)],
            "back": [
                [b, int(graph.succ[e])]
                for b in range(graph.blocks)
                for e in range(graph.succ_start[b], graph.succ_start[b + 1])
                if loops.back[e] == 1
            ],
        }
        key = repr(made)
        if key not in self._graphs:
            self._graphs[key] = len(self._graph_list)
            self._graph_list.append(made)
        return self._graphs[key]


class _Texts:
    """Texts of instructions; one that has not changed is not made again."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, str]] = {}
        self._types: list[tuple[int, int]] = []
        self._values: list[int] = []

    def begin(self, f: Function) -> None:
        """Forget everything if names of registers or constants of the pool are others than last time."""
        types, values = [*zip(f.reg_type, f.reg_size, strict=True)], list(f.immediates)
        if types[: len(self._types)] != self._types or values[: len(self._values)] != self._values:
            self._known.clear()
        self._types, self._values = types, values

    def of(self, f: Function, i: int) -> str:
        """The text of an instruction."""
        first = f.first[i]
        operands = tuple([f.operand[at] for at in range(first, first + f.count[i])])
        key = (f.op[i], f.mods[i], f.guard[i], f.aux[i], f.control[i], operands)
        known = self._known.get(i)
        if known is None or known[0] != key:
            known = self._known[i] = (key, f"    {format_instruction(f, i)}")
        return known[1]


def _state_of(f: Function) -> tuple[object, ...]:
    """What is another one when the text of a function is: epochs, which every change of the code raises, what the heading has."""
    facts = f.attributes
    tables = [(table.offset, tuple(table.targets)) for table in facts.jump_tables]
    shown = [getattr(facts, name) for name in FACTS]
    flags = (f.final_flow, f.merged, f.in_window, f.expanded)
    return f.code_epoch, f.flow_epoch, flags, shown, tables, dict(facts.doubles), list(f.physical), list(f.hint)


def _heading_of(f: Function) -> list[str]:
    """What stands in front of the blocks; registers that are declared take several lines."""
    out = []
    for line in head_lines(f):
        words = line.split() if line.startswith(_DECLARED) else []
        out += [_DECLARED + " ".join(words[at : at + _LISTED]) for at in range(1, len(words), _LISTED)] or [line]
    return out


def _waits(f: Function) -> dict[int, int]:
    """How many instructions encoding puts in front of others, which stall for longer than their control bits can say."""
    view = f.analyses.machine
    if not isinstance(view, MachineFunction) or not view.physical or view.epoch != f.code_epoch:
        return {}
    nodes = view.fn.nodes
    return {int(nodes[at].index): int(nodes[at].pads) for at in range(view.fn.insn_count) if nodes[at].pads}


def _is_spill(f: Function, i: int) -> bool:
    """Whether an instruction stores a register because there are too few, or brings it back."""
    facts = f.attributes
    if facts.marks.get(i) == KIND_SPILL_REFILL:
        return True
    flags = OPS.flags[f.op[i]]
    if not facts.spill_base or not flags & LOCAL or not flags & STORE:
        return False
    base = facts.spill_base & opd.INDEX
    return any(opd.is_register(o) and o & opd.INDEX == base for o in operands_of(f, i))
