"""Code Objects as the sections of a file, and back.

Source: Data structures, "ORI Record Serializer", "Wrapper: sub_A53840" (records around all sections), "Key fields" (links between
parts); the order of the sections of a Code Object is this project's.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from typing import Any, Final

from oric.ir.module import Module
from oric.support.diagnostics import InternalError
from oric.support.targets import find_target

from .codec import Codec, RecordError
from .container import FULL, NAMES, TAG, WRAPPED, RecordFile, Section, name_of
from .projections import POINTERS, projected
from .shown import Shown, packed
from .soundness import check
from .state import CLASSES, Lines, Part, Saved, Start, Symbols

_OPTIONS: Final = "CompileOptions"
_STATE: Final = {name: TAG[name] for name in ("start", "options", "head", "code", "facts", "module", "symbols", "lines")}
_COMMON: Final = ("module", "symbols", "lines")  # what Code Objects may have in common with the one before
_MOST_PADS: Final = 255
# What numbers that make no sense end in where code is looked at.
_SENSELESS: Final = (ArithmeticError, LookupError, TypeError, ValueError, struct.error, InternalError)
_AROUND: Final = frozenset({TAG["header"], TAG["trailer"], TAG["link"]})


class Assembler:
    """Takes Code Objects one by one, each as it is at that moment, and makes a file of them.

    ``classes``: of the options, by name; ``level``: of optimization; ``flags``: FULL and WRAPPED.
    """

    def __init__(self, classes: Mapping[str, type[Any]], level: int, flags: int) -> None:
        self._codec = Codec({**CLASSES, **classes})
        self._level = level
        self._flags = flags
        self._parts: list[list[Section]] = []

    def add(self, part: Part) -> None:
        """Take a Code Object as it is now."""
        f, module = part.function, part.module
        values = {
            "head": ("Head", part.head),
            "code": ("Function", f),
            "facts": ("FunctionAttributes", f.attributes),
        }
        shown = Shown(f, module, find_target(f.target), self._level)
        for name, (kind, value) in values.items():
            shown.done.append(Section(TAG[name], self._codec.encode(kind, value)))
        shown.done += self._common(module)
        self._parts.append(projected(shown, bool(self._flags & FULL)))

    def _common(self, module: Module) -> list[Section]:
        values = {"module": ("Module", module), "symbols": ("Symbols", Symbols(module.symbols)),
                  "lines": ("Lines", Lines(module.line_info))}  # fmt: skip
        return [Section(TAG[name], self._codec.encode(kind, value)) for name, (kind, value) in values.items()]

    def sections(self, start: Start, options: Any, module: Module) -> list[Section]:
        """The sections of a file of what was taken, or of a module without Code Objects."""
        out: list[Section] = []
        if self._flags & WRAPPED:
            out.append(_header(find_target(options.arch), self._level, len(self._parts)))
        out.append(Section(TAG["start"], self._codec.encode("Start", start)))
        out.append(Section(TAG["options"], self._codec.encode(_OPTIONS, options)))
        if not self._parts:
            out += self._common(module)
        known: dict[int, int] = {}  # tag -> the section that has the last payload
        for number, part in enumerate(self._parts):
            for section in part:
                out.append(_pointing(section, out, known))
                if section.tag in _SHAREABLE and out[-1].shares < 0:
                    known[section.tag] = len(out) - 1
            left = len(self._parts) - number - 1
            if left:
                row = (len(out) + 1, number + 1, len(self._parts), left)
                out.append(Section(TAG["link"], *packed("link", [row])))
        if self._flags & WRAPPED:
            out.append(_trailer(out))
        return out


def _header(target: Any, level: int, parts: int) -> Section:
    """The record in front of all sections: for which machine, at which level, and how many Code Objects."""
    return Section(TAG["header"], *packed("header", [(target.encoded_arch, target.isa, level, parts)]))


_SHAREABLE: Final = frozenset(TAG[name] for name in _COMMON)


def _pointing(section: Section, out: list[Section], known: Mapping[int, int]) -> Section:
    """A section with the payload of an earlier one where that is the same."""
    if section.tag in POINTERS:
        at = known[TAG["symbols"]]
        return section._replace(shares=at if out[at].payload else -1)
    at = known.get(section.tag, -1)
    if at >= 0 and out[at].payload == section.payload:
        return section._replace(payload=out[at].payload, shares=at)
    return section


def _trailer(before: list[Section]) -> Section:
    """The record behind all sections: how many there are with it, the bytes of their payloads, and the checksum of these."""
    size = checksum = 0
    for section in before:
        if section.shares < 0:
            size += len(section.payload)
            checksum = zlib.crc32(section.payload, checksum)
    return Section(TAG["trailer"], *packed("trailer", [(len(before) + 1, size & 0xFFFFFFFF, checksum)]))


def loaded(file: RecordFile, classes: Mapping[str, type[Any]]) -> Saved:
    """What a file holds, checked: every array within its bounds, the documented sections as the code has them.

    Raises:
        RecordError: it is of another build, or not sound.
    """
    if not file.own_build:
        raise RecordError(
            "another build of Oric has made this file: numbers of operations and registers mean something else here"
        )
    known = [(at, section) for at, section in enumerate(file.sections) if section.tag in NAMES]
    loader = _Loader(Codec({**CLASSES, **classes}), known)
    saved = loader.run(file.flags)
    _compare(saved, known, classes)
    _check_around(saved, file.sections)
    return saved


class _Loader:
    def __init__(self, codec: Codec, known: list[tuple[int, Section]]) -> None:
        self.codec = codec
        self.known = known
        self.target: Any = None
        self.module = Module("")
        self.last: dict[str, bytes] = {}

    def run(self, flags: int) -> Saved:
        groups: list[dict[int, tuple[int, Section]]] = []
        first: dict[int, tuple[int, Section]] = {}
        for at, section in self.known:
            if section.tag == TAG["head"]:
                groups.append({})
            group = groups[-1] if groups else first
            if section.tag in group and section.tag in _STATE.values():
                raise _wrong(at, section, "it stands there twice")
            group.setdefault(section.tag, (at, section))
        start = self._decode(first, "start", "Start")
        options = self._decode(first, "options", _OPTIONS)
        try:
            self.target = find_target(options.arch)
        except ValueError as error:
            raise _wrong(*first[TAG["options"]], str(error)) from error
        parts = [self._part(group) for group in groups]
        _check_start(start, parts, first[TAG["start"]])
        return Saved(start, options, parts, flags, parts[0].module if parts else self._module(first))

    def _decode(self, group: Mapping[int, tuple[int, Section]], name: str, kind: str) -> Any:
        if TAG[name] not in group:
            raise RecordError(f"there is no section with {name_of(TAG[name])} where one is expected")
        at, section = group[TAG[name]]
        if section.shares >= 0 and section.tag not in _SHAREABLE:
            raise _wrong(at, section, "it has the payload of another section")
        try:
            return self.codec.decode(kind, section.payload)
        except RecordError as error:
            raise _wrong(at, section, error.message, error.offset) from None
        except (TypeError, ValueError, OverflowError) as error:
            raise _wrong(at, section, str(error)) from error

    def _part(self, group: Mapping[int, tuple[int, Section]]) -> Part:
        head = self._decode(group, "head", "Head")
        f = self._decode(group, "code", "Function")
        f.attributes = self._decode(group, "facts", "FunctionAttributes")
        module = self._module(group)
        f.in_window = head.in_window
        f.sources = module.line_info if head.has_lines else None
        at, section = group[TAG["code"]]
        try:
            problem = check(f, module, self.target)
        except _SENSELESS as error:
            problem = f"it is no code that can be looked at: {error}"
        if problem:
            raise _wrong(at, section, problem)
        if any(not 0 <= i < len(f.op) or not 0 < pads <= _MOST_PADS for i, pads in head.pads.items()):
            raise _wrong(*group[TAG["head"]], "NOPs stand in front of an instruction that there is not")
        return Part(head, f, module)

    def _module(self, group: Mapping[int, tuple[int, Section]]) -> Module:
        """The module; the one of the Code Object before where nothing is another."""
        payloads = {name: group[TAG[name]][1].payload for name in _COMMON if TAG[name] in group}
        if len(payloads) == len(_COMMON) and all(payloads[name] is self.last.get(name) for name in _COMMON):
            return self.module
        module: Module = self._decode(group, "module", "Module")
        module.symbols = self._decode(group, "symbols", "Symbols").symbols
        module.line_info = self._decode(group, "lines", "Lines").info
        self.module, self.last = module, payloads
        return module


def _wrong(at: int, section: Section, problem: str, offset: int = 0) -> RecordError:
    return RecordError(f"section {at}, {name_of(section.tag)}: {problem}", section.offset + offset)


def _check_start(start: Start, parts: list[Part], place: tuple[int, Section]) -> None:
    """The kernels are there, each behind its functions, each once."""
    kernels = [part.function.name for part in parts if part.head.unit < 0]
    if kernels != start.kernels or len(start.sources) != len(kernels):
        raise _wrong(*place, f"kernels {start.kernels} are promised, there are {kernels}")
    if any(not 0 <= number < len(start.inputs) for number in start.sources):
        raise _wrong(*place, "a kernel is of an input that there is not")
    kernel = unit = 0
    for part in parts:
        if part.head.kernel != kernel or part.head.unit not in (unit, -1):
            raise _wrong(*place, f"'{part.function.name}' is not the function {unit} of kernel {kernel}")
        kernel, unit = (kernel + 1, 0) if part.head.unit < 0 else (kernel, unit + 1)
    if unit:
        raise _wrong(*place, "functions without their kernel are at the end")


def _compare(saved: Saved, known: list[tuple[int, Section]], classes: Mapping[str, type[Any]]) -> None:
    """The sections of a file are those that what was loaded is written as."""
    try:
        made = [section for section in sections_of(saved, classes) if section.tag not in _AROUND]
    except _SENSELESS as error:
        raise RecordError(f"what the file holds is no code that can be looked at: {error}") from error
    theirs = [(at, section) for at, section in known if section.tag not in _AROUND]
    for mine, (at, section) in zip(made, theirs, strict=False):
        if mine.tag != section.tag:
            raise _wrong(at, section, f"{name_of(mine.tag)} is expected here")
        if mine[:5] != section[:5]:
            raise _wrong(at, section, "it is not what the code comes to")
        if mine.tag in POINTERS and section.payload:
            raise _wrong(at, section, "it has no data of its own")
    if len(made) != len(theirs):
        raise RecordError(f"{len(theirs)} sections of known tags, {len(made)} are expected")


def _check_around(saved: Saved, sections: list[Section]) -> None:
    """Header, trailer and links are as the sections are."""
    known = [(at, section) for at, section in enumerate(sections) if section.tag in NAMES]
    tags = [section.tag for _, section in known]
    wrapped = bool(saved.flags & WRAPPED)
    if (tags.count(TAG["header"]), tags.count(TAG["trailer"])) != (int(wrapped), int(wrapped)):
        raise RecordError("header and trailer are not there as the flags of the file say")
    if wrapped and (tags[0] != TAG["header"] or tags[-1] != TAG["trailer"]):
        raise RecordError("header and trailer do not stand around all sections")
    if wrapped:
        target, (first, header), (last, trailer) = find_target(saved.options.arch), known[0], known[-1]
        if header[:5] != _header(target, saved.options.opt_level, len(saved.parts))[:5]:
            raise _wrong(first, header, "it is not what the sections come to")
        if trailer[:5] != _trailer(sections[:last])[:5]:
            raise _wrong(last, trailer, "it is not what the sections come to")
    heads = [at for at, section in known if section.tag == TAG["head"]]
    links = [(at, section) for at, section in known if section.tag == TAG["link"]]
    if len(links) != max(len(heads) - 1, 0):
        raise RecordError(f"{len(heads)} Code Objects are joined by {len(links)} links")
    for number, (at, section) in enumerate(links):
        row = (heads[number + 1], number + 1, len(heads), len(heads) - number - 1)
        if section[:5] != Section(TAG["link"], *packed("link", [row]))[:5] or at >= heads[number + 1]:
            raise _wrong(at, section, "it does not lead to the next Code Object")


def sections_of(saved: Saved, classes: Mapping[str, type[Any]]) -> list[Section]:
    """The sections that are written for what was loaded."""
    assembler = Assembler(classes, saved.options.opt_level, saved.flags)
    for part in saved.parts:
        assembler.add(part)
    return assembler.sections(saved.start, saved.options, saved.module)
