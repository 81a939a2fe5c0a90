"""Debug data of the PTX, with ``--device-debug``: the bytes of its sections, and the addresses in them.

A section is data, labels and references: to a section or a label in one (the place there), the distance of two labels, a label of
the code, a kernel or function, a variable, a parameter of a kernel. Those of code and of variables in global and constant memory
become relocations; the value stands in the data as well. So do those of sections and of labels in them, in an object to link.

Source: PTX ISA, "Debugging Directives: .section"; observed (ptxas 13.0.88).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Final

from oric_tables import cubin_layout as tables
from oric_tables.named import NamedTuple

from oric.ir.calls import STACK_ALIGN
from oric.ir.encoded import EncodedFunction
from oric.ir.lineinfo import LINE_BITS, STRINGS, LineInfo, Text, line_of, number_of

from .lines import signed

if TYPE_CHECKING:
    from oric_tables.targets import Target

    from oric.ir.module import Module

    from .records import KernelFacts

FIRST_SECTION: Final = ".debug_abbrev"  # of those that the PTX has; the others come in their order
_LISTS: Final = (".debug_loc", ".debug_ranges")  # their relocations have no addends of their own where files have such
_TOKEN: Final = re.compile(
    r"//[^\n]*|/\*.*?\*/|(?P<label>[A-Za-z_$%][\w$]*)\s*:|\.b(?P<bits>8|16|32|64)\s+"
    r"(?:(?P<name>[A-Za-z_$%.][\w$.]*)\s*(?P<sign>[-+])?\s*(?(sign)(?P<other>[\w$]+))|(?P<values>-?\d\w*(?:\s*,\s*-?\d\w*)*))",
    re.DOTALL,
)
_MADE: Final = (STRINGS, ".debug_line")  # sections that are there without being copied
_ADDRESS: Final = 8  # bytes
_DW_OP_ADDR: Final = 0x03
_DW_OP_FBREG: Final = 0x91
_DW_OP_NOP: Final = b"\x96"
_KINDS: Final = {4: tables.R_CUDA_32, _ADDRESS: tables.R_CUDA_64}  # bytes of a place -> relocation
_OF_SPACE: Final = {"global": tables.R_CUDA_64, "const": tables.R_CUDA_G64}


class Reference(NamedTuple):
    """``size`` bytes at ``at`` are the address of a name plus ``addend``, or the distance from ``other`` to it."""

    at: int
    size: int
    name: str
    addend: int
    other: str


class Address(NamedTuple):
    """What a name stands for: ``value`` behind the symbol of a kernel or of a variable of the module (by number; -1: of none), or
    behind the beginning of the section of debug data ``section`` (by number; by name one that is made), or in the frame of its
    kernel."""

    value: int
    kernel: int = -1
    variable: int = -1
    in_frame: bool = False
    section: int | str = ""


class Data:
    """The bytes of a section, its labels and references."""

    __slots__ = ("bytes", "labels", "name", "references")

    def __init__(self, name: str) -> None:
        self.name = name
        self.bytes = bytearray()
        self.labels: dict[str, int] = {}
        self.references: list[Reference] = []

    def add(self, text: str) -> None:
        """Take the text between the braces of a ``.section``."""
        for found in _TOKEN.finditer(text):
            if found["label"]:
                self.labels[found["label"]] = len(self.bytes)
            elif found["name"]:
                other = found["other"] or ""
                size, addend = int(found["bits"]) // 8, number_of(other) if found["sign"] == "+" else 0
                self.references.append(
                    Reference(len(self.bytes), size, found["name"], addend, other if found["sign"] == "-" else "")
                )
                self.bytes += bytes(size)
            elif found["bits"]:
                size = int(found["bits"]) // 8
                for value in found["values"].split(","):
                    self.put(len(self.bytes), size, number_of(value.strip()))

    def put(self, at: int, size: int, value: int) -> None:
        """Write a number."""
        self.bytes[at : at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")

    def put_in_frame(self, reference: Reference, offset: int) -> bool:
        """Make a place in the frame of an expression that begins with an address; False when it is none."""
        at = reference.at
        if reference.size != _ADDRESS or not at or self.bytes[at - 1] != _DW_OP_ADDR:
            return False
        self.bytes[at - 1] = _DW_OP_FBREG
        self.bytes[at : at + _ADDRESS] = signed(offset).ljust(_ADDRESS, _DW_OP_NOP)
        return True


def sections_of(text: Text) -> list[Data]:
    """The sections of an input that have bytes, but for that of names, which line tables have."""
    found: dict[str, Data] = {}
    for name, content in text.sections:
        found.setdefault(name, Data(name)).add(content)
    found.pop(STRINGS, None)
    return sorted((data for data in found.values() if data.bytes), key=lambda data: data.name != FIRST_SECTION)


class Places:
    """Addresses of the code: where labels, kernels and functions are. What is not there as code of its own has none."""

    def __init__(self, info: LineInfo, kernels: list[EncodedFunction]) -> None:
        self.info = info
        self.units: dict[tuple[int, str], tuple[int, int, int, dict[int, int]]] = {}
        for number, kernel in enumerate(kernels):
            text = info.of_kernel[kernel.name]
            ends = [start for _, start, _ in kernel.functions] + [len(kernel.words)]
            starts = [(kernel.name, 0)] + [(n.removeprefix(f"${kernel.name}$"), at) for n, at, _ in kernel.functions]
            for (name, start), end, origins in zip(starts, ends, kernel.origins, strict=False):  # see lines.py
                self.units.setdefault((id(text), name), (number, start, end, _first_places(info, origins)))

    def label(self, text: Text, name: str) -> Address | None:
        """The address of a label of the code; where its function begins when nothing of that is in front, where it ends when
        nothing follows."""
        line = text.code_labels.get(name)
        body = bisect_right(text.bodies, line) - 1 if line is not None else -1
        unit = self.units.get((id(text), text.names[body])) if body >= 0 else None
        if line is None or unit is None:
            return None
        number, start, end, places = unit
        lines = sorted(places)
        at = bisect_left(lines, line)
        return Address(start if at == 0 else places[lines[at]] if at < len(lines) else end, number)

    def function(self, text: Text, name: str) -> Address | None:
        """The address of a kernel, or of a function behind the first kernel that has one."""
        unit = self.units.get((id(text), name))
        return Address(unit[1], unit[0]) if unit is not None else None


def _first_places(info: LineInfo, origins: list[tuple[int, int]]) -> dict[int, int]:
    """By the line of the PTX the first place of what was made of it, without what was inlined."""
    places: dict[int, int] = {}
    for at, origin in origins:
        line = line_of(origin)
        if line and not info.marks[origin >> LINE_BITS].call:
            places[line] = min(places.get(line, at), at)
    return places


class Patch(NamedTuple):
    """A relocation: its place, type and address; ``implicit``: the addend stands in the place alone, where files have such."""

    at: int
    type: int
    address: Address
    implicit: bool


def debug_data(module: Module, kernels: list[KernelFacts], target: Target) -> list[tuple[str, bytes, list[Patch]]]:
    """The sections of debug data of all inputs, by their names: contents and relocations."""
    info = module.line_info
    assert info is not None  # who wants debug data wants lines
    places = Places(info, [kernel.encoded for kernel in kernels])
    found: list[tuple[str, bytes, list[Patch]]] = []
    for text in info.texts:
        sections = sections_of(text)
        inside = {label: at for data in sections for label, at in data.labels.items()} | text.labels
        starts = dict.fromkeys((data.name for data in sections), 0) | dict.fromkeys(_MADE, 0) | inside
        homes: dict[str, int | str] = {name: name for name in _MADE}
        homes.update(dict.fromkeys(text.labels, STRINGS))
        for number, data in enumerate(sections, len(found)):
            homes.update(dict.fromkeys((data.name, *data.labels), number))
        for data in sections:
            patches = []
            for reference in data.references:
                if reference.name in starts:
                    value = starts[reference.name] + reference.addend - starts.get(reference.other, 0)
                    data.put(reference.at, reference.size, value)
                    if module.relocatable and not reference.other and reference.size in _KINDS:
                        # the linker puts sections of this name one behind the other
                        place = Address(value, section=homes[reference.name])
                        patches.append(Patch(reference.at, _KINDS[reference.size], place, False))
                    continue
                address = (
                    places.label(text, reference.name)
                    or places.function(text, reference.name)
                    or _variable(module, kernels, target, reference.name)
                )
                if address is not None:
                    patches += _patch(data, reference, address, module)
            found.append((data.name, bytes(data.bytes), patches))
    return found


def _patch(data: Data, reference: Reference, address: Address, module: Module) -> list[Patch]:
    """Put an address into its place; the relocation that it needs."""
    value = address.value + reference.addend
    if address.in_frame:
        data.put_in_frame(reference, value)
        return []
    data.put(reference.at, reference.size, value)
    if address.kernel < 0 and address.variable < 0:
        return []
    space = module.symbols[address.variable].space if address.variable >= 0 else ""
    kind = _OF_SPACE.get(space, tables.R_CUDA_64) if reference.size == _ADDRESS else tables.R_CUDA_32
    address = Address(value, address.kernel, address.variable)
    return [Patch(reference.at, kind, address, reference.size != _ADDRESS or data.name in _LISTS)]


def _variable(module: Module, kernels: list[KernelFacts], target: Target, name: str) -> Address | None:
    """A parameter of a kernel, which is at its place in bank 0, or a variable."""
    for kernel in kernels:
        for param in kernel.attributes.params:
            if param.name == name:
                return Address(kernel.attributes.param_base(target) + param.offset)
    for number, symbol in enumerate(module.symbols):
        if symbol.name == name:
            if symbol.space in _OF_SPACE:
                return Address(0, variable=number)
            for kernel in kernels:
                facts = kernel.attributes
                if number in facts.shared_offsets:
                    return Address(target.shared_base + facts.shared_offsets[number])
                if number in facts.local_offsets and facts.local_align > STACK_ALIGN:
                    return None  # its distance from the frame address is known at run time
                if number in facts.local_offsets:
                    # The frame address is what the stack pointer is where the function begins, unless an entry moves that once.
                    whole = facts.frame_size if kernel.is_entry and not kernel.encoded.calls and not module.for_debugger else 0
                    return Address(facts.local_offsets[number] - (whole or facts.local_size), in_frame=True)
    return None
