"""What one built version says when it is asked: runs in a process of its own whose PYTHONPATH has the version's tables.

Reads a request in JSON from standard input and writes the answer to standard output:

    {"vectors": FOLDER}                 every golden vector: [model, word, text or null, word of that text or null]
    {"read": [[model, word], ...]}      texts of words, null where no instruction has the word
    {"assemble": [[model, text, control], ...]}   words of texts, null where no instruction reads like that
    {"kernels": [[file, target], ...]}  instructions, registers, cycles and listing of sample kernels
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


class Machine:
    """Decoder and assembler of the version, asked through its library and nothing else."""

    def __init__(self) -> None:
        from oric_tables._native import ffi, lib

        self.ffi, self.lib = ffi, lib
        self.insn = ffi.new("oric_insn *")
        self.buffer = ffi.new("char[]", 4096)
        self.word = ffi.new("uint64_t[2]")
        self.misfit = ffi.new("oric_misfit *")

    def read(self, model: int, word: int) -> str | None:
        """The text of a word at offset 0."""
        self.word[0], self.word[1] = word & (1 << 64) - 1, word >> 64
        if self.lib.oric_decode(model, self.word, self.insn):
            return None
        size = self.lib.oric_print(model, self.insn, 0, self.ffi.NULL, self.ffi.NULL, self.buffer, 4096)
        return None if size < 0 else self.ffi.string(self.buffer).decode()

    def assemble(self, model: int, text: str, control: int) -> int | None:
        """The word of a text."""
        none = self.ffi.NULL
        error = self.lib.oric_assemble(model, text.encode(), 0, control, none, none, self.word, self.misfit)
        return None if error else int(self.word[0] | self.word[1] << 64)


def _number(model: str) -> int | None:
    from oric.support.targets import TargetError, find_model

    try:
        return int(find_model(model))
    except TargetError:
        return None


def vectors(folder: str) -> list[list[Any]]:
    """Every golden vector as the version reads it, and the word that it makes of its own text."""
    machine, out = Machine(), []
    for path in sorted(Path(folder).glob("*/*.txt")):
        model = path.parent.name
        number = _number(model)
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("#") or not line.strip() or number is None:
                continue
            word = int(line.split(None, 1)[0], 16)
            text = machine.read(number, word)
            made = None if text is None else machine.assemble(number, text, word >> 105 & 0x1FFFF)
            out.append([model, f"{word:032x}", text, None if made is None else f"{made:032x}"])
    return out


def read(items: list[list[str]], control: bool) -> list[str | None]:
    """Texts of words, with the control code in front where it is asked for."""
    from oric.sass.listing import control_code

    machine, out = Machine(), []
    for model, word in items:
        number = _number(model)
        text = None if number is None else machine.read(number, int(word, 16))
        out.append(f"{control_code(machine.insn.control)} {text}" if control and text else text)
    return out


def assemble(items: list[list[Any]]) -> list[str | None]:
    """Words of texts."""
    machine, out = Machine(), []
    for model, text, control in items:
        number = _number(model)
        word = None if number is None else machine.assemble(number, text, control)
        out.append(None if word is None else f"{word:032x}")
    return out


def kernels(items: list[list[str]]) -> list[dict[str, Any]]:
    """What the version makes of sample files."""
    return [_kernel(Path(path), target) for path, target in items]


def _kernel(path: Path, target: str) -> dict[str, Any]:
    from oric.api import compile

    try:
        cubin = compile(path.read_text(encoding="utf-8"), target)
    except Exception as error:  # a message for the user, or the compiler's own failure: there is no code
        return {"error": str(error)}
    made = {k.name: {"registers": k.registers, "lines": []} for k in cubin.kernels.values()}
    for name, lines in _listing(cubin.image).items():
        made.setdefault(name, {"registers": 0}).update(lines)
    return {"kernels": made, "cycles": _cycles(path, cubin.image)}


def _listing(image: bytes) -> dict[str, dict[str, list[str]]]:
    """Function -> lines (labels and instructions) and words."""
    from oric.sass import listing
    from oric.support import elf

    out: dict[str, dict[str, list[str]]] = {}
    for function in listing.list_cubin(elf.read(image)).functions:
        lines = []
        for line in function.lines:
            lines += [f"{name}:" for name in function.labels.get(line.offset, ())]
            lines.append(f"{listing.control_code(line.control)} {' '.join(line.text.split())}")
        words = [f"{line.words[1]:016x}{line.words[0]:016x}" for line in function.lines]
        out[function.name] = {"lines": lines, "words": words}
    return out


def _cycles(path: Path, image: bytes) -> dict[str, Any]:
    """Kernel -> cycles of all launches of its test cases, or "wrong result"."""
    from oric.sim import Modes, load

    from tests.kernels import cases

    out: dict[str, Any] = {}
    for case in cases.CASES:
        if case.file != path.name.split(".", maxsplit=1)[0]:
            continue
        module = load(image)
        for step in case.build():
            try:
                done = module.launch(
                    step.kernel, grid=step.grid, block=step.block, args=step.args, modes=Modes(timing=True, workers=1)
                )
                step.check()
            except Exception:  # whatever goes wrong in a launch is a wrong result
                out[step.kernel] = "wrong result"
                continue
            if out.get(step.kernel) != "wrong result":
                out[step.kernel] = out.get(step.kernel, 0) + done.timing.cycles
    return out


def main() -> int:
    """Answer one request."""
    request = json.load(sys.stdin)
    answer: dict[str, Any] = {}
    if "vectors" in request:
        answer["vectors"] = vectors(request["vectors"])
    if "read" in request:
        answer["read"] = read(request["read"], request.get("control", False))
    if "assemble" in request:
        answer["assemble"] = assemble(request["assemble"])
    if "kernels" in request:
        answer["kernels"] = kernels(request["kernels"])
    json.dump(answer, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
