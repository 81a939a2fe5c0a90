"""``oric_tables/options.py``: the command-line options, their spellings, and what is said of them together."""

from __future__ import annotations

from typing import Any

from ..errors import Mistakes, SpecError
from ..render import template
from ..spec import Spec
from ..strictyaml import Map
from ..tables import targets

_FILE = "options.yaml"


def render(spec: Spec) -> dict[str, str]:
    """Render the option table.

    Raises:
        SpecError: two options with the same spelling, or a check of an option that does not exist.
    """
    data = spec.load(_FILE)
    rows = data["options"]
    long, short = _spellings(spec, rows)
    with Mistakes() as each:
        for name, row in rows.items():
            with each:
                _check_values(spec, name, row)
        for check in data["checks"]:
            with each:
                _check_named(spec, check, ("if", "unless", "ignore"), "check", rows)
        for row in data["qualifiers"]:
            with each:
                _check_named(spec, row, ("default", "forced"), "qualifier", rows)
    text = template(
        "options.py.j2", rows=rows, long=long, short=short, checks=data["checks"], qualifiers=data["qualifiers"],
        choices={"targets": _architectures(spec, taken=True)}, known={"targets": _architectures(spec, taken=False)},
    )  # fmt: skip
    return {"oric_tables/options.py": text}


def _check_values(spec: Spec, name: str, row: Map) -> None:
    """What an option is when it is not given, and what it may be, are among its choices, or of its kind.

    Raises:
        SpecError: the first value that is not.
    """
    choices, integer = row.get("choices"), row.get("value") == "integer"
    for column in ("default", "neutral"):
        for value in row[column] if isinstance(row.get(column), list) else [row[column]] if column in row else []:
            if choices is not None and str(value) not in choices:
                wanted = f"'{value}' is none of its choices: {', '.join(choices)}"
            elif integer and not str(value).lstrip("-").isdecimal():
                wanted = f"'{value}' is no integer"
            else:
                continue
            raise SpecError(spec.path(_FILE), row.line_of(column), f"{name}: column '{column}': {wanted}")


def _check_named(spec: Spec, row: Map, columns: tuple[str, ...], what: str, rows: Map) -> None:
    """A check, or a row of qualifiers, speaks of options that there are.

    Raises:
        SpecError: the first name of none.
    """
    for column in columns:
        for name in row[column] if isinstance(row.get(column), list) else [row[column]] if column in row else []:
            if name not in rows:
                raise SpecError(spec.path(_FILE), row.line_of(column), f"{what} of '{name}', which is no option")


def _spellings(spec: Spec, rows: Any) -> tuple[dict[str, int], dict[str, int]]:
    """Long and short names with the numbers of their rows; a spelling with one dash or two means one option only."""
    owner: dict[str, str] = {}
    long, short = {}, {}
    for number, (name, row) in enumerate(rows.items()):
        for spelling in dict.fromkeys((name, row.get("short", name))):
            if spelling in owner:
                message = f"{name}: '-{spelling}' is already a spelling of {owner[spelling]}"
                raise SpecError(spec.path(_FILE), rows.line_of(name), message)
            owner[spelling] = name
        long[name] = number
        if "short" in row:
            short[row["short"]] = number
    return long, short


def _architectures(spec: Spec, *, taken: bool) -> list[str]:
    """Real, virtual and link-time names that -arch takes, of targets that ptxas has or that code can be made for; or the rest."""
    known = targets.load(spec).by_name.items()
    numbers = [name.removeprefix("sm_") for name, target in known if (target.ptxas or target.code) == taken]
    return sorted(f"{kind}_{number}" for kind in ("compute", "lto", "sm") for number in numbers)
