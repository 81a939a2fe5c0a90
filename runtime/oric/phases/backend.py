"""What a target does its own way: the operations of its backend.

An operation is decided by the target's row, its backend's or its base's, in this order (``spec/sm_targets.yaml``,
``spec/backends.yaml``; the generator has merged them into ``Target.overrides``); where none names it, the phase table's own
function runs. Source: Data structures, SM Backend Object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oric_tables.named import NamedTuple

if TYPE_CHECKING:
    from oric_tables.targets import Target


class BackendOperation(NamedTuple):
    """What an operation means on a target.

    ``phases`` are the indices of the phases that it is and ``function`` the pass that they run, "" for nothing; an operation
    that runs nothing anywhere has no phases and answers with ``values``, by column.
    """

    name: str
    slot: int
    phases: tuple[int, ...]
    function: str
    values: dict[str, Any]


def backend_operation(target: Target, name: str) -> BackendOperation:
    """The operation ``name`` as ``target`` does it.

    Raises:
        ValueError: there is no operation of that name.
    """
    from oric_tables.backends import OPERATIONS

    if name not in OPERATIONS:
        raise ValueError(f"backends have no operation '{name}'")
    operation = OPERATIONS[name]
    function = target.overrides.get(name, operation.function) or ""
    values = {field: getattr(target, field) for field in operation.fields}
    return BackendOperation(name, operation.slot, operation.phases, function, values)


def phase_functions(target: Target) -> dict[int, str]:
    """Index of a phase -> the pass that the target runs there in place of the phase table's, "" for none."""
    if not target.overrides:
        return {}
    found = (backend_operation(target, name) for name in target.overrides)
    return {phase: operation.function for operation in found for phase in operation.phases}
