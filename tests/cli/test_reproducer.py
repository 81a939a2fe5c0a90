"""Internal errors: what they name, the reproducer that keeps the compilation, and that nothing is left behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from oric.cli import ERROR_STATUS, main
from oric.ir.function import Function
from oric.ir.passes import PassContext
from oric.ir.text import all_instructions
from oric.lower import OriBuilder
from oric.phases.registry import PASSES
from oric.support.version import VERSION
from oric_tables.ops import OPS

from tests.kernels import cases


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ORIC_DEBUG", raising=False)
    Path("k.ptx").write_text(cases.ptx("saxpy", "sm_90"), encoding="utf-8")
    return tmp_path


def broken_pass(f: Function, ctx: PassContext) -> bool:
    raise IndexError("planted")


def plant(monkeypatch: pytest.MonkeyPatch, name: str = "remove_dead_code", run: object = broken_pass) -> None:
    assert name in PASSES
    monkeypatch.setattr("oric.driver.pipeline.passes", lambda: {**PASSES_ALL, name: run})


def all_passes() -> dict[str, object]:
    from oric.driver.registry import passes

    return dict(passes())


PASSES_ALL = all_passes()


def test_a_phase_that_fails_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    plant(monkeypatch)
    assert main(["k.ptx", "-arch", "sm_90", "-o", "k.cubin"]) == ERROR_STATUS
    said = capsys.readouterr().err
    assert "Internal compiler error. phase " in said and "IndexError: planted, in 'saxpy', lines " in said
    assert "--save-reproducer FILE" in said and "Traceback" not in said
    assert sorted(path.name for path in folder.iterdir()) == ["k.ptx"]


def test_the_instruction_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    """Operands that no form takes get as far as encoding."""

    def damage(f: Function, ctx: PassContext) -> bool:
        at = next(i for i in all_instructions(f) if OPS[f.op[i]].name == "FFMA")
        f.set(at, 1, f.imm(1))
        f.set(at, 2, f.imm(2))
        return True

    plant(monkeypatch, "remove_dead_code", damage)
    assert main(["k.ptx", "-arch", "sm_90", "-o", "k.cubin"]) == ERROR_STATUS
    said = capsys.readouterr().err
    assert "Internal compiler error. encoding: 'FFMA" in said and "cannot be encoded" in said
    assert "from line " in said and "of the PTX, in 'saxpy'" in said
    assert sorted(path.name for path in folder.iterdir()) == ["k.ptx"]


def test_lowering_names_the_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(self: OriBuilder, *arguments: object) -> None:
        raise KeyError("planted")

    monkeypatch.setattr(OriBuilder, "instruction", broken)
    assert main(["k.ptx", "-arch", "sm_90", "-o", "k.cubin"]) == ERROR_STATUS
    assert "Internal compiler error. lowering: KeyError: 'planted', line " in capsys.readouterr().err


def test_a_reproducer_is_written_and_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    plant(monkeypatch)
    words = ["k.ptx", "-arch", "sm_90", "-O2", "-maxrregcount", "40", "-o", "k.cubin", "--save-reproducer", "r.json"]
    assert main(words) == ERROR_STATUS
    assert "reproducer written to 'r.json'" in capsys.readouterr().err
    kept = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert kept["inputs"] == [{"name": "k.ptx", "text": Path("k.ptx").read_text(encoding="utf-8")}]
    assert kept["options"] == {"gpu-name": "sm_90", "opt-level": "2", "maxrregcount": "40"}
    assert kept["versions"]["oric"] == VERSION and "planted" in kept["error"]
    Path("k.ptx").unlink()
    assert main(["reproduce", "r.json"]) == ERROR_STATUS
    assert "IndexError: planted, in 'saxpy'" in capsys.readouterr().err
    monkeypatch.undo()


def test_what_fails_under_verify_leaves_a_reproducer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """Without being asked for one, beside the output, which is not written."""

    def damage(f: Function, ctx: PassContext) -> bool:
        at = next(i for i in all_instructions(f) if OPS[f.op[i]].name == "FFMA")
        f.set(at, 1, f.imm(1))
        f.set(at, 0, f.imm(2))
        return True

    with monkeypatch.context() as broken:
        plant(broken, "remove_dead_code", damage)
        assert main(["k.ptx", "-arch", "sm_90", "-o", "k.cubin", "--verify"]) == ERROR_STATUS
        said = capsys.readouterr().err
        assert "reproducer written to 'k.cubin.reproducer.json'" in said
        assert "EarlyOriSimpleLiveDead" in said, said
        assert sorted(path.name for path in folder.iterdir()) == ["k.cubin.reproducer.json", "k.ptx"]
        assert main(["reproduce", "k.cubin.reproducer.json"]) == ERROR_STATUS
    assert main(["reproduce", "k.cubin.reproducer.json"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["k.cubin.reproducer.json", "k.ptx"]


def test_a_reproducer_of_what_has_been_repaired(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    with monkeypatch.context() as broken:
        plant(broken)
        assert main(["k.ptx", "-arch", "sm_90", "--save-reproducer", "r.json"]) == ERROR_STATUS
    assert main(["reproduce", "r.json"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["k.ptx", "r.json"]


def test_mistakes_of_the_user_make_no_reproducer(folder: Path) -> None:
    Path("bad.ptx").write_text(cases.ptx("saxpy", "sm_90").replace("add", "addd", 1), encoding="utf-8")
    assert main(["bad.ptx", "-arch", "sm_90", "--save-reproducer", "r.json"]) == ERROR_STATUS
    assert main(["k.ptx", "-arch", "sm_90", "-o", "k.cubin", "--save-reproducer", "r.json"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["bad.ptx", "k.cubin", "k.ptx"]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"kind": 1}', '{"options": {}, "inputs": []}', '{"options": {"a": 1}, "inputs": []}',
     '{"kind": "oric reproducer", "options": {}, "inputs": [{}]}', "[" * 100_000, "// PTX\n.version 8.0\n"],
)  # fmt: skip
def test_other_files_are_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("r.json").write_text(text, encoding="utf-8")
    assert main(["reproduce", "r.json"]) == ERROR_STATUS
    assert "oric: error: r.json: not a reproducer that oric --save-reproducer has written" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["a", "b"], ["--help"], ["missing.json"]])
def test_command_lines_of_reproduce(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", *words]) == ERROR_STATUS
    assert capsys.readouterr().err.startswith("oric: error: ")
