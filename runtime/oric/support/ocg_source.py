"""A module of PTX with one call of an intrinsic, from the name and the types of its results and arguments."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

PREFIX: Final = "__nv_ptx_builtin_ocg_"
SIZES: Final = {
    **dict.fromkeys(("b8", "u8", "s8"), 1),
    **dict.fromkeys(("b16", "u16", "s16", "f16"), 2),
    **dict.fromkeys(("b32", "u32", "s32", "f32"), 4),
    **dict.fromkeys(("b64", "u64", "s64", "f64"), 8),
}
_ACCESS: Final = {"f16": "b16"}  # types that no load or store has
_APART: Final = 16  # bytes between the values of arguments and results in memory
_RESULTS_AT: Final = 4096


class Param(NamedTuple):
    """A result or argument: its type, and the constant that it is, if it is one."""

    type: str
    constant: str = ""


def parse(params: str) -> tuple[list[Param], list[Param]]:
    """Results and arguments of ``b32*2 <- b32 b32=7``."""
    results, _, arguments = params.rpartition("<-")
    return _side(results), _side(arguments)


def _side(text: str) -> list[Param]:
    found: list[Param] = []
    for word in text.split():
        match = re.fullmatch(r"(\w+?)(?:\*(\d+))?(?:=(-?\w+))?", word)
        assert match is not None, word
        found += [Param(match[1], match[3] or "")] * int(match[2] or 1)
    return found


def written(results: list[Param], arguments: list[Param]) -> str:
    """The opposite of :func:`parse`."""
    return f"{_run(results)} <- {_run(arguments)}".strip()


def _run(side: list[Param]) -> str:
    words: list[tuple[str, int]] = []
    for one in side:
        text = f"{one.type}={one.constant}" if one.constant else one.type
        if words and words[-1][0] == text and not one.constant:
            words[-1] = (text, words[-1][1] + 1)
        else:
            words.append((text, 1))
    return " ".join(text if n == 1 else f"{text}*{n}" for text, n in words)


def module(calls: list[tuple[str, str]], target: str, variables: bool = False) -> str:
    """A module with a kernel ``kN`` for each of the calls (name behind the prefix, parameters).

    ``variables``: results and arguments go by way of variables in ``.param``, as a compiler for CUDA writes them; otherwise
    they are registers, several results excepted.
    """
    kernels = [_kernel(f"k{n}", call, params, variables) for n, (call, params) in enumerate(calls)]
    declared = dict.fromkeys(declaration for declaration, _ in kernels)
    return f".version 9.0\n.target {target}\n.address_size 64\n" + "".join(declared) + "".join(body for _, body in kernels)


def _kernel(name: str, call: str, params: str, variables: bool) -> tuple[str, str]:
    """The declaration of the function, and a kernel that calls it."""
    results, arguments = parse(params)
    offsets, size = _offsets(results)
    apart = len(results) > 1
    space = "param" if variables else "reg"
    declared = f".param .align 16 .b8 r[{size}]" if apart else f".{space} .{results[0].type} r" if results else ""
    formal = ", ".join(f".{space} .{one.type} a{n}" for n, one in enumerate(arguments))
    head = f".extern .func {f'({declared}) ' if declared else ''}{PREFIX}{call} ({formal});\n"
    lines = [".reg .b64 %base;", "ld.param.u64 %base, [p];"]
    given: list[str] = []
    for n, one in enumerate(arguments):
        if not one.constant:
            lines.append(f".reg .{_register(one.type)} %a{n};")
            lines.append(f"ld.global.{_access(one.type)} %a{n}, [%base+{_APART * n}];")
        given.append(one.constant or f"%a{n}")
    lines += [f".reg .{_register(one.type)} %r{n};" for n, one in enumerate(results)]
    lines.append("{")
    if variables:
        lines += [f".param .{one.type} A{n}; st.param.{_access(one.type)} [A{n}], {given[n]};" for n, one in enumerate(arguments)]
        given = [f"A{n}" for n in range(len(arguments))]
    by_variable = bool(results) and (apart or variables)
    if by_variable:
        lines.append(f".param .align 16 .b8 R[{size}];" if apart else f".param .{results[0].type} R;")
    taken = "(R), " if by_variable else "(%r0), " if results else ""
    lines.append(f"call.uni {taken}{PREFIX}{call}, ({', '.join(given)});")
    if by_variable:
        lines += [f"ld.param.{_access(one.type)} %r{n}, [R+{offsets[n]}];" for n, one in enumerate(results)]
    lines.append("}")
    lines += [f"st.global.{_access(one.type)} [%base+{_RESULTS_AT + _APART * n}], %r{n};" for n, one in enumerate(results)]
    body = "\n".join(lines)
    return head, f".visible .entry {name}(.param .u64 p)\n{{\n{body}\nret;\n}}\n"


def _offsets(results: list[Param]) -> tuple[list[int], int]:
    """Where the results lie in a variable that has all of them, and its size."""
    offsets, at = [], 0
    for one in results:
        at = -(-at // SIZES[one.type]) * SIZES[one.type]
        offsets.append(at)
        at += SIZES[one.type]
    return offsets, at


def _access(type_: str) -> str:
    return _ACCESS.get(type_, type_)


def _register(type_: str) -> str:
    return "b16" if SIZES[type_] == 1 else type_
