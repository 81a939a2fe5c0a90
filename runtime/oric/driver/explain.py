"""What is known of an intrinsic: its page, in Markdown, with code made on the spot (docs/intrinsics: those of all operations)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from oric_tables import ocg
from oric_tables.intrinsics import GROUPS, OPERATIONS, PREFIX, Operation
from oric_tables.targets import TARGETS

from oric.sass.listing import list_cubin
from oric.support.diagnostics import CompileError
from oric.support.elf import read
from oric.support.ocg_source import module

from .options import CompileOptions
from .pipeline import compile_text

SCHEME: Final = "ocg:"
DEFAULT_TARGET: Final = "sm_100a"
_AROUND: Final = ("NOP", "BRA `(.L_x")  # what fills code up
_ANSWERS: Final = {
    "native": "an instruction",
    "expanded": "several instructions",
    "dropped": "nothing; refused here where that is wrong",
    "wrong": "an instruction of another meaning; not made here",
    "crashes": "an internal error; refused here",
    "refused": "an error",
}


def explain(name: str, target: str = DEFAULT_TARGET) -> str:
    """The page of an intrinsic.

    Args:
        name: ``ocg:`` and the operation, for example ``"ocg:tcmma"``.
        target: for which target the example is compiled.

    Raises:
        KeyError: there is no such operation or target.
    """
    if not name.startswith(SCHEME) or name.removeprefix(SCHEME) not in OPERATIONS:
        raise KeyError(name)
    if target not in TARGETS:
        raise KeyError(target)
    return "\n".join(page(name.removeprefix(SCHEME), target)) + "\n"


def page(name: str, target: str = DEFAULT_TARGET) -> Iterator[str]:
    """The page of an operation as lines of Markdown."""
    operation = OPERATIONS[name]
    yield f"# {SCHEME}{name}"
    yield ""
    yield f"{operation.doc[0].upper()}{operation.doc[1:]}. Category: {operation.category}."
    if operation.slot < 0:
        yield f"No name reaches the documented operation ({operation.documented})."
        return
    made = ", ".join(operation.mnemonics) or "none that was seen"
    yield f"Slot {operation.slot} of the table; instructions: {made} (documented: {operation.documented})."
    yield ""
    yield from _name(name, operation)
    yield from _shapes(name)
    yield from _messages(name)
    yield from _targets(operation)
    yield from _example(name, target)


def _name(name: str, operation: Operation) -> Iterator[str]:
    yield "## Name"
    yield ""
    if not operation.groups:
        yield f"`{PREFIX}{name}`; it has no sub-operations."
    else:
        order = "in this order" if operation.fixed_order else "in any order"
        yield f"`{PREFIX}{name}_...`, sub-operations {order}:"
        yield ""
        yield "| group | sub-operations | |"
        yield "| --- | --- | --- |"
        for group, words in operation.groups.items():
            marks = [
                "one must be there" if group in operation.required else "",
                "two are named" if group in operation.twice else "",
            ]
            refused = [word for word in words if word in operation.refused]
            marks.append(f"refused: {' '.join(refused)}" if refused else "")
            yield f"| {group} | {' '.join(words)} | {'; '.join(mark for mark in marks if mark)} |"
    yield ""


def _shapes(name: str) -> Iterator[str]:
    yield "## Operands"
    yield ""
    yield "Results, then arguments (`*N`: N of a type; `=N`: a constant):"
    yield ""
    for condition, params in ocg.SHAPE_WORDS.get(name, ()):
        yield f"- `{params}`" + (f" where `{condition}`" if condition else "")
    yield ""


def _messages(name: str) -> Iterator[str]:
    rows = ocg.CHECK_WORDS.get(name, ())
    if not rows:
        return
    yield "## Refused"
    yield ""
    yield "In this order (n: results and arguments together):"
    yield ""
    for condition, message in dict.fromkeys(rows):
        id_, text, severity = ocg.MESSAGES[message]
        yield f"- `{condition}`: {id_} {text}" + (f" ({severity})" if severity != "error" else "")
    yield ""


def _targets(operation: Operation) -> Iterator[str]:
    yield "## Targets"
    yield ""
    by_answer: dict[str, list[str]] = {}
    for target, group in GROUPS.items():
        by_answer.setdefault(operation.answers[group], []).append(target)
    for answer, targets in by_answer.items():
        yield f"- {answer} (ptxas makes {_ANSWERS[answer]}): {' '.join(targets)}"
    yield ""


def _example(name: str, target: str) -> Iterator[str]:
    if name not in ocg.EXAMPLES:
        return
    call, params, own = ocg.EXAMPLES[name]
    chosen = target if compiled(call, params, target) is not None else own
    yield f"## Example for {chosen}"
    yield ""
    if chosen != target:
        yield f"It has no instruction for {target}."
        yield ""
    yield "```"
    yield from module([(call, params)], chosen).splitlines()
    yield "```"
    yield ""
    yield "```"
    yield from compiled(call, params, chosen) or ["refused"]
    yield "```"


def compiled(call: str, params: str, target: str) -> list[str] | None:
    """The machine code of a kernel with a call, without what fills it up; None where the call is refused."""
    try:
        image = compile_text(module([(call, params)], target), CompileOptions(target, 3)).image
    except CompileError:
        return None
    lines = [line.text.strip() for function in list_cubin(read(image)).functions for line in function.lines]
    return [text for text in lines if not text.startswith(_AROUND)]
