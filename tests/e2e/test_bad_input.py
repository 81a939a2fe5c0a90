"""Bad input to the command: a message with its place, a bad exit status, no traceback, no output file."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.e2e.commands import environment, oric
from tests.kernels import cases

SAXPY = cases.ptx("saxpy", "sm_90")
MEMORY_LIMIT = 4 << 30  # address space of a child; well above what the largest of these inputs may take


def refused(result: subprocess.CompletedProcess[str], folder: Path, output: str = "out.cubin") -> str:
    """Check the manner of a refusal and return what was printed."""
    said = result.stdout + result.stderr
    assert result.returncode not in (0, -signal.SIGKILL, -signal.SIGSEGV), said
    assert result.returncode > 0, said
    assert "Traceback" not in said
    assert "Internal compiler error" not in said
    assert "error" in said
    assert not (folder / output).exists() or (folder / output).is_dir()
    leftovers = [p.name for p in folder.iterdir() if p.name not in {"in.ptx", "in.cubin", output, "launch.json"}]
    assert not leftovers
    return said


def compile_text(folder: Path, text: str | bytes, *options: str) -> subprocess.CompletedProcess[str]:
    data = text.encode() if isinstance(text, str) else text
    (folder / "in.ptx").write_bytes(data)
    return oric("in.ptx", "-arch", "sm_90", "-o", "out.cubin", *options, cwd=folder)


def one_line(said: str) -> str:
    lines = said.strip().splitlines()
    assert len(lines) == 1, said
    assert len(lines[0]) < 400
    return lines[0]


def test_unknown_arch(tmp_path: Path) -> None:
    (tmp_path / "in.ptx").write_text(SAXPY)
    said = refused(oric("in.ptx", "-arch", "sm_12345", "-o", "out.cubin", cwd=tmp_path), tmp_path)
    assert "sm_12345" in one_line(said)


def test_missing_file(tmp_path: Path) -> None:
    said = refused(oric("in.ptx", "-arch", "sm_90", "-o", "out.cubin", cwd=tmp_path), tmp_path)
    assert "in.ptx" in one_line(said)


def test_unreadable_file(tmp_path: Path) -> None:
    """A folder as input cannot be read, whoever runs the test; neither can a file without permission, unless by root."""
    (tmp_path / "in.ptx").mkdir()
    assert "in.ptx" in one_line(refused(oric("in.ptx", "-arch", "sm_90", "-o", "out.cubin", cwd=tmp_path), tmp_path))
    (tmp_path / "in.ptx").rmdir()
    (tmp_path / "in.ptx").write_text(SAXPY)
    (tmp_path / "in.ptx").chmod(0)
    if not os.access(tmp_path / "in.ptx", os.R_OK):
        assert "in.ptx" in one_line(refused(oric("in.ptx", "-arch", "sm_90", "-o", "out.cubin", cwd=tmp_path), tmp_path))


def test_directory_as_output(tmp_path: Path) -> None:
    (tmp_path / "out.cubin").mkdir()
    said = refused(compile_text(tmp_path, SAXPY), tmp_path)
    assert "out.cubin" in one_line(said)
    assert not list((tmp_path / "out.cubin").iterdir())


def test_output_in_a_folder_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "in.ptx").write_text(SAXPY)
    said = refused(oric("in.ptx", "-arch", "sm_90", "-o", "no/out.cubin", cwd=tmp_path), tmp_path)
    assert "no/out.cubin" in one_line(said)


@pytest.mark.parametrize("text", ["", "\n\n", "// nothing here\n", "\ufeff"], ids=["empty", "blank", "comment", "mark"])
def test_empty_file(tmp_path: Path, text: str) -> None:
    said = refused(compile_text(tmp_path, text), tmp_path)
    assert "in.ptx" in said.splitlines()[0]


@pytest.mark.parametrize("seed", range(3))
def test_binary_garbage(tmp_path: Path, seed: int) -> None:
    import numpy as np

    data = np.random.default_rng(seed).integers(0, 256, 20000).astype(np.uint8).tobytes()
    said = refused(compile_text(tmp_path, data), tmp_path)
    assert len(said) < 100_000
    assert said.isprintable() or all(c.isprintable() or c in "\n\t\r" for c in said)


def test_cubin_given_as_ptx(tmp_path: Path) -> None:
    refused(compile_text(tmp_path, cases.golden_cubin("saxpy", "sm_90")), tmp_path)


def limited(words: list[str], folder: Path) -> tuple[subprocess.CompletedProcess[str], int]:
    """Run the command with little address space; also gives the peak memory of all children so far, in kilobytes."""
    result = subprocess.run(
        [sys.executable, "-m", "oric.cli", *words], cwd=folder, env=environment(), capture_output=True, text=True,
        errors="replace", check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT)),
    )  # fmt: skip
    return result, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


@pytest.mark.row("R2-01")
@pytest.mark.parametrize(
    "unit", ["{", *(pytest.param(u, marks=pytest.mark.measure) for u in ("a", "/* ", "add ", "0", '"x', "%r1, "))], ids=range(7)
)
def test_line_of_50_megabytes(tmp_path: Path, unit: str) -> None:
    (tmp_path / "in.ptx").write_text(SAXPY[: SAXPY.index("{") + 1] + "\n" + unit * (50_000_000 // len(unit)))
    result, peak = limited(["in.ptx", "-arch", "sm_90", "-o", "out.cubin"], tmp_path)
    said = refused(result, tmp_path)
    assert len(said) < 100_000
    assert "out of memory" not in said
    assert peak < 3 << 20


def test_ten_thousand_nested_braces(tmp_path: Path) -> None:
    head = SAXPY[: SAXPY.index("{") + 1]
    said = refused(compile_text(tmp_path, head + "{" * 10_000), tmp_path)
    assert re.match(r"in\.ptx:\d+:\d+: error: ", said)
    closed = compile_text(tmp_path, head + "{" * 10_000 + "ret;" + "}" * 10_000 + "}")
    assert "Traceback" not in closed.stderr
    assert "Internal" not in closed.stderr
    assert closed.returncode == 0 or re.match(r"in\.ptx:\d+:\d+: error: ", closed.stderr)


def places(said: str) -> list[tuple[int, int]]:
    return [(int(line), int(col)) for line, col in re.findall(r"^in\.ptx:(\d+):(\d+): error: ", said, flags=re.M)]


def test_several_errors_with_places(tmp_path: Path) -> None:
    text = (
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n"
        "\t.reg .b32 %r<4>;\n\t.reg .f32 %f<2>;\n\t.reg .s32 %i;\n"
        "\tadd.s32 %r1, %r2 %r3;\n"
        "\tmov.u32 %r1, %nosuch;\n"
        "\tfrobnicate.s32 %r1, %r2;\n"
        "\tadd.f32 %f1, %f0, %i;\n"
        "\tadd.s32 %r1, %r2, 3;\n"
        "\tbra NOWHERE;\n"
        "\tret;\n}\n"
    )
    said = refused(compile_text(tmp_path, text), tmp_path)
    assert [line for line, _ in places(said)] == [9, 10, 11, 12, 14]
    lines, source = said.splitlines(), text.splitlines()
    for k, line in enumerate(lines):
        match = re.match(r"in\.ptx:(\d+):(\d+): error: \S", line)
        if match:
            number, col = map(int, match.groups())
            assert lines[k + 1] == "    " + source[number - 1]
            assert lines[k + 2].index("^") == 4 + col - 1
    assert "%nosuch" in said
    assert "frobnicate" in said
    assert "NOWHERE" in said


@pytest.mark.parametrize(
    ("old", "new", "line", "named"),
    [
        (".target sm_90", ".target sm_9000", 10, "sm_9000"),
        (".version 9.0", ".version 99.0", 9, "99.0"),
        ("fma.rn.f32", "fma.f32", None, "fma"),
        ("ld.param.u32", "ld.nowhere.u32", None, "nowhere"),
        ("mov.u32", "mov.u33", None, "mov.u33"),
        (".reg .f32", ".reg .f33", None, "f33"),
        ("[saxpy_param_0]", "[saxpy_param_9]", None, "saxpy_param_9"),
        ("setp.ge.s32", "setp.ge.f16", None, "setp"),
    ],
)
def test_single_mistakes(tmp_path: Path, old: str, new: str, line: int | None, named: str) -> None:
    assert old in SAXPY
    text = SAXPY.replace(old, new, 1)
    said = refused(compile_text(tmp_path, text), tmp_path)
    assert places(said)[0][0] == (line or text[: text.index(new)].count("\n") + 1)
    assert named in said


UNSUPPORTED = """.version 8.7
.target sm_100
.address_size 64
.visible .entry k()
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<3>;
	.shared .align 8 .b64 bar;
	mov.b64 %rd1, 64;
	st.async.weak.global.v2.b32 [%rd1], {%r1, %r2}, [bar];
	ret;
}
"""


def test_feature_that_is_not_lowered(tmp_path: Path) -> None:
    (tmp_path / "in.ptx").write_text(UNSUPPORTED)
    said = refused(oric("in.ptx", "-arch", "sm_100", "-o", "out.cubin", cwd=tmp_path), tmp_path)
    assert re.search(r"in\.ptx:10:\d+: error: 'st\.async[^']*' is not supported for sm_100 yet", said)


def test_old_output_stays_after_an_error(tmp_path: Path) -> None:
    (tmp_path / "out.cubin").write_bytes(b"old")
    result = compile_text(tmp_path, SAXPY.replace("fma.rn.f32", "fma.xx.f32"))
    assert result.returncode > 0
    assert (tmp_path / "out.cubin").read_bytes() == b"old"


# A test run in the background of a shell inherits an ignored SIGINT.
INTERRUPTING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import oric.support.files as files
real = os.{call}
def interrupted(*args, **more):
    os.kill(os.getpid(), signal.{signal})
    return real(*args, **more)
os.{call} = interrupted
from oric.cli import main
sys.exit(main(["in.ptx", "-arch", "sm_90", "-o", "out.cubin"]))
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_interrupted_while_it_writes(tmp_path: Path, name: str) -> None:
    """A signal at the moment of the rename: the old file is whole."""
    (tmp_path / "in.ptx").write_text(SAXPY)
    (tmp_path / "out.cubin").write_bytes(b"old")
    code = INTERRUPTING.format(call="replace", signal=name)
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert result.returncode != 0
    assert "Traceback" not in result.stderr
    assert (tmp_path / "out.cubin").read_bytes() == b"old"


STARTING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from oric.cli import main
print("started", flush=True)
sys.exit(main(["in.ptx", "-arch", "sm_90", "-o", "out.cubin"]))
"""


def test_interrupted_while_it_compiles(tmp_path: Path) -> None:
    from bench import generated

    (tmp_path / "in.ptx").write_text(generated.branchy(60_000, "sm_90"))
    (tmp_path / "out.cubin").write_bytes(b"old")
    child = subprocess.Popen(
        [sys.executable, "-c", STARTING],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "started\n"
    time.sleep(0.2)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    _, said = child.communicate()
    assert child.returncode != 0
    assert "Traceback" not in said
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.ptx", "out.cubin"]
    assert (tmp_path / "out.cubin").read_bytes() == b"old"


def damaged() -> list[tuple[str, bytes]]:
    """Broken cubins: cut short, fields of the headers overwritten, bytes flipped all over."""
    import numpy as np

    good = cases.golden_cubin("reduction", "sm_90")
    broken = [(f"cut at {n}", good[:n]) for n in (0, 3, 63, 64, 100, len(good) // 2, len(good) - 1)]
    for at in (16, 18, 32, 40, 52, 54, 58, 60, 62):
        broken.append((f"header {at}", good[:at] + b"\xff\xff" + good[at + 2 :]))
    rng = np.random.default_rng(5)
    for k in range(12):
        data = np.frombuffer(good, np.uint8).copy()
        where = rng.integers(0, len(data), 40)
        data[where] = rng.integers(0, 256, 40)
        broken.append((f"flips {k}", data.tobytes()))
    return [*broken, ("text", b"not a cubin\n"), ("zeros", bytes(4096))]


def test_corrupt_cubins(tmp_path: Path) -> None:
    """`oric disasm` and the simulator read anything: an error or, when the damage does not show, an answer."""
    errors = 0
    for what, data in damaged():
        (tmp_path / "in.cubin").write_bytes(data)
        result = oric("disasm", "in.cubin", cwd=tmp_path)
        said = result.stdout + result.stderr
        assert "Traceback" not in said, what
        assert "Internal" not in said, what
        assert result.returncode >= 0, what
        if result.returncode:
            errors += 1
            assert "error" in result.stderr, what
            assert "in.cubin" in result.stderr, what
    assert errors >= 14


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        (".shared .align 4 .b8 a[50000];", "Entry function 'k' uses too much shared data (0xc350 bytes, 0xc000 max)"),
        (".const .align 4 .b8 a[70000];", "File uses too much global constant data (0x11170 bytes, 0x10000 max)"),
    ],
)
def test_memory_that_no_sm_has(tmp_path: Path, declaration: str, message: str) -> None:
    space = declaration.partition(" ")[0]
    head = f".version 9.0\n.target sm_90\n.address_size 64\n{declaration}\n.visible .entry k(.param .u64 p) {{\n"
    body = f".reg .b64 q; .reg .b32 r;\nld.param.u64 q, [p];\nld{space}.u32 r, [a];\nst.global.u32 [q], r;\nret;\n}}\n"
    said = refused(compile_text(tmp_path, head + body), tmp_path)
    assert message in one_line(said)


def test_corrupt_cubins_in_the_simulator() -> None:
    import numpy as np
    import oric as package

    for what, data in damaged():
        n = 64
        arguments = [np.zeros(n, np.float32), np.zeros(1, np.float32), n]
        try:
            module = package.sim.load(data)
            module.launch("reduce_sum", grid=(1, 1, 1), block=(64, 1, 1), args=arguments, max_steps=100_000)
        except package.sim.SimError as error:
            assert str(error), what


def test_missing_cubin(tmp_path: Path) -> None:
    said = refused(oric("disasm", "none.cubin", cwd=tmp_path), tmp_path)
    assert "none.cubin" in one_line(said)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"kernel": 3}', '{"cubin": "none.cubin", "kernel": "k"}', "\x00\xff"])
def test_bad_launch_files(tmp_path: Path, text: str) -> None:
    (tmp_path / "launch.json").write_text(text)
    said = refused(oric("run", "launch.json", cwd=tmp_path), tmp_path)
    assert "launch.json" in one_line(said) or "none.cubin" in one_line(said)
