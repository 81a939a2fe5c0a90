"""Pages of ``oricgen diff`` proved: every recorded change, planted mistakes, and random edits of the specification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests import copies
from tests.generator import fuzz_spec, page_proof, page_reading, page_rows, page_runs, review_cases

pytestmark = pytest.mark.long
CASES = {c.name: c for c in review_cases.changes()}
SEED = 4
ACCEPTED = 20  # random edits that the generator takes


@pytest.fixture(scope="module", autouse=True)
def _processes() -> Iterator[None]:
    """The process of the unchanged specification serves all changes."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in copies.quick(review_cases.ROOT / "build").items():
            patch.setenv(name, value)
        yield
        review_cases.before().stop()


@pytest.mark.measure
@pytest.mark.parametrize(("number", "name"), list(enumerate(CASES)), ids=list(CASES))
def test_page_is_golden_and_proved(number: int, name: str) -> None:
    """All are golden, and every sixth one is proved."""
    change = CASES[name]
    status, page, wrong = page_runs.run(change, proved=number % 6 == 0)
    golden = change.golden.read_text(encoding="utf-8") if change.golden.exists() else ""
    assert (status, wrong) == (change.status, [])
    assert review_cases.blanked(page) == golden, "`python -m tests.generator.review_cases` writes the pages again"


def test_there_is_a_change_of_every_family() -> None:
    """Each file below ``spec/``, or each folder of files with one schema, is changed by some recorded change."""
    spec = review_cases.ROOT / "spec"
    families = {p.relative_to(spec).as_posix().partition("/")[0] for p in spec.rglob("*.yaml")}
    edited = {e["file"].partition("/")[0] for c in CASES.values() for e in c.edits}
    assert families - edited == set()
    assert {f"latency/sm_{n}.yaml" for n in (75, 80, 86, 89, 90, 100, 103, 110, 120)} <= {
        e["file"] for c in CASES.values() for e in c.edits
    }
    assert len(CASES) >= 60


# On a page: what stands there, what is planted in its place, what the proof says of it.
_LIMIT = [
    ("`166912` → `133120`", "`166912` → `133121`", "limits.max_shared is 133120"),
    ("- `oric_tables/targets.py` -2 +2", "", "oric_tables/targets.py is not listed"),
    ("|       2 | sm_80, sm_87 |", "|       3 | sm_80, sm_87 |", "3 changed on the page, 2 in the rows"),
]
_UNTOLD = [("`sm_80`, `sm_87` at", "`sm_80` at", "changed, but not told: ['sm_87']")]
_GATE = [("matters on all targets with code\n  -", "matters on sm_80\n  -", "matters on sm_80")]


@pytest.mark.measure
@pytest.mark.parametrize(("name", "planted"), [("changed_limit", _LIMIT), ("changed_limit", _UNTOLD), ("changed_gate", _GATE)])
def test_planted_mistakes_are_found(name: str, planted: list[tuple[str, str, str]]) -> None:
    """What is wrong on a page is found: a proof that finds nothing proves something."""
    change = CASES[name]
    with review_cases.after(change.texts()) as new:
        page = review_cases.page_of(change, new)
        for find, replace, _ in planted:
            assert page.count(find) == 1
            page = page.replace(find, replace)
        wrong = page_runs.prove(new, page, change.kernels)
    assert [said for _, _, said in planted if not any(said in w for w in wrong)] == [], wrong


@pytest.mark.measure
def test_planted_words_are_found() -> None:
    change = CASES["moved_field"]
    with review_cases.after(change.texts()) as new:
        page = review_cases.page_of(change, new)
        assert page_runs.prove(new, page, change.kernels) == []
        word = page_reading.parse(page).words
        heading, tables = next(iter(word.items()))
        text = page_reading.codes(tables[0][1][2])[0].replace("|", "\\|")
        for find, replace in ((text, text.replace("R120", "R121")), (heading, heading.replace("FADD", "FMUL"))):
            assert page_runs.prove(new, page.replace(find, replace, 1), change.kernels)


def test_leaves_and_texts() -> None:
    values = {"a": {"b": 1}, "c": [{"name": "x", "d": True}], "e": ["p q", None], "f": ""}
    assert page_rows.leaves(values) == {"a.b": 1, "c[x].name": "x", "c[x].d": True, "e": ["p q", None], "f": ""}
    assert [page_rows.shown(v) for v in (True, None, "", ["p q", 1])] == ["true", "nothing", "(empty)", "[p q, 1]"]


def test_files_that_differ_in_lines_of_the_specification_alone() -> None:
    old = {"a.py": "x  # spec/a.yaml:1", "b.py": "y", "d.c": 'a;\n#line 1 "spec/a.yaml"\nb;\n'}
    new = {"a.py": "x  # spec/a.yaml:2", "b.py": "z", "c.py": "", "d.c": 'a;\n#line 2 "spec/a.yaml"\nb;\n'}
    assert page_proof.differing_files(old, new) == ["b.py"]


# --- random edits


def test_edits_are_seeded() -> None:
    assert fuzz_spec.edit(7) == fuzz_spec.edit(7)
    assert len({fuzz_spec.edit(n)[0] for n in range(40)}) == 40


@pytest.mark.measure
def test_a_few_random_edits() -> None:
    found = list(fuzz_spec.outcomes(SEED, 12))
    assert [f for f in found if f.kind == "wrong"] == []


@pytest.mark.measure
def test_random_edits() -> None:
    kinds: Counter[str] = Counter()
    for found in fuzz_spec.outcomes(SEED + 1, ACCEPTED, accepted=ACCEPTED):
        kinds[found.kind] += 1
        assert found.kind != "wrong", f"{found.edit}: {found.text}"
    assert kinds["page"] + kinds["nothing"] >= ACCEPTED
