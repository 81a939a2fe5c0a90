"""Names of intrinsics (``__nv_ptx_builtin_ocg_add_sat_s32``) and what targets make of them."""

from __future__ import annotations

from typing import Final, NamedTuple

from oric_tables import intrinsics as tables

UNSUPPORTED: Final = "unsupported"


class UnknownIntrinsic(Exception):
    """A name with the prefix that is no intrinsic; ``id`` and ``str()`` are those of the described system's message."""

    def __init__(self, message: tuple[str, str], text: str) -> None:
        super().__init__(message[1].replace("{s}", text))
        self.id = message[0]


class Intrinsic(NamedTuple):
    """A resolved name: the number of the operation, its name, and its sub-operations in the order of the name."""

    slot: int
    operation: str
    subops: tuple[str, ...]


def is_intrinsic(name: str) -> bool:
    """Whether a call of ``name`` asks for an intrinsic, known or not."""
    return name.startswith(tables.PREFIX)


def resolve(name: str) -> Intrinsic:
    """The operation and sub-operations of a name for which :func:`is_intrinsic` holds.

    Whether the sub-operations go together is the business of the operation's own checks.

    Raises:
        UnknownIntrinsic: no operation begins the rest of the name, or a sub-operation is not one of it.
    """
    rest = name[len(tables.PREFIX) :]
    for key, operation in tables.OPERATIONS.items():
        if operation.slot < 0 or not (rest == key or rest.startswith(key + tables.SEPARATOR)):
            continue
        words = rest.split(tables.SEPARATOR)[key.count(tables.SEPARATOR) + 1 :]
        for index, word in enumerate(words):
            if word not in operation.subops or word in operation.refused:
                raise UnknownIntrinsic(tables.UNKNOWN_SUBOP, tables.SEPARATOR.join(words[index:]))
        return Intrinsic(operation.slot, key, tuple(words))
    raise UnknownIntrinsic(tables.UNKNOWN_NAME, name)


def support(intrinsic: str, target: str) -> str:
    """How a target does an intrinsic: ``native``, ``expanded`` or ``unsupported``; ``unknown`` for a target never observed.

    Args:
        intrinsic: the name of an operation (``fadd2``) or of a helper function (``__cuda_sm20_div_s64``).
        target: a name of ``-arch``, for example ``sm_90a``.

    Raises:
        KeyError: there is no such intrinsic.
    """
    group = tables.GROUPS.get(target)
    if intrinsic in tables.HELPERS:
        return tables.HELPER_SUPPORT if group else "unknown"
    operation = tables.OPERATIONS[intrinsic]
    return operation.support.get(group, UNSUPPORTED) if group else "unknown"
