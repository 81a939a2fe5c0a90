"""Texts that set knobs: every type, from every place, and what is wrong with those that make no sense."""

from __future__ import annotations

from codecs import encode
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oric.cli.compile import main
from oric.driver.knobs import KnobError, from_environment, from_file, rows_by_name, setting, settings_of
from oric.ir.knobs import DEFAULTS, Knobs, KnobSettings, Span
from oric_tables import knobs
from oric_tables.knob_rows import ROWS, TYPES
from oric_tables.op import FFMA, IMAD, LDG

PTX = (Path(__file__).parents[1] / "kernels/saxpy.sm_80.ptx").read_text(encoding="utf-8")

# type -> a setting, and what it does to the values
OF_TYPES = {
    "bool": ("promote_locals=off", lambda k: k.numbers[knobs.PROMOTE_LOCALS] == 0),
    "int": ("macro_reach=0x20", lambda k: k.numbers[knobs.MACRO_REACH] == 32),
    "int_extra": ("unroll_ahead=8:100", lambda k: k.listed(knobs.UNROLL_AHEAD, 2) == [8, 100]),
    "int_range": ("unroll_rounds=3..9", lambda k: k.listed(knobs.UNROLL_ROUNDS, 2) == [3, 9]),
    "int_list": ("allocation_roomy=1,2,3,4,5", lambda k: k.listed(knobs.ALLOCATION_ROOMY, 5) == [1, 2, 3, 4, 5]),
    "float": ("unroll_share=0.25", lambda k: k.reals[knobs.UNROLL_SHARE] == 0.25),
    "double": ("pressure_coefficient=0.5", lambda k: k.reals[knobs.PRESSURE_COEFFICIENT] == 0.5),
    "string": ("tool_note=a = b, c", lambda k: k.texts[knobs.TOOL_NOTE] == "a = b, c"),
    "string_alt": ("order_policy=own", lambda k: k.texts[knobs.ORDER_POLICY] == "own"),
    "when_string": ("skip_rules=instruction=3-5:on", lambda k: k.conditions[knobs.SKIP_RULES] == [Span(3, 5)]),
    "value_pair_list": ("extra_latency=FFMA:3,LDG:-2", lambda k: k.pairs[knobs.EXTRA_LATENCY] == {FFMA: 3, LDG: -2}),
    "opcode_list": ("keep_opcodes=IMAD,FFMA", lambda k: k.opcodes[knobs.KEEP_OPCODES] == {IMAD, FFMA}),
}  # fmt: skip


def made(*texts: str) -> Knobs:
    return settings_of([("here", text) for text in texts]).at("f", 13)


def test_there_is_a_knob_of_every_type() -> None:
    assert {row.type for row in ROWS} == OF_TYPES.keys() == TYPES.keys() - {"unset"}


@pytest.mark.row("R3-64")
@pytest.mark.parametrize("kind", OF_TYPES)
def test_every_type_is_read_from_everywhere(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the command line, a file and the environment; nothing else changes, and not what others have."""
    text, holds = OF_TYPES[kind]
    assert not holds(DEFAULTS)
    assert holds(made(text))
    quoted = f"'{text}'"
    assert holds(settings_of(from_environment(f"macro_reach=1 {quoted}")).at("f", 13))
    assert holds(settings_of(from_file("k", f"# a comment\n\n  {text}\n")).at("f", 13))
    ptx, file = tmp_path / "a.ptx", tmp_path / "knobs"
    ptx.write_text(PTX, encoding="utf-8")
    file.write_text(text + "\n", encoding="utf-8")
    images = []
    for number, words in enumerate(([f"--knob={text}"], [f"--knobs-file={file}"], [])):
        out = tmp_path / f"{number}.cubin"
        monkeypatch.setenv("ORIC_KNOBS", "" if words else quoted)
        assert main([str(ptx), "-arch", "sm_80", "-o", str(out), *words]) == 0
        images.append(out.read_bytes())
    assert images[0] == images[1] == images[2]
    assert not holds(DEFAULTS)


def test_the_default_of_every_knob_sets_it_to_what_it_is() -> None:
    for row in ROWS:
        name = encode(row.name, "rot13")
        before, after = DEFAULTS, made(f"{name}={row.default}")
        assert list(after.numbers) == list(before.numbers) and after.reals == before.reals and after.texts == before.texts
        assert (after.conditions, after.pairs, after.opcodes) == (before.conditions, before.pairs, before.opcodes)


@pytest.mark.row("R3-65")
def test_names_are_stored_in_rot13_and_aliases_set_the_same_knob() -> None:
    assert "zngpu" not in {encode(row.name, "rot13") for row in ROWS}
    assert {row.name for row in ROWS} >= {"znpeb_ernpu", "haebyy_nurnq"}
    for row in ROWS:
        names = [encode(row.name, "rot13"), str(row.number), *([encode(row.alias, "rot13")] if row.alias else [])]
        assert all(rows_by_name()[name] is row for name in names)
    assert list(made("congested=7").numbers) == list(made("interference_threshold=7").numbers) == list(made("684=7").numbers)


def test_what_comes_later_counts() -> None:
    assert made("macro_reach=1", "macro_reach=2").numbers[knobs.MACRO_REACH] == 2
    assert made("macro_reach[function=f]=1", "macro_reach=2").numbers[knobs.MACRO_REACH] == 2
    assert made("macro_reach=2", "macro_reach[function=f]=1").numbers[knobs.MACRO_REACH] == 1


def test_conditions_on_functions_and_phases() -> None:
    given = settings_of([("here", "macro_reach[function=ax*,phase=13+20-22+general_optimize_late]=7")])
    assert given.conditional
    found = {
        (name, phase) for name in ("axpy", "f") for phase in range(159) if given.at(name, phase).numbers[knobs.MACRO_REACH] == 7
    }
    assert found == {("axpy", phase) for phase in (13, 20, 21, 22, 58)}
    assert given.at("axpy", 13) is given.at("axpy", 13)
    assert not settings_of([("here", "macro_reach=7")]).conditional


@pytest.mark.row("R3-32")
def test_both_ways_of_asking_give_the_same_answer() -> None:
    """That of what is set everywhere, which is an array, and that of conditions; the default where nothing is set."""
    for text in ("macro_reach=3", "macro_reach[phase=0-158]=3", "macro_reach[function=*]=3"):
        assert settings_of([("here", text)]).at("any", 5).numbers[knobs.MACRO_REACH] == 3
    assert KnobSettings([]).at("any", 5) is DEFAULTS
    assert (
        settings_of([("here", "macro_reach[phase=4]=3")]).at("any", 5).numbers[knobs.MACRO_REACH]
        == knobs.NUMBERS[knobs.MACRO_REACH]
    )


NODES = st.lists(
    st.tuples(st.booleans(), st.sampled_from(["f", "g", "*"]), st.integers(0, 3), st.integers(0, 40), st.integers(0, 40))
)


@given(NODES)
def test_the_first_condition_of_a_when_string_that_holds_decides(nodes: list[tuple[bool, str, int, int, int]]) -> None:
    parts = [
        f"function={name},phase={phase},instruction={min(a, b)}-{max(a, b)}:{'on' if on else 'off'}"
        for on, name, phase, a, b in nodes
    ]
    values = settings_of([("here", "skip_rules=" + ";".join(parts))]).at("f", 2)
    for instruction in range(45):
        expected = False
        for on, name, phase, a, b in nodes:
            if name in ("f", "*") and phase == 2 and min(a, b) <= instruction <= max(a, b):
                expected = on
                break
        assert values.is_on(knobs.SKIP_RULES, instruction) is expected
    spans = values.conditions[knobs.SKIP_RULES]
    assert all(a.last + 1 < b.first for a, b in pairwise(spans))


WRONG = {
    "makro_reach=1": "there is no knob 'makro_reach'; did you mean 'macro_reach'?",
    "nothing_like_it_at_all=1": "there is no knob 'nothing_like_it_at_all' (see --list-knobs)",
    "macro_reach": "'macro_reach': expected NAME=VALUE or NAME[CONDITION]=VALUE",
    "": "'': expected NAME=VALUE or NAME[CONDITION]=VALUE",
    "macro_reach=": "knob macro_reach: '' is no whole number",
    "macro_reach=1.5": "knob macro_reach: '1.5' is no whole number",
    "macro_reach=-1": "knob macro_reach: -1 is out of range: 0 to 1000000",
    "macro_reach=99999999999999999999": "knob macro_reach: 99999999999999999999 is out of range: 0 to 1000000",
    "macro_reach=" + "9" * 5000: f"knob macro_reach: '{'9' * 60}' is no whole number",
    "promote_locals=maybe": "knob promote_locals: 'maybe' is neither on nor off",
    "unroll_ahead=4": "knob unroll_ahead: 2 numbers are expected ('4:256' for example), 1 are there",
    "unroll_rounds=9..3": "knob unroll_rounds: the range '9..3' ends before it begins",
    "unroll_rounds=0..3": "knob unroll_rounds: 0 is out of range: 1 to 1000000000",
    "allocation_roomy=1,2": "knob allocation_roomy: 5 numbers are expected ('30,6,16,16,6' for example), 2 are there",
    "unroll_share=2": "knob unroll_share: 2 is out of range: 0 to 1",
    "unroll_share=nan": "knob unroll_share: nan is out of range: 0 to 1",
    "unroll_share=x": "knob unroll_share: 'x' is no number",
    "order_policy=mesured": "knob order_policy: 'mesured' is none of measured, own, frugal; did you mean 'measured'?",
    "extra_latency=FFMA": "knob extra_latency: 'FFMA': expected OPERATION:NUMBER",
    "extra_latency=FFMB:1": "knob extra_latency: there is no operation 'FFMB'; did you mean 'FFMA'?",
    "keep_opcodes=IMAD,": "knob keep_opcodes: there is no operation ''",
    "skip_rules=maybe": "knob skip_rules: 'maybe': expected CONDITION:on or CONDITION:off, or one of both alone",
    "skip_rules=instruction=9-3:on": "knob skip_rules: the range '9-3' ends before it begins",
    "skip_rules=instruction=x:on": "knob skip_rules: 'x' is no range: expected N, N-M or N-",
    "skip_rules=funktion=f:on": "knob skip_rules: there are no conditions on 'funktion'; did you mean 'function'?",
    "skip_rules=phase=no_such:on": "knob skip_rules: there is no phase 'no_such' (see --list-phases)",
    "macro_reach[instruction=3]=1": "knob macro_reach: only when-strings have conditions on instructions",
    "macro_reach[function]=1": "knob macro_reach: 'function' is no condition: "
    "expected function=PATTERN, phase=PHASES or instruction=N-M",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_setting_that_makes_no_sense_is_named(text: str) -> None:
    with pytest.raises(KnobError) as found:
        setting("FILE:3:1", text)
    assert str(found.value) == f"FILE:3:1: {WRONG[text]}"


@pytest.mark.parametrize(("words", "environment", "place"), [
    (["--knob=makro_reach=1"], "", "--knob: "),
    (["--knobs-file=FILE"], "", "FILE:3:3: "),
    ([], "makro_reach=1", "ORIC_KNOBS: "),
])  # fmt: skip
def test_nothing_is_written_then(
    words: list[str],
    environment: str,
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ptx, file, out = tmp_path / "a.ptx", tmp_path / "knobs", tmp_path / "a.cubin"
    ptx.write_text(PTX, encoding="utf-8")
    file.write_text("# comment\n\n  makro_reach=1\n", encoding="utf-8")
    monkeypatch.setenv("ORIC_KNOBS", environment)
    assert main([str(ptx), "-o", str(out), *(word.replace("FILE", str(file)) for word in words)]) == 255
    assert (
        f"{place.replace('FILE', str(file))}there is no knob 'makro_reach'; did you mean 'macro_reach'?"
        in capsys.readouterr().err
    )
    assert not out.exists()


def test_an_environment_whose_quotation_does_not_end() -> None:
    with pytest.raises(KnobError, match="ORIC_KNOBS: no closing quotation"):
        from_environment("macro_reach='1")


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ptx = tmp_path / "a.ptx"
    ptx.write_text(PTX, encoding="utf-8")
    assert main([str(ptx), "-o", str(tmp_path / "o"), f"--knobs-file={tmp_path / 'none'}"]) == 255
    assert "none" in capsys.readouterr().err and not (tmp_path / "o").exists()


@given(st.text(max_size=40))
def test_any_text_is_a_setting_or_named(text: str) -> None:
    for form in (text, f"macro_reach={text}", f"skip_rules={text}", f"extra_latency={text}", f"macro_reach[{text}]=1"):
        try:
            settings_of([("here", form)]).at("f", 3)
        except KnobError as error:
            assert str(error).startswith("here: ")
