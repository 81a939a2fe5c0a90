"""The data of the explorer's page: what it says against the dumps, the disassembler and the simulator, and its size."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.resources import files
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import jsonschema
import oric
import pytest
from oric.cli.compile import read_input
from oric.driver import CompileOptions, compile_text
from oric.explore import Request, explore, pack, page, unpack
from oric.explore.align import align, runs_of
from oric.explore.deltas import ascending, edits, steps
from oric.explore.machine import MachineCode, opcode
from oric.explore.model import message_of
from oric.sim.launchfile import LaunchFileError
from oric.support.elf import CubinError

from tests.kernels import cases
from tests.programs import archive

ROOT = Path(__file__).resolve().parents[2]
SAXPY = ROOT / "examples" / "saxpy.ptx"
LAUNCH = ROOT / "examples" / "saxpy.json"
SCHEMA = json.loads(files("oric.explore").joinpath("schema.json").read_text())
# A function that calls itself stays a function behind the kernel's code; the comment tries to end the page's script.
CALLS = """
.version 8.0
.target sm_90
.address_size 64
// </script><script>document.title = "broken out"</script><!-- & <b>
.func (.param .b32 r) f(.param .b32 a)
{
    .reg .b32 %r<9>;
    .reg .pred %p<3>;
    ld.param.b32 %r1, [a];
    mul.lo.s32 %r2, %r1, %r1;
    setp.gt.u32 %p1, %r2, 5;
    @!%p1 bra E;
    { .param .b32 x; .param .b32 y; st.param.b32 [x], %r2; call (y), f, (x); ld.param.b32 %r2, [y]; }
E:  st.param.b32 [r], %r2;
    ret;
}
.visible .entry k(.param .u64 p)
{
    .reg .b64 %rd<3>;
    .reg .b32 %r<6>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    { .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call (r), f, (a); ld.param.b32 %r2, [r]; }
    st.global.u32 [%rd1], %r2;
    ret;
}
"""


def long_kernel(statements: int) -> str:
    """A kernel of some ten thousand instructions, with a loop for every hundred."""
    lines = [".version 8.0", ".target sm_90", ".address_size 64", ".visible .entry big(.param .u64 p, .param .u32 n)", "{"]
    lines += [".reg .b64 %rd<8>; .reg .b32 %r<40>; .reg .f32 %f<64>; .reg .pred %p<4>;"]
    lines += ["ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;"]
    lines += ["mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2; mov.u32 %r3, 0;"]
    lines += [f"ld.global.f32 %f{i}, [%rd3+{4 * i}];" for i in range(32)]
    for b in range(statements // 100):
        lines.append(f"L{b}:")
        for i in range(76):
            a, e, c, d = (i * 7 + b) % 32, (i * 3 + 1) % 32, (i * 5 + b) % 32, (i * 11 + 2) % 32
            lines.append(f"fma.rn.f32 %f{a}, %f{e}, %f{c}, %f{d};")
        for i in range(8):
            lines.append(f"ld.global.f32 %f{32 + i}, [%rd3+{4 * (i + b)}];")
            lines.append(f"add.f32 %f{i}, %f{i}, %f{32 + i};")
            lines.append(f"st.global.f32 [%rd3+{4 * (i + b)}], %f{i};")
        lines.append(f"add.u32 %r3, %r3, 1; xor.b32 %r4, %r3, %r2; setp.lt.u32 %p1, %r4, %r1; @%p1 bra L{b};")
    lines += [f"st.global.f32 [%rd3+{4 * i}], %f{i};" for i in range(32)]
    return "\n".join([*lines, "ret;", "}", ""])


def document(text: str, arch: str = "sm_90", **more: Any) -> dict[str, Any]:
    """The document of a module; it is as the schema says."""
    request = {name: more.pop(name) for name in ("other", "run") if name in more}
    found = explore(Request(text, "test.ptx", CompileOptions(arch, **more), **request))
    assert found.error is None, message_of(found.error)
    jsonschema.validate(found.document, SCHEMA)
    return found.document


def numbers_of(runs: list[int]) -> list[int]:
    """The numbers of ``first, count`` pairs."""
    return [n for first, count in zip(runs[::2], runs[1::2], strict=True) for n in range(first, first + count)]


def line_and_text(dumped: str) -> tuple[int, str]:
    """Line of the PTX and bare text of a line of a dump."""
    found = re.search(r"\[line=(\d+)", dumped)
    return int(found[1]) if found else 0, re.sub(r" ?\[[^]]*\]$", "", dumped)


def texts_behind(unit: dict[str, Any], index: int) -> list[tuple[int, int, str]]:
    """(key, line of the PTX, text) of the rows behind a phase."""
    keys, lines, texts = (list(accumulate(unit[name])) for name in ("row_keys", "row_lines", "row_texts"))
    rows: list[int] = []
    for phase in unit["phases"]:
        for at, removed, *runs in reversed(phase.get("edits", [])):
            rows[at : at + removed] = [
                n for first, count in zip(runs[::2], runs[1::2], strict=True) for n in range(first, first + count)
            ]
        if phase["index"] == index:
            break
    return [(keys[row], lines[row], unit["texts"][texts[row]]) for row in rows]


def kinds(numbers: list[int]) -> list[int]:
    return list(accumulate(numbers))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["saxpy", "sgemm", "nests"])
def test_every_phase_is_as_it_is_dumped(name: str) -> None:
    """Block headings and instructions, with their lines, behind each phase."""
    text = cases.ptx(name, "sm_90")
    dumps: list[str] = []
    compile_text(text, CompileOptions("sm_90", dump=("all",), dump_sink=dumps.append))
    units = {unit["name"]: unit for unit in document(text)["units"]}
    seen = 0
    for dump in dumps:
        heading, *rest = dump.split("\n")
        _, function, _, _, index, *_ = heading.split()
        code = [line for line in rest if re.match(r"bix\d+:|    (?!facts |reg |table |double )\S", line)]
        plain = [line_and_text(line) for line in code]
        ours = [(line, row) for key, line, row in texts_behind(units[function], int(index)) if key >= 0 or key <= -1_000_000]
        assert [(line, re.sub(r" ?\[(?:aux|control)[^]]*\]$", "", row)) for line, row in ours] == [
            (line, row) if row.startswith("    ") else (0, heads) for (line, row), heads in zip(plain, code, strict=True)
        ], heading
        seen += 1
    assert seen == sum(len(unit["phases"]) for unit in units.values()) > 50


@pytest.mark.parametrize(
    ("name", "limit"), [("sgemm", None), ("sgemm", 24), ("nests", None), ("softmax", None), ("vector128", None)]
)
def test_live_registers_behind_the_last_phase_are_those_of_the_machine_code(name: str, limit: int | None) -> None:
    """Two analyses that share no code agree in front of every instruction."""
    for unit in document(cases.ptx(name, "sm_90"), maxrregcount=limit)["units"]:
        last = [phase["live"] for phase in unit["phases"] if "live" in phase][-1]
        sass = unit["sass"]
        for file in ("R", "UR", "P"):
            assert kinds(last.get(file, [])) == kinds(sass["live"].get(file, []))[: len(last.get(file, []))]
        assert max(kinds(last["R"])) <= unit["facts"]["registers"]


def test_instructions_are_those_of_the_disassembler() -> None:
    text = cases.ptx("sgemm", "sm_90")
    sass = document(text)["units"][0]["sass"]
    code = MachineCode(oric.compile(text, "sm_90").image)
    assert [" ".join(line.text.split()) for line in code.section("sgemm").lines] == sass["texts"]
    assert sass["mapped"] == sass["totals"]["instructions"] < len(sass["texts"])


WAITING = "tensor_scaled_mxfp4.sm_120.ptx"  # something waits for longer than control bits can say: there is a NOP in front of it


@pytest.mark.parametrize(("name", "arch", "fills"), [("sgemm", "sm_90", 0), ("softmax", "sm_90", 0), (WAITING, "sm_120a", 1)])
def test_machine_code_is_in_the_order_of_the_last_phase(name: str, arch: str, fills: int) -> None:
    """Each instruction has the opcode, and the line of the PTX, of that in Ori; but for those that only wait."""
    text = archive.read(archive.DATA / "triton.tar.xz")[name] if fills else cases.ptx(name, arch)
    for unit in document(text, arch)["units"]:
        sass = unit["sass"]
        assert len(sass["fills"]) >= fills
        last = [row for row in texts_behind(unit, unit["phases"][-1]["index"]) if row[0] >= 0]
        places = [at for at in range(sass["mapped"]) if at not in sass["fills"]]
        assert len(last) == len(places)
        assert all(opcode(sass["texts"][at]) == "NOP" and not sass["lines"][at] for at in sass["fills"])
        for (_, line, row), at in zip(last, places, strict=True):
            words = row.split("{")[0].split()
            assert opcode(sass["texts"][at]).split(".")[0] == words[words[0].startswith("@")].split(".")[0]
            assert line == sass["lines"][at]


def test_functions_behind_a_kernel() -> None:
    """They follow the kernel, each with its part of the section."""
    units = document(CALLS)["units"]
    assert [(unit["name"], unit["section"], unit["entry"]) for unit in units] == [("k", "k", True), ("$k$f", "k", False)]
    kernel, function = (unit["sass"] for unit in units)
    assert kernel["begin"] == 0
    assert function["begin"] == 16 * len(kernel["texts"])
    assert function["mapped"] <= len(function["texts"])
    assert any("RET" in text for text in function["texts"])


_DIVISIONS = 24  # more than `shared_copies` of spec/thresholds.yaml


def test_code_that_kernels_share_is_there_for_each() -> None:
    """A division has a routine that every kernel has a copy of; names of kernels may look like those of functions."""
    divide = (
        "ld.global.f32 %f1, [%rd1+{0}]; ld.global.f32 %f2, [%rd1+{1}]; div.rn.f32 %f3, %f1, %f2; st.global.f32 [%rd1+{0}], %f3;"
    )
    body = "{ .reg .f32 %f<4>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [p];"
    body += " ".join(divide.format(8 * n, 8 * n + 4) for n in range(_DIVISIONS)) + " ret; }"
    heads = [f".visible .entry {name}(.param .u64 p) {body}" for name in ("one", "one$two", "$three")]
    units = document("\n".join([".version 8.0", ".target sm_90", ".address_size 64", *heads, ""]))["units"]
    assert [unit["section"] for unit in units] == ["one", "one", "one$two", "one$two", "$three", "$three"]
    phases = [[phase["index"] for phase in unit["phases"]] for unit in units]
    assert all(found == sorted(set(found)) for found in phases)
    for kernel, shared in zip(units[::2], units[1::2], strict=True):
        assert kernel["entry"] and not shared["entry"]
        assert shared["sass"]["begin"] == 16 * len(kernel["sass"]["texts"])


def test_graphs_have_loops() -> None:
    units = {unit["name"]: unit for unit in document(cases.ptx("nests", "sm_90"))["units"]}
    unit = units["collatz_nest"]
    graph = unit["graphs"][[phase for phase in unit["phases"] if "graph" in phase][-1]["graph"]]
    assert max(graph["depth"]) >= 2
    for block, target in graph["back"]:
        assert target in graph["successors"][block]
        assert graph["depth"][target] >= 1


def test_spills_are_marked() -> None:
    """As many bytes as the facts say are moved by the instructions that are marked."""
    unit = document(long_kernel(400), maxrregcount=24)["units"][0]
    assert unit["facts"]["spill loads"] > 0
    marked = [unit["sass"]["texts"][at] for at in unit["sass"]["spills"]]
    width = {"": 4, ".64": 8, ".128": 16}
    sizes = {"STL": 0, "LDL": 0}
    for text in marked:
        found = re.search(r"\b(STL|LDL)(\.64|\.128)?", text)
        assert found, text
        sizes[found[1]] += width[found[2] or ""]
    assert (sizes["STL"], sizes["LDL"]) == (unit["facts"]["spill stores"], unit["facts"]["spill loads"])
    assert document(long_kernel(400))["units"][0]["sass"]["spills"] == []


def test_a_run_says_where_warps_wait() -> None:
    """The cycles are those of the simulator; what waits is what the load comes back to."""
    run = document(SAXPY.read_text(), run=str(LAUNCH))["units"][0]["sass"]["run"]
    assert (run["launches"], run["cycles"] > 100) == (1, True)
    sass = document(SAXPY.read_text(), run=str(LAUNCH))["units"][0]["sass"]
    slowest = max(range(len(sass["texts"])), key=run["scoreboard"].__getitem__)
    assert sass["wait"][slowest]
    assert run["issued"][0] > 0
    assert run["issued"][-1] == 0


def test_comparison_with_another_cubin() -> None:
    """Rows tell every instruction of both once, and those that are told to be the same have the same opcode."""
    text = cases.ptx("sgemm", "sm_90")
    other = oric.compile(text, "sm_90", opt_level=0).image
    unit = document(text, other=("other.cubin", other))["units"][0]
    ours, theirs = unit["sass"]["texts"], unit["compared"]["texts"]
    a = b = same = 0
    for kind, count in unit["compared"]["rows"]:
        if kind == "=":
            assert [opcode(t) for t in ours[a : a + count]] == [opcode(t) for t in theirs[b : b + count]]
            same += count
        a += 0 if kind == "+" else count
        b += 0 if kind == "-" else count
    assert (a, b) == (len(ours), len(theirs))
    assert same > len(ours) // 3
    assert unit["compared"]["totals"]["instructions"] > unit["sass"]["totals"]["instructions"]
    itself = document(text, other=("a", oric.compile(text, "sm_90").image))["units"][0]["compared"]
    assert [kind for kind, _ in itself["rows"]] == ["="]


def test_a_cubin_that_cannot_be_compared_is_named() -> None:
    text = SAXPY.read_text()
    for data, message in (
        (b"nothing", "bad.cubin: "),
        (oric.compile(cases.ptx("sgemm", "sm_90"), "sm_90").image, "bad.cubin: there is none of saxpy (there is sgemm)"),
    ):
        found = explore(Request(text, "test.ptx", CompileOptions("sm_90"), other=("bad.cubin", data)))
        assert isinstance(found.error, CubinError)
        assert str(found.error).startswith(message)
        assert found.document["error"] == str(found.error)
        jsonschema.validate(found.document, SCHEMA)


def test_a_launch_that_fails_is_named(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(LAUNCH.read_text().replace('"kernel": "saxpy"', '"kernel": "other"'))
    found = explore(Request(SAXPY.read_text(), "test.ptx", CompileOptions("sm_90"), run=str(bad)))
    assert isinstance(found.error, LaunchFileError)
    assert str(found.error).startswith(f"{bad}: ")


def test_what_fails_in_a_phase_has_the_phases_before(monkeypatch: pytest.MonkeyPatch) -> None:
    from oric.driver import registry

    found = dict(registry.passes())

    def broken(f: Any, ctx: Any) -> bool:
        raise RuntimeError("planted")

    found["allocate_registers"] = broken
    monkeypatch.setattr("oric.driver.pipeline.passes", lambda: found)
    result = explore(Request(SAXPY.read_text(), "test.ptx", CompileOptions("sm_90")))
    assert "planted" in result.document["error"]
    assert result.document["error"].startswith("Internal compiler error. ")
    unit = result.document["units"][0]
    assert 20 < len(unit["phases"]) < 57
    assert "sass" not in unit
    jsonschema.validate(result.document, SCHEMA)


def test_what_is_no_ptx_has_its_text_and_a_message() -> None:
    result = explore(Request(".version 8.0\n.target sm_90\nbogus\n", "test.ptx", CompileOptions("sm_90")))
    assert result.error is not None
    assert "test.ptx:3:1: error" in result.document["error"]
    assert result.document["ptx"] == [".version 8.0", ".target sm_90", "bogus"]
    jsonschema.validate(result.document, SCHEMA)


def test_the_page_holds_the_document_and_nothing_of_it_as_html() -> None:
    made = document(CALLS)
    text = page(pack(made))
    assert unpack(re.search(r'id="data">([^<]*)<', text)[1]) == made  # type: ignore[index]
    assert "broken out" not in text
    assert text.count("</script>") == text.count("<script") == 3
    assert not re.search(r"""(?:src|href)=["'](?!data:)|https?://(?!www\.w3\.org/2000/svg)""", text)
    served = page(pack(made), json.dumps({"fields": ["</script><b>"]}))
    assert served.count("</script>") == 3


def test_same_input_same_bytes() -> None:
    """Whatever the hash seed."""
    script = "import sys; from oric.cli import main; sys.exit(main(['explore', *sys.argv[1:]]))"
    made = []
    for seed in ("1", "77"):
        out = ROOT / "build" / f"explored.{seed}.html"
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        try:
            subprocess.run(
                [sys.executable, "-c", script, str(SAXPY), "-arch", "sm_90", "-o", str(out)], check=True, env=environment
            )
            made.append(out.read_bytes())
        finally:
            out.unlink(missing_ok=True)
    assert made[0] == made[1]


@pytest.mark.measure
def test_a_page_of_ten_thousand_instructions_is_small() -> None:
    made = document(long_kernel(11_000))
    assert made["units"][0]["sass"]["totals"]["instructions"] >= 10_000
    assert len(page(pack(made))) < 5_000_000


def test_the_text_as_it_was_read(tmp_path: Path) -> None:
    """Bytes that are no UTF-8, and line ends of other systems."""
    path = tmp_path / "odd.ptx"
    path.write_bytes(SAXPY.read_bytes().replace(b"\n", b"\r\n") + b"// \xff\xfe \x00\n")
    made = document(read_input(str(path)))
    assert unpack(pack(made))["ptx"] == made["ptx"]


# -- sequences -----------------------------------------------------------------------------------------------------


def test_edits_make_one_sequence_of_another() -> None:
    for old, new in (([], [1, 2, 3]), ([1, 2, 3], []), ([5, 1, 2, 9], [1, 2, 3, 4, 9, 5]), ([3, 2, 1], [1, 2, 3])):
        made = list(old)
        for at, removed, *runs in reversed(edits(old, new)):
            made[at : at + removed] = [
                n for first, count in zip(runs[::2], runs[1::2], strict=True) for n in range(first, first + count)
            ]
        assert made == new
    assert edits([1, 2], [1, 2]) == []
    assert [[4, 1, 7][i] for i in ascending([4, 1, 7])] in ([4, 7], [1, 7])
    assert kinds(steps([5, 5, 2])) == [5, 5, 2]


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("abc", "abc", 3),
        ("", "abc", 0),
        ("abcd", "axcd", 3),
        ("aaaa", "aaa", 3),
        ("ab" * 400, "ba" * 400, 799),
        ("a" * 900 + "b", "b" + "a" * 900, 900),
    ],
)
def test_alignment(a: str, b: str, same: int) -> None:
    pairs = align(a, b)
    assert all(a[x] == b[y] for x, y in pairs)
    assert all(x < u and y < v for (x, y), (u, v) in pairwise(pairs))
    assert len(pairs) >= same * 0.9
    runs = runs_of(pairs, len(a), len(b))
    assert sum(n for kind, n in runs if kind != "+") == len(a)
    assert sum(n for kind, n in runs if kind != "-") == len(b)
