"""``oric explore``: what it refuses, what it writes, and the page that it serves."""

from __future__ import annotations

import json
import os
import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import oric
import pytest
from oric.cli import ERROR_STATUS, explore, main
from oric.cli.arguments import UsageError
from oric.explore import unpack
from oric.explore.serve import ADDRESS, serve

SAXPY = Path(__file__).resolve().parents[2] / "examples" / "saxpy.ptx"


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["explore", *words]) == ERROR_STATUS
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    return captured.err.strip()


def test_a_page_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, other = tmp_path / "page.html", tmp_path / "other.cubin"
    other.write_bytes(oric.compile(SAXPY.read_text(), "sm_90", opt_level=0).image)
    words = [
        str(SAXPY),
        "-arch",
        "sm_90",
        "-o",
        str(out),
        "--compare",
        str(other),
        "--run",
        str(SAXPY.with_suffix(".json")),
        "-O1",
    ]
    assert main(["explore", *words]) == 0
    assert capsys.readouterr() == ("", "")
    found = re.search(r'id="data">([^<]*)<', out.read_text())
    assert found is not None
    document = unpack(found[1])
    assert (document["arch"], document["level"], document["other"]) == ("sm_90", 1, str(other))
    assert document["words"] == ["--gpu-name=sm_90", "--opt-level=1"]
    assert document["units"][0]["sass"]["run"]["cycles"] > 0
    assert document["units"][0]["compared"]["run"]["cycles"] > document["units"][0]["sass"]["run"]["cycles"]


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--help"]) == 0
    text = capsys.readouterr().out
    assert all(word in text for word in ("--serve", "--run", "--compare", "-o <page.html>"))


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each names what is wrong; no page is written."""
    out = str(tmp_path / "page.html")
    bad = tmp_path / "bad.ptx"
    bad.write_text(".version 8.0\n.target sm_90\n.address_size 64\nbogus\n")
    damaged = tmp_path / "damaged.cubin"
    damaged.write_bytes(b"\x7fELF")
    ptx = str(SAXPY)
    for words, message in (
        ((ptx,), "oric: error: 'oric explore' needs one of -o <page.html> and --serve"),
        ((ptx, "-o", out, "--serve"), "oric: error: 'oric explore' needs one of -o <page.html> and --serve"),
        (("-o", out), "oric: error: exactly one input file is expected, 0 given"),
        ((ptx, ptx, "-o", out), "oric: error: exactly one input file is expected, 2 given"),
        ((ptx, "-o", out, "-v"), "oric: error: option '--verbose' means nothing to 'oric explore'"),
        ((ptx, "-o", out, "-arch", "compute_90"), "oric: error: 'oric explore' shows machine code: 'compute_90' has none"),
        ((ptx, "-o", out, "--bogus"), "oric: error: Unknown option '-bogus'"),
        ((ptx, "-o", out, "--run"), "oric: error: '--run' needs a launch file"),
        ((ptx, "-o", out, "--compare"), "oric: error: '--compare' needs a cubin"),
        ((ptx, "-o", out, "--compare", "/nowhere"), "oric: error: Input file '/nowhere' could not be opened"),
        ((ptx, "-o", out, "--compare", str(damaged)), f"oric: error: {damaged}: "),
        ((ptx, "-o", out, "--run", "/nowhere"), "oric: error: /nowhere: No such file or directory"),
        ((ptx, "-o", out, "--disable-phase", "nothing"), "oric: error: there is no phase 'nothing'"),
        (("/nowhere", "-o", out), "oric: error: Input file '/nowhere' could not be opened"),
        ((str(bad), "-o", out, "-arch", "sm_90"), f"{bad}:4:1: error: "),
        ((ptx, "--serve=x"), "oric: error: 'x' is no port: expected a number up to 65535"),
        ((ptx, "--serve", "70000"), "oric: error: '70000' is no port"),
        (("-", "--serve"), "oric: error: --serve needs a file"),
    ):
        assert refused(capsys, *words).startswith(message), words
        assert not os.path.exists(out)
    assert "could not be written" in refused(capsys, ptx, "-arch", "sm_90", "-o", str(tmp_path / "no" / "page.html"))


@contextmanager
def served(monkeypatch: pytest.MonkeyPatch, *words: str) -> Iterator[str]:
    """Run the command, on any port that is free; gives the address."""
    servers: list[Any] = []
    there = threading.Event()

    def kept(explorer: Any, port: int) -> Any:
        servers.append(serve(explorer, port))
        there.set()
        return servers[0]

    monkeypatch.setattr(explore, "serve", kept)
    thread = threading.Thread(target=main, args=(["explore", *words, "--serve", "0"],))
    thread.start()
    there.wait()
    try:
        yield f"http://{ADDRESS}:{servers[0].server_address[1]}"
    finally:
        servers[0].shutdown()
        thread.join()


def get(address: str, **headers: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_the_served_page_is_compiled_as_it_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ptx"
    path.write_text(SAXPY.read_text())
    with served(monkeypatch, str(path), "-arch", "sm_90", "-O1", "--fmad=false") as address:
        status, page = get(f"{address}/")
        assert status == 200
        found = re.search(r'id="controls">(.*?)</script>', page)
        assert found is not None
        fields = {field["name"]: field["value"] for field in json.loads(found[1])["fields"]}
        assert fields == {
            "gpu-name": "sm_90", "opt-level": "1", "maxrregcount": "", "disable-phase": "", "more": "--fmad=false"
        }  # fmt: skip

        def data(query: str = "") -> dict[str, Any]:
            status, text = get(f"{address}/data?{query}")
            assert status == 200
            return unpack(text)

        assert (data()["level"], data()["arch"]) == (1, "sm_90")
        assert data()["words"] == ["--gpu-name=sm_90", "--opt-level=1", "--fmad=false"]
        assert data("more=")["words"] == ["--gpu-name=sm_90", "--opt-level=1"]
        other = data("gpu-name=sm_80&opt-level=3&maxrregcount=32&disable-phase=13,16&more=--fmad%3Dtrue")
        assert (other["level"], other["arch"]) == (3, "sm_80")
        assert not {13, 16} & {phase["index"] for phase in other["units"][0]["phases"]}
        version = get(f"{address}/version")[1]
        path.write_text(path.read_text() + "bogus\n")
        assert get(f"{address}/version")[1] != version
        assert "error: " in data()["error"]
        path.unlink()
        assert "could not be opened" in get(f"{address}/data")[1]


def test_the_served_page_reads_no_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nor does it write some, nor answer another site."""
    secret = tmp_path / "secret"
    secret.write_text("--found-it")
    with served(monkeypatch, str(SAXPY), "-arch", "sm_90") as address:
        for more in (
            f"-optf={secret}",
            f"--options-file={secret}",
            f"{secret}",
            f"-o={secret}",
            f"--output-file={secret}",
            "-optf",
        ):
            status, text = get(f"{address}/data?more={more}")
            assert status == 400
            assert "found-it" not in text.replace(str(secret), "")
        assert secret.read_text() == "--found-it"
        assert get(f"{address}/data?more=--bogus") == (400, "Unknown option '-bogus'")
        assert get(f"{address}/data?more='")[0] == 400
        assert get(f"{address}/data?gpu-name=sm_1")[0] == 400
        assert get(f"{address}/data?disable-phase=allocate_registers")[0] == 200  # told on the page, behind what there is
        assert get(f"{address}/", Host="evil.example")[0] == 403
        assert get(f"{address}/../etc/passwd")[0] == 404


def test_a_port_that_is_taken(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with served(monkeypatch, str(SAXPY), "-arch", "sm_90") as address:
        capsys.readouterr()
        monkeypatch.setattr(explore, "serve", serve)
        port = address.rpartition(":")[2]
        assert "cannot be served" in refused(capsys, str(SAXPY), "-arch", "sm_90", "--serve", port)


def test_words_of_the_page_are_words_of_the_command_line() -> None:
    with pytest.raises(UsageError, match="takes no files"):
        explore._refuse_files("a.ptx")
    explore._refuse_files("-O3")
