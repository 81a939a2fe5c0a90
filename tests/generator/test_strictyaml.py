"""Strict YAML: every ambiguity is refused with its line; plain values keep their types."""

from pathlib import Path

import pytest
from oricgen.errors import SpecError
from oricgen.strictyaml import loads, read


def test_scalars_and_lines() -> None:
    data = loads("a: 80\nb: 0x1F\nc: -2\nd: 1.5\ne: 'no'\nf: true\ng:\n  - 1\n  - x\nh: .s32\n")
    assert dict(data) == {"a": 80, "b": 31, "c": -2, "d": 1.5, "e": "no", "f": True, "g": [1, "x"], "h": ".s32"}
    assert data.line_of("c") == 3
    assert data["g"].line_of(1) == 9


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\na: 2\n", 2, "duplicate key 'a' (first on line 1)"),
        ("a: 1\nb: no\n", 2, "'no' is ambiguous"),
        ("a: 010\n", 1, "'010' looks octal"),
        ("a: 1:30\n", 1, "'1:30' looks like base 60"),
        ("a: &x 1\n", 1, "anchors and aliases"),
        ("a: !!int 1\n", 1, "the tag"),
        ("a: True\n", 1, "write 'true' in lower case"),
        ("a: [1\n", 2, "not valid YAML"),
        ("- 1\n", 1, "the top level must be a mapping"),
        ("", 1, "the file is empty"),
        ("[1]: 2\n", 1, "a key must be a plain word"),
    ],
)
def test_refusals(text: str, line: int, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        loads(text, "f.yaml")
    assert caught.value.line == line
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"f.yaml:{line}: ")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        read(tmp_path / "x.yaml", "spec/x.yaml")
    assert str(caught.value) == "spec/x.yaml: the file cannot be read: No such file or directory"
    (tmp_path / "x.yaml").write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(SpecError) as caught:
        read(tmp_path / "x.yaml", "spec/x.yaml")
    assert str(caught.value) == "spec/x.yaml:2: the file is not UTF-8"
