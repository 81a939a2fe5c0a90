"""The extension for Visual Studio Code: what it names is there, and the grammar colours what the outline finds."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from oric.lsp.outline import INSTRUCTION, LABEL, TABLE, Outline
from oric.lsp.vscode import GRAMMAR, extension, write_extension
from oric.support.version import VERSION

from tests.lsp.samples import CALLS, FILES, ROOT, SAXPY
from tests.ptx.test_grammar import scopes

FOUND = extension()
MANIFEST = json.loads(FOUND["package.json"])


def test_the_files_that_the_manifest_names():
    contributes = MANIFEST["contributes"]
    named = [
        MANIFEST["main"],
        *(row["path"] for row in contributes["grammars"]),
        *(row["configuration"] for row in contributes["languages"]),
    ]
    assert {name.removeprefix("./") for name in named} <= FOUND.keys()
    assert MANIFEST["version"] == VERSION
    assert {row["id"] for row in contributes["languages"]} == {row["language"] for row in contributes["grammars"]} == {"ptx"}
    assert contributes["grammars"][0]["scopeName"] == json.loads(FOUND[GRAMMAR])["scopeName"]


def test_the_settings_are_those_of_the_server():
    names = set(MANIFEST["contributes"]["configuration"]["properties"])
    assert names == {"oric.path", "oric.arch", "oric.level"}
    told = FOUND["README.md"] + (ROOT / "docs" / "lsp.md").read_text()
    assert all(f"`{name}`" in told for name in names)


def test_commands_are_registered():
    for row in MANIFEST["contributes"]["commands"]:
        assert f'registerCommand("{row["command"]}"' in FOUND["extension.js"]
    assert set(re.findall(r'require\("([^"/]+)', FOUND["extension.js"])) == {"vscode", *MANIFEST["dependencies"]}


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_the_client_is_javascript(tmp_path):
    write_extension(tmp_path / "ext")
    done = subprocess.run(
        ["node", "--check", str(tmp_path / "ext" / "extension.js")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def patterns(node: Any) -> Iterator[str]:
    """Every regular expression of a grammar."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("match", "begin", "end"):
                yield value
            else:
                yield from patterns(value)
    elif isinstance(node, list):
        for value in node:
            yield from patterns(value)


def test_every_pattern_compiles():
    found = list(patterns(json.loads(FOUND[GRAMMAR])))
    assert len(found) > 15
    for pattern in found:
        assert re.compile(pattern).search("") is None, pattern  # one that matches nothing would stand still
    configuration = json.loads(FOUND["language-configuration.json"])
    for pattern in (configuration["wordPattern"], *configuration["indentationRules"].values()):
        re.compile(pattern)


@pytest.mark.parametrize("word", ["%r12", "%tid", "$L__BB0_2", ".global", ".shared::cta", "add", "table", "0f3F800000", "_"])
def test_words_of_the_editor(word):
    found = re.fullmatch(json.loads(FOUND["language-configuration.json"])["wordPattern"], word)
    assert found is not None


def test_the_grammar_is_the_one_of_the_tables():
    assert FOUND[GRAMMAR] == (ROOT / "build" / "flat" / "ptx.tmLanguage.json").read_text()


@pytest.mark.parametrize("text", [SAXPY, CALLS, *(path.read_text() for path in FILES[::9])])
def test_what_the_outline_finds_has_its_colour(text):
    outline = Outline(text)
    coloured = [piece for piece, scope in scopes(text) if scope == "keyword.other.instruction.ptx"]
    mnemonics = [s.mnemonic for s in outline.statements if s.kind == INSTRUCTION]
    assert [f"{m}.".startswith(f"{piece}.") for m, piece in zip(mnemonics, coloured, strict=True)] == [True] * len(mnemonics)
    labels = [piece for piece, scope in scopes(text) if scope == "entity.name.label.ptx"]
    assert labels == [d.name for d in outline.definitions if d.kind in (LABEL, TABLE)]


def test_writing_it(tmp_path):
    folder = tmp_path / "a" / "ext"
    write_extension(folder)
    assert {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()} == FOUND
    with pytest.raises(FileExistsError):
        write_extension(folder)
