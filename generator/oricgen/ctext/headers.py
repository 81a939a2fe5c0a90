"""Reads what C headers declare: as much of C as declarations and short inline functions need.

The headers are those of ``runtime/oric/native`` that the generated C includes. They are read when the specification is checked,
so a function that a header does not have any more is missed at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property

from .. import handlers
from ..render import template
from .types import ENUMERATOR, NUMBERS, POINTER, STRUCT, Value, pointer

# The C library's functions that a text may call; the headers include them from <math.h>, the compiler has the others built in.
_LIBRARY = """
double sqrt(double x); double fabs(double x); double fma(double a, double b, double c); double copysign(double x, double sign);
double trunc(double x); double floor(double x); double ceil(double x); double rint(double x);
float sqrtf(float x); float fabsf(float x); float fmaf(float a, float b, float c); float copysignf(float x, float sign);
float truncf(float x); float floorf(float x); float ceilf(float x); float rintf(float x);
int isnan(double x); int isinf(double x); int signbit(double x);
int __builtin_popcount(unsigned x); int __builtin_popcountll(unsigned long long x); int __builtin_clz(unsigned x);
int __builtin_clzll(unsigned long long x); int __builtin_ctz(unsigned x); int __builtin_ctzll(unsigned long long x);
uint32_t __builtin_bswap32(uint32_t x); uint64_t __builtin_bswap64(uint64_t x);
"""
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\\\n", re.S)
_DIRECTIVE = re.compile(r"^[ \t]*#.*$", re.M)
_INCLUDE = re.compile(r'^#include "(.+)"', re.M)
_DEFINE = re.compile(r"^#define (\w+)(\([^)]*\))?[ \t]*(.*)$", re.M)
_EDGE = re.compile(r"[{};]")
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)+|\b(?:static|inline|extern|const|volatile|struct|restrict)\b")
_MACRO_CALL = re.compile(r"(\w+)\s*\((.*)\)\Z", re.S)
_FUNCTION = re.compile(r"(\w[\w\s*]*[\s*])(\w+)\s*\(([^()]*)\)\Z")
_OBJECT = re.compile(r"(\w[\w\s*]*[\s*])(\w+)\s*((?:\[[^\]]*\]\s*)*)(?:=.*)?\Z", re.S)
_BLOCK = re.compile(r"(\w*)\s*\{(.*)\}\s*(\w*)\Z", re.S)
_TYPE_WORD = re.compile(r"\w+|\*|\[")
_PARTS = frozenset({"unsigned", "long", "int", "short", "char"})


@dataclass
class Declared:
    """What headers declare, by name; types stay text until somebody asks."""

    functions: dict[str, tuple[str, str]] = field(default_factory=dict)  # the result's type, the parameters
    macros: dict[str, tuple[tuple[str, ...] | None, str]] = field(default_factory=dict)  # parameters (None: no brackets), text
    objects: dict[str, str] = field(default_factory=dict)  # variables
    constants: set[str] = field(default_factory=set)  # of enumerations
    structs: dict[str, str] = field(default_factory=dict)  # the members
    types: dict[str, str] = field(default_factory=dict)  # other names of types
    _signatures: dict[str, tuple[Value, list[tuple[str, Value]]]] = field(default_factory=dict)

    def add(self, other: Declared) -> None:
        """Take in what another header declares."""
        self.functions |= other.functions
        self.macros |= other.macros
        self.objects |= other.objects
        self.constants |= other.constants
        self.structs |= other.structs
        self.types |= other.types

    def type_of(self, text: str) -> Value:
        """The type that a declaration begins with; the declared name and a number of elements may stand behind it."""
        words = _TYPE_WORD.findall(_ATTRIBUTE.sub(" ", text))
        count = next((i for i, word in enumerate(words) if word not in _PARTS), len(words)) or 1
        name, depth = " ".join(words[:count]), words.count("*") + words.count("[")
        found = NUMBERS.get(name) or (self.type_of(self.types[name]) if name in self.types else Value(STRUCT, name=name))
        if not depth:
            return found
        if found.kind == POINTER:
            return pointer(found.name, found.bits + depth)
        return pointer(name, depth)

    def pointed(self, value: Value) -> Value:
        """What a pointer points to."""
        return pointer(value.name, value.bits - 1) if value.bits > 1 else self.type_of(value.name)

    def signature(self, name: str) -> tuple[Value, list[tuple[str, Value]]]:
        """The result and the parameters (text and type) of a function."""
        if name not in self._signatures:
            result, parameters = self.functions[name]
            texts = [" ".join(text.split()) for text in parameters.split(",")]
            wanted = [(text, self.type_of(text)) for text in texts if text not in {"", "void"}]
            self._signatures[name] = self.type_of(result), wanted
        return self._signatures[name]

    def members(self, struct: str) -> dict[str, str]:
        """The members of a struct by name, with the text of their declaration; none when no header says what is in it."""
        out: dict[str, str] = {}
        for declaration in self.structs.get(struct, "").split(";"):
            first, *more = declaration.split(",")
            match = _OBJECT.match(_ATTRIBUTE.sub(" ", first).strip())
            if match is not None:
                base = match[1].rstrip("* \n\t")
                out[match[2]] = match[1] + match[3]
                out |= {name: base + stars + rest for stars, name, rest in _further(more)}
        return out


def _further(texts: list[str]) -> Iterator[tuple[str, str, str]]:
    """The names behind the first of a declaration: stars, name, brackets."""
    for text in texts:
        match = re.fullmatch(r"\s*([*\s]*)(\w+)\s*((?:\[[^\]]*\]\s*)*)", text)
        if match is not None:
            yield match[1], match[2], match[3]


def _top_level(code: str) -> Iterator[tuple[str, bool]]:
    """The declarations of a file, and whether each is a function with its body (which is left out)."""
    depth = start = 0
    for edge in _EDGE.finditer(code):
        mark, at = edge.group(), edge.start()
        if mark == "{":
            if not depth:
                head = code[start:at].rstrip()
            depth += 1
        elif mark == "}":
            depth -= 1
            if not depth and head.endswith(")"):
                yield head, True
                start = at + 1
        elif not depth:
            yield code[start:at], False
            start = at + 1


def _expanded(text: str, macros: Mapping[str, tuple[tuple[str, ...] | None, str]]) -> str:
    """A declaration that a macro makes, or whose first word one is."""
    match = _MACRO_CALL.match(text)
    if match is not None and (macro := macros.get(match[1])) is not None and macro[0] is not None:
        named = [name for name in macro[0] if name != "..."]
        given = [part.strip() for part in match[2].split(",", len(named))]
        made = macro[1].replace("__VA_ARGS__", given.pop() if len(given) > len(named) else "")
        for name, value in zip(named, given, strict=True):
            made = re.sub(rf"\s*##\s*{name}\b|\b{name}\b", value, made)
        return made
    first = re.match(r"\w+", text)
    if first is not None and (macro := macros.get(first.group())) is not None and macro[0] is None:
        return macro[1] + text[first.end() :]
    return text


@cache
def declarations(text: str) -> Declared:
    """What one header declares itself."""
    code = _COMMENT.sub(" ", text)
    out = Declared()
    for name, parameters, body in _DEFINE.findall(code):
        out.macros[name] = tuple(p.strip() for p in parameters[1:-1].split(",")) if parameters else None, body.strip()
    for declaration, _ in _top_level(_DIRECTIVE.sub("", code)):
        _declare(out, _ATTRIBUTE.sub(" ", _expanded(declaration.strip(), out.macros)).strip())
    return out


def _declare(out: Declared, text: str) -> None:
    """Note one declaration."""
    is_type = text.startswith("typedef ")
    text = text.removeprefix("typedef ").strip()
    block = _BLOCK.match(text)
    if block is not None and text.startswith("enum"):
        out.constants |= {part.partition("=")[0].strip() for part in block[2].split(",")} - {""}
    elif block is not None:
        out.structs |= {name: block[2] for name in (block[1], block[3]) if name}
    elif (function := _FUNCTION.match(text)) is not None and not is_type:
        out.functions[function[2]] = function[1], function[3]
    elif (named := _OBJECT.match(text)) is not None:
        kind = named[1] + named[3]
        if is_type and kind.strip() != named[2]:
            out.types[named[2]] = kind
        elif not is_type:
            out.objects[named[2]] = kind


def _reached(text: str) -> dict[str, str]:
    """The hand-written headers that a text includes, directly or not: name -> text."""
    found: dict[str, str] = {}
    todo = _INCLUDE.findall(text)
    while todo:
        name = todo.pop()
        path = handlers.folder() / handlers.NATIVE / name
        if name not in found and path.is_file():  # a generated header is not there before the first build
            found[name] = path.read_text(encoding="utf-8")
            todo += _INCLUDE.findall(found[name])
    return found


def _included(text: str) -> Declared:
    """What a text and the headers that it includes declare."""
    out = Declared()
    for part in (_LIBRARY, *_reached(text).values(), text):
        out.add(declarations(part))
    return out


def of_lanes() -> Declared:
    """What the C of meanings knows: generated files include ``sim/exec.h``, itself generated."""
    return _included(template("sim_exec.h.j2", meanings=[]))


def of_threads() -> Declared:
    """What the C of values knows."""
    return _included('#include "value/thread.h"\n')


@dataclass(frozen=True)
class Names:
    """The names of C that a text may use besides those of its row."""

    declared: Declared
    values: frozenset[str]  # of modifiers
    variables: Mapping[str, str]  # of the generated function, with their types; `l` inside its loop over lanes

    @cached_property
    def outside(self) -> Names:
        """What is known outside the loop over lanes."""
        return Names(self.declared, self.values, {name: kind for name, kind in self.variables.items() if name != "l"})

    def value(self, name: str) -> Value | None:
        """What a name stands for; None for one that stands for nothing. Macros are left to the caller."""
        if name in self.variables:
            return self.declared.type_of(self.variables[name])
        if name in self.values:
            return ENUMERATOR._replace(name=name)
        if name in self.declared.constants:
            return ENUMERATOR
        if name == "NULL":
            return pointer("void")
        return self.declared.type_of(self.declared.objects[name]) if name in self.declared.objects else None

    def all(self) -> set[str]:
        """Every name of a value, for what somebody may have meant."""
        simple = {name for name, (parameters, _) in self.declared.macros.items() if parameters is None}
        return {*self.variables, *self.values, *self.declared.constants, *self.declared.objects, *simple}

    def callable(self) -> set[str]:
        """Every name that may be called."""
        with_brackets = {name for name, (parameters, _) in self.declared.macros.items() if parameters is not None}
        return {*self.declared.functions, *with_brackets}
