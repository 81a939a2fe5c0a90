"""The TextMate grammar: what an editor would colour, found by a small engine that runs the grammar itself."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from oric_tables import ptx_index as ix
from oricgen.tables import ptx_words

from tests import specification

ROOT = Path(__file__).resolve().parents[2]
GRAMMAR = json.loads((ROOT / "build/flat/ptx.tmLanguage.json").read_text())


def flattened(patterns: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rules in order of precedence, with includes and groups opened."""
    for rule in patterns:
        if "include" in rule:
            yield from flattened([GRAMMAR["repository"][rule["include"].removeprefix("#")]])
        elif "patterns" in rule and "match" not in rule:
            yield from flattened(rule["patterns"])
        else:
            yield rule


def scopes(text: str, patterns: list[dict[str, Any]] | None = None) -> list[tuple[str, str]]:
    """Pieces of a text and their scopes: the leftmost match wins, of those the first rule."""
    rules = [(rule, re.compile(rule.get("match") or rule["begin"], re.M)) for rule in flattened(patterns or GRAMMAR["patterns"])]
    at, out = 0, []
    while True:
        found = [
            (m.start(), i, m) for i, (_, pattern) in enumerate(rules) if (m := pattern.search(text, at)) and m.end() > m.start()
        ]
        if not found:
            return out
        _, index, match = min(found, key=lambda row: row[:2])
        rule, at = rules[index][0], match.end()
        if "end" in rule:
            end = re.compile(rule["end"]).search(text, at)
            at = len(text) if end is None else end.end()
        if "name" in rule:
            out.append((text[match.start() : at], rule["name"]))
        for group, capture in rule.get("captures", {}).items():
            part = match[int(group)]
            if part and "patterns" in capture:
                out += scopes(part, capture["patterns"])
            elif part:
                out.append((part, capture["name"]))


def instruction_names() -> list[str]:
    return [".".join([first, *rest]) for first, rows in ix.HEADS.items() for rest, _ in rows]


@pytest.mark.parametrize("line", ["\t{};", "@!%p1 {}.b32 %r1, 0x1F;", "L: {}.v2 x, y;"])
def test_every_instruction(line):
    names = instruction_names()
    assert len(names) > 100
    for name in names:
        found = scopes(line.format(name))
        assert (name, "keyword.other.instruction.ptx") in found, name


def test_every_type_as_qualifier_and_in_declarations():
    for name in ix.TYPES:
        assert (f".{name}", "storage.type.ptx") in scopes(f"cvt.rn.{name}.f32 %r1, %r2;")
        assert (f".{name}", "storage.type.ptx") in scopes(f".param .align 8 .{name} x[4];")


def test_every_directive_space_and_word():
    for name in ix.DIRECTIVES:
        assert scopes(f".{name} 4")[0] == (f".{name}", "keyword.other.performance.ptx")
    for name in ix.SPACES:
        assert scopes(f".{name} .b32 x;")[0] == (f".{name}", "storage.modifier.space.ptx")
    kinds = {
        "module": "keyword.control.directive.ptx",
        "function": "storage.type.function.ptx",
        "modifier": "storage.modifier.ptx",
    }
    for name, row in ptx_words.load(specification.spec()).items():
        assert scopes(f".{name} 4")[0] == (f".{name}", kinds[row["kind"]])


def test_every_special_register_and_target():
    for name in ix.SPECIAL:
        assert (f"%{name}", "variable.language.special.ptx") in scopes(f"mov.u32 %r1, %{name};")
    for name in ix.TARGETS:
        assert (name, "constant.language.target.ptx") in scopes(f".target {name}, debug")


def test_a_whole_line():
    assert scopes("L1: @!%p1 ld.global.nc.v4.f32 {%f1, _}, [%rd1+16]; // done") == [
        ("L1", "entity.name.label.ptx"),
        ("@", "keyword.operator.guard.ptx"),
        ("!", "keyword.operator.guard.ptx"),
        ("%p1", "variable.other.predicate.ptx"),
        ("ld", "keyword.other.instruction.ptx"),
        (".global", "support.constant.qualifier.ptx"),
        (".nc", "support.constant.qualifier.ptx"),
        (".v4", "support.constant.qualifier.ptx"),
        (".f32", "storage.type.ptx"),
        ("%f1", "variable.other.register.ptx"),
        ("%rd1", "variable.other.register.ptx"),
        ("16", "constant.numeric.ptx"),
        ("// done", "comment.line.double-slash.ptx"),
    ]


@pytest.mark.parametrize(
    ("text", "piece", "scope"),
    [
        ("mov.f32 %f1, 0f3F800000;", "0f3F800000", "constant.numeric.ptx"),
        ("mov.f64 %f1, 1.5e-3;", "1.5e-3", "constant.numeric.ptx"),
        ("mov.u32 %tidy, %tid;", "%tidy", "variable.other.register.ptx"),
        ("mov.u32 add_param, %tid;", "%tid", "variable.language.special.ptx"),
        ('.file 1 "add.cu"', '"add.cu"', "string.quoted.double.ptx"),
        ("/* add.s32 */", "/* add.s32 */", "comment.block.ptx"),
        ("# 1 \"a.cu\"", "# 1 \"a.cu\"", "meta.preprocessor.ptx"),
    ],
)  # fmt: skip
def test_values_strings_and_comments(text, piece, scope):
    assert (piece, scope) in scopes(text)


def test_names_that_contain_words_are_left_alone():
    assert scopes("add_param_0 xadd $add") == []
