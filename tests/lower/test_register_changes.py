"""setmaxnreg: registers that a warp gives back and takes at run time, and what is said where it cannot be."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import oric
import pytest
from oric.driver.front import PtxInput, build_inputs
from oric.driver.options import CompileOptions
from oric.ir.passes import PassContext
from oric.phases.control import analyze_control_flow, set_control_flow_last
from oric.phases.register_changes import settle_register_changes
from oric.sass.check import check_cubin
from oric.sim import Modes
from oric.support import elf
from oric.support.diagnostics import Diagnostics, diagnostics_for

targets = pytest.mark.parametrize("target", ["sm_90a", "sm_100a", "sm_103f", "sm_110a", "sm_120a"])
levels = pytest.mark.parametrize("level", [0, 3])
BOTH = Modes(strict=True, memcheck=True)


def kernel(target: str, directives: str, before: str, between: str = "", behind: str = "", count: int = 4) -> str:
    """``count`` words are loaded and stored in the other order; statements in front of, between and behind both."""
    loads = "\n".join(f"ld.volatile.global.u32 %v{i}, [%p+{4 * i}];" for i in range(count))
    stores = "\n".join(f"st.volatile.global.u32 [%p+{4 * i}], %v{count - 1 - i};" for i in range(count))
    return (
        f".version 9.0\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 p) {directives} {{\n"
        f".reg .b32 %v<{count}>, %r; .reg .b64 %p; .reg .pred %q; ld.param.u64 %p, [p];\n"
        f"{before}\n{loads}\n{between}\n{stores}\n{behind}\nret;\n}}\n"
    )


def dec(count: int) -> str:
    return f"setmaxnreg.dec.sync.aligned.u32 {count};"


def inc(count: int) -> str:
    return f"setmaxnreg.inc.sync.aligned.u32 {count};"


@targets
@levels
@pytest.mark.parametrize(
    ("directives", "statements", "registers"),
    [
        (".maxnreg 128", ("", dec(24)), 128),
        (".maxnreg 128", (dec(24),), 128),
        (".maxnreg 128", ("", "", dec(24)), 128),
        (".maxnreg 128", (dec(24), inc(96)), 96),
        (".maxntid 128 .minnctapersm 4", (dec(40), "", inc(128)), 128),
    ],
)
def test_code_keeps_to_the_registers_that_there_are(
    target: str, level: int, directives: str, statements: tuple[str, ...], registers: int
) -> None:
    """60 values are alive at once; the simulator knows no register beyond those that a warp has."""
    done = oric.compile(kernel(target, directives, *statements, count=60), arch=target, opt_level=level)
    words = np.arange(60, dtype=np.uint32)
    oric.sim.load(done.image).launch("k", grid=1, block=32, args=[words], modes=BOTH)
    assert (words == np.arange(60)[::-1]).all()
    assert done.kernels["k"].registers == registers
    assert bool(done.kernels["k"].spills[0]) == (statements[:2] != ("", ""))


def exchange(target: str) -> str:
    """A warp group gives registers to two others, which have 200 values each."""
    count = 200
    loads = "\n".join(f"ld.global.u32 %v{i}, [%p+{512 * i}];" for i in range(count))
    sums = "\n".join(f"add.u32 %v{i}, %v{i}, %v{count - 1 - i};" for i in range(count))
    folds = "\n".join(f"mad.lo.u32 %s, %s, 3, %v{i};" for i in range(count))
    return f""".version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) .maxntid 384 .minnctapersm 1 {{
.reg .b32 %v<{count}>, %t, %s, %u; .reg .b64 %p, %o, %w; .reg .pred %q;
ld.param.u64 %p, [in]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mul.wide.u32 %w, %t, 4; add.u64 %o, %o, %w;
setp.lt.u32 %q, %t, 128; @!%q bra TAKES;
{dec(40)}
st.global.u32 [%o], %t; bra DONE;
TAKES: {inc(232)}
and.b32 %u, %t, 127; mul.wide.u32 %w, %u, 4; add.u64 %p, %p, %w; mov.u32 %s, 0;
{loads}
{sums}
{folds}
st.global.u32 [%o], %s;
DONE: ret;
}}
"""


def expected(data: np.ndarray) -> np.ndarray:
    """What ``exchange`` stores."""
    values = [data[i].copy() for i in range(200)]
    for i in range(200):
        values[i] += values[199 - i]
    total = np.zeros(128, np.uint32)
    for value in values:
        total = total * np.uint32(3) + value
    return np.concatenate([np.arange(128, dtype=np.uint32), total, total])


def exchanged(image: bytes, modes: Modes = BOTH) -> tuple[np.ndarray, np.ndarray]:
    data = np.random.default_rng(4).integers(0, 2**32, (200, 128), dtype=np.uint64).astype(np.uint32)
    out = np.zeros(384, np.uint32)
    oric.sim.load(image).launch("k", grid=1, block=384, args=[data, out], modes=modes)
    return out, expected(data)


@targets
@levels
def test_warps_give_registers_to_others(target: str, level: int) -> None:
    done = oric.compile(exchange(target), arch=target, opt_level=level)
    out, want = exchanged(done.image)
    assert (out == want).all()
    assert done.kernels["k"].registers == 168
    assert done.kernels["k"].spills[0] <= 16  # of 800 bytes of values


@levels
def test_the_same_bytes_each_time(level: int) -> None:
    assert len({oric.compile(exchange("sm_90a"), arch="sm_90a", opt_level=level).image for _ in range(10)}) == 1


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a", "sm_120a"])
def test_the_vendor_makes_the_same_of_it(target: str, tmp_path: Path) -> None:
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        pytest.skip("ptxas not found on PATH")
    (tmp_path / "k.ptx").write_text(exchange(target))
    subprocess.run([ptxas, f"-arch={target}", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
    image = (tmp_path / "k.cubin").read_bytes()
    out, want = exchanged(image)
    assert (out == want).all()
    theirs = oric.sim.load(image).image.cubin.kernels["k"]
    assert theirs.registers == oric.compile(exchange(target), arch=target).kernels["k"].registers


# What ptxas 13.0.88 does with each: registers at the entry, or its message.
UNKNOWN = "(C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry."
LARGE = (
    "(C7406) setmaxnreg.dec has register count ({}) which is larger than the largest temporal register count in the program ({})"
)
ANSWERS = [
    ("", None, dec(40), UNKNOWN),
    (".maxntid 128", None, inc(40), UNKNOWN),
    (".reqntid 128", None, dec(40), UNKNOWN),
    (".maxntid 1024 .minnctapersm 4", None, dec(40), UNKNOWN),
    ("", 64, inc(40), 40),
    (".maxnreg 64", None, inc(40), 40),
    (".maxnreg 64", None, inc(232), 64),
    (".maxnreg 64", None, dec(40), 64),
    (".maxnreg 16", None, dec(24), 24),
    (".maxnreg 63", None, dec(24), 63),
    (".maxnreg 64", None, dec(40) + inc(56), 56),
    (".maxnreg 64", None, inc(128) + inc(40), 64),
    (".maxntid 128 .minnctapersm 1", None, dec(232), 255),
    (".reqntid 1024 .minnctapersm 2", None, dec(24), 32),
    (".maxnreg 64", None, dec(232), LARGE.format(232, 64)),
    (".maxnreg 64", None, dec(56) + inc(40), LARGE.format(56, 40)),
    (".reqntid 1024 .minnctapersm 2", None, dec(40), LARGE.format(40, 32)),
]


@pytest.mark.row("R4-46")
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize(("directives", "limit", "statements", "answer"), ANSWERS)
def test_when_it_is_kept(target: str, directives: str, limit: int | None, statements: str, answer: int | str) -> None:
    text = kernel(target, directives, statements)
    if isinstance(answer, str) and "larger" in answer:
        with pytest.raises(oric.CompileError) as error:
            oric.compile(text, arch=target, maxrregcount=limit)
        assert [item.message for item in error.value.diagnostics.items if item.severity == "error"] == [answer]
        assert error.value.diagnostics.errors()[0].startswith("<ptx>:6:1")
        return
    done = oric.compile(text, arch=target, maxrregcount=limit)
    told = [(item.severity, item.message) for part in done.messages for item in part.items if item.severity == "info"]
    assert told == ([("info", answer)] if isinstance(answer, str) else [])
    assert answer in (done.kernels["k"].registers, UNKNOWN)


@levels
def test_what_is_left_out_leaves_nothing(level: int) -> None:
    """The loop that waits for registers goes too."""
    done = oric.compile(kernel("sm_90a", "", inc(64), f"setp.eq.u32 %q, %v0, 5; @%q {dec(40)}"), arch="sm_90a", opt_level=level)
    words = np.arange(4, dtype=np.uint32)
    oric.sim.load(done.image).launch("k", grid=1, block=32, args=[words], modes=BOTH)
    assert (words == [3, 2, 1, 0]).all()


@pytest.mark.row("R4-46")
@pytest.mark.parametrize(
    ("statement", "severity", "message"),
    [
        (dec(24), "error", "setmaxreg.dealloc/release has register count (24) less than launch min target (32) allowed"),
        (inc(24), "info", "Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register requirements."),
    ],
)
def test_fewer_than_a_launch_needs(statement: str, severity: str, message: str) -> None:
    """No target that has the instruction needs more than its smallest number: one that does, for the check."""
    text = kernel("sm_90a", ".maxnreg 64", statement)
    front = build_inputs([PtxInput(text, "m.ptx")], CompileOptions("sm_90a"))
    f, diag = front.module.functions[0], diagnostics_for(text, "m.ptx")
    ctx = PassContext(CompileOptions("sm_90a").target._replace(min_regs=32), front.module, diag=diag)
    analyze_control_flow(f, ctx)
    set_control_flow_last(f, ctx)
    settle_register_changes(f, ctx)
    assert [(item.severity, item.message) for item in _items(diag)] == [(severity, message)]


def _items(diag: Diagnostics) -> list:
    return diag.items


@targets
def test_the_checker_knows_the_registers_that_a_warp_takes(target: str) -> None:
    assert check_cubin(elf.read(oric.compile(exchange(target), arch=target).image)).findings == []
