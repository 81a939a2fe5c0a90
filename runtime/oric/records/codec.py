"""Values of the classes of ``state`` in ``spec/section_tags.yaml`` as bytes, and back.

A type is written as Python writes it. Integers are zigzag numbers in groups of seven bits, the lowest first; texts, bytes, lists,
sets (in order) and dictionaries (in theirs) have their length in front; ``words`` is an array of 64-bit integers, little-endian.
An alternative has the number of its type in front, of which None is the first. Of an object of a class that is ``shared``, what
stands there is its number among those of its class; behind a new number stands the object. Nothing else is accepted: there is
one text for every value, so what is read is written again as the same bytes.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Final, final

from librt.vecs import vec
from mypy_extensions import i64
from oric_tables.record_tags import STATE, State

_LEAST, _MOST = -(1 << 63), (1 << 64) - 1
_GROUP: Final = 7
_MORE: Final = 1 << _GROUP
_MOST_SHIFT: Final = 9 * _GROUP  # ten groups hold every number
_WORD: Final = 8  # bytes
_TOKEN: Final = re.compile(r"\w+|\.\.\.|[\[\],|]")


class RecordError(Exception):
    """A record file that is not sound; ``offset``: the byte in the file, or in its section, where that shows."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


@final
class Writer:
    """What is written so far, and the objects that were."""

    def __init__(self) -> None:
        self.out = bytearray()
        self.numbers: dict[str, dict[int, int]] = {}
        self.kept: list[object] = []  # so that no other object gets the identity of one that was written

    def number(self, value: int) -> None:
        """Write an integer."""
        left = value << 1 if value >= 0 else (-value << 1) - 1
        while left >= _MORE:
            self.out.append(left & (_MORE - 1) | _MORE)
            left >>= _GROUP
        self.out.append(left)


@final
class Reader:
    """Bytes of a section and the place in them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.objects: dict[str, list[Any]] = {}

    def fail(self, message: str) -> RecordError:
        """What is wrong here."""
        return RecordError(message, self.at)

    def number(self) -> int:
        """An integer.

        Raises:
            RecordError: there is none that :meth:`Writer.number` writes.
        """
        value = shift = 0
        while True:
            if self.at >= len(self.data):
                raise self.fail("the section ends in the middle of a number")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & (_MORE - 1)) << shift
            if byte < _MORE:
                break
            shift += _GROUP
            if shift > _MOST_SHIFT:
                raise self.fail("a number has more than 64 bits")
        if shift and not byte:
            raise self.fail("a number has more bytes than it needs")
        found = -(value >> 1) - 1 if value & 1 else value >> 1
        if not _LEAST <= found <= _MOST:
            raise self.fail("a number has more than 64 bits")
        return found

    def count(self, size: int = 1) -> int:
        """How many elements follow, of at least ``size`` bytes each.

        Raises:
            RecordError: more than there are bytes.
        """
        found = self.number()
        if not 0 <= found * size <= len(self.data) - self.at:
            raise self.fail(f"{found} elements are promised, and {len(self.data) - self.at} bytes are left")
        return found

    def take(self, size: int) -> bytes:
        """The next bytes, which are there."""
        self.at += size
        return self.data[self.at - size : self.at]


_Write = Callable[[Writer, Any], None]
_Read = Callable[[Reader], Any]


class Coder:
    """How values of a type are written and read; ``accepts``: whether a value is of the type."""

    __slots__ = ("accepts", "name", "read", "write")

    def __init__(self, name: str, accepts: Callable[[Any], bool], write: _Write, read: _Read) -> None:
        self.name = name
        self.accepts = accepts
        self.write = write
        self.read = read


class Codec:
    """Coders of the classes that ``classes`` names, made when they are asked for.

    ``classes``: name in ``state`` -> class.
    """

    def __init__(self, classes: Mapping[str, type[Any]]) -> None:
        self._classes = classes
        self._rows = {row.name: row for row in STATE}
        self._coders: dict[str, Coder] = dict(_PLAIN)

    def encode(self, name: str, value: Any) -> bytes:
        """An object of a class as bytes.

        Raises:
            TypeError: a field has a value that its type does not have.
        """
        writer = Writer()
        self.coder(name).write(writer, value)
        return bytes(writer.out)

    def decode(self, name: str, data: bytes) -> Any:
        """The object of a class that bytes hold.

        Raises:
            RecordError: they hold something else, or more.
        """
        reader = Reader(data)
        value = self.coder(name).read(reader)
        if reader.at != len(data):
            raise reader.fail(f"{len(data) - reader.at} bytes are left over")
        return value

    def coder(self, text: str) -> Coder:
        """That of a type."""
        found = self._coders.get(text)
        if found is None:
            tokens = _TOKEN.findall(text)
            found = self._alternatives(tokens)
            self._coders[text] = found
        return found

    def _alternatives(self, tokens: list[str]) -> Coder:
        parts = [self._one(tokens)]
        while tokens and tokens[0] == "|":
            tokens.pop(0)
            parts.append(self._one(tokens))
        parts.sort(key=lambda part: part.name != "None")
        return parts[0] if len(parts) == 1 else _union(parts)

    def _one(self, tokens: list[str]) -> Coder:
        name = tokens.pop(0)
        if not tokens or tokens[0] != "[":
            return self._named(name)
        arguments: list[Coder] = []
        tokens.pop(0)
        repeated = False
        while tokens[0] != "]":
            if tokens[0] == "...":
                repeated = True
                tokens.pop(0)
            else:
                arguments.append(self._alternatives(tokens))
            if tokens[0] == ",":
                tokens.pop(0)
        tokens.pop(0)
        return _GENERIC["repeated" if repeated else name](arguments)

    def _named(self, name: str) -> Coder:
        found = self._coders.get(name)
        if found is None:
            found = self._coders[name] = self._object(self._rows[name])
        return found

    def _object(self, row: State) -> Coder:
        cls = self._classes[row.name]
        coders = [(name, self.coder(kind)) for name, kind in row.fields]
        made = [[name for name, _ in row.fields].index(name) for name in row.make]
        rest = [at for at in range(len(coders)) if at not in made]

        def write(writer: Writer, value: Any) -> None:
            for name, coder in coders:
                try:
                    coder.write(writer, getattr(value, name))
                except TypeError as error:
                    raise TypeError(f"{row.name}.{name}: {error}") from None

        def read(reader: Reader) -> Any:
            values = [coder.read(reader) for _, coder in coders]
            found = cls(*[values[at] for at in made])
            for at in rest:
                setattr(found, coders[at][0], values[at])
            return found

        plain = Coder(row.name, lambda value: type(value) is cls, write, read)
        return _shared(plain) if row.shared else plain


def _refuse(name: str, value: Any) -> TypeError:
    return TypeError(f"{type(value).__name__} in place of {name}")


def _write_int(writer: Writer, value: Any) -> None:
    if type(value) is not int or not _LEAST <= value <= _MOST:
        raise _refuse("a 64-bit int", value)
    writer.number(value)


def _write_bool(writer: Writer, value: Any) -> None:
    if type(value) is not bool:
        raise _refuse("bool", value)
    writer.out.append(value)


def _read_bool(reader: Reader) -> bool:
    found = reader.number()
    if found not in (0, -1):  # zigzag of 0 and 1
        raise reader.fail("neither false nor true")
    return bool(found)


def _write_str(writer: Writer, value: Any) -> None:
    if type(value) is not str:
        raise _refuse("str", value)
    _write_bytes(writer, value.encode("utf-8", "surrogatepass"))


def _read_str(reader: Reader) -> str:
    try:
        return reader.take(reader.count()).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise reader.fail("a text is no UTF-8") from error


def _write_bytes(writer: Writer, value: Any) -> None:
    if not isinstance(value, (bytes, bytearray)):
        raise _refuse("bytes", value)
    writer.number(len(value))
    writer.out += value


def _write_words(writer: Writer, value: Any) -> None:
    data = getattr(value, "buffer", value)
    writer.number(len(value))
    writer.out += _little_endian(array("q", memoryview(data).cast("B").cast("q")))


def _read_words(reader: Reader) -> Any:
    found = array("q")
    found.frombytes(reader.take(_WORD * reader.count(_WORD)))
    return vec[i64](_swapped(found))


def _swapped(words: array[int]) -> array[int]:
    import sys

    if sys.byteorder != "little":
        words.byteswap()
    return words


def _little_endian(words: array[int]) -> bytes:
    return _swapped(words).tobytes()


def _write_none(writer: Writer, value: Any) -> None:
    if value is not None:
        raise _refuse("None", value)


_PLAIN: Final[dict[str, Coder]] = {
    "int": Coder("int", lambda value: type(value) is int, _write_int, Reader.number),
    "bool": Coder("bool", lambda value: type(value) is bool, _write_bool, _read_bool),
    "str": Coder("str", lambda value: type(value) is str, _write_str, _read_str),
    "bytes": Coder("bytes", lambda value: type(value) is bytes, _write_bytes, lambda reader: reader.take(reader.count())),
    "bytearray": Coder(
        "bytearray",
        lambda value: type(value) is bytearray,
        _write_bytes,
        lambda reader: bytearray(reader.take(reader.count())),
    ),
    "words": Coder("words", lambda value: True, _write_words, _read_words),
    "None": Coder("None", lambda value: value is None, _write_none, lambda reader: None),
}


def _union(parts: list[Coder]) -> Coder:
    def write(writer: Writer, value: Any) -> None:
        for number, part in enumerate(parts):
            if part.accepts(value):
                writer.number(number)
                part.write(writer, value)
                return
        raise _refuse(" | ".join(part.name for part in parts), value)

    def read(reader: Reader) -> Any:
        number = reader.number()
        if not 0 <= number < len(parts):
            raise reader.fail(f"there are {len(parts)} alternatives here, not number {number}")
        return parts[number].read(reader)

    return Coder("union", lambda value: any(part.accepts(value) for part in parts), write, read)


def _several(name: str, element: Coder, make: Callable[[list[Any]], Any], order: Callable[[Any], Any]) -> Coder:
    def write(writer: Writer, value: Any) -> None:
        if type(value).__name__ != name:
            raise _refuse(name, value)
        writer.number(len(value))
        for item in order(value):
            element.write(writer, item)

    def read(reader: Reader) -> Any:
        return make([element.read(reader) for _ in range(reader.count())])

    return Coder(name, lambda value: type(value).__name__ == name, write, read)


def _list(arguments: list[Coder]) -> Coder:
    return _several("list", arguments[0], list, list)


def _repeated(arguments: list[Coder]) -> Coder:
    return _several("tuple", arguments[0], tuple, list)


def _set(arguments: list[Coder]) -> Coder:
    plain = _several("set", arguments[0], list, sorted)

    def read(reader: Reader) -> Any:
        found = plain.read(reader)
        if any(a >= b for a, b in pairwise(found)):
            raise reader.fail("a set is out of order")
        return set(found)

    return Coder("set", plain.accepts, plain.write, read)


def _dict(arguments: list[Coder]) -> Coder:
    pair = _tuple(arguments)
    plain = _several("dict", pair, list, lambda value: list(value.items()))

    def read(reader: Reader) -> Any:
        pairs = plain.read(reader)
        found = dict(pairs)
        if len(found) != len(pairs):
            raise reader.fail("a key stands there twice")
        return found

    return Coder("dict", plain.accepts, plain.write, read)


def _tuple(arguments: list[Coder]) -> Coder:
    def write(writer: Writer, value: Any) -> None:
        if type(value) is not tuple or len(value) != len(arguments):
            raise _refuse(f"a tuple of {len(arguments)}", value)
        for coder, item in zip(arguments, value, strict=True):
            coder.write(writer, item)

    return Coder(
        "tuple",
        lambda value: type(value) is tuple and len(value) == len(arguments),
        write,
        lambda reader: tuple([coder.read(reader) for coder in arguments]),
    )


_GENERIC: Final[dict[str, Callable[[list[Coder]], Coder]]] = {
    "list": _list,
    "set": _set,
    "dict": _dict,
    "tuple": _tuple,
    "repeated": _repeated,
}


def _shared(plain: Coder) -> Coder:
    """Objects that stand at several places: a number, and behind a new one the object."""

    def write(writer: Writer, value: Any) -> None:
        if not plain.accepts(value):
            raise _refuse(plain.name, value)
        numbers = writer.numbers.setdefault(plain.name, {})
        number = numbers.get(id(value))
        if number is None:
            number = numbers[id(value)] = len(numbers)
            writer.kept.append(value)
            writer.number(number)
            plain.write(writer, value)
        else:
            writer.number(number)

    def read(reader: Reader) -> Any:
        known = reader.objects.setdefault(plain.name, [])
        number = reader.number()
        if not 0 <= number <= len(known):
            raise reader.fail(f"{plain.name} {number} is named before it stands anywhere")
        if number == len(known):
            known.append(plain.read(reader))
        return known[number]

    return Coder(plain.name, plain.accepts, write, read)
