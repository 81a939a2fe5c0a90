"""``oricgen query``: which rows, which columns, how they are printed, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from oricgen import query
from oricgen.cli import main
from oricgen.errors import UsageError
from oricgen.rows import Row
from oricgen.tables import all_tables

from tests import specification

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.usefixtures("known_specification")
ROWS = [
    Row(
        "FADD",
        {"id": 12, "forms": [{"shape": "RR", "op": 0x221}, {"shape": "RI"}], "mods": {"ftz": 80}, "late": False},
        "a.yaml",
        3,
    ),
    Row("FMUL", {"id": 13, "forms": [], "isa": {"sm_90": {"pipe": "fma"}}, "doc": "two\n  lines"}, "a.yaml", 9),
    Row("BAR.ARV", {"id": 61, "isa": {"v8.1": 7}, "doc": None}, "b.yaml", 1),
]


def keys(*conditions: str) -> list[str]:
    return [row.key for row in query.select(ROWS, [query.parse(c) for c in conditions], "t")]


def ask(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["query", *words])
    out = capsys.readouterr()
    return status, out.out, out.err


@pytest.mark.parametrize(
    ("conditions", "found"),
    [
        (["id=12"], ["FADD"]),
        (["id=0xc"], ["FADD"]),
        (["id!=12"], ["FMUL", "BAR.ARV"]),
        (["key~^F"], ["FADD", "FMUL"]),
        (["key~^F", "id!=13"], ["FADD"]),
        (["forms.shape=RI"], ["FADD"]),
        (["forms.shape!=RI"], ["FMUL", "BAR.ARV"]),
        (["forms.op=545"], ["FADD"]),
        (["mods=ftz"], ["FADD"]),
        (["isa.sm_90.pipe=fma"], ["FMUL"]),
        (["isa.v8.1=7"], ["BAR.ARV"]),
        (["late=false"], ["FADD"]),
        (["doc=null"], ["BAR.ARV"]),
        (["doc=two lines"], ["FMUL"]),
        (["place~b.yaml:1$"], ["BAR.ARV"]),
        (["doc~two|three=x"], ["FMUL"]),
    ],
)
def test_conditions(conditions: list[str], found: list[str]) -> None:
    assert keys(*conditions) == found


def test_a_row_may_be_asked_for_by_every_column_it_has() -> None:
    for column in query.all_columns(ROWS):
        query.require(ROWS, column, "t")


def test_aligned_table_is_exact() -> None:
    assert query.render(ROWS[:2], ["id", "forms.shape", "doc"], "table") == (
        "key   id  forms.shape  doc\n"
        "FADD  12  RR, RI\n"
        "FMUL  13               two lines\n"
    )  # fmt: skip


def test_long_cells_are_cut_only_in_an_overview() -> None:
    long = [Row("A", {"doc": "x" * 99}, "p", 1)]
    assert query.render(long, [], "table").splitlines()[1] == "A    " + "x" * 61 + "..."
    assert query.render(long, ["doc"], "table").splitlines()[1] == "A    " + "x" * 99


def test_formats_hold_the_same_rows() -> None:
    assert query.render(ROWS, ["id", "doc"], "tsv").splitlines() == [
        "key\tid\tdoc", "FADD\t12\t", "FMUL\t13\ttwo lines", "BAR.ARV\t61\tnull",
    ]  # fmt: skip
    data = json.loads(query.render(ROWS, [], "json"))
    assert data == [{"key": row.key, **row.values} for row in ROWS]
    assert yaml.safe_load(query.render(ROWS, [], "yaml")) == {row.key: row.values for row in ROWS}
    assert json.loads(query.render(ROWS, ["forms.shape"], "json"))[0] == {"key": "FADD", "forms.shape": ["RR", "RI"]}


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("id", "'id' is no condition: write COLUMN=VALUE, COLUMN!=VALUE or COLUMN~REGEX"),
        ("=3", "'=3' is no condition: write COLUMN=VALUE, COLUMN!=VALUE or COLUMN~REGEX"),
        ("key~(", "'key~(': '(' is no regular expression: missing ), unterminated subpattern at position 0"),
        ("mod=3", "table 't' has no column 'mod'; did you mean mods?"),
        ("ftz=3", "table 't' has no column 'ftz'; did you mean mods.ftz?"),
        ("mods.fzt=3", "table 't' has no column 'mods.fzt'; did you mean mods.ftz?"),
        ("zzzz=3", "table 't' has no column 'zzzz'; it has id, forms, mods, late, isa, doc"),
    ],
)
def test_refusals(word: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        keys(word)
    assert message in str(error.value)


def test_every_table_has_unique_keys_and_places_that_exist() -> None:
    spec = specification.spec()
    lengths: dict[str, int] = {}
    for table in all_tables():
        rows = table.rows(spec)
        assert len({row.key for row in rows}) == len(rows), table.NAME
        for row in rows:
            if row.path not in lengths:
                lengths[row.path] = len((ROOT / row.path).read_text(encoding="utf-8").splitlines())
            assert 1 <= row.line <= lengths[row.path], (table.NAME, row.key)
        for how in ("table", "yaml", "json", "tsv"):
            assert query.render(rows, [], how)


def test_command_prints_rows_counts_and_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(capsys, "phases", "index=0xf", "--columns", "index,function", "--format", "tsv") == (
        0, "key\tindex\tfunction\nphase 15\t15\tsimplify_control_flow\n", "",
    )  # fmt: skip
    assert ask(capsys, "phases", "--count") == (0, "159\n", "")
    assert ask(capsys, "phases", "index=999") == (1, "", "")
    status, out, _ = ask(capsys)
    assert status == 0
    assert "phases" in [line.split()[0] for line in out.splitlines()]


def test_command_refuses_unknown_names(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = ask(capsys, "phase")
    assert (status, out) == (2, "")
    assert "there is no table 'phase'; did you mean phases?" in err
    status, out, err = ask(capsys, "phases", "--columns", "indx")
    assert (status, out) == (2, "")
    assert "table 'phases' has no column 'indx'; did you mean index?" in err
