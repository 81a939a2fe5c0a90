"""The page of ``oricgen diff`` taken apart: written from ``docs/review.md``, without the code that writes it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_CODE = re.compile(r"(`+)(.*?)(?<!`)\1(?!`)", re.DOTALL)
_ENTRY = re.compile(r"- \*\*(added|removed|renamed|changed)\*\* (.*)")
_PLACE = re.compile(
    r"(?P<keys>.*?)(?:,)? (?P<was>was )?at (?P<place>spec/[\w/.]+(?::\d+)?(?: and in \d+ other files?)?)(?P<rest>.*)", re.DOTALL
)
_ROWS = re.compile(r"\((\d+) rows\)$")
_LIKE = re.compile(r"; as (`+.*?`+), but")
_DEFAULT_KINDS = ("added", "removed", "renamed", "changed")


def codes(text: str) -> list[str]:
    """The code spans of a line."""
    return [found[2].removeprefix(" ").removesuffix(" ") if len(found[1]) > 1 else found[2] for found in _CODE.finditer(text)]


@dataclass
class Column:
    """One column that an entry names: texts of both values, or the lines of a diff block."""

    name: str
    old: str | None = None
    new: str | None = None
    lines: list[str] = field(default_factory=list)
    before: str = ""  # the name that it had


@dataclass
class Entry:
    """Rows that change in the same way."""

    kind: str
    keys: list[str]
    place: str
    number: int | None
    matters: str | None
    like: str | None
    columns: list[Column] = field(default_factory=list)
    new_name: str | None = None


@dataclass
class Page:
    """What the page says."""

    summary: str = ""
    counts: dict[str, dict[str, str]] = field(default_factory=dict)  # table -> column of the first table -> cell
    tables: dict[str, list[Entry]] = field(default_factory=dict)
    words: dict[str, list[list[list[str]]]] = field(default_factory=dict)  # heading -> tables of rows of cells
    kernels: list[list[str]] = field(default_factory=list)
    listings: list[tuple[str, list[str]]] = field(default_factory=list)  # heading, lines of the block
    sections: dict[str, list[str]] = field(default_factory=dict)  # file that differs elsewhere -> its sections
    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    cut: list[str] = field(default_factory=list)  # sections of which not everything is shown
    prose: dict[str, list[str]] = field(default_factory=dict)  # lines that were not understood, by section


def parse(text: str) -> Page:
    """Read a page."""
    page = Page()
    for title, lines in _sections(text.splitlines(), "## "):
        if any(re.match(r"(- )?(\.\.\.|…|and \d+ (more|others))|.*\bmore\b.*--limit|\d+ more", line) for line in lines):
            page.cut.append(title)
        if not title:
            _head(page, lines)
        elif title == "Machine words":
            _words(page, lines)
        elif title == "Sample kernels":
            _kernels(page, lines)
        elif title == "Generated files":
            _files(page, lines)
        else:
            page.tables[title] = list(_entries(page, title, lines))
    return page


def _sections(lines: list[str], mark: str) -> Iterator[tuple[str, list[str]]]:
    title, body, fence = "", [], False
    for line in lines:
        fence ^= line.strip().startswith("```")
        if line.startswith(mark) and not fence:
            yield title, body
            title, body = line.removeprefix(mark), []
        else:
            body.append(line)
    yield title, body


def _cells(line: str) -> list[str]:
    """Cells of a line of a table; a bar inside of a cell is written with a backslash."""
    return [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def _rows(lines: list[str]) -> list[list[list[str]]]:
    """The tables among lines, each with its head first."""
    out: list[list[list[str]]] = []
    inside = fence = False
    for line in lines:
        fence ^= line.strip().startswith("```")
        if line.startswith("|") and not fence:
            if not inside:
                out.append([])
            if not re.fullmatch(r"[|:\- ]+", line):
                out[-1].append(_cells(line))
        inside = line.startswith("|")
    return out


def _head(page: Page, lines: list[str]) -> None:
    for rows in _rows(lines):
        for cells in rows[1:]:
            page.counts[cells[0]] = dict(zip(rows[0], cells, strict=True))
    page.summary = " ".join(x for x in lines if x and not x.startswith(("|", "#")))


def _words(page: Page, lines: list[str]) -> None:
    for title, body in _sections(lines, "### "):
        if title:
            page.words[title] = _rows(body)


def _kernels(page: Page, lines: list[str]) -> None:
    for rows in _rows(lines):
        page.kernels = rows
    heading, fence = "", False
    for line in lines:
        if line.startswith("```"):
            fence = not fence
            if fence:
                page.listings.append((heading, []))
        elif fence:
            page.listings[-1][1].append(line)
        elif line.startswith("- "):
            name, _, rest = line[2:].partition(": ")
            page.sections[name] = codes(rest)
        elif line.startswith("`"):
            heading = line.rstrip(":")


def _files(page: Page, lines: list[str]) -> None:
    for line in lines:
        if found := re.fullmatch(r"- `([^`]+)` -(\d+) \+(\d+)", line):
            page.files[found[1]] = int(found[2]), int(found[3])
        elif found := re.fullmatch(r"- `([^`]+)` in another order", line):
            page.files[found[1]] = 0, 0
        elif line.strip():
            page.prose.setdefault("Generated files", []).append(line)


def _entries(page: Page, table: str, lines: list[str]) -> Iterator[Entry]:
    entry: Entry | None = None
    column: Column | None = None
    for line in lines:
        if found := _ENTRY.match(line):
            if entry is not None:
                yield entry
            entry, column = _entry(found[1], found[2]), None
        elif not line.strip() or entry is None:
            if line.strip():
                page.prose.setdefault(table, []).append(line)
        elif line.strip().startswith("```"):
            continue
        elif line.startswith("  - "):
            column = _column(line[4:])
            entry.columns.append(column)
        elif column is not None and line.startswith("    "):
            column.lines.append(line[4:])
        elif line.startswith("  "):
            entry.columns += _inline(line.strip())
        else:
            page.prose.setdefault(table, []).append(line)
    if entry is not None:
        yield entry


def _entry(kind: str, rest: str) -> Entry:
    found = _PLACE.fullmatch(rest)
    if found is None:
        raise ValueError(f"an entry without a place: {rest}")
    keys = found["keys"].strip()
    number = _ROWS.search(keys)
    like = _LIKE.search(found["rest"])
    matters = re.search(r"matters on ([^;]*)", found["rest"])
    entry = Entry(
        kind, codes(keys), found["place"], int(number[1]) if number else None, matters[1] if matters else None,
        codes(like[1])[0] if like else None,
    )  # fmt: skip
    if kind == "renamed":
        entry.new_name = entry.keys.pop()
    return entry


def _column(text: str) -> Column:
    names = _CODE.match(text)
    name = codes(names[0])[0] if names else text
    if " is now called " in text:
        old, new = codes(text)[:2]
        return Column(new, before=old)
    if text.endswith(":"):
        return Column(name)
    value = text[names.end() :].removeprefix(": ") if names else ""
    old, arrow, new = _arrow(value)
    return Column(name, _value(old), _value(new)) if arrow else Column(name, None, _value(value))


def _arrow(value: str) -> tuple[str, str, str]:
    """The arrow that stands outside of code spans."""
    spans = [m.span() for m in _CODE.finditer(value)]
    for found in re.finditer(" → ", value):
        if not any(a <= found.start() < b for a, b in spans):
            return value[: found.start()], found[0], value[found.end() :]
    return value, "", ""


def _value(text: str) -> str:
    found = codes(text)
    return found[0] if found else text.strip()


def _inline(text: str) -> list[Column]:
    """``opcode `0x269`; match `91=0`; ...``."""
    out, at = [], 0
    for found in re.finditer(rf"{_CODE.pattern}|\(empty\)|nothing(?=;|$)", text):
        name = text[at : found.start()].lstrip("; ").strip()
        out.append(Column(name, None, codes(found[0])[0] if found[1] else found[0]))
        at = found.end()
    return out
