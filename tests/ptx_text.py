"""PTX modules as text: cut into one module a kernel, with what the kernel uses."""

from __future__ import annotations

import re

_ENTRY = re.compile(r"(?:\.visible |\.weak )?\.entry\s+(\w+)")
_FUNCTION = re.compile(r"\.func\s+(?:\([^)]*\)\s*)?([\w$]+)")
_VARIABLE = re.compile(r"\.(?:global|const|shared)\b[^=;{(\[]*?([\w$]+)\s*[\[=;]")
_STRUCTURE = re.compile(r"//[^\n]*|[{};]")
_WORD = re.compile(r"[\w$]+")


def kernels(text: str) -> dict[str, str]:
    """Kernel -> a module with it, the functions and variables that it reaches, and everything that has no name."""
    others: list[tuple[str, str]] = []  # in order, for a name is declared before it is used: what has no name under ""
    named: dict[str, list[str]] = {}
    found = {}
    for part in _parts(text):
        if entry := _ENTRY.match(part.lstrip()):
            found[entry[1]] = part
            continue
        definition = _FUNCTION.search(part) or _VARIABLE.search(part)
        others.append((definition[1] if definition else "", part))
        if definition:
            named.setdefault(definition[1], []).append(part)
    return {name: _module(others, named, part) for name, part in found.items()}


def _module(others: list[tuple[str, str]], named: dict[str, list[str]], kernel: str) -> str:
    reached: set[str] = {""}
    waiting = [kernel]
    while waiting:
        for word in set(_WORD.findall(waiting.pop())) & named.keys() - reached:
            reached.add(word)
            waiting += named[word]
    return "".join([part for name, part in others if name in reached] + [kernel])


def _parts(text: str) -> list[str]:
    """The statements of a module: the head (version, target, address size), then a directive with its body each."""
    start = re.search(r"^\.address_size.*\n", text, re.M)
    assert start is not None
    parts, at, depth = [text[: start.end()]], start.end(), 0
    for found in _STRUCTURE.finditer(text, at):
        if found[0].startswith("//"):
            continue
        depth += {"{": 1, "}": -1, ";": 0}[found[0]]
        if not depth and not (found[0] == "}" and re.match(r"\s*;", text[found.end() :])):
            parts.append(re.sub(r"//[^\n]*", "", text[at : found.end()]) + "\n")
            at = found.end()
    return parts
