"""What is done to the C files that mypyc writes."""

from __future__ import annotations

from pathlib import Path

from oricgen.compiled import widen_shifts

ROOT = Path(__file__).resolve().parents[2]


def test_constants_that_are_shifted_have_64_bits(tmp_path: Path) -> None:
    """By a native integer: C's int has 32. What mypyc does by itself stays."""
    kept = "    __bitmap |= 1 << 0;\n    cpy_r_r2 = cpy_r_r1 << 3;\n    cpy_r_r3 = CPyTagged_Lshift(2, cpy_r_r2);\n"
    path = tmp_path / "oric/__native_dataflow.c"
    path.parent.mkdir()
    path.write_text(f"{kept}    cpy_r_r14 = 1 << cpy_r_r13;\n    cpy_r_r15 = -1 << cpy_r_bits;\n", encoding="utf-8")
    widen_shifts(tmp_path)
    wide = "    cpy_r_r14 = (int64_t)1 << cpy_r_r13;\n    cpy_r_r15 = (int64_t)-1 << cpy_r_bits;\n"
    assert path.read_text(encoding="utf-8") == kept + wide
    widen_shifts(tmp_path)
    assert path.read_text(encoding="utf-8") == kept + wide


def test_the_files_of_this_build_have_none() -> None:
    found = sorted((ROOT / "build/mypyc/c").rglob("__native_*.c"))
    assert found
    assert [path.name for path in found if "= 1 << cpy_" in path.read_text(encoding="utf-8")] == []
