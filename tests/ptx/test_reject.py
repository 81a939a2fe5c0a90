"""Broken modules give the expected errors: file, line, column, message, in order, several per run."""

import pytest

from tests.ptx import reject_cases

CASES = [pytest.param(*case, id=f"{case[0]}: {case[1]}") for case in reject_cases.cases()]


@pytest.mark.parametrize(("file", "name", "text", "expected"), CASES)
def test_reject(file, name, text, expected):
    if reject_cases.blessing():
        reject_cases.bless()
    errors = reject_cases.errors_of(reject_cases.expand(text))
    assert errors, f"{file}: {name}: accepted"
    if not reject_cases.blessing():
        assert errors == expected, f"{file}: {name}; if the new errors are right: {reject_cases.BLESS}"


def test_there_are_cases():
    assert len(reject_cases.cases()) > 80
