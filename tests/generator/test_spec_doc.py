"""docs/spec.md, executed: its commands, edits and outputs, in their order, in a copy of the project.

A fenced block is a console session (``$ command`` and what it prints; a line ``...`` stands for any lines, ``...`` in a line for
anything), or text for a file that its first line names: ``# FILE`` quotes lines of it, ``# FILE, new file``,
``# FILE, in place of GROUP.KEY``, ``# FILE, behind GROUP.KEY``, ``# FILE, in place of the line: TEXT`` and
``# FILE, behind the line: TEXT`` edit it.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from oricgen.textedit import Document

from tests import copies

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/spec.md"
HEADER = re.compile(r"(?:#|//) (?P<file>[\w./-]+\.\w+)(?:, (?P<how>.+))?\Z")
STATUS = {"oricgen diff": 1, "oricgen query forms vectors=0": 1}  # of commands that say more with it than "it worked"


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its lines, the line of the page that it begins on."""

    language: str
    lines: list[str]
    line: int

    @property
    def header(self) -> re.Match[str] | None:
        return HEADER.match(self.lines[0])


def blocks() -> list[Block]:
    out: list[Block] = []
    inside: Block | None = None
    for number, line in enumerate(PAGE.read_text(encoding="utf-8").splitlines(), 1):
        if inside is None and line.startswith("```"):
            inside = Block(line[3:].strip(), [], number)
        elif inside is not None and line == "```":
            out.append(inside)
            inside = None
        elif inside is not None:
            inside.lines.append(line)
    assert inside is None, "a block is not closed"
    return out


def test_every_block_is_executed_or_quoted() -> None:
    kinds = {"console": 0, "quote": 0, "edit": 0}
    for block in blocks():
        if block.language == "console":
            assert block.lines[0].startswith("$ "), block.line
            kinds["console"] += 1
        else:
            assert block.header, f"docs/spec.md:{block.line}: the block names no file"
            kinds["edit" if block.header["how"] else "quote"] += 1
    assert min(kinds.values()) >= 8, kinds


def test_quoted_rows_stand_in_their_files() -> None:
    for block in blocks():
        if block.header and not block.header["how"]:
            text = (ROOT / block.header["file"]).read_text(encoding="utf-8")
            quoted = "\n".join(block.lines[1:]) + "\n"
            assert "\n" + quoted in text, f"docs/spec.md:{block.line}: {block.header['file']} does not say this"


def test_the_index_has_a_line_for_every_file() -> None:
    index = re.findall(r"^\| `([\w./]+)` \| \S.* \|$", (ROOT / "spec/README.md").read_text(encoding="utf-8"), re.MULTILINE)
    files = {path.relative_to(ROOT / "spec").as_posix() for path in (ROOT / "spec").rglob("*.yaml")}
    assert sorted(index) == sorted(files)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the project with its tables built, the two commands on the path, and a commit to compare with."""
    copies.copy(tmp_path, "spec", "generator", "runtime", "examples", "build", "tests/data/vectors")
    (tmp_path / "bin").mkdir()
    for name, words in {"oric": "-m oric", "oricgen": "-m oricgen", "python": ""}.items():
        command = tmp_path / "bin" / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n', encoding="utf-8")
        command.chmod(command.stat().st_mode | stat.S_IXUSR)
    for words in ("init --quiet .", "add spec", "-c user.name=x -c user.email=x@localhost commit --quiet -m base"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, env=environment(tmp_path), check=True)
    return tmp_path


def environment(root: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    paths = os.pathsep.join(str(root / part) for part in ("runtime", "generator", "build"))
    path = f"{root / 'bin'}{os.pathsep}{kept.get('PATH', '')}"
    own = {"PATH": path, "PYTHONPATH": paths, "GIT_CONFIG_GLOBAL": os.devnull, "COLUMNS": "200"}
    return {**kept, **copies.quick(root), **own}


@pytest.mark.long
@pytest.mark.measure
def test_the_examples_work_as_they_stand(copy: Path) -> None:
    for block in blocks():
        if block.language == "console":
            for command, expected in sessions(block):
                converse(copy, command, expected, block.line)
        elif block.header and block.header["how"]:
            edit(copy, block.header["file"], block.header["how"], block.lines[1:])


def sessions(block: Block) -> list[tuple[str, list[str]]]:
    """The commands of a console block, each with the lines that it shall print."""
    out: list[tuple[str, list[str]]] = []
    for line in block.lines:
        if line.startswith("$ "):
            out.append((line[2:], []))
        else:
            out[-1][1].append(line)
    return out


def converse(root: Path, command: str, expected: list[str], line: int) -> None:
    done = subprocess.run(
        command, shell=True, cwd=root, env=environment(root), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False,
    )  # fmt: skip
    pattern = "".join("(?:.*\n)*" if want == "..." else re.escape(want).replace(r"\.\.\.", ".*") + "\n" for want in expected)
    place = f"docs/spec.md:{line}: $ {command}\n{done.stdout}"
    assert re.fullmatch(pattern, done.stdout), place
    refused = any("error:" in want for want in expected)
    wanted = next((status for words, status in STATUS.items() if command.startswith(words)), 0)
    assert (done.returncode != 0) if refused else (done.returncode == wanted), f"status {done.returncode}: {place}"


def edit(root: Path, name: str, how: str, lines: list[str]) -> None:
    path = root / name
    if how == "new file":
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return
    document = Document(path)
    verb, _, where = how.partition(" the line: ")
    if where:
        found = [i for i, line in enumerate(document.lines) if line.strip(" -").startswith(where)]
        assert len(found) == 1, f"{name}: {len(found)} lines begin with '{where}'"
        first = last = found[0]
    else:
        verb, _, where = how.rpartition(" ")
        first, last = document.entry(*where.split(".", maxsplit=1))
    if verb == "in place of":
        document.replace(first, last, lines)
    else:
        assert verb == "behind", how
        document.insert(last, lines)
    path.write_text(document.text(), encoding="utf-8")
