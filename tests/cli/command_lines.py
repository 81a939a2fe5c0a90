#!/usr/bin/env python3
"""Command lines that ptxas and the drop-in are asked, with what ptxas 13.0.88 answers.

    python -m tests.cli.command_lines      # asks the ptxas on PATH, rewrites ptxas_answers.json

A command line is a line of ``command_lines.txt``, run in a folder with the files of :data:`FILES`; ``<NAME`` gives it the file
NAME as standard input. An answer holds exit status, both streams and the names of the files that are new.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).resolve().parent
ANSWERS: Final = HERE / "ptxas_answers.json"

_KERNEL: Final = """.version {version}
.target {target}
.address_size 64
.visible .entry {name}(.param .u64 p){directive}
{{
  .reg .b64 %rd<9>;
  .reg .b32 %r<9>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  st.global.u32 [%rd1], %r1;
{more}  ret;
}}
"""


def _kernel(name: str = "k", version: str = "7.0", target: str = "sm_75", directive: str = "", more: str = "") -> str:
    return _KERNEL.format(name=name, version=version, target=target, directive=directive, more=more)


_DOUBLE: Final = (
    "  .reg .f64 %fd<3>;\n  ld.global.f64 %fd1, [%rd1];\n  add.f64 %fd2, %fd1, %fd1;\n  st.global.f64 [%rd1], %fd2;\n"
)
_LOCAL: Final = (
    "  .local .align 8 .b8 buf[64];\n  mov.u64 %rd2, buf;\n  cvta.local.u64 %rd3, %rd2;\n  st.u64 [%rd3], %rd1;\n"
    "  cvt.u64.u32 %rd5, %r1;\n  add.u64 %rd6, %rd3, %rd5;\n  ld.u8 %r2, [%rd6];\n  st.global.u32 [%rd1], %r2;\n"
)
_SHARED: Final = (
    "  .shared .u32 s[20];\n  st.shared.u32 [s], %r1;\n  bar.sync 1;\n  ld.shared.u32 %r2, [s+4];\n  st.global.u32 [%rd1], %r2;\n"
)
_MANY: Final = 300
_SPILL: Final = (
    f"  .reg .f32 %f<{_MANY}>;\n"
    + "".join(f"  ld.volatile.global.f32 %f{i}, [%rd1+{4 * i}];\n" for i in range(_MANY))
    + "".join(f"  st.volatile.global.f32 [%rd1+{4 * i}], %f{_MANY - 1 - i};\n" for i in range(_MANY))
)
FILES: Final[dict[str, str | bytes]] = {
    "a.ptx": _kernel(),
    "a b.ptx": _kernel(),
    "b.ptx": _kernel("j"),
    "b71.ptx": _kernel("j", "7.1"),
    "b80.ptx": _kernel("j", target="sm_80"),
    "two.ptx": _kernel() + _kernel("j").partition("64\n")[2],
    "t90.ptx": _kernel(version="7.8", target="sm_90"),
    "t90old.ptx": _kernel(target="sm_90"),
    "t90a.ptx": _kernel(version="8.0", target="sm_90a"),
    "v99.ptx": _kernel(version="9.9"),
    "ntid.ptx": _kernel(directive=" .maxntid 64, 1, 1"),
    "double.ptx": _kernel(more=_DOUBLE),
    "local.ptx": _kernel(more=_LOCAL),
    "shared.ptx": _kernel(more=_SHARED),
    "spill.ptx": _kernel(more=_SPILL),
    "bad.ptx": _kernel(more="  fam.u32 %r1, %r2;\n  add.u32 %r1, %q9, 1;\n"),
    "bad2.ptx": _kernel(more="  add.u32 %r1, %q9, 1;\n"),
    "cut.ptx": _kernel()[:200],
    "call.ptx": _kernel("m", more="  call (%r2), f, (%r1);\n"),
    "empty.ptx": "",
    "blank.ptx": "\n\n  \n",
    "binary.ptx": bytes(range(256)),
    "elf.ptx": b"\x7fELF\x02\x01\x01\x41" + bytes(56),
    "o1.txt": "-arch sm_90\n-v\n",
    "o2.txt": '-arch "sm_90"  \n',
    "o3.txt": "-arch 'sm_90'\n",
    "o4.txt": '-o "a b.o"\n',
    "o5.txt": "-o a\\ b.o\n",
    "o6.txt": "# comment\n-arch sm_90\n",
    "o7.txt": "-optf o1.txt\n",
    "o8.txt": "a.ptx\n",
    "o9.txt": "-optf o9.txt\n",
    "o10.txt": "--bogus\n",
    "o11.txt": "-arch\n",
    "o12.txt": "",
    "o13.txt": '-o "unclosed\n',
    "o14.txt": '-o x\\"y.o\n',
    "o15.txt": '-o "x"y.o\n',
    "o16.txt": "-o $HOME.o\n",
    "o17.txt": "-arch\r\nsm_90\r\n-v\r\n",
    "o18.txt": "-optf o1.txt,o8.txt\n",
    "o19.txt": '-o "x\ny.o"\n',
}


def lines() -> list[str]:
    """The command lines."""
    text = (HERE / "command_lines.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def answers() -> dict[str, dict[str, Any]]:
    """What ptxas answers, by command line."""
    found: dict[str, dict[str, Any]] = json.loads(ANSWERS.read_text(encoding="utf-8"))
    return found


def split(line: str) -> tuple[list[str], bytes]:
    """Arguments and standard input of a command line."""
    words = shlex.split(line)
    given = [word[1:] for word in words if word.startswith("<")]
    data = FILES[given[0]] if given else b""
    return [word for word in words if not word.startswith("<")], data.encode() if isinstance(data, str) else data


def prepare(folder: Path) -> None:
    """Put the files there."""
    for name, content in FILES.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    (folder / "folder").mkdir()


def new_files(folder: Path) -> list[str]:
    """Files that :func:`prepare` has not put there, with those in ``folder/folder``."""
    found = (str(path.relative_to(folder)) for path in folder.rglob("*"))
    return sorted(name for name in found if name not in FILES and name != "folder")


def ask(program: str, line: str) -> dict[str, Any]:
    """What a program answers."""
    words, data = split(line)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        done = subprocess.run([program, *words], cwd=folder, input=data, capture_output=True, timeout=60, check=False)
        return {
            "status": done.returncode,
            "out": re.sub(r"(?m)[ \t]+$", "", done.stdout.decode(errors="replace")),
            "err": done.stderr.decode(errors="replace"),
            "files": new_files(folder),
        }


def steady(text: str) -> str:
    """Text without what differs from run to run: times, amounts of memory, names of temporary files."""
    text = re.sub(r"/tmp/tmpxft_\w+-\d+_stdin", "<stdin>", text)
    return re.sub(r"\d+\.\d+( ms| KB|%)", r"#\1", text)


def _main() -> None:
    found = {}
    for line in lines():
        answer = ask("ptxas", line)
        answer["err"] = steady(answer["err"])
        if answer["out"].lstrip().startswith("Usage"):
            answer["out"] = "".join(f"{row}\n" for row in answer["out"].splitlines() if row.startswith("--"))
        elif "release" in answer["out"]:
            answer["out"] = "".join(f"{row}\n" for row in answer["out"].splitlines() if "release" in row)
        found[line] = answer
    ANSWERS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _main()
