"""Sections about calls and about what is elsewhere.

Source: Data structures, "Section Type Tag Catalog" (tags 3, 64, 71, 81, 0x1220); what the elements of each are is this project's.
"""

from __future__ import annotations

from oric_tables.backends import OPERATIONS

from oric.phases.backend import backend_operation

from .shown import Content, Shown, packed


def operations(s: Shown) -> list[tuple[int, bytes]]:
    """The phases that are operations of the target's backend, and what it runs there."""
    known = [backend_operation(s.target, name) for name in OPERATIONS]
    rows = [(index, one.function.encode()[:16].ljust(16, b"\0")) for one in known if one.function for index in one.phases]
    return sorted(rows)


def backend(s: Shown) -> Content:
    """Tag 3: the operations of the target's backend."""
    return packed("backend", operations(s), s.target.encoded_arch, s.target.isa)


def externals(s: Shown) -> Content:
    """Tag 64: a pointer to the variables; how many are elsewhere, and how many functions are."""
    elsewhere = sum(symbol.binding == "extern" for symbol in s.module.symbols)
    return Content(b"", elsewhere, len(s.module.externals), len(s.module.symbols))


def calls(s: Shown) -> Content:
    """Tag 71: calls that stay calls, then those that are not settled."""
    rows = [(_narrow(k.callee), k.arguments, k.results, k.loc & 0xFFFFFFFF) for k in s.f.kept]
    rows += [(_narrow(c.callee), len(c.actuals), len(c.shapes), c.loc & 0xFFFFFFFF) for c in s.f.calls]
    return packed("calls", rows, len(s.f.kept), s.f.callee & 0xFFFFFFFF)


def _narrow(callee: int) -> int:
    return max(min(callee, 0x7FFFFFFF), -0x80000000)


def call_information(s: Shown) -> Content:
    """Tag 81: of each call that stays one the immediate with the place behind it, and how its arguments are aligned."""
    return packed("call_information", [(at, k.back, k.stack_align, int(k.shared)) for at, k in enumerate(s.f.kept)],
                  s.f.given, s.f.returned)  # fmt: skip


def sections(s: Shown) -> Content:
    """Tag 0x1220: tag, bytes and elements of every section in front of this one."""
    return packed("sections", [(section.tag, len(section.payload), section.elements) for section in s.done])
