"""A CUDA source that calls every function of ``<cuda/ptx>`` with each value of its qualifiers, made from the installed headers.

The headers say above each function, in a comment, its prototype and the values that its qualifiers may have.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

_BLOCK = re.compile(r"/\*\n(.*?)\*/", re.S)
_VALUES = re.compile(r"^// \.(\w+)\s*= \{ (.*?) \}", re.M | re.S)
_NEEDS = re.compile(r"PTX\s+ISA\s+(\d+)(?:,\s*(SM_[\w, ]+))?")
_PROTOTYPE = re.compile(r"(?:template <(.*?)>\s*)?__device__ static inline ([\w:<> ]+?)\s+(\w+)\((.*?)\);", re.S)
_QUALIFIER = re.compile(r"(?:cuda::ptx::)?(\w+)_t<(\w+)>")
_ARRAY = re.compile(r"(const )?([\w:]+)\s*\(&(\w+)\)\[(\w+)\]")
_TYPES = {"8": "int8_t", "16": "short", "32": "int32_t", "64": "uint64_t", "128": "int4"}  # for a template's B32 and its like
_SPELLING = {"and": "and_op", "or": "or_op", "xor": "xor_op", "cta": "shared"}


def source(folder: Path, arch: str, part: int, parts: int) -> str:
    """The source for one architecture such as ``90a``; one part of several."""
    calls = list(dict.fromkeys(call for path in sorted(folder.glob("*.h")) for call in _calls(path.read_text(), arch)))
    text = "#include <cuda/ptx>\nnamespace ptx = cuda::ptx;\nusing namespace cuda::std;\n"
    for index, call in enumerate(calls[part::parts]):
        text += f"__global__ void call_{index}(char *m) {{\n{call}}}\n"
    return text


def _calls(text: str, arch: str) -> Iterator[str]:
    for block in _BLOCK.findall(text):
        needs, prototype = _NEEDS.search(block), _PROTOTYPE.search(block)
        if needs is None or prototype is None or not _reaches(needs[2] or "SM_20", arch):
            continue
        values = {name: [v.strip() for v in found.replace("//", "").split(",")] for name, found in _VALUES.findall(block)}
        yield from _call(values, *prototype.groups())


def _reaches(needs: str, arch: str) -> bool:
    names = [name.strip().removeprefix("SM_") for name in needs.split(",") if name.strip()]
    number = int(arch.rstrip("af"))
    return any(name == arch or (name.isdigit() and int(name) <= number) for name in names)


def _call(values: dict[str, list[str]], template: str | None, result: str, name: str, parameters: str) -> Iterator[str]:
    arguments = [p.strip() for p in re.split(r",(?![^<(]*[>)])", parameters) if p.strip()]
    own = {name: _TYPES.get(name.lstrip("B"), "int32_t") for name in re.findall(r"typename (\w+)", template or "")}
    tags = list(dict.fromkeys(_QUALIFIER.findall(parameters)))
    choices = [values.get(kind, ["0"]) if kind != "n32" else ["1"] for kind, _ in tags]
    for chosen in itertools.product(*choices):
        words = {
            variable: (kind, value.split("::")[-1].lstrip(".")) for (kind, variable), value in zip(tags, chosen, strict=True)
        }
        called = name if not own or (_retyped(parameters, own) != parameters and result not in own) else f"{name}<{own[result]}>"
        yield _text(result, called, [_retyped(argument, own) for argument in arguments], words)


def _retyped(text: str, own: dict[str, str]) -> str:
    return re.sub(r"\w+", lambda match: own.get(match[0], match[0]), text)


def _text(result: str, name: str, arguments: list[str], words: dict[str, tuple[str, str]]) -> str:
    lines, passed = "", []
    for index, argument in enumerate(arguments):
        tag, array = _QUALIFIER.search(argument), _ARRAY.match(argument)
        plain = re.match(r"(?:cuda::ptx::)(\w+)_t\b(?!<)", argument)
        if tag is not None:
            kind, value = words[tag[2]]
            number = 128 if argument.endswith(" size") else 1
            passed.append(f"ptx::n32_t<{number}>{{}}" if kind == "n32" else f"ptx::{_constant(kind, value)}")
        elif plain is not None:
            passed.append(f"ptx::{plain[1]}")
        elif array is not None:
            lines += f"  {array[2]} a{index}[{array[4]}];\n  memcpy(a{index}, m + {64 * index}, sizeof a{index});\n"
            passed.append(f"a{index}")
        else:
            type_ = re.sub(r"[&]?\s*\w+\Z", "", argument).removeprefix("const ").strip() if "*" not in argument else "ptr"
            passed.append(_scalar(argument, type_, index))
    call = f"ptx::{name}({', '.join(passed)})"
    if result == "void":
        lines += f"  {call};\n"
    else:
        lines += f"  auto r = {call};\n  memcpy(m, &r, sizeof r);\n"
    lines += "".join(f"  memcpy(m + {64 * i}, a{i}, sizeof a{i});\n" for i, a in enumerate(arguments) if _writes(a))
    return lines


def _writes(argument: str) -> bool:
    match = _ARRAY.match(argument)
    return match is not None and match[1] is None


def _constant(kind: str, value: str) -> str:
    return f"{kind}_{_SPELLING.get(value, value) if kind != 'scope' else value}"


def _scalar(argument: str, type_: str, index: int) -> str:
    if type_ == "ptr":
        pointer = argument[: argument.rindex("*") + 1]
        return f"({pointer})(m + {64 * index})"
    return f"*({type_} *)(m + {64 * index})"
