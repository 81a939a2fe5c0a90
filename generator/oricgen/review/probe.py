"""Runs in a process of its own with the tables of one side: decodes and encodes words, compiles kernels.

Reads one JSON request a line from standard input and answers each with one line of JSON. It imports nothing of the generator,
and of the runtime only what every version of it has, so that it works with the runtime of an older revision too.
"""

from __future__ import annotations

import json
import re
import sys
from types import SimpleNamespace
from typing import Any

import oric
from oric.sass.instruction import Control, DecodeError, Operand, decode, encode
from oric.sass.listing import control_code, list_cubin
from oric.support import elf
from oric_tables import ops
from oric_tables.targets import TARGETS

_NAMING = ("name", "number", "variant", "encoded_arch", "elf")  # columns of a target that leave code as it is
_BY_NAME = {op.name: op for op in ops.OPS if op is not None}


def targets(_: Any) -> dict[str, list[Any]]:
    """Target -> encoding model, number, variant, and the text of all columns that code depends on."""
    out: dict[str, list[Any]] = {}
    for name, target in TARGETS.items():
        columns = {key: getattr(target, key) for key in target._fields if key not in _NAMING}
        shown = {key: sorted(value) if isinstance(value, frozenset) else value for key, value in columns.items()}
        out[name] = [target.isa_name, target.number, target.variant, repr(shown)]
    return out


def decoded(request: Any) -> list[dict[str, Any]]:
    """``[target, word]`` each -> its text and parts, or ``{"error": why}``."""
    out: list[dict[str, Any]] = []
    for target, word in request:
        try:
            (i,) = decode(bytes.fromhex(word)[::-1], target)
        except DecodeError as error:
            out.append({"error": _reason(error)})
            continue
        guard = [i.guard, i.guard_negated, i.control.pack()]
        plain = i.op.unpack(0)
        mods = {name: value for name, value in i.modifiers.items() if value != plain[name]}
        out.append({"text": i.text, "op": i.op.name, "guard": guard, "mods": mods, "operands": i.operands})
    return out


def encoded(request: Any) -> list[dict[str, str]]:
    """``[target, parts]`` each, as ``decoded`` gives them -> the word, or ``{"error": why}``."""
    out = []
    for target, parts in request:
        guard, negated, control = parts["guard"]
        operands = tuple(Operand(*operand) for operand in parts["operands"])
        try:
            instruction: Any = SimpleNamespace(
                op=_BY_NAME[parts["op"]], guard=guard, guard_negated=negated, control=Control.unpack(control),
                modifiers=parts["mods"], operands=operands,
            )  # fmt: skip
            out.append({"word": f"{encode(instruction, target):032x}"})
        except DecodeError as error:
            out.append({"error": _reason(error)})
        except (KeyError, ValueError) as error:
            out.append({"error": f"no {error.args[0] if error.args else error}"})
    return out


def _reason(error: Exception) -> str:
    return re.sub(r"^offset \w+: ", "", str(error)).partition(": ")[0] if "offset" in str(error) else str(error)


def compiled(request: Any) -> list[dict[str, Any]]:
    """``[target, PTX text]`` each -> function -> registers, size, lines; or ``{"error": why}``."""
    out: list[dict[str, Any]] = []
    for target, text in request:
        try:
            cubin = oric.compile(text, arch=target)
            listing = list_cubin(elf.read(cubin.image))
        except (oric.CompileError, elf.CubinError) as error:
            out.append({"error": str(error).partition("\n")[0].partition("error: ")[2] or str(error).partition("\n")[0]})
            continue
        functions = {}
        for function in listing.functions:
            lines = []
            for line in function.lines:
                lines += [f"{label}:" for label in function.labels.get(line.offset, ()) if label != function.name]
                lines.append(f"{control_code(line.control)} {line.text}")
            info = cubin.kernels.get(function.name)
            size = len(function.lines) * 16
            functions[function.name] = {"registers": info.registers if info else None, "bytes": size, "lines": lines}
        out.append({"functions": functions})
    return out


def main() -> None:
    """Answer until standard input ends."""
    answers = {"targets": targets, "decode": decoded, "encode": encoded, "compile": compiled}
    for line in sys.stdin:
        request = json.loads(line)
        sys.stdout.write(json.dumps(answers[request["what"]](request.get("items"))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
