"""All modules of the corpus for a target, as cubins; a line that no target takes is an error of the sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from . import kernels, patterns, randoms, targets
from .compile import Module, ToolError, compile_module, ptx_of, run_ptxas

_WHOLE = re.compile(r"//! (\w+); (?:sm >= (\d+)|only ((?:sm_\w+ ?)+))$")


class Made(NamedTuple):
    """A cubin of the corpus; ``family`` is the section or source that it comes from."""

    name: str
    family: str
    image: bytes


class Result(NamedTuple):
    """What a target makes of the sources; ``refused``: lines by (function, text), with ptxas's words."""

    made: list[Made]
    refused: dict[tuple[str, str], str]
    asked: set[tuple[str, str]]


def make(target: str) -> Result:
    """Compile everything for one target.

    Raises:
        ToolError: nvcc or ptxas is missing, or fails in a way that no line of the sources explains.
    """
    result = Result([], {}, set())
    number = targets.parse(target).number
    for name, family, module in _modules(number):
        result.asked.update((name, line) for name, body in module.functions.items() for line in body)
        image = compile_module(module, target)
        result.refused.update({(function, line): message for function, line, message in module.refused})
        if image is not None:
            result.made.append(Made(name, family, image))
    result.made.extend(_features(target))
    result.made.extend(_cuda(target))
    return result


def _modules(number: int) -> Iterator[tuple[str, str, Module]]:
    for section in patterns.sections():
        if section.sm <= number:
            functions = {k.name: k.text() for k in kernels.straight(section)}
            yield _file(section.name), section.name, Module(section.name, kernels.HEAD, functions)
    for level in randoms.LEVELS:
        if level <= number:
            made = randoms.kernels(level)
            for start in range(0, len(made), randoms.PER_MODULE):
                name = f"random_{level}_{start // randoms.PER_MODULE}"
                functions = {k.name: k.text() for k in made[start : start + randoms.PER_MODULE]}
                yield name, "random", Module(name, kernels.HEAD + randoms.HEAD, functions)


def _file(name: str) -> str:
    return name.replace(" ", "_")


def _features(target: str) -> Iterable[Made]:
    _, *parts = (patterns.SOURCES / "features.ptx").read_text(encoding="utf-8").split("\n//! ")
    for part in parts:
        title, body = part.split("\n", 1)
        match = _WHOLE.match("//! " + title)
        if not match:
            raise ToolError(f"features.ptx: not a title: {title}")
        name, oldest, only = match.groups()
        if target not in only.split() if only else targets.parse(target).number < int(oldest):
            continue
        image, errors = run_ptxas(f".version 9.0\n.target {target}\n.address_size 64\n{body}", target)
        if image is None:
            raise ToolError(f"features.ptx: {name} for {target}: {errors.strip()[:400]}")
        yield Made(f"features_{name}", "features", image)


def _cuda(target: str) -> Iterable[Made]:
    for source in sorted(patterns.SOURCES.glob("*.cu")):
        first = source.read_text(encoding="utf-8").splitlines()[0]
        match = re.match(r"// sm >= (\d+)\b", first)
        if not match:
            raise ToolError(f"{source.name}: the first line does not say the oldest SM: // sm >= N")
        if targets.parse(target).number < int(match[1]):
            continue
        image, errors = run_ptxas(ptx_of(source, target), target)
        if image is None:
            raise ToolError(f"{source.name} for {target}: {errors.strip()[:400]}")
        yield Made(f"cuda_{source.stem}", "cuda", image)


def dead_lines(results: Iterable[Result]) -> list[str]:
    """Lines that every target that was asked refuses, with the words of the last one."""
    refused: dict[tuple[str, str], str] = {}
    taken: set[tuple[str, str]] = set()
    for result in results:
        refused |= result.refused
        taken |= result.asked - set(result.refused)
    return [f"{function}: {line}: {message}" for (function, line), message in refused.items() if (function, line) not in taken]
