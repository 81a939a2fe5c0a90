"""``oricgen new-target`` from every model: a few lines of YAML, and everything that its base can do works for the new target.

The commands that it prints are run as they stand, in a copy of the project.
"""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests import copies

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 12
NAMES = {  # base -> new target: numbers that say nothing of the age
    "sm_75": "sm_76", "sm_80": "sm_81", "sm_86": "sm_83", "sm_89": "sm_84", "sm_90": "sm_91", "sm_100": "sm_99",
    "sm_103": "sm_105", "sm_110": "sm_111", "sm_120": "sm_125",
}  # fmt: skip
KERNEL = """\
\t.target\t{name}
\t.elf type=2, osabi=0x41, abi=8, version=1, flags={flags:#x}, phentsize=56
\t.section\t.nv.info
\t.info\tREGCOUNT, k, 8
\t.info\tFRAME_SIZE, k, 0
\t.info\tMIN_STACK_SIZE, k, 0
\t.section\t.nv.info.k
\t.info\tEXIT_INSTR_OFFSETS, @0010
\t.section\t.text.k, registers=8
k:
.text.k:
[B------:R-:W-:-:S05]  /*0000*/  MOV R0, 0x4 ;
[B------:R-:W-:-:S05]  /*0010*/  EXIT ;
\t.section\t.symtab
\t.symbol\tk, kernel, .text.k, 0x0, @end
"""
RUN = "import oric; oric.sim.load(open('k.cubin', 'rb').read()).launch('k', 1, 32, []); print('ran')"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what the commands need, with the commands in ``bin``."""
    copies.copy(tmp_path, "spec", "generator", "runtime", "examples", "build")
    (tmp_path / "bin").mkdir()
    for command, module in (("oric", "oric"), ("oricgen", "oricgen")):
        script = tmp_path / "bin" / command
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m {module} "$@"\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    shell(tmp_path, "git init -q . && printf 'build/\\nbin/\\n*.cubin\\n*.bin\\n' > .gitignore && git add .")
    shell(tmp_path, "git -c user.name=x -c user.email=x@x commit -qm 'As it was'")
    return tmp_path


def shell(root: Path, command: str, *statuses: int) -> str:
    """Run a command line as it stands; what it prints."""
    paths = os.pathsep.join(str(root / part) for part in ("runtime", "generator", "build"))
    own = {"PATH": f"{root / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}", "PYTHONPATH": paths, "ORIC_INTERPRET": "1"}
    done = subprocess.run(
        command, shell=True, cwd=root, env={**os.environ, **copies.quick(root), **own}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode in (statuses or (0,)), f"$ {command}\n{done.stdout}"
    return done.stdout


def add(root: Path, base: str) -> list[str]:
    """Make the target from ``base``; the commands that are printed."""
    path = root / "spec/sm_targets.yaml"
    before = path.read_text().splitlines()
    said = shell(root, f"oricgen new-target {NAMES[base]} --from {base}")
    assert "`oricgen check` passes." in said
    after = path.read_text().splitlines()
    assert 0 < len(after) - len(before) <= MOST_LINES
    remaining = iter(after)
    assert all(line in remaining for line in before), "nothing else is changed"
    asked = sum("# TODO?" in line for line in after) - sum("# TODO?" in line for line in before)
    questions = said.partition("Questions (")[2].partition("\n\n")[0].splitlines()[1:]
    assert len(questions) == asked > 0, "every question is told, also where the file has the same text already"
    return [line.strip() for line in said.partition("Next:\n")[2].splitlines()]


def use(root: Path, base: str) -> None:
    """Assemble, disassemble, check and run code of the new target; compile where its base can."""
    name = NAMES[base]
    (root / "k.sass").write_text(KERNEL.format(name=name, flags=0x06000002 | int(name[3:]) << 8))
    shell(root, "oric asm k.sass -o k.cubin")
    assert "MOV R0, 0x4 ;" in shell(root, "oric disasm k.cubin")
    assert shell(root, "oric check k.cubin") == f"{name}: 2 instructions, 0 findings\n"
    assert shell(root, f'"{sys.executable}" -P -c "{RUN}"') == "ran\n"
    assert f"[{base}]" in shell(root, f"oricgen explain FADD --sm {name}")
    listed = dict(line.split(maxsplit=1) for line in shell(root, "oric --list-targets").splitlines())
    if listed[base] == "code can be made":
        assert listed[name] == "code can be made"
        assert "FFMA" in shell(root, f"oric examples/saxpy.ptx -arch {name} -o s.cubin && oric disasm s.cubin")
    else:
        assert shell(root, f"oric examples/saxpy.ptx -arch {name}", 255).startswith(f"oric: error: {name}: {listed[name]} (")


def all_of(root: Path, bases: tuple[str, ...]) -> None:
    """The commands of all targets: those that are the same for each are run once. ``oricgen diff`` takes longest."""
    commands = dict.fromkeys(command for base in bases for command in add(root, base))
    together = ("oricgen check", "oricgen build", "oricgen diff")  # in front of, and behind, what is said of a target
    assert all(any(command.startswith(word) for command in commands) for word in together)
    (build,) = [command for command in commands if command.startswith("oricgen build")]
    shell(root, build)
    for command in commands:
        if command.startswith("oricgen diff"):
            assert NAMES[bases[0]] in shell(root, command, 1)
        elif command != build:
            shell(root, command)
    for base in bases:
        use(root, base)


@pytest.mark.long
@pytest.mark.measure
def test_new_targets_from_every_model_work(project: Path) -> None:
    all_of(project, tuple(NAMES))
