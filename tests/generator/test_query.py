"""``oricgen query``: which rows, which columns, how they are printed, and what is refused."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
import yaml
from oricgen import derived, query
from oricgen.cli import main
from oricgen.commands import query as query_command
from oricgen.errors import UsageError
from oricgen.rows import Row
from oricgen.tables import all_tables

from tests import specification

ROOT = Path(__file__).resolve().parents[2]
SHOWN = 400  # rows of a table that are rendered in every form
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


MODELS = ("sm_75", "sm_80", "sm_90", "sm_100")
ORDER = query.Order(MODELS, {name: (place, 0) for place, name in enumerate(MODELS)})
MORE = [
    Row("one", {"on": ["sm_90"], "count": 9, "ptx": "8.6", "word": "0x0067"}, "c.yaml", 1),
    Row("two", {"on": ["sm_90", "sm_100"], "count": 10, "ptx": "9.0", "odd": True}, "c.yaml", 2),
    Row("all", {"on": list(MODELS), "count": -1, "first": "sm_80", "ptx": "10.0"}, "c.yaml", 3),
    Row("none", {"on": [], "count": "many"}, "c.yaml", 4),
]


def keys(*conditions: str, rows: list[Row] = ROWS) -> list[str]:
    return [row.key for row in query.select(rows, [query.parse(c, ORDER) for c in conditions], "t")]


def ask(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = main(["query", *words])
    out = capsys.readouterr()
    return status, out.out, out.err


@pytest.mark.parametrize(
    ("conditions", "found"),
    [
        (["id=12"], ["FADD"]),
        (["id = 12"], ["FADD"]),
        (["id < 13"], ["FADD"]),
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


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("count<10", ["one", "all"]),
        ("count<=10", ["one", "two", "all"]),
        ("count>0x9", ["two"]),
        ("count>=9", ["one", "two"]),
        ("word>=103", ["one"]),
        ("ptx<9.0", ["one"]),
        ("ptx>9.0", ["all"]),
        ("ptx>=9.0", ["two", "all"]),
        ("first<sm_90", ["all"]),
        ("on>=sm_100", ["two", "all"]),
        ("on<sm_80", ["all"]),
        ("odd<2", []),
        ("on==sm_90", ["one"]),
        ("on==sm_90..", ["two"]),
        ("on==sm_100,sm_90", ["two"]),
        ("on==..sm_100", ["all"]),
        ("on in sm_90..,sm_75", ["one", "two"]),
        ("count in 9, 0xa", ["one", "two"]),
        ("#on=1", ["one"]),
        ("#on<=1", ["one", "none"]),
        ("#first=0", ["one", "two", "none"]),
    ],
)
def test_comparisons_and_sets(condition: str, found: list[str]) -> None:
    assert keys(condition, rows=MORE) == found


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
        ("id", "'id' is no condition: write COLUMN and a value with one of =, !=, ~, <, <=, >, >=, ==, in between them"),
        ("=3", "'=3' is no condition: write COLUMN and a value with one of =, !=, ~, <, <=, >, >=, ==, in between them"),
        ("id<many", "'id<many': 'many' has no order: it is no number, no version, and no target or model"),
        ("isa==sm_9..", "'isa==sm_9..': there is no encoding model 'sm_9' in formats.yaml"),
        ("isa in sm_90..sm_75", "'isa in sm_90..sm_75': the encoding models 'sm_90..sm_75' end before they begin"),
        ("#mod=3", "table 't' has no column 'mod'; did you mean mods?"),
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
            assert query.render(rows[:SHOWN], [], how)


def test_command_prints_rows_counts_and_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(capsys, "phases", "index=0xf", "--columns", "index,function", "--format", "tsv") == (
        0, "key\tindex\tfunction\nphase 15\t15\tcheck_ready\n", "",
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


def found(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """The keys of the rows."""
    status, out, err = ask(capsys, *words, "--columns", "key", "--format", "tsv")
    assert err == ""
    assert status == (0 if out else 1)
    return [line.partition("\t")[0] for line in out.splitlines()[1:]]


def test_what_only_some_models_have(capsys: pytest.CaptureFixture[str]) -> None:
    only = found(capsys, "operations", "isa==sm_120")
    assert "IADD.64" in only
    assert "FADD" not in only
    assert "FHADD" in found(capsys, "operations", "isa==sm_100..")
    assert set(only) < set(found(capsys, "operations", "isa in sm_100.."))


def test_targets_compare_by_their_place_in_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert {"UIMAD_HI", "MOV64IUR"} <= set(found(capsys, "opcodes", "since>=sm_120", "basis=assigned"))
    assert "FHADD" not in found(capsys, "opcodes", "since>sm_100")


def test_instructions_without_a_lowering_rule(capsys: pytest.CaptureFixture[str]) -> None:
    without = found(capsys, "ptx", "lowered!=sm_100", "sm<=100", "instruction~.")
    assert [key for key in without if key.startswith("st.async{.weak}.global.vec")]
    assert not [key for key in without if key.startswith("add{.sat}.s32")]
    assert "elect.sync" in found(capsys, "ptx", "lowered=sm_90", "lowered=sm_121f", "lowered!=sm_89")


@pytest.mark.row("R5-36")
def test_what_helpers_become(capsys: pytest.CaptureFixture[str]) -> None:
    assert found(capsys, "helpers", "becomes~nothing") == [], "a rule of every target computes each"
    assert {"vprintf", "__cuda_syscall_"} <= set(found(capsys, "helpers", "becomes~bank 4"))
    assert "__cuda_sm20_div_s64" in found(capsys, "helpers", "becomes~the function __cuda_sm20_div_s64")


def test_words_of_forms_in_the_test_vectors(capsys: pytest.CaptureFixture[str]) -> None:
    assert found(capsys, "forms", "vectors=0") == []
    lines = {word for path in (ROOT / "tests/data/vectors/sm_90").glob("*.txt") for word in path.read_text().splitlines()}
    words = [line for line in lines if not line.startswith("#")]
    _, out, _ = ask(capsys, "forms", "isa=sm_90", "--columns", "vectors", "--format", "tsv")
    assert sum(int(line.split("\t")[1]) for line in out.splitlines()[1:]) >= len(words), "every word is of a form"


def test_forms_without_a_vector_are_found() -> None:
    spec = specification.spec()
    (table,) = [table for table in all_tables() if table.NAME == "forms"]
    row = next(row for row in table.rows(spec) if row.values["isa"] == "sm_90")
    alien = Row("X/sm_90", {**row.values, "mask": f"{(1 << 128) - 1:032x}", "value": "0" * 32}, row.path, 1)
    (found,) = derived.added(spec, "forms", [alien], ["vectors"])
    assert found.values["vectors"] == 0


def test_joins_with_any_table(capsys: pytest.CaptureFixture[str]) -> None:
    without = found(capsys, "opcodes", "#@operations.opcode=0")
    assert "FADD" not in without
    assert "SM89_LAST" in without
    status, out, _ = ask(capsys, "opcodes", "key=FADD", "--columns", "@operations.opcode,#@operations.opcode", "--format", "tsv")
    assert (status, out.splitlines()[1].split("\t")[1:]) == (0, ["[FADD]", "1"])
    for name, message in (
        ("@operation.opcode=x", "'@operation.opcode' is no join: write @TABLE.COLUMN; did you mean operations"),
        ("@operations=x", "'@operations' is no join: write @TABLE.COLUMN"),
        ("@operations.opcod=x", "table 'operations' has no column 'opcod'; did you mean opcode?"),
    ):
        status, out, err = ask(capsys, "opcodes", name)
        assert (status, out) == (2, "")
        assert message in err


@pytest.mark.measure
def test_the_examples_of_the_help_work(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line.strip().partition("   ")[0] for line in query_command.EPILOG.splitlines()]
    examples = [shlex.split(line.partition("  ")[0])[2:] for line in lines if line.startswith("oricgen query")]
    assert len(examples) >= 6
    for words in examples:
        status, _, err = ask(capsys, *words)
        assert status in (0, 1)
        assert err == ""


def test_there_may_be_no_vectors(tmp_path: Path) -> None:
    spec = type(specification.spec())(tmp_path / "spec")
    with pytest.raises(UsageError, match="there are no test vectors: tests/data/vectors does not exist"):
        derived.added(spec, "forms", [], ["vectors"])
