"""Broken modules give the expected errors: file, line, column, message, in order, several per run; where ptxas has them."""

import pytest

from tests.ptx import reject_cases

CASES = [pytest.param(*case, id=f"{case[0]}: {case[1]}") for case in reject_cases.cases()]


# Modules that ptxas takes and we refuse, each with the reason.
STRICTER = {
    "too large integer": "ptxas cuts a decimal or hexadecimal constant to 64 bits without a word",
    "expression nested too deeply": "ptxas takes some hundred levels, we 100",
    "initial value behind a large gap": "ptxas stores all zeros between, and runs out of memory with more",
    "too many registers": "ptxas takes any number; we 2**24",
}


@pytest.fixture(scope="module", autouse=True)
def _bless():
    if reject_cases.blessing():
        reject_cases.bless()


@pytest.mark.row("R2-02")
@pytest.mark.parametrize(("file", "name", "text", "expected", "theirs"), CASES)
def test_reject(file, name, text, expected, theirs):
    errors = reject_cases.errors_of(reject_cases.expand(text))
    assert errors, f"{file}: {name}: accepted"
    assert reject_cases.errors_of(reject_cases.expand(text)) == errors, f"{file}: {name}: read again, the errors are others"
    if not reject_cases.blessing():
        assert errors == expected, f"{file}: {name}; if the new errors are right: {reject_cases.BLESS}"


def test_there_are_cases():
    assert len(reject_cases.cases()) >= 250
    names = [name for _, name, _, _, _ in reject_cases.cases()]
    assert len(set(names)) == len(names)


def test_lines_are_those_of_ptxas():
    """Our first error is where ptxas has its first one, give or take a line, in at least 95 of 100 modules."""
    placed = [
        (f"{file}: {name}", expected, theirs) for file, name, _, expected, theirs in reject_cases.cases() if theirs.isdigit()
    ]
    placed = [row for row in placed if row[2] != "0"]  # 0: ptxas says no line
    away = [name for name, expected, theirs in placed if abs(int(expected.split(":")[0]) - int(theirs)) > 1]
    assert len(placed) >= 230
    assert len(away) <= 0.05 * len(placed), "\n".join(away)


def test_ptxas_rejects_them_too():
    accepted = {name for _, name, _, _, theirs in reject_cases.cases() if theirs == reject_cases.ACCEPTS}
    assert accepted == set(STRICTER)
