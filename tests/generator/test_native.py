"""What the C compiler refuses is an error of the row that the code is from."""

from __future__ import annotations

from pathlib import Path

import pytest
from oricgen import cli, native
from oricgen.errors import SpecError

GENERATED = """
#include <stdint.h>
unsigned one(uint64_t x);
unsigned one(uint64_t x)
{
#line 14 "spec/encoding/float.yaml"
    return faddd(x);
#line 9 "build/c/sim/exec_float.c"
}
"""


def checkout(folder: Path, text: str) -> Path:
    """A project of one generated file."""
    path = folder / "build" / "c" / "sim" / "exec_float.c"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return folder


def refusal(root: Path) -> SpecError:
    with pytest.raises(SpecError) as raised:
        native.build_native(root)
    return raised.value


def test_an_error_names_the_row(tmp_path: Path) -> None:
    error = refusal(checkout(tmp_path, GENERATED))
    assert str(error).startswith("spec/encoding/float.yaml:14: the C compiler refuses it: ")
    assert "faddd" in str(error)
    assert str(error).endswith("(in 'one')")


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("return x;", "conversion"),
        ("unsigned y = 1; return 2;", "unused variable 'y'"),
        ("return x == 1 && x || x == 3;", "parentheses"),
        ("return (int)x < 1u;", "different signedness"),
    ],
)
def test_a_warning_is_an_error(tmp_path: Path, statement: str, words: str) -> None:
    error = refusal(checkout(tmp_path, GENERATED.replace("return faddd(x);", statement)))
    assert (error.path, error.line) == ("spec/encoding/float.yaml", 14)
    assert words in error.message


def test_the_rest_of_the_file_is_itself(tmp_path: Path) -> None:
    sound = GENERATED.replace("faddd(x)", "(unsigned)x")
    error = refusal(checkout(tmp_path, sound + "int two(void) { return y; }\n"))
    assert (error.path, error.line) == ("build/c/sim/exec_float.c", 10)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkout(tmp_path, GENERATED + "int three(void) { return y; }\n")
    assert cli.main(["--root", str(tmp_path), "native"]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("oricgen: error: ")]
    assert sorted({line.split(": ")[2] for line in lines}, reverse=True) == [
        "spec/encoding/float.yaml:14",
        "build/c/sim/exec_float.c:10",
    ]


def test_messages_without_a_place(tmp_path: Path) -> None:
    error = native.refused(tmp_path, tmp_path / "build/c/a.c", "cc: out of memory\nmore\n")
    assert str(error) == "build/c/a.c: the C compiler does not compile it: cc: out of memory"
    assert str(native.refused(tmp_path, tmp_path / "build/c/a.c", "")).endswith("it says nothing")


def test_objects_of_text_from_other_lines_are_the_same(tmp_path: Path) -> None:
    """A row that has moved is no reason to compile: where text is from only matters to who reads an error."""
    one, two, three = (tmp_path / name / "one.c" for name in "abc")
    for path, text in ((one, '#line 1 "spec/a.yaml"\nint a;\n'), (two, '#line 2 "spec/a.yaml"\nint a;\n'), (three, "int b;\n")):
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
    assert native._digest([one], []) == native._digest([two], []) != native._digest([three], [])
