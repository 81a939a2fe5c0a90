"""Command lines in ptxas's spelling."""

import pytest
from oric.cli.arguments import UsageError, parse


@pytest.mark.parametrize(
    "words",
    [
        ["a.ptx", "-arch", "sm_90", "-O3", "-o", "x"],
        ["-arch=sm_90", "a.ptx", "-O", "3", "--output-file=x"],
        ["--gpu-name", "sm_90", "--opt-level=3", "a.ptx", "--output-file", "x"],
        ["-gpu-name=sm_90", "-opt-level", "3", "-o=x", "a.ptx", "-m64"],
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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--bogus"], "Unknown option '--bogus'"),
        (["-arch"], "Argument expected after option 'gpu-name'"),
        (["-v=1"], "Option 'verbose' takes no value"),
        (["--fmad=false"], "option '--fmad' is not supported yet"),
        (["-m", "32"], "Value '32' is not defined for option 'machine'"),
        (["-arch", "sm_80", "-arch", "sm_90"], "Option 'gpu-name' is given more than once"),
    ],
)
def test_refusals(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        parse(words)


@pytest.mark.parametrize("text", ["x", "-1", "1.5", "9999999999", "٣"])
def test_integers(text: str) -> None:
    with pytest.raises(UsageError, match="Invalid integer value"):
        parse([f"--opt-level={text}"]).integer("opt-level")
