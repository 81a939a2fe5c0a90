"""The driver: the one place that knows the whole compiler and wires it together."""

from __future__ import annotations

from oric.support.diagnostics import CompileError

from .front import InputErrors, PtxInput
from .options import CompileOptions, Extras, LaunchBounds, SaveRecords, Watch
from .pipeline import compile_functions, compile_inputs, compile_text
from .result import Cubin, KernelInfo

__all__ = [
    "CompileError",
    "CompileOptions",
    "Cubin",
    "Extras",
    "InputErrors",
    "KernelInfo",
    "LaunchBounds",
    "PtxInput",
    "SaveRecords",
    "Watch",
    "compile_functions",
    "compile_inputs",
    "compile_text",
]
