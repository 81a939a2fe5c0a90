"""Programs at the edges of what the machine and the tables hold."""

from __future__ import annotations

import numpy as np
import oric
import pytest
from oric import CompileError
from oric.support import elf

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
TARGETS = ("sm_80", "sm_90")
# %r1: the thread; %rd2: the address of its word of the output
OWN_WORD = """ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd2, %rd2, %rd3;"""


def kernel(body: str, params: str = ".param .u64 out", name: str = "k") -> str:
    return f"{HEAD}.visible .entry {name}({params})\n{{\n{body}\n}}\n"


def run(text: str, target: str, count: int, threads: int = 32, level: int = 3, dtype: type = np.uint32) -> np.ndarray:
    module = oric.sim.load(oric.compile(text, arch=target, opt_level=level, verify=True).image)
    out = np.zeros(count, dtype)
    module.launch("k", grid=(1, 1, 1), block=(threads, 1, 1), args=[out])
    return out


def live_values(count: int) -> str:
    """``count`` loaded values that are all live at once: they are summed in reverse order after a barrier."""
    lines = [".reg .b32 %r<600>; .reg .b64 %rd<4>;", "ld.param.u64 %rd1, [out];", "cvta.to.global.u64 %rd2, %rd1;"]
    lines += [f"ld.volatile.global.u32 %r{i}, [%rd2+{4 * i}];" for i in range(count)]
    lines += ["bar.sync 0;", f"mov.u32 %r599, %r{count - 1};"]
    lines += [f"mad.lo.u32 %r599, %r599, 3, %r{i};" for i in reversed(range(count - 1))]
    lines += ["st.global.u32 [%rd2], %r599;", "ret;"]
    return kernel("\n".join(lines))


@pytest.mark.row("R1-27")
@pytest.mark.parametrize("target", TARGETS)
def test_250_values_live_at_once(target: str) -> None:
    values = np.arange(7, 257, dtype=np.uint32)
    module = oric.sim.load(oric.compile(live_values(250), arch=target).image)
    out = values.copy()
    module.launch("k", grid=(1, 1, 1), block=(1, 1, 1), args=[out])
    want = int(values[249])
    for value in reversed(values[:249]):
        want = (want * 3 + int(value)) & 0xFFFFFFFF
    assert out[0] == want


@pytest.mark.parametrize("target", TARGETS)
def test_more_live_values_than_registers_wait_in_memory(target: str) -> None:
    image = oric.compile(live_values(300), arch=target, verify=True)
    values = np.random.default_rng(5).integers(0, 1 << 32, 300, dtype=np.uint64).astype(np.uint32)
    out = values.copy()
    oric.sim.load(image.image).launch("k", grid=(1, 1, 1), block=(1, 1, 1), args=[out])
    want = int(values[299])
    for value in reversed(values[:299]):
        want = (want * 3 + int(value)) & 0xFFFFFFFF
    assert out[0] == want


@pytest.mark.row("R4-03")
@pytest.mark.parametrize("count", [7, 8, 12, 31])
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", TARGETS)
def test_predicates_live_at_once(target: str, level: int, count: int) -> None:
    """Seven fit; the others wait in general registers, guarded writes and negated reads included."""
    lines = [".reg .pred %p<40>; .reg .b32 %r<20>; .reg .b64 %rd<4>;", OWN_WORD, "mov.u32 %r9, 0;"]
    lines += [f"mul.lo.u32 %r2, %r1, {i + 3}; and.b32 %r2, %r2, 4; setp.ne.u32 %p{i}, %r2, 0;" for i in range(count)]
    lines += [f"@%p{i} setp.lt.u32 %p{i}, %r1, {i + 9};" for i in range(0, count, 3)]
    lines += ["bar.sync 0;"]
    lines += [f"{'@!' if i & 1 else '@'}%p{i} add.u32 %r9, %r9, {1 << i};" for i in range(count)]
    lines += ["st.global.u32 [%rd2], %r9;", "ret;"]
    out = run(kernel("\n".join(lines)), target, 32, level=level)
    for thread in range(32):
        want = 0
        for i in range(count):
            holds = bool(thread * (i + 3) & 4)
            if i % 3 == 0 and holds:
                holds = thread < i + 9
            want |= (holds != bool(i & 1)) << i
        assert out[thread] == want, thread


def nested(depth: int) -> str:
    """``depth`` divergent ifs inside one another, each with work behind it, so that each needs its own reconvergence."""
    lines = [".reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<4>;", OWN_WORD, "mov.u32 %r2, 0;"]
    for i in range(depth):
        lines += [f"setp.le.u32 %p, %r1, {i};", f"@%p bra L{i};", "add.u32 %r2, %r2, 1;"]
        lines += [f"st.global.u32 [%rd2+{128 * (i + 1)}], %r2;"]
    for i in reversed(range(depth)):
        lines += [f"L{i}:", "add.u32 %r2, %r2, 1000;", f"st.global.u32 [%rd2+{128 * (i + 1)}], %r2;"]
    lines += ["st.global.u32 [%rd2], %r2;", "ret;"]
    return kernel("\n".join(lines))


@pytest.mark.row("R4-04")
@pytest.mark.parametrize("depth", [1, 8, 16, 17, 24])
@pytest.mark.parametrize("level", [0, 3])
def test_nested_divergent_regions(depth: int, level: int) -> None:
    out = run(nested(depth), "sm_90", 32 * (depth + 1), level=level)
    for thread in range(32):
        taken = min(thread, depth)
        # A thread that leaves at level i passes the ends of the levels 0 .. i.
        passed = min(taken + 1, depth)
        assert out[thread] == taken + 1000 * passed, thread


@pytest.mark.row("R2-13", "R2-25")
@pytest.mark.parametrize("offset", [0, 4, 0x7FFFFC, 0x800000, 0x12345678, -4, -0x800000, -0x800004])
def test_address_offsets_of_any_size(offset: int) -> None:
    body = f""".reg .b64 %rd<4>; .reg .b32 %r<3>;
    ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1; sub.s64 %rd3, %rd2, {offset};
    ld.global.u32 %r1, [%rd3+{offset}]; add.u32 %r1, %r1, 5; st.global.u32 [%rd3+{offset}], %r1; ret;"""
    for level in (0, 3):
        assert run(kernel(body), "sm_90", 1, 1, level)[0] == 5


@pytest.mark.row("R2-70")
def test_a_guard_survives_all_phases() -> None:
    body = f""".reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<4>; {OWN_WORD}
    setp.lt.u32 %p, %r1, 5; @!%p st.global.u32 [%rd2], %r1; @!%p exit; st.global.u32 [%rd2], 77; ret;"""
    for level in (0, 3):
        out = run(kernel(body), "sm_90", 32, level=level)
        assert out.tolist() == [77] * 5 + list(range(5, 32))


@pytest.mark.row("R3-03")
def test_300_kernels_in_a_module() -> None:
    one = """.visible .entry k{i}(.param .u64 out) {{ .reg .b64 %rd<3>; .reg .b32 %r; ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1; mov.u32 %r, {i}; st.global.u32 [%rd2], %r; ret; }}\n"""
    cubin = oric.compile(HEAD + "".join(one.format(i=i) for i in range(300)))
    assert list(cubin.kernels) == [f"k{i}" for i in range(300)]
    module = oric.sim.load(cubin.image)
    for i in (0, 127, 128, 299):
        out = np.zeros(1, np.uint32)
        module.launch(f"k{i}", grid=(1, 1, 1), block=(1, 1, 1), args=[out])
        assert out[0] == i


@pytest.mark.row("R3-20")
def test_a_name_of_5000_characters() -> None:
    name = "k" + "x" * 4999
    body = ".reg .b64 %rd<3>; ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1; st.global.u32 [%rd2], 3; ret;"
    cubin = oric.compile(kernel(body, name=name))
    assert list(cubin.kernels) == [name]
    out = np.zeros(1, np.uint32)
    oric.sim.load(cubin.image).launch(name, grid=(1, 1, 1), block=(1, 1, 1), args=[out])
    assert out[0] == 3


@pytest.mark.parametrize("target", TARGETS)
def test_stall_and_yield_are_values_that_the_machine_takes(target: str) -> None:
    """Of stall count and yield bit as one number, nvdisasm takes 0-15 and 17-27."""
    body = """.reg .b64 %rd<3>; .reg .b32 %r<3>; ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1;
    st.global.u32 [%rd2], 1; membar.gl; fence.acq_rel.sys; membar.sys; ld.volatile.global.u32 %r1, [%rd2]; bar.sync 0; membar.cta;
    st.global.u32 [%rd2], %r1; nanosleep.u32 20; ret;"""
    for level in (0, 3):
        cubin = elf.read(oric.compile(kernel(body), arch=target, opt_level=level).image)
        for words in cubin.kernels.values():
            for offset in range(0, len(words.text), 16):
                value = int.from_bytes(words.text[offset : offset + 16], "little") >> 105 & 31
                assert value <= 15 or 17 <= value <= 27, hex(offset)


@pytest.mark.parametrize(("target", "most"), [("sm_80", 49152), ("sm_90", 49152), ("sm_90a", 232448)])
def test_all_static_shared_memory_can_be_used(target: str, most: int) -> None:
    """As on ptxas 13.0.88, an `a` target has all shared memory of a block; the last word is written and read."""
    text = f""".reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .align 4 .b8 s[SIZE];
{OWN_WORD}
mov.u32 %r2, s;
st.shared.b32 [%r2+{most - 4}], 77; ld.shared.b32 %r3, [%r2+{most - 4}]; st.global.b32 [%rd2], %r3; ret;"""
    assert run(kernel(text.replace("SIZE", str(most))), target, 1, threads=1)[0] == 77
    with pytest.raises(CompileError, match=f"uses too much shared data \\(0x{most + 1:x} bytes, 0x{most:x} max\\)"):
        oric.compile(kernel(text.replace("SIZE", str(most + 1))), arch=target)
    with pytest.raises(oric.sim.LaunchError, match=r"\d+ bytes of shared memory: sm_\w+ has at most \d+ for a block"):
        module = oric.sim.load(oric.compile(kernel(text.replace("SIZE", str(most))), arch=target).image)
        module.launch("k", grid=(1, 1, 1), block=(1, 1, 1), args=[np.zeros(1, np.uint32)], shared_bytes=232448)
