"""ptxas's form of messages: its words, severities and order, beside what ptxas says of the same modules."""

import contextlib
import io
import re
import shutil
from types import SimpleNamespace

import oric
import pytest
from oric.cli import ERROR_STATUS, main, words
from oric.cli.messages import Messages
from oric.ptx import parse_module
from oric.ptx.recorder import Recorder
from oric.support.diagnostics import CompileError, Diagnostics, diagnostics_for
from oric.support.ocg_source import module
from oric_tables.messages import WORDS

from tests.cli import reject_answers
from tests.ptx import reject_cases

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
ABORTED = "ptxas fatal   : Ptx assembly aborted due to errors"
_PLACE = re.compile(r"ptxas (?:m\.ptx, line \d+; )?\w+ *:")


def checked(text: str, name: str = "m.ptx", arch: str = "") -> Diagnostics:
    """The messages about a module that is checked for a target, or for its own."""
    diag = diagnostics_for(text, name)
    with contextlib.suppress(CompileError):
        parse_module(text, name, Recorder(diag.source), SimpleNamespace(name=arch) if arch else None, diag)
    return diag


def printed(*parts: Diagnostics, arch: str = "sm_90") -> list[str]:
    """What the drop-in prints of them."""
    messages = Messages("ptxas", plain=True)
    messages.arch = arch
    with contextlib.redirect_stderr(io.StringIO()) as out:
        messages.diagnostics(parts)
        if messages.errors:
            messages.aborted()
    return out.getvalue().splitlines()


def said(body: str) -> list[str]:
    """What the drop-in says of an entry with this body, by line of the body."""
    text = f"{HEAD}.entry k() {{ .reg .b32 %r<5>; .reg .pred %p<5>; .reg .b64 %rd<5>;\n{body}\nret; }}\n"
    lines = printed(checked(text))
    assert lines.pop() == ABORTED
    return [re.sub(r"ptxas m\.ptx, line (\d+); ", lambda m: f"{int(m[1]) - 4} ", line) for line in lines]


@pytest.fixture(scope="module")
def compared() -> list[tuple[str, list[str], list[str]]]:
    """(name, ours, theirs) of the broken modules whose answer is on file."""
    answers = reject_answers.answers()
    return [
        (name, printed(checked(text), arch=reject_cases.arch_of(text)), answers[reject_answers.digest(text)])
        for name, text in reject_answers.modules().items()
        if reject_answers.digest(text) in answers
    ]


def test_most_answers_are_on_file(compared):
    assert len(compared) >= 0.95 * len(reject_cases.cases())


def test_all_that_ptxas_prints(compared):
    same = sum(ours == theirs for _, ours, theirs in compared)
    assert same >= 0.8 * len(compared), f"{same} of {len(compared)}"


def test_first_line(compared):
    same = sum(ours[:1] == theirs[:1] for _, ours, theirs in compared)
    assert same >= 0.85 * len(compared), f"{same} of {len(compared)}"


def test_place_and_severity_of_the_first_line(compared):
    """What tools look at first."""
    firsts = [(_PLACE.match(ours[0]), theirs and _PLACE.match(theirs[0])) for _, ours, theirs in compared]
    same = sum(bool(theirs) and ours[0] == theirs[0] for ours, theirs in firsts)
    assert same >= 0.93 * len(compared), f"{same} of {len(compared)}"


def test_refused_intrinsics(tmp_path, capsys):
    """As ptxas has it: no place, and one line that says that it ends."""
    source = tmp_path / "m.ptx"
    source.write_text(module([("add_zzz", "b32 <- b32*2")], "sm_100a"))
    assert main(["-arch", "sm_100a", "--ptxas-messages", str(source), "-o", str(tmp_path / "m.cubin")]) == ERROR_STATUS
    assert capsys.readouterr().err.splitlines() == ["ptxas fatal   : (C7305) Unexpected instrinsic subop (zzz)", ABORTED]
    assert not (tmp_path / "m.cubin").exists()


DEPRECATED = '(C7308) Instrinsic - "Deprecated scope without memory order semantics"'


@pytest.mark.parametrize(
    ("calls", "options", "status", "lines"),
    [
        ([], [], 0, [f"ptxas warning : {DEPRECATED}"]),
        ([], ["-Werror"], ERROR_STATUS, [f"ptxas error   : {DEPRECATED}"]),
        (
            [("add_zzz", "b32 <- b32*2")],
            [],
            ERROR_STATUS,
            [f"ptxas warning : {DEPRECATED}", "ptxas fatal   : (C7305) Unexpected instrinsic subop (zzz)", ABORTED],
        ),
    ],
    ids=["alone", "an error", "with a refusal"],
)
def test_a_warning_about_an_intrinsic(calls, options, status, lines, tmp_path, capsys):
    """It ends nothing, and where it counts as an error nobody says that anything ends."""
    source = tmp_path / "m.ptx"
    source.write_text(module([("write_async_b32_sys_shared", "<- b32*3"), *calls], "sm_90"))
    assert main(["-arch", "sm_90", "--ptxas-messages", *options, str(source), "-o", str(tmp_path / "m.cubin")]) == status
    assert capsys.readouterr().err.splitlines() == lines


def test_mistakes_of_the_text_come_in_front_of_refused_intrinsics(tmp_path, capsys):
    """Functions are compiled when nothing is wrong with any call."""
    source = tmp_path / "m.ptx"
    source.write_text(module([("add_zzz", "b32 <- b32*2"), ("vimax_s32", "b32 <- b32 u16")], "sm_100a"))
    assert main(["-arch", "sm_100a", "--ptxas-messages", str(source), "-o", str(tmp_path / "m.cubin")]) == ERROR_STATUS
    told = capsys.readouterr().err
    assert "8-bit and 16-bit parameters" in told
    assert "C7305" not in told


def test_every_row_has_a_module():
    used = set()
    warned = HEAD + ".entry k() .minnctapersm 4 { ret; }\n"
    assert any("is ignored when neither" in line for line in printed(checked(warned)))
    with pytest.raises(CompileError) as refused:  # said where code is made
        oric.compile(module([("add_zzz", "b32 <- b32*2")], "sm_90"), "sm_90")
    for diag in (*map(checked, [*reject_answers.modules().values(), warned]), refused.value.diagnostics):
        used |= {row for item in diag.items if (row := words._row(item, diag)[0]) is not None}
    assert not [row.pattern for row in WORDS if row not in used and not row.alone]


@pytest.mark.parametrize(
    "message",
    [
        "Entry function 'k' uses too much shared data (0x38c01 bytes, 0x38c00 max)",
        "File uses too much global constant data (0x10001 bytes, 0x10000 max)",
    ],
)
def test_what_does_not_fit_is_said_without_an_end(message):
    diag = diagnostics_for(HEAD, "m.ptx")
    diag.error(message)
    assert printed(diag) == [f"ptxas error   : {message}"]


def test_unknown_names_come_at_the_end_of_the_function():
    assert said("add.u32 %r1, %q, 1;\nfam %r1;") == [
        "1 error   : Arguments mismatch for instruction 'add'",
        "2 error   : Not a name of any known instruction: 'fam'",
        "1 error   : Unknown symbol '%q'",
    ]
    text = HEAD + ".entry a() { bra L; }\n.entry b() { bra M; fam; }\n"
    assert printed(checked(text))[:-1] == [
        "ptxas m.ptx, line 4; error   : Unknown symbol 'L'",
        "ptxas m.ptx, line 5; error   : Not a name of any known instruction: 'fam'",
        "ptxas m.ptx, line 5; error   : Unknown symbol 'M'",
    ]


def test_a_mistake_of_syntax_ends_the_input():
    """... and what was not read to its end is not checked."""
    assert said("fam %r1;\nadd.u32 %r1 %r2;\nfam;") == [
        "1 error   : Not a name of any known instruction: 'fam'",
        "2 fatal   : Parsing error near '%r2': syntax error",
    ]


@pytest.mark.parametrize(
    ("mnemonic", "name"),
    [("mul.lo.u32", "mul.lo"), ("add.u32", "add"), ("cp.async.wait_group", "cp.async.wait_group"), ("bar.warp.sync", "bar.warp"),
     ("mbarrier.init.shared.b64", "mbarrier.init"), ("mapa.shared::cluster.u32", "mapa")],
)  # fmt: skip
def test_names_of_instructions(mnemonic, name):
    assert said(f"@%p1 {mnemonic} %p1;")[0] == f"1 error   : Arguments mismatch for instruction '{name}'"


def test_other_inputs_are_read_on():
    bad = checked(HEAD + ".entry a() { .reg .b32 %r<3>; add.u32 %r1, %r2 5; }\n", "a.ptx")
    assert printed(bad, checked(HEAD + ".entry b() { fam; }\n", "b.ptx")) == [
        "ptxas a.ptx, line 4; fatal   : Parsing error near '5': syntax error",
        "ptxas b.ptx, line 4; error   : Not a name of any known instruction: 'fam'",
        ABORTED,
    ]


@pytest.mark.parametrize(
    ("target", "arch", "text"),
    [
        ("sm_90", "sm_80", "SM version specified by .target is higher than default SM version assumed"),
        ("sm_101a", "sm_100", "SM version specified by .target is higher than default SM version assumed"),
        ("sm_90a", "sm_90", "PTX with .target 'sm_90a' cannot be compiled for architecture 'sm_90'"),
        ("sm_90a", "sm_100", "Program with .target 'sm_90a' cannot be compiled to future architecture"),
        ("sm_100f", "sm_110", "Program with .target 'sm_100f' cannot be compiled to different SM-family architecture"),
    ],
)
def test_what_is_said_alone(target, arch, text):
    """A target that does not fit is spoken of only where there is nothing else to say."""
    module = checked(HEAD.replace("sm_90", target), arch=arch)
    assert printed(module, arch=arch) == [f"ptxas fatal   : {text}"]
    assert printed(module, checked(HEAD + ".entry b() { fam; }\n"), arch=arch) == [
        "ptxas m.ptx, line 4; error   : Not a name of any known instruction: 'fam'",
        ABORTED,
    ]


@pytest.mark.parametrize(("character", "what"), [("\0", "EOF"), ("é", "non-ASCII character")])
def test_characters_that_ptxas_does_not_read(character, what):
    assert printed(checked(f"{HEAD}// {character}\nfam")) == [f"ptxas fatal   : Unexpected {what} encountered on line 4", ABORTED]


# A line, and where ptxas 13.0.88 then says that the next one is; None: it is no line marker.
MARKERS = [
    ('# 12 "file.cu"', "file.cu, line 12"),
    ('#line 12 "file.cu"', "file.cu, line 12"),
    ('#line12 "f"', "f, line 12"),
    ('\t#\f12\t"a b"\r', "a b, line 12"),
    ('# 12 "file.cu" 2 3', ", line 12"),
    ('# 12 ""', ", line 12"),
    ('# 12 "f"\n# 20 "g"\n\n', "g, line 22"),
    ('#line 99999999999 "f"', "f, line 1215752191"),
    ('# 4294967295 "f"', "f, line -1"),
    ('// # 12 "f"', "m.ptx, line 7"),
    ('/* # 12 "f" */', "m.ptx, line 7"),
    ('add.u32 %r1, %r2, %r3; # 12 "f"', "f, line 12"),
    *((text, None) for text in ('# 12"f"', '# 12 "f"2', '# 12 "f" x', '# 12 "f" // c', '# 12 "a \\"b"', "# 12", "#", "# x")),
]


@pytest.mark.parametrize(("line", "place"), MARKERS)
def test_places_behind_line_markers(line, place):
    text = f"{HEAD}.entry k() {{\n.reg .b32 %r<9>;\n{line}\nfam.u32 %r1, %r2;\nret; }}\n"
    wanted = f"{place}; error   : Not a name of any known instruction: 'fam'"
    assert printed(checked(text))[0] == "ptxas " + (
        wanted if place is not None else "m.ptx, line 6; fatal   : Parsing error near '#': syntax error"
    )


def test_a_message_without_a_row_keeps_its_words():
    diag = diagnostics_for("abc", "m.ptx")
    diag.error("words that\nnobody knows", 0)
    assert printed(diag)[0] == "ptxas m.ptx, line 1; error   : words that nobody knows"


@pytest.mark.measure
@pytest.mark.skipif(shutil.which("ptxas") is None, reason="no ptxas here: its answers are those on file")
def test_the_answers_on_file_are_those_of_ptxas():
    answers = reject_answers.answers()
    modules = {name: text for name, text in reject_answers.modules().items() if reject_answers.digest(text) in answers}
    wrong = [name for name, text in modules.items() if answers[reject_answers.digest(text)] != reject_answers.ask(text)]
    assert len(wrong) <= 1, wrong  # ptxas prints a line number at random for U+007F
