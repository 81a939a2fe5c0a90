"""``flat/ptx.tmLanguage.json``: a TextMate grammar of PTX for editors, made from the same tables as the parser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from ..ptx import families, load_types
from ..spec import Spec
from ..tables import ptx_directives, ptx_words
from ..tables.targets import load as load_targets

_KINDS = {"module": "keyword.control.directive.ptx", "function": "storage.type.function.ptx", "modifier": "storage.modifier.ptx"}
_NAME = r"[A-Za-z_$%][\w$]*"


def render(spec: Spec) -> dict[str, str]:
    """Render the grammar."""
    types = load_types(spec)
    grammar = {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "PTX",
        "scopeName": "source.ptx",
        "fileTypes": ["ptx"],
        "patterns": [{"include": f"#{name}"} for name in ("plain", "label", "instruction", "directive", "value")],
        "repository": {
            "plain": {"patterns": _plain()},
            "label": {"match": rf"^\s*({_NAME})\s*:(?!:)", "captures": {"1": {"name": "entity.name.label.ptx"}}},
            "instruction": {"patterns": [_instruction(spec, types)]},
            "directive": {"patterns": _directives(spec, types)},
            "value": {"patterns": _values(spec)},
        },
    }
    return {"flat/ptx.tmLanguage.json": json.dumps(grammar, indent=1) + "\n"}


def _plain() -> list[dict[str, Any]]:
    return [
        {"name": "comment.line.double-slash.ptx", "match": r"//.*$"},
        {"name": "comment.block.ptx", "begin": r"/\*", "end": r"\*/"},
        {"name": "string.quoted.double.ptx", "match": r'"[^"]*"'},
        {"name": "meta.preprocessor.ptx", "match": r"^#.*$"},
    ]


def _words(names: Iterable[str]) -> str:
    """A choice of words, the longest first, so that no word hides one that goes on behind it."""
    return "|".join(re.escape(name) for name in sorted(set(names), key=lambda name: (-len(name), name)))


def _instruction(spec: Spec, types: Any) -> dict[str, Any]:
    names = [i.name for family in families(spec) for i in family.instructions]
    names += spec.load("ptx/names.yaml", "ptx_names")["names"]
    qualifiers = [
        {"name": "storage.type.ptx", "match": rf"\.(?:{_words(types['types'])})\b"},
        {"name": "support.constant.qualifier.ptx", "match": r"\.[\w:]+"},
    ]
    return {
        "match": rf"(?<![\w.$%])(?:(@)(!?)\s*({_NAME})\s+)?({_words(names)})(?![\w$])((?:\.[\w:]+)*)",
        "captures": {
            "1": {"name": "keyword.operator.guard.ptx"},
            "2": {"name": "keyword.operator.guard.ptx"},
            "3": {"name": "variable.other.predicate.ptx"},
            "4": {"name": "keyword.other.instruction.ptx"},
            "5": {"patterns": qualifiers},
        },
    }


def _directives(spec: Spec, types: Any) -> list[dict[str, Any]]:
    words = ptx_words.load(spec)
    out = [{"name": "keyword.other.performance.ptx", "match": rf"\.(?:{_words(ptx_directives.load(spec))})\b"}]
    out += [
        {"name": scope, "match": rf"\.(?:{_words(n for n, row in words.items() if row['kind'] == kind)})\b"}
        for kind, scope in _KINDS.items()
    ]
    out.append({"name": "storage.modifier.space.ptx", "match": rf"\.(?:{_words(types['spaces'])})\b(?:::\w+)?"})
    out.append({"name": "storage.type.ptx", "match": rf"\.(?:{_words([*types['types'], 'v2', 'v4', 'v8'])})\b"})
    return out


def _values(spec: Spec) -> list[dict[str, Any]]:
    targets = [target.name for target in load_targets(spec).by_name.values() if target.ptx]
    options = load_types(spec)["target_options"]
    return [
        {"name": "variable.language.special.ptx", "match": rf"%(?:{_words(_special(spec))})(?![\w$])"},
        {"name": "constant.language.target.ptx", "match": rf"\b(?:{_words([*targets, *options])})(?![\w$])"},
        {"name": "variable.other.register.ptx", "match": r"%[\w$]+"},
        {"name": "constant.numeric.ptx", "match": r"\b0[fFdDhH][0-9a-fA-F]+\b|\b0[xX][0-9a-fA-F]+U?\b|\b0[bB][01]+U?\b"},
        {"name": "constant.numeric.ptx", "match": r"(?<![\w$.])(?:\d+\.?\d*(?:[eE][-+]?\d+)?U?|\.\d+)"},
        {"name": "constant.language.ptx", "match": r"\bWARP_SZ\b"},
    ]


def _special(spec: Spec) -> list[str]:
    out = []
    for name, row in spec.load("ptx/special_registers.yaml", "ptx_special_registers")["registers"].items():
        numbered = [f"{name}{i}" for i in range(row["numbered"])] if "numbered" in row else [name]
        out += numbered + [f"{one}.{part}" for one in numbered for part in row.get("components", ())]
    return out
