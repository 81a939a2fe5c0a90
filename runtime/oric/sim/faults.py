"""Turns the engine's fault record into an exception with a readable place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from oric_tables._native import ffi, lib
from oric_tables.numbers import FAULT_ASSERT, FAULT_READ_ONLY, INSN_BYTES, MEM_GLOBAL

from .errors import BY_CODE, AssertionFailed, ExecutionError

if TYPE_CHECKING:
    from .image import Image

# By ORIC_MEM_*.
SPACES: Final = ("", "global", "shared", "local", "constant", "the cluster's shared")
_TEXT_SIZE: Final = 512
_NULL_PAGE: Final = 1 << 16


def place_of(image: Image, pc: int) -> tuple[str, int, str]:
    """Function, byte offset and text of the instruction at a code address; ("", 0, "") outside of the code."""
    for name, base in image.code.items():
        text = image.cubin.functions[name].text
        if base <= pc < base + len(text):
            return name, pc - base, instruction_text(image.target.isa, text, pc - base)
    return "", 0, ""


def instruction_text(isa: int, text: bytes, offset: int) -> str:
    """The instruction at a byte offset of a text section as the disassembler prints it, or its word in hexadecimal."""
    raw = text[offset : offset + INSN_BYTES]
    if len(raw) < INSN_BYTES:
        return "(incomplete)"
    word = ffi.new("uint64_t[2]", [int.from_bytes(raw[:8], "little"), int.from_bytes(raw[8:], "little")])
    insn = ffi.new("oric_insn *")
    out = ffi.new("char[]", _TEXT_SIZE)
    if lib.oric_decode(isa, word, insn) == 0 and lib.oric_print(isa, insn, offset, ffi.NULL, ffi.NULL, out, _TEXT_SIZE) > 0:
        return str(ffi.string(out).decode("ascii", "replace"))
    return f"0x{raw[::-1].hex()}"


def error_of(image: Image, kernel: str, fault: Any, neighbours: list[tuple[int, int, str]]) -> ExecutionError:
    """The exception for a fault.

    Args:
        image: the loaded module.
        kernel: name of the launched kernel.
        fault: the engine's record (``oric_sim_fault *``).
        neighbours: (address, bytes, name) of the global allocations, to say which one is near.
    """
    kind = BY_CODE.get(fault.code, ExecutionError)
    function, offset, text = place_of(image, fault.pc)
    block = (fault.ctaid[0], fault.ctaid[1], fault.ctaid[2])
    thread = (fault.tid[0], fault.tid[1], fault.tid[2])
    what, address = _what(image, kind.kind, fault, neighbours)
    where = f"{function}+{offset:#06x} '{text}'" if function else "outside of the code"
    sources = image.sources.at(function, offset) if function else ()
    where += f" [{', from '.join(map(str, sources))}]" if sources else ""
    message = f"{what}; thread {_triple(thread)} of block {_triple(block)} at {where} (kernel {kernel})"
    error = kind(
        message, kernel=kernel, block=block, thread=thread, function=function, offset=offset, instruction=text, address=address
    )
    if isinstance(error, AssertionFailed):
        error.assertion, error.file, line, error.asserting = _lines(fault.detail)
        error.line = int(line)
    return error


def _lines(detail: Any) -> list[str]:
    """Message, file, line and function of a failed assertion; the first may have line feeds of its own."""
    return str(ffi.string(detail).decode("utf-8", "replace")).rsplit("\n", 3)


def _triple(index: tuple[int, int, int]) -> str:
    return f"({index[0]},{index[1]},{index[2]})"


def _what(image: Image, kind: str, fault: Any, neighbours: list[tuple[int, int, str]]) -> tuple[str, int | None]:
    detail = ffi.string(fault.detail).decode("utf-8", "replace")
    if fault.code == FAULT_ASSERT:
        message, file, line, function = _lines(fault.detail)
        return f"{kind}: {message} ({file}:{line}, {function})", None
    if fault.size == 0:
        detail = detail or f"external function {image.external_name(fault.address)}" if fault.address else detail
        return (f"{kind}: {detail}" if detail else kind), None
    if fault.space == 0:
        return f"{kind} to {fault.address:#x}", fault.address
    access = "write to" if fault.write else "read of"
    head = "store to read-only memory" if fault.code == FAULT_READ_ONLY else kind
    place = near(fault.address, neighbours) if fault.space == MEM_GLOBAL else ""
    return f"{head}: {fault.size}-byte {access} {SPACES[fault.space]} memory at {fault.address:#x}{place}", fault.address


def near(address: int, allocations: list[tuple[int, int, str]]) -> str:
    """Where an address lies, seen from the allocation that is nearest to it."""
    if address < _NULL_PAGE:
        return ", a null pointer"

    def distance(entry: tuple[int, int, str]) -> int:
        base, size, _ = entry
        return base - address if address < base else max(0, address - base - size)

    if not allocations:
        return ""
    base, size, name = min(allocations, key=distance)
    if address < base:
        return f", {base - address} bytes before {name}"
    if address >= base + size:
        return f", {address - base - size} bytes past the end of {name} ({size} bytes)"
    return f", in {name} ({size} bytes)"
