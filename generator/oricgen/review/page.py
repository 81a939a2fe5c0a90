"""The page: what differs, in Markdown that reads well in a terminal too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..rows import Row
from .compare import ADDED, CHANGED, KINDS, REMOVED, RENAMED, Change, RowChange, TableChange, leaves
from .effects import Effects, Encoding, Word
from .kernels import Code, Kernel
from .places import Targets

FIRST = ("targets", "opcodes", "operations", "forms", "lowering", "phases")
EXAMPLES = 4  # words of an operation that are shown
FIGURES = ("instructions", "registers", "cycles")  # of a kernel; cycles in the simulator, over the launches of its tests
LISTINGS = 3  # kernels whose instructions are shown
LISTED = 24  # lines of a listing
LINE = 110  # a row on one line is not longer
_DERIVED = {"forms": ("mask", "value", "operation", "isa")}  # columns that repeat others


def write(
    labels: tuple[str, str],
    notes: Sequence[str],
    changes: Sequence[TableChange],
    targets: Targets,
    effects: Effects,
    generated: Sequence[tuple[str, int, int]],
    limit: int,
) -> str:
    """The page as text that ends with a line feed. ``limit`` is the most entries of a section (0: all)."""
    blocks = [f"# Specification: {labels[0]} → {labels[1]}", *notes, _summary(changes, targets), _verdict(effects)]
    for change in changes:
        blocks.append(f"## {change.name}")
        blocks += _limited(list(_rows(change, targets)), limit, "entries")
    blocks += _words(effects, limit)
    blocks += _kernels(effects.kernels, limit)
    blocks += _generated(generated, limit)
    return "\n\n".join(block for block in blocks if block) + "\n"


def _limited(blocks: list[str], limit: int, what: str) -> list[str]:
    if not limit or len(blocks) <= limit:
        return blocks
    return [*blocks[:limit], f"... and {len(blocks) - limit} more {what} (`--limit 0` shows all)"]


def table(head: Sequence[str], lines: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """A Markdown table with its cells padded, so that it is one in a terminal too."""
    cells = [[cell.replace("|", "\\|") for cell in line] for line in [head, *lines]]
    widths = [max(3, *(len(line[i]) for line in cells)) for i in range(len(head))]

    def put(line: Sequence[str]) -> str:
        return (
            "| "
            + " | ".join(c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True)))
            + " |"
        )

    rule = "|" + "|".join("-" * (w + 1) + (":" if i in right else "-") for i, w in enumerate(widths)) + "|"
    return "\n".join([put(cells[0]), rule, *map(put, cells[1:])])


def _summary(changes: Sequence[TableChange], targets: Targets) -> str:
    if not changes:
        return ""
    lines = [
        [c.name, *(str(c.count(kind) or "") for kind in KINDS), targets.text({t for r in c.rows for t in targets.of(c.name, r)})]
        for c in changes
    ]
    return table(["table", *KINDS, "matters on"], lines, (1, 2, 3, 4))


def _verdict(effects: Effects) -> str:
    said = ["No machine word reads or is encoded differently."]
    if effects.known:
        words = _count(len(effects.words), "reads differently", "read differently")
        encodings = _count(len(effects.encodings), "is encoded differently", "are encoded differently")
        known = f"Of {effects.known} known machine words of {effects.models} encoding models"
        said = [f"{known} {words}; of their instructions {encodings}."]
    if effects.compiled:
        functions = [k for k in effects.kernels if k.name]
        differ = [k for k in functions if isinstance(k.new, Code)]
        broken = len(functions) - len(differ)
        kernels = _count(len(differ), "changes", "change")
        said.append(
            f"Of {effects.compiled} compiled sample kernels {kernels}" + (f", {broken} no longer compile." if broken else ".")
        )
        files = len(effects.kernels) - len(functions)
        if files:
            said.append(f"{_count(files, 'file differs', 'files differ')} in sections without code.".capitalize())
    else:
        said.append("No sample kernel was compiled.")
    return " ".join(said)


def _count(number: int, one: str, many: str) -> str:
    return f"{number or 'none'} {many if number > 1 else one}"


# --- rows


def _rows(change: TableChange, targets: Targets) -> Iterator[str]:
    """One block for all rows that differ in the same way."""
    groups: dict[Any, list[RowChange]] = {}
    for row in change.rows:
        groups.setdefault((row.kind, *_manner(change.name, row)), []).append(row)
    for rows in groups.values():
        yield _block(change.name, rows, targets)


def _manner(name: str, row: RowChange) -> tuple[Any, ...]:
    """What rows have in common that are one entry: the same changes, or the same content."""
    if row.kind == CHANGED or row.like:
        return row.changes, row.notes, row.like.key if row.like else ""
    if row.kind == RENAMED:
        return (row.row.key,)
    return (*_shown(name, row.row), row.notes)


def _shown(name: str, row: Row) -> list[tuple[str, Any]]:
    """The columns of a row that repeat no others."""
    return [(key, value) for key, value in leaves(row.values) if key not in _DERIVED.get(name, ())]


def _where(rows: Sequence[RowChange]) -> str:
    """The place of the first row, and how many other files have some."""
    more = len({r.row.path for r in rows}) - 1
    first = rows[0].row
    return f"{first.path}:{first.line}" + (f" and in {_count(more, 'other file', 'other files')}" if more else "")


def _block(name: str, rows: list[RowChange], targets: Targets) -> str:
    first = rows[0]
    keys = braces([r.row.key for r in rows])
    what = f"**{first.kind}** {', '.join(f'`{key}`' for key in keys)}"
    if first.kind == RENAMED and first.old:
        what = f"**renamed** `{first.old.key}` to `{first.row.key}`"
    count = f" ({len(rows)} rows)" if len(rows) > len(keys) else ""
    where = f" at {_where(rows)}" if first.kind != REMOVED else f", was at {_where(rows)}"
    matters = targets.text({t for r in rows for t in targets.of(name, r)})
    lines = [f"- {what}{count}{where}" + (f", matters on {matters}" if matters and name != "targets" else "")]
    if first.kind == ADDED and first.like:
        lines[0] += f"; as `{first.like.key}`, but"
    notes = [line for note in first.notes for line in _change(note, alone=True)]
    if first.kind in (ADDED, REMOVED) and not first.like:
        return "\n".join(lines + _whole(name, first.row) + notes)
    derived = _DERIVED.get(name, ())
    shown = [c for c in first.changes if c.column not in derived] or list(first.changes)
    return "\n".join(lines + [line for c in shown for line in _change(c)] + notes)


def _whole(name: str, row: Row) -> list[str]:
    """All columns of a row: on one line when they fit."""
    found = _shown(name, row)
    line = "; ".join(f"{key} {text(value)}" for key, value in found)
    if len(line) <= LINE or name == "forms":
        return [f"  {line}"] if line else []
    return [line for key, value in found for line in _change(Change(key, None, value), alone=True)]


def _change(change: Change, alone: bool = False) -> list[str]:
    """The lines of a column; ``alone``: there is no old row that could have had another value."""
    if change.was:
        return [f"  - `{change.was}` is now called `{change.column}`"]
    old, new = change.old, change.new
    if _is_long(old) or _is_long(new):
        before, after = _listed(old), _listed(new)
        return [f"  - `{change.column}`:", "    ```diff", *(f"    {line}" for line in _near(_merged(before, after))), "    ```"]
    if alone:
        return [f"  - `{change.column}`: {text(new)}"]
    return [f"  - `{change.column}`: {text(old)} → {text(new)}"]


def _is_long(value: Any) -> bool:
    return isinstance(value, tuple) and ((len(value) > 1 and any(" " in str(v) for v in value)) or len(text(value)) > LINE)


def _listed(value: Any) -> list[str]:
    if value is None:
        return []
    return [plain(item) for item in value] if isinstance(value, tuple) else [plain(value)]


def _merged(old: list[str], new: list[str]) -> list[str]:
    """Both lists as one, with ``-``, ``+`` and a blank in front."""
    import difflib

    lines = [line for line in difflib.ndiff(old, new) if not line.startswith("?")]
    return [line[0] + " " + line[2:] for line in lines]


def _near(lines: list[str], reach: int = 2) -> list[str]:
    """Lines that differ, with a few around them; three dots stand for the others."""
    near = {i + d for i, line in enumerate(lines) if line[0] != " " for d in range(-reach, reach + 1)}
    out: list[str] = []
    for i, line in enumerate(lines):
        if i in near:
            out.append(line)
        elif not out or out[-1] != "  ...":
            out.append("  ...")
    return out


def plain(value: Any) -> str:
    """A value as YAML has it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "[" + ", ".join(map(plain, value)) + "]"
    return str(value)


def text(value: Any) -> str:
    """A value as code; that there is none needs words."""
    if value is None:
        return "nothing"
    if value == "":
        return "(empty)"
    return f"`{plain(value)}`"


def braces(keys: Sequence[str]) -> list[str]:
    """Keys with slashes joined as a shell would expand them: ``FADD/{sm_80,sm_90}/{RR,RI}``."""
    groups: dict[tuple[str, int], list[list[str]]] = {}
    for key in keys:
        parts = key.split("/")
        groups.setdefault((parts[0], len(parts)), []).append(parts)
    out: list[str] = []
    for (head, count), found in groups.items():
        if count == 1:
            out.append(head)
        elif count == 2:
            out.append(f"{head}/{_one_of([parts[1] for parts in found])}")
        else:
            tails: dict[tuple[str, ...], list[str]] = {}
            for parts in found:
                tails.setdefault(tuple(parts[2:]), []).append(parts[1])
            middles: dict[tuple[str, ...], list[str]] = {}
            for tail, middle in tails.items():
                middles.setdefault(tuple(middle), []).append("/".join(tail))
            out += [f"{head}/{_one_of(list(middle))}/{_one_of(tail)}" for middle, tail in middles.items()]
    return _common_tails(out)


def _common_tails(keys: list[str]) -> list[str]:
    """Keys that differ in their first part alone, joined: ``{FADD,FMUL}/{sm_80,sm_90}/RR``."""
    heads: dict[str, list[str]] = {}
    for key in keys:
        head, slash, tail = key.partition("/")
        mark = slash + tail if slash and not set(head) & set("{},") else key  # a name with braces is not put in others
        heads.setdefault(mark, []).append(head if mark != key else "")
    return [_one_of(names) + mark if any(names) else mark for mark, names in heads.items()]


def _one_of(names: list[str]) -> str:
    return names[0] if len(names) == 1 else "{" + ",".join(names) + "}"


# --- effects


def _words(effects: Effects, limit: int) -> list[str]:
    """By operation: words that read differently, instructions that are encoded differently."""
    if not effects.words and not effects.encodings:
        return []
    names = dict.fromkeys([w.operation for w in effects.words] + [e.operation for e in effects.encodings])
    blocks = []
    for name in names:
        words = [w for w in effects.words if w.operation == name]
        encodings = [e for e in effects.encodings if e.operation == name]
        isas = ", ".join(dict.fromkeys([w.isa for w in words] + [e.isa for e in encodings]))
        blocks.append("\n\n".join([f"### {name} ({isas})", *_word_table(words), *_encoding_table(encodings)]))
    return ["## Machine words", *_limited(blocks, limit, "operations")]


def _word_table(words: list[Word]) -> list[str]:
    if not words:
        return []
    shown = _spread(words)
    more = f" ({len(shown)} of {len(words)})" if len(shown) < len(words) else ""
    lines = [[w.isa, f"`{w.word}`", _code(w.old), _code(w.new)] for w in shown]
    return [table(["reads" + more, "word", "before", "after"], lines)]


def _encoding_table(encodings: list[Encoding]) -> list[str]:
    if not encodings:
        return []
    shown = _spread(encodings)
    more = f" ({len(shown)} of {len(encodings)})" if len(shown) < len(encodings) else ""
    lines = [[e.isa, f"`{e.text}`", _code(e.old), _code(e.new)] for e in shown]
    return [table(["is encoded" + more, "instruction", "before", "after"], lines)]


def _spread(found: Sequence[Any]) -> list[Any]:
    """A few of them, each encoding model in turn."""
    by_isa: dict[str, list[Any]] = {}
    for item in found:
        by_isa.setdefault(item.isa, []).append(item)
    turns = [items[i] for i in range(EXAMPLES) for items in by_isa.values() if i < len(items)][:EXAMPLES]
    return [item for item in found if item in turns]


def _code(value: str) -> str:
    return value if value.startswith("(") else f"`{value}`"


def _kernels(kernels: Sequence[Kernel], limit: int) -> list[str]:
    if not kernels:
        return []
    functions = [k for k in kernels if k.name]
    blocks = ["## Sample kernels"]
    if functions:
        shown = functions[:limit] if limit else functions
        lines = [[k.name, k.path, ", ".join(k.targets), *_figures(k), _changed(k)] for k in shown]
        total = _total(functions)
        blocks.append(table(["kernel", "file", "target", *FIGURES, "instructions changed"], [*lines, *total]))
    if limit and len(functions) > limit:
        blocks.append(f"... and {len(functions) - limit} more kernels (`--limit 0` shows all)")
    files = [k for k in kernels if not k.name]
    if files:
        blocks.append("\n".join(f"- {k.path} ({', '.join(k.targets)}): {', '.join(f'`{s}`' for s in k.sections)}" for k in files))
    listed = sorted((k for k in functions if k.changed), key=lambda k: (k.changed, k.path, k.name, k.targets))
    names: set[str] = set()
    for kernel in listed:
        if len(names) < LISTINGS and kernel.name not in names:
            names.add(kernel.name)
            blocks += [
                f"`{kernel.name}` on {', '.join(kernel.targets)}:",
                "\n".join(["```diff", *_excerpt(kernel.listing), "```"]),
            ]
    return blocks


def _changed(k: Kernel) -> str:
    if not k.changed:
        return ""
    detail = k.changed - k.deeply
    count = max(side.instructions for side in (k.old, k.new) if isinstance(side, Code))
    return f"{k.changed} of {count}" + (f", {detail} of them in registers or control only" if detail else "")


def _figures(k: Kernel) -> list[str]:
    """Instructions, registers and cycles of both sides; an error in the place of the first."""
    return [_both(_figure(k.old, name), _figure(k.new, name)) for name in FIGURES]


def _figure(side: Code | str, name: str) -> str:
    if isinstance(side, str):
        return side if name == FIGURES[0] else ""
    value = getattr(side, name)
    return "" if value is None else str(value)


def _total(kernels: Sequence[Kernel]) -> list[list[str]]:
    """What became better or worse over all kernels that both sides compile."""
    both = [(k.old, k.new) for k in kernels if isinstance(k.old, Code) and isinstance(k.new, Code)]
    if len(both) < 2:
        return []
    cells = []
    for name in FIGURES:
        pairs = [(getattr(a, name), getattr(b, name)) for a, b in both]
        known = [(x, y) for x, y in pairs if isinstance(x, int) and isinstance(y, int)]
        cells.append(_both(str(sum(x for x, _ in known)), str(sum(y for _, y in known))) if known else "")
    return [["all that differ", "", "", *cells, ""]]


def _both(old: str, new: str) -> str:
    if old == new:
        return old
    return f"{old} → {new}" if old and new else old or new


def _generated(files: Sequence[tuple[str, int, int]], limit: int) -> list[str]:
    """The generated files that differ, with the numbers of lines that went and came."""
    if not files:
        return []
    lines = [f"- `{name}` " + (f"-{gone} +{come}" if gone or come else "in another order") for name, gone, come in files]
    return ["## Generated files", *["\n".join(_limited(lines, limit, "files"))]]


def _excerpt(listing: Iterable[str]) -> list[str]:
    """The lines that differ with one line around them, at most so many."""
    lines = list(listing)
    near = {i + d for i, line in enumerate(lines) if line[0] in "-+" for d in (-1, 0, 1)}
    out: list[str] = []
    for i, line in enumerate(lines):
        if i in near:
            out.append(line)
        elif out and out[-1] != " ...":
            out.append(" ...")
    if out and out[-1] == " ...":
        out.pop()
    return out if len(out) <= LISTED else [*out[:LISTED], f" ... and {len(out) - LISTED} more lines"]
