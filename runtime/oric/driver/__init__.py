"""The driver: the one place that knows the whole compiler and wires it together."""

from __future__ import annotations

from oric.support.diagnostics import CompileError

from .options import CompileOptions
from .pipeline import compile_functions, compile_text
from .result import Cubin, KernelInfo

__all__ = ["CompileError", "CompileOptions", "Cubin", "KernelInfo", "compile_functions", "compile_text"]
