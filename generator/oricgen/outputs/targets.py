"""``oric_tables/targets.py``, ``oric_tables/backends.py`` and ``build/flat/targets.txt``: the SM targets."""

from __future__ import annotations

from ..render import header, template
from ..spec import Spec
from ..tables import backends, simulator
from ..tables.targets import NONE, UNKNOWN, Target, Targets, columns, isa_names, load

_ME = "generator/oricgen/outputs/targets.py"


def render(spec: Spec) -> dict[str, str]:
    """Render the target table, the backend table and the resolved rows for reviewers."""
    table, cases = load(spec), backends.load(spec)
    return {
        "oric_tables/targets.py": template(
            "targets.py.j2",
            targets=table.with_code,
            known=list(table.by_name.values()),
            isas=isa_names(spec),
            absent=(NONE, UNKNOWN),
            launch=simulator.places(spec),
        ),
        "oric_tables/backends.py": template(
            "backends.py.j2", backends=cases.by_case.values(), operations=cases.operations.values(), fields=_fields
        ),
        "flat/targets.txt": _flat(table),
    }


def _fields(operation: backends.Operation) -> tuple[str, ...]:
    """The fields of a target of the runtime that answer a value."""
    return tuple("isa_name" if column == "isa" else column for column in operation.columns)


def _flat(table: Targets) -> str:
    """A resolved target per paragraph, one line per group of columns."""
    text = header("#", _ME, ["spec/sm_targets.yaml", "spec/backends.yaml"])
    return text + "".join(_flat_target(target) for target in table.by_name.values())


def _flat_target(target: Target) -> str:
    lines = []
    single = []
    for key, value in columns(target).items():
        if isinstance(value, dict):
            lines.append(f"{key}: {' '.join(f'{k}={_text(v)}' for k, v in value.items())}" if value else "")
        elif isinstance(value, list):
            lines.append(f"{key}: {' '.join(value)}" if value else "")
        elif key not in ("source", "note"):
            single.append(f"{key}={_text(value)}")
    return "\n" + "".join(f"{target.name} {line}\n" for line in (" ".join(single), *filter(None, lines)))


def _text(value: object) -> str:
    return "-" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
