"""The floors of the C kernels: a file includes headers of its own floor and of those that pyproject.toml names for it."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from oricgen import native

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FLOORS: dict[str, list[str]] = PROJECT["tool"]["oricgen"]["native-floors"]


def wrong_includes(found: Mapping[str, Path]) -> list[str]:
    """What is wrong with the includes of these files (by name, ``floor/file``), one line for each."""
    wrong = []
    for name, path in found.items():
        floor, _, file = name.rpartition("/")
        if floor not in FLOORS:
            wrong.append(f"{name}: {file} lies on no floor")
            continue
        for other in native.includes(path):
            target = other.rpartition("/")[0]
            if other not in found:
                wrong.append(f"{name}: no file {other} (an include names floor and file)")
            elif not other.endswith(".h"):
                wrong.append(f"{name}: {other} is no header")
            elif target not in {floor, *FLOORS[floor]}:
                wrong.append(f"{name}: floor {floor} may not include {other}")
    return wrong


def test_includes_go_down() -> None:
    found = native.files(ROOT)
    assert {name.partition("/")[0] for name in found} == set(FLOORS), "every floor has files, and there are no others"
    assert len([name for name in found if native.includes(found[name])]) > 100
    assert wrong_includes(found) == []


def test_floors_have_one_order() -> None:
    seen: set[str] = set()
    for floor, lower in FLOORS.items():
        assert set(lower) <= seen, f"{floor} names a floor that stands below it in the list"
        seen.add(floor)
    for floor, lower in FLOORS.items():
        assert all(set(FLOORS[other]) <= set(lower) for other in lower), f"{floor} reaches floors that it does not name"
    compiler = {"function", "alloc", "sched", "encode"}
    assert not compiler & {*FLOORS["check"], *FLOORS["sim"]}, "the judges know nothing of the compiler"


@pytest.mark.parametrize(
    ("name", "include", "message"),
    [
        ("support/bitvec.c", "function/backend.h", "floor support may not include function/backend.h"),
        ("sched/control.c", "alloc/regalloc.h", "floor sched may not include alloc/regalloc.h"),
        ("check/walk.c", "sched/scoreboard.h", "floor check may not include sched/scoreboard.h"),
        ("sim/strict.c", "check/check.h", "floor sim may not include check/check.h"),
        ("sass/codec.c", "encode/emit.h", "floor sass may not include encode/emit.h"),
        ("tables/forms.c", "sass/insn.h", "floor tables may not include sass/insn.h"),
        ("sched/control.c", "sched.h", "no file sched.h"),
        ("sched/control.c", "../alloc/regalloc.h", "no file ../alloc/regalloc.h"),
        ("sched/control.c", "sched/depgraph.c", "sched/depgraph.c is no header"),
        ("control.c", "support/bitvec.h", "control.c lies on no floor"),
    ],
)
def test_a_wrong_include_is_found(tmp_path: Path, name: str, include: str, message: str) -> None:
    found = native.files(ROOT)
    planted = tmp_path / "planted.c"
    text = found[name].read_text(encoding="utf-8") if name in found else ""
    planted.write_text(f'#include "{include}"\n{text}', encoding="utf-8")
    wrong = wrong_includes({**found, name: planted})
    assert len(wrong) == 1
    assert wrong[0].startswith(f"{name}: ")
    assert message in wrong[0]


def test_a_name_is_hand_written_or_generated(tmp_path: Path) -> None:
    for folder in native.FOLDERS:
        path = tmp_path / folder / "sim/table.c"
        path.parent.mkdir(parents=True)
        path.write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match=r"sim/table\.c is both hand-written and generated"):
        native.files(tmp_path)
