"""What all parts of the parser share: text, builder, diagnostics, and the module's version and target."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from oric_tables.ptx_index import TARGETS

from oric.support.diagnostics import Diagnostics, NotSupported

from .builder import Builder
from .lexer import SPACE, PtxError
from .text import Text

if TYPE_CHECKING:
    from .signatures import Entry

_LONG_WORD: Final = r"[^\s']{80,}"
_LOC: Final = rf"\.loc(?![\w$]){SPACE}(\d{{1,9}}+){SPACE}(\d{{1,9}}+){SPACE}(\d{{1,9}}+)"


class State:
    """The state of one run of the parser.

    Attributes:
        version: PTX version times ten; ``sm``, ``sm_suffix``, ``target``: of the ``.target`` line.
        compile_target: what is compiled for (``-arch``), named in "not supported" messages; "" for the module's own.
        texmode: ``"unified"`` or ``"independent"``, of the ``.target`` line.
        statement_at: offset of the statement at hand.
        has_loc: there is a ``.loc``.
        debug_at: place of the target option ``debug``, -1 when there is none.
        entries: the variants that modules of this version, target and texture mode share; None until they are asked for
            (:func:`oric.ptx.signatures.entries_for`).
    """

    __slots__ = ("builder", "compile_target", "debug_at", "diag", "entries", "has_loc", "places", "places_until",
                 "section_labels", "sm", "sm_suffix", "source", "statement_at", "target", "texmode", "text",
                 "version")  # fmt: skip

    def __init__(self, text: str, builder: Builder, diag: Diagnostics, compile_target: str) -> None:
        self.text = text
        self.source = Text(text)
        self.builder = builder
        self.diag = diag
        self.compile_target = compile_target
        self.version: int = 0
        self.target = ""
        self.sm: int = 0
        self.sm_suffix = ""
        self.texmode = "unified"
        self.statement_at: int = 0
        self.debug_at = -1
        self.has_loc = False
        self.entries: dict[str, Entry] | None = None
        self.places: set[tuple[int, int, int]] = set()  # of the .loc up to the offset places_until
        self.places_until = 0
        self.section_labels: dict[str, int] = {}  # labels of sections that .loc names -> first such place

    def report(self, error: PtxError) -> None:
        """Turn a mistake into a diagnostic."""
        message = error.message
        if len(message) > 400:
            message = re.sub(_LONG_WORD, lambda m: m[0][:60] + "...", message)
        notes = error.notes
        if error.earlier >= 0:
            notes += (f"the first declaration is in line {self.text.count(chr(10), 0, error.earlier) + 1}",)
        self.diag.error(message, error.at, *notes, statement=self.statement_at)

    def not_supported(self, missing: NotSupported, at: int) -> None:
        """Report legal PTX that cannot be compiled yet, or that the builder refuses."""
        self.diag.error(missing.message(self.compile_target or self.target or "this target"), at)

    def passes(self, ptx: int, sm: int, arch: tuple[str, ...]) -> bool:
        """True when the module's version and target have a feature."""
        return self.version >= ptx and self.sm >= sm and (not arch or self.target in arch)

    def gate(self, what: str, ptx: int, sm: int, arch: tuple[str, ...], at: int) -> None:
        """Check that the module's version and target have a feature.

        Raises:
            PtxError: they do not.
        """
        if self.version < ptx:
            have = f"{self.version // 10}.{self.version % 10}"
            raise PtxError(at, f"{what} needs PTX version {ptx // 10}.{ptx % 10} or later, the module says {have}")
        if self.sm < sm:
            raise PtxError(at, f"{what} needs target sm_{sm} or higher, the module says {self.target}")
        if arch and self.target not in arch:
            names = ", ".join(arch[:4]) + (" ..." if len(arch) > 4 else "")
            raise PtxError(at, f"{what} needs target {names}; the module says {self.target}")

    def seen_place(self, place: tuple[int, int, int], until: int) -> bool:
        """A ``.loc`` with this file, line and column stands before ``until``: looked up only for the few that are asked for."""
        for match in re.compile(_LOC, re.ASCII).finditer(self.text, self.places_until, until):
            self.places.add((int(match[1]), int(match[2]), int(match[3])))
        self.places_until = max(until, self.places_until)
        return place in self.places

    def set_target(self, name: str) -> None:
        """Remember the module's target."""
        self.target = name
        self.entries = None
        row = TARGETS[name]
        self.sm, self.sm_suffix = row[0], row[1]
