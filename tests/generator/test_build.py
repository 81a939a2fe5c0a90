"""The generator as a whole: same bytes on every run, and the part kept in the repository is up to date."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from oricgen import native, stamp
from oricgen.commands.build import build
from oricgen.outputs import render_all, rule_views
from oricgen.rewriting.resolve import load as load_rewrites
from oricgen.tables import lowering

from tests import specification

ROOT = Path(__file__).resolve().parents[2]
HASH_ALL = """
import hashlib, sys
from pathlib import Path
from oricgen.outputs import render_all, rule_views
from oricgen.rewriting.resolve import load as load_rewrites
from oricgen.tables import lowering
from oricgen.spec import Spec
files = render_all(Spec(Path(sys.argv[1])))
print(hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest())
"""

QUICK = """
import sys
from oricgen.cli import main
main(sys.argv[1:])
print([name for name in ("yaml", "jinja2", "jsonschema") if name in sys.modules])
"""


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    return render_all(specification.spec())


def test_same_bytes_whatever_the_hash_seed_and_the_folder(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "spec", tmp_path / "elsewhere" / "spec")
    seen = set()
    for seed, folder in (("1", ROOT), ("77", tmp_path / "elsewhere")):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "generator")}
        command = [sys.executable, "-c", HASH_ALL, str(folder / "spec")]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True, cwd=tmp_path)
        seen.add(done.stdout)
    assert len(seen) == 1


@pytest.mark.measure
def test_an_unchanged_build_does_nothing_and_any_change_is_seen(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "spec", tmp_path / "spec")
    written = build(tmp_path)
    assert {"oric_tables/ops.py", "c/tables/forms.c", "flat/sm_90.txt"} <= set(written)
    assert build(tmp_path) == []
    command = [sys.executable, "-c", QUICK, "--root", str(tmp_path), "build"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "generator")}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n", "the quick path reads no YAML and renders nothing"

    out = tmp_path / "build"
    before = {name: (out / name).read_bytes() for name in written}
    changes: list[tuple[Path, bytes | None]] = [
        (out / "oric_tables/ops.py", b"edited"),
        (out / "c/tables/forms.h", None),
        (out / "c/left_over.c", b"of an older specification"),
        (tmp_path / "spec/options.yaml", (ROOT / "spec/options.yaml").read_bytes() + b"# a comment\n"),
    ]
    for path, data in changes:
        old = path.read_bytes() if path.exists() else None
        _put(path, data)
        assert not stamp.current(tmp_path), path
        _put(path, old)
        assert stamp.current(tmp_path), path
    for path, data in changes:
        _put(path, data)
    assert sorted(build(tmp_path)) == ["c/tables/forms.h", "oric_tables/ops.py"]
    assert {name: (out / name).read_bytes() for name in written} == before
    assert not (out / "c/left_over.c").exists()
    assert stamp.current(tmp_path)


def _put(path: Path, data: bytes | None) -> None:
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)


def test_flat_files_in_the_repository_are_current(files: dict[str, str]) -> None:
    flat = {name: text for name, text in files.items() if name.startswith("flat/")}
    assert flat
    stale = [name for name, text in flat.items() if (ROOT / "build" / name).read_text(encoding="utf-8") != text]
    assert not stale, "run `make regen` and commit build/flat"
    kept = {f"flat/{path.name}" for path in (ROOT / "build/flat").iterdir()}
    assert kept == set(flat)


def test_rules_are_listed_to_read(files: dict[str, str]) -> None:
    """A changed rule is a changed line: rewrite rules as they are applied, in order; lowering rules with what they emit."""
    rewrites = files["flat/rewrites.txt"].splitlines()
    known = [rule.text() for rule in load_rewrites(specification.spec()).rules]
    assert [line for line in rewrites if " => " in line] == known and len(known) > 90
    assert {"fold POPC", "commute FADD  sources: Ra, Rb"} <= {*rewrites}
    blocks = re.split(r"\n(?! )", files["flat/lowering.txt"])
    assert "add[.rnd][.ftz][.sat].f32\n  commute: True\n  contract: True\n  FADD{ftz}{rnd}{sat} d, a, b" in blocks
    assert len(blocks) - 2 == len(lowering.rows(specification.spec()))


@pytest.mark.parametrize(
    ("file", "old", "new", "listing", "line"),
    [
        ("rewrites/algebra.yaml", '"VIADD(x, RZ)", make: "x"', '"VIADD(x, RZ)", make: "RZ"', "rewrites", "VIADD(x, RZ) => RZ"),
        pytest.param(
            "lowering/float.yaml", '"FADD{ftz}{rnd}{sat} d, a, b"', '"FADD{ftz}{rnd}{sat} d, b, a"', "lowering",
            "  FADD{ftz}{rnd}{sat} d, b, a", marks=pytest.mark.measure),
    ],
)  # fmt: skip
def test_a_changed_rule_is_one_changed_line(
    files: dict[str, str], file: str, old: str, new: str, listing: str, line: str
) -> None:
    text = (ROOT / "spec" / file).read_text(encoding="utf-8")
    assert text.count(old) == 1
    edited = specification.spec().edited({file: text.replace(old, new)})
    known, after = set(files[f"flat/{listing}.txt"].splitlines()), rule_views.render(edited)[f"flat/{listing}.txt"].splitlines()
    assert [one for one in after if one not in known] == [line]


def test_every_generated_file_says_so(files: dict[str, str]) -> None:
    for name, text in files.items():
        assert "Generated by" in "\n".join(text.splitlines()[:3]), name


def test_an_object_depends_on_what_its_source_includes(tmp_path: Path) -> None:
    texts = {
        "low/a.h": "",
        "low/b.h": '#include "low/a.h"\n',
        "high/one.c": '#include "low/b.h"\n#include <string.h>\n',
        "high/two.c": '#include "high/c.h"\n',
        "high/c.h": "",
    }
    for name, text in texts.items():
        path = tmp_path / native.FOLDERS[0] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    found = native.inclusions(native.files(tmp_path))
    assert found["high/one.c"] == ["high/one.c", "low/a.h", "low/b.h"]
    assert found["high/two.c"] == ["high/c.h", "high/two.c"]
