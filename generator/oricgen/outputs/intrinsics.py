"""``oric_tables/intrinsics.py``: names, sub-operations, messages and support of intrinsics; and their review file."""

from __future__ import annotations

from ..render import header, template
from ..spec import Spec
from ..tables import helpers, intrinsics


def render(spec: Spec) -> dict[str, str]:
    """Render the table of intrinsics and build/flat/intrinsics.txt."""
    model = intrinsics.load(spec)
    ids = {row.values["message"]: row.values for row in model.router["messages"]}
    operations = [(op, op.support) for op in model.operations.values()]
    functions = [row.key for row in helpers.load(spec)["helpers"]]
    text = template(
        "intrinsics.py.j2", model=model, operations=operations, messages=[ids["name"], ids["subop"]], functions=functions,
        answer=helpers.answer(spec),
    )  # fmt: skip
    return {"oric_tables/intrinsics.py": text, "flat/intrinsics.txt": _flat(spec)}


def _flat(spec: Spec) -> str:
    """One line per operation, sub-operation group, answer and helper."""
    model = intrinsics.load(spec)
    lines = [header("#", "oricgen.outputs.intrinsics", [f"spec/{name}" for name in (*intrinsics.FILES, *helpers.FILES)])]
    for op in model.operations.values():
        slot = "-" if op.slot is None else str(op.slot)
        order = "fixed" if op.fixed_order else "any"
        sass = " ".join(op.row.values["sass"]) or "-"
        lines.append(f"{op.name} slot {slot} at {op.row.values['offset']} {op.category} order {order} sass {sass}\n")
        for name, words in op.groups.items():
            marks = "".join(f" {mark}" for mark, names in (("required", op.required), ("twice", op.twice)) if name in names)
            lines.append(f"{op.name} group {name}{marks}: {' '.join(w + ('!' if w in op.refused else '') for w in words)}\n")
    for op in model.operations.values():
        lines += [f"{op.name} on {target}: {op.answers[group]}\n" for target, group in model.group_of.items()]
    for row in helpers.load(spec)["helpers"]:
        lines.append(f"{row.key} {' '.join(row.values['ptx'])} by {row.values['rule']}\n")
    return "".join(lines)
