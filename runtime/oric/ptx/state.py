"""What all parts of the parser share: text, builder, diagnostics, and the module's version and target."""

from __future__ import annotations

import re
from typing import Final

from oric_tables.ptx_index import TARGETS

from oric.support.diagnostics import Diagnostics

from .builder import Builder
from .lexer import PtxError

_LONG_WORD: Final = r"[^\s']{80,}"


class State:
    """The state of one run of the parser.

    Attributes:
        version: PTX version times ten; ``sm``, ``sm_suffix``, ``target``: of the ``.target`` line.
        compile_target: what is compiled for (``-arch``), named in "not supported" messages; "" for the module's own.
        texmode: ``"unified"`` or ``"independent"``, of the ``.target`` line.
        statement_at: offset of the statement at hand.
    """

    __slots__ = ("builder", "compile_target", "diag", "sm", "sm_suffix", "statement_at", "target", "texmode", "text",
                 "version")  # fmt: skip

    def __init__(self, text: str, builder: Builder, diag: Diagnostics, compile_target: str) -> None:
        self.text = text
        self.builder = builder
        self.diag = diag
        self.compile_target = compile_target
        self.version = 0
        self.target = ""
        self.sm = 0
        self.sm_suffix = ""
        self.texmode = "unified"
        self.statement_at = 0

    def report(self, error: PtxError) -> None:
        """Turn a mistake into a diagnostic."""
        message = error.message
        if len(message) > 400:
            message = re.sub(_LONG_WORD, lambda m: m[0][:60] + "...", message)
        self.diag.error(message, error.at, *error.notes)

    def not_supported(self, what: str, at: int) -> None:
        """Report legal PTX that cannot be compiled yet."""
        self.diag.error(f"'{what}' is not supported for {self.compile_target or self.target or 'this target'} yet", at)

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

    def set_target(self, name: str) -> None:
        """Remember the module's target."""
        self.target = name
        self.sm, self.sm_suffix, *_ = TARGETS[name]
