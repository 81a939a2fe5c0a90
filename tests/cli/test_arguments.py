"""Command lines in ptxas's spelling."""

import pytest
from oric.cli.arguments import Remark, UsageError, parse
from oric_tables.options import CHECKS, LONG, OPTIONS

REFUSED = [option for option in OPTIONS if option.state == "refused"]
WARNED = [option for option in OPTIONS if option.state == "warned"]
MOOT = [option for option in OPTIONS if option.state == "moot"]
VALUES = {"boolean": "true", "integer": "2", "path": "file", "string": "cg"}


def written(name: str) -> str:
    """The option with a value that its checks allow."""
    option = OPTIONS[LONG[name]]
    allowed = [check.values[-1] for check in CHECKS if check.given == (name,) and check.values]
    value = (*option.choices, *allowed, VALUES.get(option.value, ""))[0]
    return f"--{name}={value}" if option.value else f"--{name}"


@pytest.mark.parametrize(
    "words",
    [
        ["a.ptx", "-arch", "sm_90", "-O3", "-o", "x"],
        ["-arch=sm_90", "a.ptx", "-O=3", "--output-file=x"],
        ["--gpu-name", "sm_90", "--opt-level=3", "a.ptx", "--output-file", "x"],
        ["--gpu-name=sm_90", "--opt-level", "3", "-o=x", "a.ptx", "-m64"],
    ],
)
def test_spellings(words: list[str]) -> None:
    args = parse(words)
    assert args.inputs == ["a.ptx"]
    assert args.get("gpu-name") == "sm_90"
    assert args.integer("opt-level") == 3
    assert args.get("output-file") == "x"


def test_defaults_are_those_of_ptxas() -> None:
    args = parse(["a.ptx"])
    assert (args.get("gpu-name"), args.get("output-file"), args.get("opt-level")) == ("sm_75", "elf.o", "3")
    assert not args.has("verbose")


@pytest.mark.parametrize("option", REFUSED, ids=lambda option: option.name)
def test_what_would_be_missed_is_refused_by_name(option: object) -> None:
    name = option.name  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match=f"option '--{name}' is not supported yet"):
        parse(["a.ptx", written(name)])


@pytest.mark.parametrize("option", WARNED, ids=lambda option: option.name)
def test_what_has_no_effect_yet_is_warned_about_by_name(option: object) -> None:
    name = option.name  # type: ignore[attr-defined]
    (remark,) = (remark for remark in parse(["a.ptx", written(name)]).remarks if not remark.late)
    assert remark == Remark("warning", f"option '--{name}' is not supported yet, will be ignored")


@pytest.mark.parametrize("option", [*REFUSED, *WARNED], ids=lambda option: option.name)
def test_neutral_values_are_silent(option: object) -> None:
    for value in option.neutral:  # type: ignore[attr-defined]
        assert parse(["a.ptx", f"--{option.name}={value}"]).remarks == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("option", MOOT, ids=lambda option: option.name)
def test_what_has_nothing_to_do_is_accepted(option: object) -> None:
    name = option.name  # type: ignore[attr-defined]
    said = [
        check.text
        for check in CHECKS
        if check.given == (name,) and check.values is None and check.range is None and check.below is None
    ]
    assert [remark.text for remark in parse(["a.ptx", written(name)]).remarks] == said


@pytest.mark.parametrize("text", ["x", "1.5", "9999999999", "٣", "0x", "--1", "9" * 100])
def test_integers(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected a number|out of range"):
        parse([f"--opt-level={text}"])


def test_modules_as_text_are_not_split_at_commas() -> None:
    args = parse(["-ias", "a,b", "--input-as-string=c"])
    assert (args.texts, args.inputs) == (["a,b", "c"], [])
