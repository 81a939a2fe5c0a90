"""What table modules of plain lists share: rows with their source filled in, keys that are unique, counts."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping

from ..errors import Mistakes, SpecError
from ..rows import Row, plain
from ..spec import Spec

Sections = Mapping[str, tuple[Row, ...]]


def read(spec: Spec, file: str, keys: Mapping[str, str]) -> Sections:
    """The rows of the lists of ``file``, by section.

    ``keys`` maps a section's name to the pattern of its rows' keys, for example ``"input {input}"``. A row without a
    ``source`` has that of the file's ``sources`` for its section.

    Raises:
        SpecError: two rows with one key, a row without a source, a source of no section.
    """
    data = spec.load(file)
    sources = data["sources"]
    out: dict[str, tuple[Row, ...]] = {}
    with Mistakes() as each:
        for section in sources:
            with each:
                if section not in keys:
                    raise SpecError(spec.path(file), sources.line_of(section), f"sources: there is no section '{section}'")
        for section, pattern in keys.items():
            with each:
                out[section] = _section(spec, file, section, pattern)
    return out


def _section(spec: Spec, file: str, section: str, pattern: str) -> tuple[Row, ...]:
    data = spec.load(file)
    sources, rows = data["sources"], []
    seen: dict[str, int] = {}
    with Mistakes() as each:
        for index, raw in enumerate(data[section]):
            line = data[section].line_of(index)
            values = plain(raw)
            key = pattern.format_map(values)
            with each:
                if key in seen:
                    raise SpecError(spec.path(file), line, f"{key}: listed twice (first on line {seen[key]})")
                if "source" not in values:
                    if section not in sources:
                        raise SpecError(spec.path(file), line, f"{key}: no source, and 'sources' has none for '{section}'")
                    values["source"] = sources[section]
                seen[key] = line
                rows.append(Row(key, values, f"spec/{file}", line))
    return tuple(rows)


def flat(sections: Sections) -> list[Row]:
    """All rows, section after section."""
    return [row for rows in sections.values() for row in rows]


def section_table(
    name: str,
    file: str,
    keys: Mapping[str, str],
    documented: Mapping[str, int],
    check: Callable[[Spec, Sections], None],
) -> tuple[Callable[[Spec], Sections], Callable[[Spec], list[Row]], Callable[[Spec], None]]:
    """``load``, ``rows`` and ``check`` of a table module whose file is a few lists (``keys`` as in :func:`read`).

    ``documented`` is the number of rows of each section that the documents have completely; ``check`` sees the rows after
    that and raises ``SpecError`` for what else is wrong with them.
    """

    def made(spec: Spec) -> Sections:
        found = read(spec, file, keys)
        check_count(spec, file, found, documented)
        check(spec, found)
        return found

    def load(spec: Spec) -> Sections:
        """The rows by section, checked."""
        return spec.memo(name, lambda: made(spec))

    def rows(spec: Spec) -> list[Row]:
        """All rows of all sections."""
        return flat(load(spec))

    def check_all(spec: Spec) -> None:
        """Read the table, which checks it."""
        load(spec)

    return load, rows, check_all


def check_count(spec: Spec, file: str, sections: Sections, counts: Mapping[str, int]) -> None:
    """A documented table is complete: its section has the documented number of rows.

    Raises:
        SpecError: a section that has not.
    """
    with Mistakes() as each:
        for section, count in counts.items():
            with each:
                if len(sections[section]) != count:
                    line = spec.load(file).line_of(section)
                    raise SpecError(spec.path(file), line, f"{section}: there are {len(sections[section])} rows, not {count}")


def check_numbers(spec: Spec, file: str, rows: tuple[Row, ...], column: str, first: int = 0) -> None:
    """``column`` counts up from ``first`` without gaps.

    Raises:
        SpecError: the first row that is out of order.
    """
    for number, row in enumerate(rows, first):
        if row.values[column] != number:
            raise SpecError(spec.path(file), row.line, f"{row.key}: {column} is {row.values[column]} where {number} is expected")


def named(spec: Spec, file: str, section: str, rows: tuple[Row, ...], name: str, column: str = "name") -> Row:
    """The row of a section that the generator asks for by name.

    Raises:
        SpecError: there is none.
    """
    found = next((row for row in rows if row.values[column] == name), None)
    if found is None:
        line = spec.load(file).line_of(section)
        raise SpecError(
            spec.path(file), line, f"{section}: there is no row whose {column} is '{name}', which the generator needs"
        )
    return found


def number(spec: Spec, file: str, row: Row, column: str = "value") -> int:
    """The number in a column that has texts in other rows.

    Raises:
        SpecError: this one has a text too.
    """
    value = row.values[column]
    if not isinstance(value, int):
        raise SpecError(spec.path(file), row.line, f"{row.key}: {column} '{value}' is no integer")
    return value


def check_refers(spec: Spec, file: str, rows: tuple[Row, ...], column: str, known: Container[object], what: str) -> None:
    """What ``column`` names exists: one name, a list of names, or nothing.

    Raises:
        SpecError: the first name that does not.
    """
    with Mistakes() as each:
        for row in rows:
            value = row.values.get(column)
            for name in value if isinstance(value, list) else [] if value is None else [value]:
                with each:
                    if name not in known:
                        raise SpecError(spec.path(file), row.line, f"{row.key}: {column} '{name}' is no {what}")


TYPE_BYTES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i32": 4, "i64": 8, "f32": 4, "ptr": 8}


def check_layout(spec: Spec, file: str, rows: tuple[Row, ...], size: int) -> None:
    """Fields (``offset``, ``type``) come in order, do not overlap and end within ``size`` bytes.

    Raises:
        SpecError: the first field that breaks this.
    """
    end = 0
    for row in rows:
        offset = row.values["offset"]
        if offset < end:
            raise SpecError(spec.path(file), row.line, f"{row.key}: it is at {offset}, the field before it ends at {end}")
        end = offset + TYPE_BYTES.get(row.values["type"], 0)
        if end > size:
            raise SpecError(spec.path(file), row.line, f"{row.key}: it ends at {end}, beyond the size {size}")
