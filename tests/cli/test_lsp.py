"""`oric lsp` beside the protocol: options, the extension, and what is said when pygls is not there."""

from __future__ import annotations

import subprocess
import sys

import pytest
from oric.cli import ERROR_STATUS, main


def test_help(capsys):
    assert main(["lsp", "--help"]) == 0
    assert "--vscode" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tcp"], "Unknown option '--tcp'"),
        (["a.ptx"], "'oric lsp' takes no files"),
        (["--stdio", "-x"], "Unknown option '-x'"),
        (["--vscode"], "'--vscode' needs one folder"),
        (["--vscode", "a", "b"], "'--vscode' needs one folder"),
    ],
)
def test_refusals(capsys, words, message):
    assert main(["lsp", *words]) == ERROR_STATUS
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"oric: error: {message}\n")


def test_the_extension(capsys, tmp_path):
    folder = tmp_path / "ext"
    assert main(["lsp", "--vscode", str(folder)]) == 0
    assert (folder / "package.json").is_file()
    assert main(["lsp", "--vscode", str(folder)]) == ERROR_STATUS
    assert capsys.readouterr().err == f"oric: error: '{folder}' could not be written: File exists\n"


@pytest.mark.parametrize("missing", ["pygls", "lsprotocol"])
def test_without_pygls(missing):
    program = f"import sys; sys.modules['{missing}'] = None; from oric.cli import main; sys.exit(main(['lsp']))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout) == (ERROR_STATUS, "")
    assert done.stderr == "oric: error: 'oric lsp' needs pygls: pip install 'oric[lsp]'\n"


def test_it_stands_in_the_list_of_commands(capsys):
    assert main(["--help"]) == 0
    assert "oric lsp [--stdio]" in capsys.readouterr().out
