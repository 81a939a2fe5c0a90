"""From PTX text to a cubin: parse and lower, run the phases, encode, write."""

from __future__ import annotations

from typing import NamedTuple

from oric import cubin as cubin_writer
from oric.encode import encode_function
from oric.ir.code import CodeObject
from oric.ir.dump import dump_with_notes
from oric.ir.encoded import EncodedFunction
from oric.ir.module import Module
from oric.ir.passes import PassContext
from oric.ir.verify import verify
from oric.lower import OriBuilder
from oric.phases.backend import phase_functions
from oric.phases.manager import PhaseManager
from oric.ptx import parse_module
from oric.support.collection import no_collection
from oric.support.diagnostics import Diagnostics, diagnostics_for

from .options import CompileOptions
from .registry import passes
from .result import Cubin, KernelInfo

_NO_LIMIT = 255


def compile_text(text: str, options: CompileOptions, filename: str = "<ptx>") -> Cubin:
    """Compile a PTX module.

    Raises:
        CompileError: see :func:`oric.api.compile`.
        ValueError: ``options.dump`` names no phase.
    """
    with no_collection():
        return _compile(text, options, filename)


def compile_functions(text: str, options: CompileOptions, filename: str = "<ptx>") -> list[tuple[CodeObject, EncodedFunction]]:
    """The functions of a PTX module after all phases, each with its machine code: what dumps look at.

    Raises:
        CompileError: see :func:`oric.api.compile`.
        ValueError: ``options.dump`` names no phase.
    """
    made = _functions(text, options, filename)
    return list(zip(made.module.functions, made.encoded, strict=True))


class _Made(NamedTuple):
    """A module whose functions are encoded, and what the container needs besides."""

    module: Module
    encoded: list[EncodedFunction]
    limit: int | None
    diag: Diagnostics
    manager: PhaseManager


def _compile(text: str, options: CompileOptions, filename: str) -> Cubin:
    made = _functions(text, options, filename)
    module, encoded = made.module, made.encoded
    image = cubin_writer.write(module, encoded, options.target, register_default=made.limit or 0)
    kernels = {code.name: _facts(code, item) for code, item in zip(module.functions, encoded, strict=True)}
    return Cubin(image, kernels, made.diag.warnings(), _global_bytes(module), made.manager.time_rows())


def _functions(text: str, options: CompileOptions, filename: str) -> _Made:
    diag = diagnostics_for(text, filename)
    manager = PhaseManager(
        passes(),
        options.opt_level,
        functions=phase_functions(options.target),
        verify=verify if options.verify else None,
        dump=options.dump,
        dump_text=dump_with_notes,
        sink=options.dump_sink,
        timed=options.time_phases,
    )
    module = _build(text, filename, options, diag)
    limit = _register_limit(options, diag)
    context = PassContext(options.target, module, options.opt_level, diag, limit)
    encoded = []
    for code in module.functions:
        manager.run(code, context)
        diag.check()
        encoded.append(encode_function(code, options.target))
    return _Made(module, encoded, limit, diag, manager)


def _build(text: str, filename: str, options: CompileOptions, diag: Diagnostics) -> Module:
    builder = OriBuilder(options.target, diag.source, filename)
    parse_module(text, filename, builder, options.target, diag)
    diag.check()
    _check_memory(builder.ir, options, diag)
    diag.check()
    return builder.ir


def _check_memory(module: Module, options: CompileOptions, diag: Diagnostics) -> None:
    """Static shared memory and constants fit the target (limits and wording of ptxas 13.0.88)."""
    for code in module.functions:
        used, most = code.attributes.static_shared, options.target.static_shared
        if used > most:
            diag.error(f"entry function '{code.name}' uses too much shared data (0x{used:x} bytes, 0x{most:x} max)")
    constants = 0
    for symbol in module.symbols:
        if symbol.space == "const":
            constants = -(-constants // symbol.align) * symbol.align + symbol.size
    if constants > options.target.const_bank_bytes:
        limit = options.target.const_bank_bytes
        diag.error(f"file uses too much global constant data (0x{constants:x} bytes, 0x{limit:x} max)")


def _register_limit(options: CompileOptions, diag: Diagnostics) -> int | None:
    """The ceiling that the command line sets, in the range that ptxas 13.0.88 accepts (observed)."""
    limit = options.maxrregcount
    if limit is None:
        return None
    if limit > _NO_LIMIT:
        diag.warning(f"Too big maxrregcount value specified {limit}, will be ignored")
        return None
    if limit < options.target.min_regs:
        least: int = options.target.min_regs
        diag.warning(f"For profile {options.arch} adjusting per thread register count of {limit} to lower bound of {least}")
        return least
    return limit


def _facts(code: CodeObject, encoded: EncodedFunction) -> KernelInfo:
    facts = code.attributes
    return KernelInfo(
        name=code.name,
        registers=encoded.num_regs,
        shared=facts.static_shared,
        stack=facts.frame_size,
        spills=facts.spill_bytes,
        barriers=facts.num_barriers,
        params=tuple((p.offset, p.size) for p in facts.params),
        instructions=sum(1 for _ in code.instructions()),
    )


def _global_bytes(module: Module) -> int:
    return sum(s.size for s in module.symbols if s.space == "global" and s.binding != "extern")
