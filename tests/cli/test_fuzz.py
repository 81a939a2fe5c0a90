"""`oric fuzz`: programs of a seed, what is found in planted wrong code, how it is shrunk and kept, and how the command ends."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import oric
import pytest
from oric.cli import main
from oric.fuzz import campaign as campaigns
from oric.fuzz.campaign import Failure, Outcome, Way, campaign, examine, program_of, ways_of
from oric.fuzz.extended import ALL_OPS
from oric.fuzz.full import FullProgram
from oric.fuzz.programs import Statement
from oric.fuzz.vendor import FAULTS, faults_of, without
from oric.phases.manager import optional_phases
from oric_tables.targets import TARGETS

pytestmark = pytest.mark.memcheck


@pytest.mark.parametrize("seed", range(8))
def test_wide_programs(seed: int) -> None:
    """A target each; every statement there is comes in the long ones."""
    target = list(TARGETS)[seed % len(TARGETS)]
    program = program_of(seed, target, 60)
    outcome = examine(program, target, [Way(0), Way(3), Way(3, 32)], None)
    assert outcome.failures == []


@pytest.mark.sampled(5)
@pytest.mark.parametrize("phase", optional_phases(3))
def test_programs_without_a_phase(phase: int) -> None:
    """Each phase that can be switched off is, alone and beside another one, for a target each."""
    target = list(TARGETS)[phase % len(TARGETS)]
    others = [other for other in optional_phases(3) if other != phase]
    ways = [Way(3, off=(str(phase),)), Way(3, off=(str(phase), str(others[phase % len(others)])))]
    assert examine(program_of(phase, target, 40), target, ways, None).failures == []
    assert examine(program_of(phase, target, 12, "calls"), target, ways, None).failures == []


@pytest.mark.measure
@pytest.mark.parametrize("target", list(TARGETS))
def test_many_wide_programs(target: str) -> None:
    for seed in range(3000, 3015):
        assert examine(program_of(seed, target), target, ways_of(seed), None).failures == [], seed


@pytest.mark.measure
def test_shared_predicates_that_have_to_wait_in_memory() -> None:
    """Where 22 registers are live, there is none for the bits of predicates."""
    assert examine(program_of(3401771, "sm_75", 0, "calls"), "sm_75", [Way(0, 24), Way(3, 24)], None).failures == []


@pytest.mark.measure
def test_a_pair_comes_back_of_which_one_word_is_wanted() -> None:
    """The other word was not kept: its old value is nobody's any more."""
    assert examine(program_of(7000634, "sm_103f"), "sm_103f", [Way(2, 32)], None).failures == []


@pytest.mark.parametrize("seed", range(12))
def test_programs_with_calls(seed: int) -> None:
    """Functions that call each other, for a target each."""
    target = list(TARGETS)[seed % len(TARGETS)]
    outcome = examine(program_of(seed, target, 12, "calls"), target, [Way(0), Way(3), Way(1, 24)], None)
    assert outcome.failures == []


@pytest.mark.measure
@pytest.mark.parametrize("target", list(TARGETS))
def test_many_programs_with_calls(target: str) -> None:
    ptxas = shutil.which("ptxas")
    for seed in range(4000, 4006):
        outcome = examine(program_of(seed, target, 0, "calls"), target, ways_of(seed), ptxas)
        assert outcome.failures == [] and "not explained" not in outcome.said, (seed, outcome.said)


def test_every_kind_of_call_comes() -> None:
    """Recursion, tables, chosen functions, results of all sizes, structures by their address, space on the stack."""
    text = "".join(program_of(seed, "sm_90", 20, "calls").text("sm_90") for seed in range(60))
    wanted = (
        ".callprototype (.param .align", ".callprototype _ (", "selp.b64 %w3", "ld.global.u64 %w3", "alloca.u32 slots",
        "ld.local.b32 %r0, [%w0", "cvta.local.u64 %w0", "ld.param.v4.b32 ", ".b8 res[256]",
        "call g0,", "call (m), g0,", "st.param.b8 [res", "ld.param.u8 ",
    )  # fmt: skip
    assert [word for word in wanted if word not in text] == []


def test_what_ptxas_gets_has_no_space_on_the_stack() -> None:
    program = next(p for p in (program_of(s, "sm_90", 20, "calls") for s in range(60)) if "alloca" in p.text("sm_90"))
    text = program.text("sm_90")
    assert "alloca" not in program.plain_text("sm_90") and program.text("sm_90") == text


def test_wrong_code_in_functions_is_shrunk(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(monkeypatch, 2)
    seeds = (s for s in range(200) if "\tadd.s32 %r" in program_of(s, "sm_90", 8, "calls").text("sm_90"))
    seed = next(s for s in seeds if examine(program_of(s, "sm_90", 8, "calls"), "sm_90", [Way(2)], None).failures)
    arguments = ["--kind", "calls", "--arch", "sm_90", "--seed", str(seed), "--count", "1", "--size", "8", "--no-ptxas"]
    assert main(["fuzz", *arguments, "-o", str(tmp_path)]) == 1
    (report,) = tmp_path.glob(f"fuzz-calls-{seed}-sm_90-*.json")
    told: dict[str, Any] = json.loads(report.read_text())
    assert told["programs"] == "calls" and sum(map(len, [told["statements"], *told["functions"]])) <= 5
    capsys.readouterr()


def test_the_same_seed_gives_the_same_program() -> None:
    texts = {program_of(7, "sm_90", 40).text("sm_90") for _ in range(2)}
    assert len(texts) == 1
    for target, there in (("sm_75", False), ("sm_80", True)):
        made = "".join(program_of(seed, target, 100).text(target) for seed in range(20))
        assert ("redux" in made) == there and ("cvt.rn.bf16.f32" in made) == there
    assert ways_of(7) == ways_of(7) and {way.level for way in ways_of(7)} == {0, 1, 2, 3}


def test_every_phase_is_left_out_some_time() -> None:
    """Two of them in each program; the others see all phases."""
    off = Counter(int(name) for seed in range(300) for name in ways_of(seed)[-1].off)
    assert set(off) == set(optional_phases(3)) and sum(off.values()) == 600
    assert all(not way.off for way in ways_of(7)[:-1])
    assert str(Way(3, off=("13", "49"))) == "-O3 --disable-phase 13,49"


def test_every_kind_of_statement_comes() -> None:
    """What the programs of some seeds have, in PTX, is all that the generator can make."""
    text = "".join(program_of(seed, "sm_90", 100).text("sm_90") for seed in range(60))
    wanted = (
        "bar.sync 0;", "bar.arrive", "bar.red.popc", "bar.red.and", "bar.warp.sync", "vote.sync.uni", "match.any.sync.b64",
        "match.all.sync.b32", "redux.sync.min.s32", "shfl.sync.bfly", "brx.idx", "call (", "ld.const.u64", "ld.param.u32",
        "atom.cas.b64", "atom.shared.add.u64", "atom.global.inc.u32", "red.shared.", "ld.local.", "st.shared.v4.u32", "ld.v2.u64",
        "addc.cc.u64", "madc.hi.cc.u32", ".f16x2 ", ".bf16x2 ", "div.rn.f64", "sqrt.rn.f32", ".u64.f64 ", "bra.uni",
        "selp.b32 %m2",
    )  # fmt: skip
    assert [word for word in wanted if word not in text] == []


def planted(monkeypatch: pytest.MonkeyPatch, level: int) -> None:
    """Code of a level in which additions of 32 bits subtract."""
    right = campaigns.compiled

    def wrong(text: str, target: str, way: Way) -> bytes:
        return right(text.replace("\tadd.s32 %r", "\tsub.s32 %r") if way.level == level else text, target, way)

    monkeypatch.setattr(campaigns, "compiled", wrong)


def test_wrong_code_is_found_shrunk_and_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planted(monkeypatch, 2)
    seeds = (s for s in range(200) if "\tadd.s32 %r" in program_of(s, "sm_90", 20).text("sm_90"))
    seed = next(s for s in seeds if examine(program_of(s, "sm_90", 20), "sm_90", [Way(2)], None).failures)
    arguments = ["--arch", "sm_90", "--seed", str(seed), "--count", "1", "--size", "20", "--no-ptxas", "-o", str(tmp_path)]
    assert main(["fuzz", *arguments]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"seed {seed} for sm_90: result at -O2") and out.endswith("1 programs: 1 failing\n")
    (report,) = tmp_path.glob("*.json")
    told: dict[str, Any] = json.loads(report.read_text())
    assert (told["seed"], told["target"], told["level"], told["kind"]) == (seed, "sm_90", 2, "result")
    assert len(told["statements"]) <= 2
    kept = report.with_suffix(".ptx").read_text()
    assert "\tadd.s32 %r" in kept and oric.compile(kept, arch="sm_90").image


def test_errors_and_reports_are_failures(monkeypatch: pytest.MonkeyPatch) -> None:
    program = program_of(1, "sm_90", 10)
    monkeypatch.setattr(campaigns, "compiled", lambda *_: b"no cubin")
    assert {f.kind for f in examine(program, "sm_90", [Way(0)], None).failures} == {"report"}

    def broken(*_: Any) -> bytes:
        raise RuntimeError("of no kind")

    monkeypatch.setattr(campaigns, "compiled", broken)
    (failure,) = examine(program, "sm_90", [Way(3, 24)], None).failures
    assert failure == ("error", Way(3, 24), "RuntimeError: of no kind") and str(failure.way) == "-O3 --maxrregcount 24"


def test_right_code(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["--arch", "sm_80", "--arch", "sm_90", "--count", "2", "--size", "10", "--no-ptxas", "-o", str(tmp_path / "none")]
    assert main(["fuzz", *arguments]) == 0
    assert capsys.readouterr().out == "2 programs: 2 right\n"
    assert not (tmp_path / "none").exists()
    assert main(["fuzz", "--show", "--arch", "sm_90", "--seed", "3"]) == 0
    assert capsys.readouterr().out == program_of(3, "sm_90").text("sm_90")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--arch", "sm_12345"], "sm_12345"),
        (["--count", "-1"], "not negative"),
        (["--count", "many"], "invalid int value"),
        (["file.ptx"], "unrecognized arguments"),
    ],
)
def test_trouble(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == "" and told.err.startswith("oric: error: ") and message in told.err


# -- ptxas as the second opinion ----------------------------------------------------------------------------------

GUARD, COPY, LEAST, ABSOLUTE, WIDTH, BRANCH, INVERTED, SUM, AMOUNT, CERTAIN, HIGH, UNIFORM, APART, BALLOT, KEPT = FAULTS


def op(mnemonic: str, result: str, *sources: str, guard: tuple[str, bool] | None = None) -> Statement:
    """A statement of one instruction."""
    found = next(o for o in ALL_OPS if o.mnemonic == mnemonic and not set(o.sources) & {"i", "L"})
    return ("op", found, result, list(sources), guard)


def program_with(*body: Statement, seed: int = 100224, functions: bool = False) -> FullProgram:
    """A program of its own on the input of a seed; functions do nothing, or what those of the seed do on sm_75."""
    program = program_of(seed, "sm_75" if functions else "sm_80")
    program.body = list(body)
    if not functions:
        program.functions = [[], []]
    return program


WHERE = {HIGH: ("sm_80", 2), UNIFORM: ("sm_75", 3), APART: ("sm_90", 1), BALLOT: ("sm_90", 1)}  # target and level; else:
ANYWHERE = ("sm_80", 1)


FAULTY = {
    GUARD: (
        program_with(op("testp.infinite.f32", "p0", "f4", guard=("p3", True))),
        program_with(op("set.le.f32.s32", "f4", "r1", "r1", guard=("p2", False))),
    ),
    COPY: (program_with(op("min.f16", "h3", "h2", "h2")),),
    LEAST: (program_with(op("neg.s16", "h3", "h2"), op("cvt.s32.s16", "r2", "h3")),),
    ABSOLUTE: (program_with(op("abs.s32", "r1", "r2"), op("cvt.sat.u16.s32", "h2", "r1"), seed=94002197),),
    WIDTH: (program_with(("parameter", "r1"), op("szext.wrap.s32", "r6", "r7", "r1")),),
    BRANCH: (program_with(("if", "p2", False, [("loop", "r7", [op("setp.le.xor.s32", "p2", "r1", "r2", "p2")], "p0")], [])),),
    INVERTED: (program_with(op("cnot.b32", "r4", "r4"), op("cvt.sat.s8.u32", "h2", "r4"), seed=204051),),
    SUM: (
        program_with(
            ("carry", "sub.u32", ["r6", "r4"], [["r3", "r0", "r7"], ["r0", "r2", "r5"]]),
            op("add.sat.s32", "r3", "r0", "r6"),
            seed=200879,
        ),
    ),
    AMOUNT: (program_with(op("cvt.rmi.u32.f32", "r3", "f2"), op("shr.s16", "h2", "h1", "r3"), seed=204749),),
    CERTAIN: (
        program_with(
            ("pair", "lt", "u", "or", ["p1", "p0"], "r2", "r7", "p3"),
            op("setp.ge.u16", "p3", "h2", "h2", guard=("p1", False)),
            seed=209949,
        ),
    ),
    HIGH: (program_with(("loop", "r3", [op("mad.hi.u32", "r7", "r6", "r1", "r7")], None), seed=208078),),
    UNIFORM: (
        program_with(
            ("call", 0, "d0", ["r2", "r5", "d1", "f3"]),
            (
                "if",
                "p3",
                False,
                [("loop", "r5", [("if", "p0", True, [], [("load", "v2", [1, 2, 3, 4, 5, 6])])], None)],
                [("uniform_load", "r7", 55)],
            ),
            ("call", 0, "d2", ["r0", "r1", "d4", "f0"]),
            ("if", "p3", False, [("call", 1, "d1", ["r0", "r3", "d0", "f1"])], []),
            seed=304269,
            functions=True,
        ),
    ),
    APART: (
        program_with(
            ("if", "p1", False, [("shared_atomic", "min.s32", "r0")], []),
            ("split", "p0", [("some_match", "r3", "d", "d4")]),
            ("split", "p3", [("some_vote", "all", "p2", "p0")]),
            ("exchange", "r3", "r4", 24),
            seed=309898,
        ),
    ),
    BALLOT: (
        program_with(
            ("split", "p3", []),
            op("cvt.sat.u64.s64", "d3", "d3", guard=("p3", False)),
            ("if", "p0", True, [("pair", "ge", "s", "and", ["p3", "p2"], "r3", "r4", "p0")], []),
            ("handover", "r6", "r3", 0),
            seed=304369,
        ),
        program_with(
            op("selp.f64", "g0", "g1", "g2", "p0"),
            ("masked", "p3", False, [("masked", "p0", False, []), ("some_match_all", "r0", "p0", "d", "d4")]),
            ("guarded_store", ("p1", False), "d", "d0", 5),
            seed=201174,
        ),
    ),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_known_faults_are_told_by_name(fault: str) -> None:
    ptxas = shutil.which("ptxas")
    target, level = WHERE.get(fault, ANYWHERE)
    for program in FAULTY[fault]:
        assert faults_of(program) == [fault]
        bare = without(program, [fault])
        assert faults_of(bare) == [] and faults_of(program) == [fault], "the program itself stays"
        assert examine(program, target, [Way(0), Way(3)], None).failures == []
        if ptxas is not None:
            outcome = examine(program, target, [Way(level)], ptxas)
            assert outcome.fault == fault and outcome.said == f"ptxas's code differs (known: {fault})"


def test_returns_in_the_middle_of_functions() -> None:
    """A fault of programs with calls: one without them is right by ptxas, too."""
    program = program_of(1452, "sm_75", 0, "calls")
    assert KEPT in faults_of(program)
    bare = without(program, [KEPT])
    assert KEPT not in faults_of(bare) and "ret;" in program.text("sm_75")
    assert examine(program, "sm_75", [Way(1)], None).failures == [] == examine(bare, "sm_75", [Way(1)], None).failures
    ptxas = shutil.which("ptxas")
    if ptxas is not None:
        assert examine(program, "sm_75", [Way(1)], ptxas).fault == KEPT


def test_programs_without_faults_run() -> None:
    """What is rewritten is PTX, and the reference says the same of it as our code does; nothing of it has a fault."""
    met: set[str] = set()
    for seed in range(200):
        program = program_of(seed, "sm_90", 60)
        faults = faults_of(program)
        met |= set(faults)
        text = program.text("sm_90")
        bare = without(program, faults)
        assert faults_of(bare) == [] and program.text("sm_90") == text, seed
        if seed < 4:
            assert examine(bare, "sm_90", [Way(1)], None).failures == []
    assert met == set(FAULTS) - {KEPT}


def test_what_is_not_explained_is_told_and_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An optimizer of ptxas that is wrong about additions: no fault of the list, so that the program is shrunk and kept."""
    right = campaigns.compiled

    def vendor(_ptxas: str, text: str, target: str, way: Way) -> bytes:
        return right(text.replace("\tadd.s32 %r", "\tsub.s32 %r") if way.level else text, target, way)

    monkeypatch.setattr(campaigns, "by_ptxas", vendor)
    monkeypatch.setattr(campaigns, "ways_of", lambda seed: [Way(2)])
    seeds = (s for s in range(200) if "\tadd.s32 %r" in program_of(s, "sm_90", 20).text("sm_90"))
    seed = next(s for s in seeds if examine(program_of(s, "sm_90", 20), "sm_90", [Way(2)], "there").ptxas)
    lines: list[str] = []
    counts, kept = campaign(["sm_90"], range(seed, seed + 1), tmp_path, "there", 20, say=lines.append)
    assert kept == [] and counts == {"right": 1, "ptxas's code differs (not explained, result)": 1}
    assert lines[0].startswith(f"seed {seed} for sm_90: ptxas, not explained: result at -O2: ")
    (report,) = tmp_path.glob(f"fuzz-{seed}-sm_90-O2-ptxas-result.json")
    assert 1 <= len(json.loads(report.read_text())["statements"]) <= 2 and report.with_suffix(".ptx").exists()


def test_what_is_said_of_ptxas() -> None:
    early = Failure("report", Way(1), "result read too early: B0, 8 cycles where 9 are needed\nmore")
    assert Outcome([]).said == ""
    assert Outcome([], early).said == "ptxas's code differs (not explained, report: result read too early)"
    assert Outcome([], early, "one").said == "ptxas's code differs (known: one)"
    assert Outcome([], Failure("error", Way(1), "killed")).said == "ptxas makes no code (not explained)"
