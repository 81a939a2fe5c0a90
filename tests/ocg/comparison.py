"""Ours beside ptxas: whether two answers to a call are alike, and what is known to differ."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from oric.lower.intrinsics import UnknownIntrinsic, resolve
from oric.support.ocg_source import PREFIX
from oricgen.spec import Spec
from oricgen.tables import intrinsics

from .answer import CODE, CRASH

SAME: Final = "same"
# What an answer of ours may be that is not ptxas's.
ASTRAY: Final = "astray"  # ptxas makes nothing of the call, or something else: ours refuses it, or makes right code
CRASHED: Final = "crashed"  # ptxas ends by itself, ours refuses or makes code
OTHER_CODE: Final = "other code"
OTHER_MESSAGE: Final = "other message"
TAKEN: Final = "taken"  # ours compiles what ptxas refuses
REFUSED: Final = "refused"  # ours has no instruction for what ptxas makes code of
LACKING: Final = "lacking"  # ours refuses what ptxas compiles, by a message that is no refusal for want of an instruction
_NO_CODE: Final = re.compile(r"'\w+' has no instruction for \w+$")
_EMPTY_WORD: Final = ".word 0x0000000000000000 0x0000000000000000"
_HEAD: Final = re.compile(r"^\S+")


def verdict(spec: Spec, target: str, call: str, theirs: str, ours: str) -> str:
    """How ours compares with ptxas's answer."""
    if theirs.startswith(CRASH):
        return CRASHED
    if not theirs.startswith(CODE):
        return SAME if ours == theirs else TAKEN if ours.startswith(CODE) else OTHER_MESSAGE
    if ours.startswith(CODE) and _work(spec, call, theirs) == _work(spec, call, ours):
        return SAME
    if _is_astray(spec, target, call, theirs):
        return ASTRAY
    return OTHER_CODE if ours.startswith(CODE) else REFUSED if _NO_CODE.search(ours) else LACKING


def _is_astray(spec: Spec, target: str, call: str, theirs: str) -> bool:
    """Whether ptxas's code does not do what the call says: it drops the operation there, or makes what means something else."""
    model = intrinsics.load(spec)
    operation = model.operations[resolve(PREFIX + call).operation]
    answer = operation.answers[model.group_of[target]]
    if answer in ("dropped", "wrong", "crashes") or theirs == CODE or _EMPTY_WORD in theirs:
        return True
    lost = operation.row.values.get("lost", {})
    if any(word in lost and model.group_of[target] in lost[word] for word in call[len(operation.name) + 1 :].split("_")):
        return True
    own = set(operation.row.values["sass"])
    return answer == "native" and bool(own) and not any(_mnemonic(text) in own for text in _instructions(theirs))


def _work(spec: Spec, call: str, answer: str) -> Counter[str]:
    """The instructions that stand for the operation, with the kinds of their operands; of an expansion the mnemonics of all."""
    found = _instructions(answer)
    try:
        own = set(intrinsics.load(spec).operations[resolve(PREFIX + call).operation].row.values["sass"])
    except UnknownIntrinsic:
        own = set()
    chosen = [text for text in found if _mnemonic(text) in own]
    return Counter(chosen or [_HEAD.match(text)[0] for text in found])  # type: ignore[index]


def _instructions(answer: str) -> list[str]:
    return [text for text in answer[len(CODE) :].strip().split(" ; ") if text]


def _mnemonic(text: str) -> str:
    return re.split(r"[. ]", text, maxsplit=1)[0]
