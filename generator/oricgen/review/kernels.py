"""What the two sides make of sample kernels: words of code, size, registers, simulated cycles."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .side import Side

KERNELS = ("examples", "tests/kernels")
CASES = "tests/kernels/cases.py"  # launches of the kernels below its folder


@dataclass(frozen=True)
class Code:
    """A compiled function. ``cycles``: of its launches in the simulator; None where there are none, or they need not be run."""

    instructions: int
    bytes: int
    registers: int | None
    cycles: int | str | None = None  # a text: what went wrong


@dataclass(frozen=True)
class Kernel:
    """A function of a sample file on targets that agree; ``old`` and ``new`` are its code or an error."""

    name: str
    path: str
    targets: tuple[str, ...]
    old: Code | str
    new: Code | str
    changed: int  # instructions
    deeply: int  # of those, the ones that differ in more than register numbers and control codes
    listing: tuple[str, ...]  # lines with "-", "+" or " " in front
    sections: tuple[str, ...] = ()  # of a whole file (its name is ""): those besides code that differ


def samples(root: Path, patterns: Sequence[str] = ()) -> list[Path]:
    """The sample kernels, or those that ``patterns`` (below ``root``) name."""
    globs = patterns or [f"{folder}/*.ptx" for folder in KERNELS]
    return sorted({path for pattern in globs for path in root.glob(pattern)})


def compare_kernels(old: Side, new: Side, paths: Sequence[Path], root: Path) -> tuple[list[Kernel], int]:
    """The functions and files that differ in any byte, and how many functions were compared."""
    out: list[Kernel] = []
    compiled = 0
    for group, columns in _alike(old, new).items():
        chosen = _chosen(paths, columns)
        before, after = (_compile(side, group[0], [text for _, text in chosen]) for side in (old, new))
        differing: list[tuple[Path, str, Kernel, tuple[Any, Any]]] = []
        for (path, text), a, b in zip(chosen, before, after, strict=True):
            was, now = (side.get("functions", {}) for side in (a, b))
            place = path.relative_to(root).as_posix()
            for name in dict.fromkeys([*was, *now]):
                compiled += 1
                one, two = was.get(name, a.get("error", "not there")), now.get(name, b.get("error", "not there"))
                if one != two:
                    differing.append((path, text, _kernel(name, place, group, one, two), (one, two)))
            sections = _sections(a.get("sections", {}), b.get("sections", {}))
            if sections and was and now:
                out.append(Kernel("", place, group, "", "", 0, 0, (), sections))
        out += _timed(differing, (old, new), group[0], root)
    return _joined(out), compiled


def _sections(one: Mapping[str, str], two: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys([*one, *two]) if one.get(name) != two.get(name))


def _timed(
    found: Sequence[tuple[Path, str, Kernel, tuple[Any, Any]]], sides: tuple[Side, Side], target: str, root: Path
) -> list[Kernel]:
    """The kernels with the cycles of their launches on both sides, where their words differ."""
    texts = {path: text for path, text, kernel, _ in found if isinstance(kernel.old, Code) and isinstance(kernel.new, Code)}
    items = [[target, text, _stem(path), str(root / CASES)] for path, text in texts.items()]
    if not items or not (root / CASES).is_file():
        return [kernel for _, _, kernel, _ in found]
    answers = [dict(zip(texts, side.ask("cycles", items), strict=True)) for side in sides]
    out = []
    for path, _, kernel, _ in found:
        if isinstance(kernel.old, Code) and isinstance(kernel.new, Code):
            one, two = (answer[path].get(kernel.name) for answer in answers)
            kernel = replace(kernel, old=replace(kernel.old, cycles=one), new=replace(kernel.new, cycles=two))
        out.append(kernel)
    return out


def _stem(path: Path) -> str:
    """What the launches call a file: without target and ending."""
    return re.sub(r"(\.sm_\d+\w?)?\.ptx$", "", path.name)


def _compile(side: Side, target: str, texts: list[str]) -> list[Any]:
    """What a side makes of the texts for a target, which it may not have."""
    if target not in side.ask("targets"):
        return [{"error": f"no target {target}"}] * len(texts)
    return list(side.ask("compile", [[target, text] for text in texts]))


def _joined(kernels: Sequence[Kernel]) -> list[Kernel]:
    """Targets for which the same is made of the same file in one entry."""
    groups: dict[Kernel, list[str]] = {}
    for kernel in kernels:
        groups.setdefault(replace(kernel, targets=()), []).extend(kernel.targets)
    return [replace(kernel, targets=tuple(names)) for kernel, names in groups.items()]


def _alike(old: Side, new: Side) -> dict[tuple[str, ...], tuple[int, str]]:
    """Targets of both sides -> number and variant; those for which no side can make other code than for one another are one."""
    before, after = old.ask("targets"), new.ask("targets")
    groups: dict[tuple[Any, ...], list[str]] = {}
    for name in dict.fromkeys([*after, *before]):
        _, number, variant, _ = after.get(name) or before[name]
        columns = [side[name][3] if name in side else name for side in (before, after)]
        groups.setdefault((number, variant, *columns), []).append(name)
    return {tuple(names): (key[0], key[1]) for key, names in groups.items()}


def _chosen(paths: Sequence[Path], target: tuple[int, str]) -> list[tuple[Path, str]]:
    """The files that the target takes; of files for several targets (``saxpy.sm_80.ptx``) the newest."""
    best: dict[str, tuple[int, Path, str]] = {}
    for path in paths:
        text = path.read_text(encoding="utf-8")
        match = re.search(r"^\s*\.target\s+sm_(\d+)([a-z]?)", text, re.MULTILINE)
        number = int(match[1]) if match else 0
        if number > target[0] or (match and match[2] and not (number == target[0] and match[2] == target[1])):
            continue
        key = re.sub(r"\.sm_\d+\w?\.ptx$", ".ptx", path.as_posix())
        if key not in best or best[key][0] < number:
            best[key] = (number, path, text)
    return [(path, text) for _, path, text in best.values()]


def _kernel(name: str, path: str, targets: tuple[str, ...], old: Any, new: Any) -> Kernel:
    both = isinstance(old, dict) and isinstance(new, dict)
    lines, changed, deeply = align(old["lines"], new["lines"]) if both else ((), 0, 0)
    if both and not changed:  # words differ that print alike
        pairs = [p for p in zip(_worded(old), _worded(new), strict=False) if p[0] != p[1]]
        changed = deeply = len(pairs)
        lines = tuple(line for one, two in pairs for line in (f"-{one}", f"+{two}"))
    return Kernel(name, path, targets, _code(old), _code(new), changed, deeply, lines)


def _worded(side: Any) -> list[str]:
    """The instructions with their words in front."""
    lines = [line for line in side["lines"] if not line.endswith(":")]
    return [f"{word} {line}" for word, line in zip(side["words"], lines, strict=False)]


def _code(side: Any) -> Code | str:
    return Code(len(side["words"]), side["bytes"], side["registers"]) if isinstance(side, dict) else str(side)


def align(old: list[str], new: list[str]) -> tuple[tuple[str, ...], int, int]:
    """The lines of both with ``-``, ``+`` and blanks in front; how many instructions differ, and how many in more than detail.

    A detail is the number of a register, or a control code: one more instruction somewhere changes them everywhere. Lines that
    differ in details only are shown as differences when no others are.
    """
    matcher = difflib.SequenceMatcher(None, [_shape(x) for x in old], [_shape(x) for x in new], autojunk=False)
    blocks = matcher.get_opcodes()
    whole = any(what != "equal" for what, *_ in blocks)
    lines: list[str] = []
    details = gone_count = come_count = 0
    for what, a, b, c, d in blocks:
        if what == "equal":
            for one, two in zip(old[a:b], new[c:d], strict=True):
                details += one != two
                lines += [f" {two}"] if whole or one == two else [f"-{one}", f"+{two}"]
            continue
        gone_count += sum(not line.endswith(":") for line in old[a:b])
        come_count += sum(not line.endswith(":") for line in new[c:d])
        lines += [f"-{line}" for line in old[a:b]] + [f"+{line}" for line in new[c:d]]
    more = max(gone_count, come_count)  # of all together: one that moves goes here and comes there
    return tuple(lines), details + more, more


def _shape(line: str) -> str:
    """A line without control code and register numbers."""
    return re.sub(r"\b(U?[RP])\d+\b", r"\1", line.partition("] ")[2] or line)
