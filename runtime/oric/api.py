"""The library door: compile PTX text to a cubin."""

from __future__ import annotations

from oric.ir.knobs import UNSET, KnobSettings

from .driver import CompileError, CompileOptions, Cubin, Extras, KernelInfo, compile_text

__all__ = ["CompileError", "Cubin", "KernelInfo", "compile", "explain"]


def compile(
    ptx_text: str,
    arch: str = "sm_90",
    opt_level: int = 3,
    *,
    maxrregcount: int | None = None,
    filename: str = "<ptx>",
    verify: bool = False,
    relocatable: bool = False,
    extensible: bool = False,
    preserve_relocs: bool = False,
    position_independent: bool = False,
    line_info: bool | None = None,
    debug: bool = False,
    disabled: tuple[str, ...] = (),
    knobs: tuple[str, ...] = (),
) -> Cubin:
    """Compile a PTX module to a cubin.

    Args:
        ptx_text: the module.
        arch: target name, for example ``"sm_90"`` (see :data:`oric_tables.targets.TARGETS`).
        opt_level: 0 (none) to 3.
        maxrregcount: ceiling of registers per thread; None leaves it to the target and the directives.
        filename: name in messages.
        verify: run the verifier after every phase, and prove every register allocation.
        relocatable: make an object to link (``-c``).
        extensible: make a whole program to link with libraries (``-ewp``); an object is none.
        preserve_relocs: tell of relocations that are settled (``--preserve-relocs``), where files for the target can.
        position_independent: let the code of an object take addresses from bank 4 (``-pic``), as that of programs does.
        line_info: whether the file has line tables; None: where the PTX has ``.loc``.
        debug: keep the debug data of the PTX, too; what a debugger sees fits level 0 only.
        disabled: phases that do not run, by name or number.
        knobs: what is set, as ``--knob`` takes it: ``"unroll_size=0"``, ``"unroll_size[function=axpy]=0"``.

    Raises:
        CompileError: the text is not legal PTX, uses something that is not supported yet, or does not fit the
            target; its text is the rendered messages, ``.diagnostics`` holds them.
        ValueError: ``arch`` or ``opt_level`` is unknown, a name of ``disabled`` fits no phase that can be switched
            off, or a setting of ``knobs`` makes no sense.
    """
    options = CompileOptions(
        arch,
        opt_level,
        maxrregcount=maxrregcount,
        verify=verify,
        extras=Extras(
            relocatable=relocatable,
            extensible=extensible and not relocatable,
            preserved=preserve_relocs,
            independent=position_independent,
        ),
        line_info=line_info,
        debug=debug,
        disabled=disabled,
        knobs=_settings(knobs) if knobs else UNSET,
    )
    return compile_text(ptx_text, options, filename)


def _settings(knobs: tuple[str, ...]) -> KnobSettings:
    from .driver.knobs import settings_of

    return settings_of([("knobs", text) for text in knobs])


def explain(name: str, arch: str = "sm_100a") -> str:
    """What is known of an intrinsic: operands, sub-operations, what is refused, targets, an example and its code for ``arch``.

    Args:
        name: ``ocg:`` and the operation, for example ``"ocg:tcmma"``.
        arch: target name.

    Raises:
        KeyError: there is no such operation or target.
    """
    from .driver.explain import explain as page

    return page(name, arch)
