"""Runs in a process of its own with the tables of one side: decodes and encodes words, compiles kernels.

Reads one JSON request a line from standard input and answers each with one line of JSON. It imports nothing of the generator,
and of the runtime only what every version of it has, so that it works with the runtime of an older revision too.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import sys
from functools import cache
from types import SimpleNamespace
from typing import Any

import oric
import oric.sim
from oric.sass.code import Code
from oric.sass.instruction import MESSAGES, Control, DecodeError, Operand, decode, encode
from oric.sass.listing import control_code, list_cubin
from oric.support import elf
from oric_tables import ops
from oric_tables import targets as targets_table
from oric_tables._native import ffi, lib
from oric_tables.targets import TARGETS

_NAMING = ("name", "number", "variant", "encoded_arch", "elf")  # columns of a target that leave code as it is
NO_WORD = f"({MESSAGES[lib.ORIC_E_WORD]})"
_BY_NAME = {op.name: op for op in ops.OPS if op is not None}


def targets(_: Any) -> dict[str, list[Any]]:
    """Target -> encoding model, number, variant, and the text of all columns that code depends on."""
    out: dict[str, list[Any]] = {}
    for name, target in TARGETS.items():
        columns = {key: getattr(target, key) for key in target._fields if key not in _NAMING}
        shown = {key: sorted(value) if isinstance(value, frozenset) else value for key, value in columns.items()}
        out[name] = [target.isa_name, target.number, target.variant, repr(shown)]
    return out


def models(_: Any) -> dict[str, list[str]]:
    """Encoding model -> the targets that have it, those that no code can be made for among them."""
    known: dict[str, int] = getattr(targets_table, "MODELS", None) or {
        name: ops.ISAS.index(target.isa_name) for name, target in TARGETS.items()
    }
    out: dict[str, list[str]] = {isa: [] for isa in ops.ISAS}
    for name, isa in known.items():
        out[ops.ISAS[int(isa)]].append(name)
    return {isa: names for isa, names in out.items() if names}


def read(request: Any) -> list[Any]:
    """``[encoding model, words in one text, with control codes]`` -> text and operation of each word (``NO_WORD`` and ""), and,
    by the number of the word, what the encoder makes of the instruction where that is another word (or "", when it refuses)."""
    isa, words, control = ops.ISAS.index(request[0]), request[1], request[2]
    data = b"".join(bytes.fromhex(words[at : at + 32])[::-1] for at in range(0, len(words), 32))
    code = Code(isa, data)
    texts = [f"{control_code(code.insns[n].control)} {text}" if control else text for n, text in enumerate(code.texts())]
    for number in code.bad:
        texts[number] = NO_WORD
    names = [op.name if op is not None else "" for op in ops.OPS]
    found = [names[code.insns[n].op] for n in range(code.count)]
    word = ffi.new("uint64_t[2]")
    again: dict[int, str] = {}
    for number in range(code.count):
        if found[number]:
            refused = lib.oric_encode(isa, ffi.addressof(code.insns, number), word)
            made = int(word[0] | word[1] << 64)
            if refused or made != code.word(number):
                again[number] = "" if refused else f"{made:032x}"
    return [texts, found, again]


def decoded(request: Any) -> list[dict[str, Any]]:
    """``[target, word]`` each -> its text and parts, or ``{"error": why}``."""
    out: list[dict[str, Any]] = []
    for target, word in request:
        try:
            out.append(_parts(decode(bytes.fromhex(word)[::-1], target)[0]))
        except DecodeError as error:
            out.append({"error": _reason(error)})
        except Exception as error:  # as for kernels: tables that the decoder cannot work with are no end of the page
            out.append({"error": f"internal error: {error}"})
    return out


def _parts(i: Any) -> dict[str, Any]:
    """An instruction in parts that another version can encode."""
    plain = i.op.unpack(0)
    mods = {name: value for name, value in i.modifiers.items() if value != plain[name]}
    guard = [i.guard, i.guard_negated, i.control.pack()]
    return {"text": i.text, "op": i.op.name, "guard": guard, "mods": mods, "operands": i.operands}


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
    """``[target, PTX text]`` each -> function -> registers, size, lines, words, and what the other sections hold; or
    ``{"error": why}``."""
    out: list[dict[str, Any]] = []
    for target, text in request:
        try:
            image = oric.compile(text, arch=target).image
            cubin = elf.read(image)
            listing = list_cubin(cubin)
        except (oric.CompileError, elf.CubinError) as error:
            out.append({"error": str(error).partition("\n")[0].partition("error: ")[2] or str(error).partition("\n")[0]})
            continue
        except Exception as error:  # whatever tables make of the compiler is news of these tables, no end of the page
            out.append({"error": f"internal error: {str(error).partition(chr(10))[0] or type(error).__name__}"})
            continue
        functions = {}
        for function in listing.functions:
            lines = []
            for line in function.lines:
                lines += [f"{label}:" for label in function.labels.get(line.offset, ()) if label != function.name]
                lines.append(f"{control_code(line.control)} {line.text}")
            info = cubin.kernels.get(function.name)
            functions[function.name] = {
                "registers": info.registers if info else None, "bytes": len(function.lines) * 16, "lines": lines,
                "words": _code_words(cubin, function),
            }  # fmt: skip
        out.append({"functions": functions, "sections": _other_sections(cubin)})
    return out


def _code_words(cubin: Any, function: Any) -> list[str]:
    """The machine words of a function, in hexadecimal."""
    info = cubin.kernels.get(function.name)
    data = info.text if info else b""
    return [data[at : at + 16][::-1].hex() for at in range(0, len(data), 16)] or [line.text for line in function.lines]


def _other_sections(cubin: Any) -> dict[str, str]:
    """Name -> digest of the sections that hold no code."""
    return {
        s.name: hashlib.sha256(bytes(s.data)).hexdigest()[:16]
        for s in cubin.sections
        if s.data and not s.name.startswith((".text", ".symtab", ".strtab", ".shstrtab"))
    }


def cycles(request: Any) -> list[dict[str, Any]]:
    """``[target, PTX text, file, path of the launches]`` each -> kernel -> cycles of its launches, or a text: what went wrong."""
    out = []
    for target, text, name, path in request:
        found: dict[str, Any] = {}
        image = oric.compile(text, arch=target).image
        for case in (case for case in _cases(path).CASES if case.file == name):
            module = oric.sim.load(image)
            for step in case.build():
                _launch(module, step, found)
        out.append(found)
    return out


@cache
def _cases(path: str) -> Any:
    """The module with the launches."""
    spec = importlib.util.spec_from_file_location("cases", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _launch(module: Any, step: Any, found: dict[str, Any]) -> None:
    """Add the cycles of one launch to those of its kernel, unless one before it went wrong."""
    if isinstance(found.get(step.kernel, 0), str):
        return
    try:
        modes = oric.sim.Modes(timing=True, workers=1)
        done = module.launch(step.kernel, grid=step.grid, block=step.block, args=step.args, modes=modes)
        step.check()
    except AssertionError:
        found[step.kernel] = "wrong result"
        return
    except Exception as error:  # a fault of the simulator, or what it makes of code that no sound tables give
        found[step.kernel] = type(error).__name__
        return
    found[step.kernel] = found.get(step.kernel, 0) + done.timing.cycles


def main() -> None:
    """Answer until standard input ends."""
    answers = {"targets": targets, "models": models, "read": read, "decode": decoded, "encode": encoded, "compile": compiled,
               "cycles": cycles}  # fmt: skip
    for line in sys.stdin:
        request = json.loads(line)
        sys.stdout.write(json.dumps(answers[request["what"]](request.get("items"))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
