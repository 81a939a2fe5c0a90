"""``oricgen diff``: recorded changes give the pages that are kept, revisions of git are found, rows are compared."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from oricgen import stamp
from oricgen.errors import UsageError
from oricgen.review import compare, kernels, page, places, remainder, review, revisions, words
from oricgen.rows import Row
from oricgen.tables import _line

from tests import copies, specification
from tests.generator import review_cases

pytestmark = pytest.mark.long
ROOT = review_cases.ROOT
ALL = review_cases.changes()
# Those that the ordinary tests compare, one of each kind; `make measure` compares and proves all (test_page_proof.py).
ORDINARY = frozenset((
    "changed_limit", "changed_rule", "invalid", "new_opcode", "reordered_options", "latency_of_all_models",
))  # fmt: skip
CASES = [c for c in ALL if c.name in ORDINARY]


@pytest.fixture(scope="module", autouse=True)
def _processes() -> Iterator[None]:
    """The process of the unchanged specification serves all changes."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in copies.quick(ROOT / "build").items():
            patch.setenv(name, value)
        yield
        review_cases.before().stop()


@pytest.mark.parametrize("change", CASES, ids=[c.name for c in CASES])
def test_recorded_change(change: review_cases.Change) -> None:
    status, text = review_cases.result(change)
    assert status == change.status
    golden = change.golden.read_text(encoding="utf-8") if change.golden.exists() else ""
    assert text == golden, "`python -m tests.generator.review_cases` writes the pages again"


def test_every_page_belongs_to_a_change() -> None:
    assert {p.stem for p in review_cases.CHANGES.glob("*.md")} - {"README"} == {c.name for c in ALL if c.status}
    assert {c.name for c in CASES} == ORDINARY


# --- rows


def row(key: str, line: int = 1, **values: object) -> Row:
    return Row(key, values, "spec/x.yaml", line)


def changed(old: list[Row], new: list[Row]) -> list[tuple[str, str, list[tuple[str, object, object]]]]:
    """(kind, key, columns) of every row that differs."""
    found = compare.table("x", old, new).rows
    return [(r.kind, r.row.key, [(c.column, c.old, c.new) for c in r.changes]) for r in found]


def test_order_lines_and_sets_are_no_difference() -> None:
    old = [row("A", a=1, b={"x": 1, "y": [1, 2]}, features=["p", "q"]), row("B", a=2)]
    new = [row("B", 9, a=2), row("A", 5, b={"y": [1, 2], "x": 1}, features=["q", "p"], a=1)]
    assert changed(old, new) == []


def test_columns_are_named_to_the_leaf() -> None:
    old = [row("A", a={"x": 1, "y": 2}, emit=["one", "two"], parts=[{"name": "p", "at": 1}])]
    new = [row("A", a={"x": 1, "y": 3}, emit=["two", "one"], parts=[{"name": "p", "at": 2}, {"name": "q", "at": 3}])]
    assert changed(old, new) == [
        ("changed", "A", [
            ("a.y", 2, 3), ("emit", ("one", "two"), ("two", "one")),
            ("parts[p].at", 1, 2), ("parts[q].name", None, "q"), ("parts[q].at", None, 3),
        ]),
    ]  # fmt: skip


def test_mappings_in_lists_of_lists_are_values() -> None:
    old, new = [row("A", emit=[[{"op": "FADD", "d": 0}]])], [row("A", emit=[[{"d": 0, "op": "FMUL"}]])]
    assert changed(old, old) == changed(old, [row("A", emit=[[{"d": 0, "op": "FADD"}]])]) == []
    (found,) = compare.table("x", old, new).rows
    assert found.changes == (compare.Change("emit", (("{d: 0, op: FADD}",),), (("{d: 0, op: FMUL}",),)),)
    assert isinstance(hash(found.changes), int)


def test_a_renamed_row_is_one_change() -> None:
    old = [row("FADD", id=12, rot13="SNQQ", text="FADD Rd, Ra"), row("FMUL", id=13, rot13="SZHY", text="FMUL Rd, Ra")]
    new = [row("FPLUS", id=12, rot13="SCYHF", text="FPLUS Rd, Ra"), row("FMUL", id=13, rot13="SZHY", text="FMUL Rd, Ra")]
    assert changed(old, new) == [("renamed", "FPLUS", [])]


def test_rows_that_share_only_what_all_have_are_not_renamed() -> None:
    old = [row("a", kind="x", ptx="6.0"), row("b", kind="x", ptx="6.0"), row("c", kind="x", ptx="6.0")]
    new = [row("a", kind="x", ptx="6.0"), row("b", kind="x", ptx="6.0"), row("z", kind="x", ptx="7.0")]
    assert [kind for kind, _, _ in changed(old, new)] == ["added", "removed"]


def test_a_new_name_is_not_repeated_in_other_tables() -> None:
    old = {
        "one": [row("FADD", id=12, rot13="SNQQ")],
        "two": [row("alu", operations=["FADD", "FADD.X"], lines=["FADD{ftz} d, a", "@p FADD.FTZ d, a"])],
    }
    new = {
        "one": [row("FPLUS", id=12, rot13="SCYHF")],
        "two": [row("alu", operations=["FPLUS", "FADD.X"], lines=["FPLUS{ftz} d, a", "@p FPLUS.FTZ d, a"])],
    }
    assert [c.name for c in compare.tables(old, new, ("one",))] == ["one"]


def test_a_column_that_was_renamed() -> None:
    (found,) = compare.table("x", [row("A", mods={"ndv": "77"})], [row("A", mods={"nodiv": "77"})]).rows
    assert found.changes == (compare.Change("mods.nodiv", "77", "77", "mods.ndv"),)


def test_keys_are_joined_with_braces() -> None:
    keys = [f"FADD/{isa}/{form}" for isa in ("sm_80", "sm_90") for form in ("RR", "RI")]
    assert page.braces([*keys, "FMUL/sm_90/RR", "alu/sm_80", "alu/sm_90", "x"]) == [
        "FADD/{sm_80,sm_90}/{RR,RI}", "FMUL/sm_90/RR", "alu/{sm_80,sm_90}", "x",
    ]  # fmt: skip
    assert page.braces(["sm_80/model", "sm_90/model", "a{b}/c", "d/c"]) == [
        "{sm_80,sm_90}/model", "a{b}/c", "d/c",
    ]  # fmt: skip


def test_rows_of_several_files_say_so() -> None:
    rows = [compare.RowChange(compare.CHANGED, r, r, (compare.Change("a", 1, 2),)) for r in (row("x"), row("y"))]
    other = Row("z", {}, "spec/z.yaml", 3)
    rows.append(compare.RowChange(compare.CHANGED, other, other, rows[0].changes))
    (block,) = page._rows(compare.TableChange("t", tuple(rows)), places.Targets({}))
    assert block.splitlines()[0] == "- **changed** `x`, `y`, `z` at spec/x.yaml:1 and in 1 other file"


def test_rows_that_go_alike_are_one_entry() -> None:
    rows = [row(f"A/{isa}/R", isa=isa, operation="A", opcode="0x1") for isa in ("sm_80", "sm_90")]
    change = compare.TableChange("forms", tuple(compare.RowChange(compare.REMOVED, r, None) for r in rows))
    (block,) = page._rows(change, places.Targets({}))
    assert block.splitlines() == ["- **removed** `A/{sm_80,sm_90}/R` (2 rows), was at spec/x.yaml:1", "  opcode `0x1`"]


def test_long_lists_are_shown_around_what_differs() -> None:
    old = [f"MOV d, {n}" for n in range(20)]
    new = [*old[:10], "NOP", *old[11:]]
    (first, *lines) = page._change(compare.Change("emit", tuple(old), tuple(new)))
    assert first == "  - `emit`:"
    assert [line.strip() for line in lines[1:-1]] == [
        "...", "MOV d, 8", "MOV d, 9", "- MOV d, 10", "+ NOP", "MOV d, 11", "MOV d, 12", "...",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "two", "moved"),
    [
        ("abcd", "abcd", ""),
        ("abcd", "dabc", "d"),
        ("abcd", "bcda", "a"),
        ("abcdef", "abedcf", "ed"),
        ("ab", "ba", "b"),
        ("", "", ""),
    ],
)
def test_the_fewest_rows_are_moved(one: str, two: str, moved: str) -> None:
    found = remainder.moved(one, two)
    assert len(found) == len(moved)
    assert [x for x in one if x not in found] == [x for x in two if x not in found]


def rule(key: str, instruction: str = "add") -> Row:
    return row(key, instruction=instruction, emit=["MOV d, a"])


@pytest.mark.parametrize(
    ("one", "two", "meet"),
    [
        ("add[.ftz].f32", "add.f32", True),
        ("add[.ftz].f32", "add.ftz[.sat].f32", True),
        ("add.{u32,s32}", "add.{s32,s64}", True),
        ("add.u32", "add.{s32,s64}", False),
        ("add.sat.f32", "add[.ftz].f32", False),
    ],
)
def test_rules_that_change_places_differ_when_both_fit(one: str, two: str, meet: bool) -> None:
    spec = specification.spec()
    old, new = [rule(one), rule("add.b64"), rule(two)], [rule(two), rule(one), rule("add.b64")]
    found = remainder.reordered(old, new, spec)
    assert [r.row.key for r in found] == ([two] if meet else [])
    if meet:
        assert found[0].changes == (compare.Change("place", f"behind {one}", f"before {one}, which fits the same instructions"),)
    assert remainder.reordered(old, [rule("sub.f32", "sub"), *old], spec) == []


def test_content_that_no_row_shows(tmp_path: Path) -> None:
    for name, text in (("old", "list: [{a: 1, b: 2}, {a: 3}]\nlimit: 4\n"), ("new", "limit: 5\nlist: [{a: 3}, {b: 2, a: 1}]\n")):
        (tmp_path / name / "spec").mkdir(parents=True)
        (tmp_path / name / "spec/x.yaml").write_text(text, encoding="utf-8")
        (tmp_path / name / "spec/same.yaml").write_text(f"# {name}\na: 1\n", encoding="utf-8")
    said = [("x.yaml", (compare.Change("limit", 4, 5),))]
    found = remainder.unlisted(tmp_path / "old", tmp_path / "new", [], {}, {})
    assert [(r.row.key, r.changes) for r in found.rows] == said
    shown = Row("a", {}, "spec/x.yaml", 1), Row("a", {}, "spec/x.yaml", 2)  # the list is a row: the limit is still told
    listed = compare.TableChange("x", (compare.RowChange(compare.CHANGED, *shown),))
    found = remainder.unlisted(tmp_path / "old", tmp_path / "new", [listed], {"x": [shown[0]]}, {"x": [shown[1]]})
    assert [(r.row.key, r.changes) for r in found.rows] == said


def test_instructions_that_differ_in_details_are_counted_apart() -> None:
    old = ["[B0] MOV R1, R2", "[B0] IADD3 R3, R1, R2, RZ", ".L_x_0:", "[B0] EXIT"]
    details = ["[B1] MOV R4, R2", "[B0] IADD3 R3, R4, R2, RZ", ".L_x_0:", "[B0] EXIT"]
    lines, changed_count, deeply = kernels.align(old, details)
    assert (changed_count, deeply) == (2, 0)
    assert lines[:2] == ("-[B0] MOV R1, R2", "+[B1] MOV R4, R2")
    lines, changed_count, deeply = kernels.align(old, [*details[:1], "[B0] NOP", *details[1:]])
    assert (changed_count, deeply) == (3, 1)
    assert lines[:2] == (" [B1] MOV R4, R2", "+[B0] NOP")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, "all targets"),
        ({"isa": "sm_80"}, "sm_80"),
        ({"isa": ["sm_90"]}, "sm_90, sm_90a"),
        ({"sm": 90}, "sm_90, sm_90a"),
        ({"since": "sm_104"}, ""),
        ({"arch": ["sm_90a"]}, "sm_90a"),
        ({"when": "wgmma"}, "sm_90a"),
        ({"when": "!wgmma", "isa": "sm_90"}, "sm_90"),
        ({"target": "sm_100a"}, ""),
        ({"target": "the block"}, "all targets"),
        ({"when": "context flag set"}, "all targets"),
    ],
)
def test_where_a_row_matters(values: dict[str, object], expected: str) -> None:
    columns = {"sm_80": {"isa": "sm_80"}, "sm_90": {"isa": "sm_90"}, "sm_90a": {"isa": "sm_90", "features": ["wgmma"]}}
    spec = specification.spec()
    known = frozenset({*columns, "sm_100a"})
    targets = places.Targets(columns, known, frozenset(columns), _line.places(spec), _line.levels(spec))
    change = compare.RowChange(compare.ADDED, None, row("x", **values))
    assert targets.text(targets.of("x", change)) == expected


def test_words_of_forms_decode_to_their_operation() -> None:
    """The words that stand for a form are words of it, for every form of the specification."""
    side = review_cases.before()
    rows = [compare.RowChange(compare.ADDED, None, r) for r in side.tables["forms"]]
    change = compare.TableChange("forms", tuple(rows))
    side.start(ROOT / "build/review", ROOT / "build/obj")
    targets = {isa: name for name, (isa, *_) in side.ask("targets").items()}
    wrong = []
    for isa, target in targets.items():
        found = words.examples([change], isa)
        assert len(found) > 1000
        for word, answer in zip(found, side.ask("decode", [[target, w] for w in found]), strict=True):
            if "error" in answer:
                wrong.append(f"{isa} {word}: {answer['error']}")
    assert wrong == []


# --- the command


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of its own with two commits: the specification as it is, and with a limit changed."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "spec", root / "spec")
    (root / "runtime").symlink_to(ROOT / "runtime")
    (root / "build").mkdir()
    (root / "build/obj").symlink_to(ROOT / "build/obj")  # what is compiled there is not compiled again
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "spec")
    git(root, "commit", "--quiet", "-m", "one")
    edit(root, "sm_targets.yaml", "max_shared: 166912", "max_shared: 133120")
    git(root, "commit", "--quiet", "-am", "two")
    return root


def git(root: Path, *arguments: str) -> None:
    names = [f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]
    environment = {**os.environ, **dict.fromkeys(names, "nobody"), "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", "-C", str(root), *arguments], check=True, env=environment)


def edit(root: Path, name: str, find: str, replace: str) -> None:
    path = root / "spec" / name
    text = path.read_text(encoding="utf-8")
    assert text.count(find) == 1
    path.write_text(text.replace(find, replace), encoding="utf-8")


def diff(root: Path, *arguments: str, seed: str = "1") -> subprocess.CompletedProcess[str]:
    quick = [] if "--kernels" in arguments else ["--no-kernels"]
    command = [sys.executable, "-m", "oricgen", "--root", str(root), "diff", *quick, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator"), "PYTHONHASHSEED": seed}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_nothing_differs(project: Path) -> None:
    done = diff(project)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_build_is_made_from_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words that the build is of need no reading; without that build somebody must see whether they are right."""
    old, new = revisions.Version("before", tmp_path / "old"), revisions.Version("after", tmp_path / "new")
    for version in (old, new):
        (version.folder / "spec").mkdir(parents=True)
        (version.folder / "spec/opcodes.yaml").write_text("no: specification\n", encoding="utf-8")
    with pytest.raises(UsageError, match="before: spec/"):
        review.page(old, new, new.folder, [])
    monkeypatch.setattr(stamp, "current", lambda root: root == new.folder)
    assert review.page(old, new, new.folder, []) == ""
    (new.folder / "spec/opcodes.yaml").write_text("another: one\n", encoding="utf-8")
    with pytest.raises(UsageError, match="before: spec/"):
        review.page(old, new, new.folder, [])


@pytest.mark.measure
def test_revisions(project: Path, tmp_path: Path) -> None:
    done = diff(project, "HEAD~1")
    assert done.returncode == 1
    assert "- `limits.max_shared`: `166912` → `133120`".replace("- ", "  - ") in done.stdout.splitlines()
    assert done.stdout.startswith("# Specification: HEAD~1 (")
    back = diff(project, "HEAD", "HEAD~1", "-o", str(tmp_path / "page.md"))
    assert (back.returncode, back.stdout) == (1, "")
    assert "`limits.max_shared`: `133120` → `166912`" in (tmp_path / "page.md").read_text(encoding="utf-8")
    assert diff(project, "HEAD~1", seed="2").stdout == done.stdout


@pytest.mark.measure
def test_a_revision_may_be_read_by_its_own_generator(project: Path) -> None:
    """A revision with a table less and a generator that does not know it is compared; without that generator it is refused."""
    here = subprocess.run(
        ["git", "-C", str(project), "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    shutil.copytree(ROOT / "generator", project / "generator", ignore=shutil.ignore_patterns("__pycache__", "section_tags.py"))
    (project / "spec/section_tags.yaml").unlink()
    edit(project, "options.yaml", "help: Print this help.", "help: Print another help.")
    git(project, "add", "--all", "spec", "generator")
    git(project, "commit", "--quiet", "-m", "a table less")
    own = diff(project, "HEAD", here)
    git(project, "rm", "--quiet", "-r", "generator")
    git(project, "commit", "--quiet", "-m", "without its generator")
    none = diff(project, "HEAD", here)
    git(project, "reset", "--quiet", "--hard", here)
    assert own.returncode == 1, own.stderr
    assert "is read by its own generator" in own.stdout
    assert re.search(r"Tables of \w+ that HEAD \(\w+\) does not have: section_tags \(\d+ rows\)", own.stdout)
    assert "`help`: `Print another help.` → `Print this help.`" in own.stdout
    assert none.returncode == 2
    assert re.match(r"oricgen: error: HEAD \(\w+\): spec/section_tags.yaml: ", none.stderr)


@pytest.mark.measure
def test_an_invalid_side_is_named(project: Path) -> None:
    path = project / "spec/phases.yaml"
    text = path.read_text(encoding="utf-8")
    try:
        path.write_text(text.replace("index: 5,", "index: 6,"), encoding="utf-8")
        done = diff(project)
    finally:
        path.write_text(text, encoding="utf-8")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("oricgen: error: working tree: spec/phases.yaml:")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "there is no revision 'nowhere'"),
        (["HEAD", "HEAD", "HEAD"], "two revisions at most"),
        (["--kernels", "nothing/*.ptx"], "no file fits nothing/*.ptx"),
    ],
)
def test_wrong_command_lines(project: Path, arguments: list[str], message: str) -> None:
    done = diff(project, *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_outside_a_repository(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "spec", tmp_path / "spec")
    done = diff(tmp_path)
    assert done.returncode == 2
    assert f"{tmp_path} is in no git repository" in done.stderr
