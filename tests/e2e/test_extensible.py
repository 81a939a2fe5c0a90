"""Extensible whole programs (-ewp): alone in the simulator, linked, with functions of objects, with the device runtime."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path
from typing import Any

import oric
import oric.sim
import pytest
from oric.sass.check import check_cubin
from oric.support.elf import read
from oric.support.elf_format import ET_EWP, ET_EXEC

from . import call_programs, call_runs, object_programs, splitting

TARGETS = ("sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120")
LEVELS = (0, 1, 3)
STACK = 1 << 16  # bytes: how deep functions go that call themselves nobody knows
PROGRAMS = call_programs.PROGRAMS | object_programs.PROGRAMS
# Those whose functions may all be elsewhere: no kernel has the address of one, and shared variables are a kernel's own.
APART = [
    name
    for name, program in PROGRAMS.items()
    if splitting.functions(call_runs.text(program, TARGETS[0])) and not re.search(r"\.shared|\.callprototype", program.text)
]
RUNTIME = Path("/usr/local/cuda/lib64/libcudadevrt.a")
HEAD = ".version 8.0\n.target {target}\n.address_size 64\n"


def text(name: str, target: str) -> str:
    return call_runs.text(PROGRAMS[name], target)


def wanted(name: str) -> tuple[list[int], list[str]]:
    return call_runs.wanted(PROGRAMS[name]), []


def ours(module: str, target: str, level: int = 3) -> bytes:
    return oric.compile(module, arch=target, opt_level=level, verify=True, extensible=True).image


def launch(image: bytes) -> tuple[list[int], list[str]]:
    return call_runs.launch(image, stack_bytes=STACK)


class Linker:
    """nvlink in a folder."""

    def __init__(self, folder: Path, nvlink: str) -> None:
        self.folder = folder
        self.nvlink = nvlink

    def link(self, target: str, *parts: bytes, library: Path | None = None) -> bytes:
        """Link what was compiled, in this order; the first one is the program, whose constants are read by their places."""
        names = [f"{number}.cubin" for number in range(len(parts))]
        for name, part in zip(names, parts, strict=True):
            (self.folder / name).write_bytes(part)
        command = [self.nvlink, f"-arch={target}", *names, *([str(library)] if library else []), "-o", "linked.cubin"]
        done = subprocess.run(command, cwd=self.folder, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return (self.folder / "linked.cubin").read_bytes()

    def theirs(self, ptxas: str, module: str, target: str, option: str) -> bytes:
        (self.folder / "in.ptx").write_text(module)
        command = [ptxas, option, f"-arch={target}", "in.ptx", "-o", "out.o"]
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)
        return (self.folder / "out.o").read_bytes()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_alone(name: str) -> None:
    """A program that needs nothing from elsewhere is right, and without hazards: on each target at one level."""
    for turn, target in enumerate(TARGETS, list(PROGRAMS).index(name)):
        image = ours(text(name, target), target, LEVELS[turn % len(LEVELS)])
        assert read(image).type == ET_EWP
        assert launch(image) == wanted(name), target
        assert check_cubin(read(image)).findings == [], target


@pytest.mark.parametrize("name", PROGRAMS)
def test_linked_alone(name: str, tmp_path: Path, nvlink: str) -> None:
    target = random.Random(name).choice(TARGETS)
    image = Linker(tmp_path, nvlink).link(target, ours(text(name, target), target))
    assert read(image).type == ET_EXEC
    assert launch(image) == wanted(name), target
    assert check_cubin(read(image)).findings == []


def test_programs_have_functions_elsewhere() -> None:
    assert len(APART) > 10


@pytest.mark.parametrize("name", APART)
def test_functions_of_objects(name: str, tmp_path: Path, ptxas: str, nvlink: str) -> None:
    """The kernel here and its functions in an object, of whoever made either."""
    linker = Linker(tmp_path, nvlink)
    target = random.Random(name).choice(TARGETS)
    kernel, functions = splitting.split(text(name, target), frozenset(splitting.functions(text(name, target))))
    own = [ours(kernel, target), oric.compile(functions, arch=target, relocatable=True).image]
    other = [linker.theirs(ptxas, kernel, target, "-ewp"), linker.theirs(ptxas, functions, target, "-c")]
    for pair in ((own[0], own[1]), (own[0], other[1]), (other[0], own[1])):
        image = linker.link(target, *pair)
        assert launch(image) == wanted(name), target
        assert check_cubin(read(image)).findings == []


@pytest.mark.measure
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_target(name: str, target: str, tmp_path: Path, ptxas: str, nvlink: str) -> None:
    linker = Linker(tmp_path, nvlink)
    for level in LEVELS:
        program = ours(text(name, target), target, level)
        assert launch(program) == wanted(name), level
        assert launch(linker.link(target, program)) == wanted(name), level
        if name in APART:
            kernel, functions = splitting.split(text(name, target), frozenset(splitting.functions(text(name, target))))
            program = ours(kernel, target, level)
            assert launch(linker.link(target, program, linker.theirs(ptxas, functions, target, "-c"))) == wanted(name), level


LAUNCHES = (
    Path(__file__).resolve().parents[1] / "data" / "cubin" / "extensible" / "kernels.ptx"
)  # kernels that the device runtime launches


@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
def test_with_the_device_runtime(target: str, tmp_path: Path, nvlink: str) -> None:
    if not RUNTIME.exists():
        pytest.skip("no libcudadevrt here")
    module = re.sub(r"^\.target \w+", f".target {target}", LAUNCHES.read_text(), flags=re.MULTILINE)
    image = read(Linker(tmp_path, nvlink).link(target, ours(module, target), library=RUNTIME))
    names = {symbol.name: symbol for symbol in image.symbols}
    assert names["cudaLaunchDeviceV2"].section  # the library's
    assert {"child", "parent"} <= set(image.kernels)


def test_what_is_elsewhere_is_named() -> None:
    kernel, _ = splitting.split(text("mutual", "sm_90"), frozenset(splitting.functions(text("mutual", "sm_90"))))
    with pytest.raises(oric.sim.LoadError, match=r"needs a linker before it can run, as '.*' is not in it"):
        oric.sim.load(ours(kernel, "sm_90"))


def messages(module: str, **options: Any) -> str:
    """What is said of a module, all of it."""
    try:
        made = oric.compile(HEAD.format(target="sm_90") + module, extensible=True, **options)
    except oric.CompileError as error:
        return str(error)
    return "\n".join(made.warnings)


def test_the_address_of_a_function_elsewhere() -> None:
    module = ".extern .func f();\n.entry k(.param .u64 p) {.reg .b64 %d<2>; mov.u64 %d1, f; st.global.u64 [%d1], %d1; ret;}\n"
    assert "error: Cannot take address of function 'f' in extensible whole program compilation." in messages(module)


def test_functions_that_are_declared_alone() -> None:
    assert "error: Unresolved extern function 'f'" in messages(".visible .func f();\n.entry k() {call f; ret;}\n")
    assert messages(".extern .func f();\n.entry k() {call f; ret;}\n") == ""


@pytest.mark.parametrize(
    ("declaration", "said"),
    [
        (".extern .shared .b32 v[4];", "Unresolved extern variable 'v' in whole program compilation, ignoring extern qualifier"),
        (".extern .global .b32 v[];", "Unresolved extern variable 'v'"),
        (".extern .global .b32 v[4];", ""),
        (".extern .const .b32 v[4];", ""),
    ],
)
def test_variables_elsewhere(declaration: str, said: str) -> None:
    assert said in messages(f"{declaration}\n.entry k() {{ret;}}\n")
    assert bool(said) == bool(messages(f"{declaration}\n.entry k() {{ret;}}\n"))


RECURSIVE = (
    ".func (.reg .b32 r) f(.reg .b32 a) {.reg .b32 t; .reg .pred p; setp.lt.u32 p, a, 2; mov.b32 r, a; @p ret; sub.u32 t, a, 1;"
    " call (r), f, (t); ret;}\n.entry first(.param .u64 q) {.reg .b64 d; .reg .b32 v; ld.param.u64 d, [q]; mov.u32 v, %tid.x;"
    " call (v), f, (v); st.global.u32 [d], v; ret;}\n.entry second() {ret;}\n"
)


def test_stacks_that_nobody_knows() -> None:
    assert messages(RECURSIVE) == "<ptx>: warning: Stack size for entry function 'first' cannot be statically determined"
    cubin = read(oric.compile(HEAD.format(target="sm_90") + RECURSIVE, extensible=True).image)
    unknown = {cubin.symbols[r.words()[0]].name for r in cubin.records if r.name == "MIN_STACK_SIZE"}
    assert unknown == {"first", "$first$f"}
    assert oric.compile(HEAD.format(target="sm_90") + RECURSIVE).warnings == []


def test_constants_elsewhere_are_read_where_the_linker_puts_them(tmp_path: Path, nvlink: str) -> None:
    """As no place of them is known here; ptxas reads from the start of the bank."""
    used = (
        ".entry k(.param .u64 p, .param .u64 q) {.reg .b64 d; .reg .b32 t, v; ld.param.u64 d, [p]; mov.u32 t, %tid.x;"
        " mad.wide.u32 d, t, 4, d; ld.const.u32 v, [far+4]; ld.const.u32 t, [near+8]; add.u32 v, v, t;"
        " st.global.u32 [d], v; ret;}\n"
    )
    program = HEAD.format(target="sm_90") + ".const .b32 near[4] = {1, 2, 3, 4};\n.extern .const .b32 far[2];\n" + used
    other = HEAD.format(target="sm_90") + ".visible .const .b32 far[2] = {10, 20};\n"
    parts = ours(program, "sm_90"), oric.compile(other, arch="sm_90", relocatable=True).image
    assert set(launch(Linker(tmp_path, nvlink).link("sm_90", *parts))[0]) == {23}


DIVISIONS = "".join(f"div.u64 %d{n + 3}, %d{n + 2}, %d{n};" for n in range(1, 24))


def test_code_that_stands_for_macros_is_the_program_s_own() -> None:
    """Local, so that a linker does not take that of one kernel for that of another."""
    body = f"{{.reg .b64 %d<30>; ld.param.u64 %d1, [p]; ld.global.u64 %d2, [%d1]; {DIVISIONS} st.global.u64 [%d1], %d26; ret;}}\n"
    module = HEAD.format(target="sm_90") + f".entry k(.param .u64 p) {body}"
    shared = [s for s in read(ours(module, "sm_90")).symbols if s.name.startswith("$__internal")]
    assert shared and all(s.info >> 4 == 0 for s in shared)
