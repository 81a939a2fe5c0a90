# ruff: noqa: E501 (lines of PTX)
"""Every special register of PTX, read in the simulator: what the launch and the place of the thread say; by ptxas's code too."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import oric
import pytest
from oric_tables import ptx_index as ix
from oric_tables.targets import TARGETS

Array = np.ndarray[Any, Any]
BLOCK, GRID, CLUSTER, DYNAMIC = (8, 4, 2), (4, 2, 2), (2, 1, 2), 96
THREADS, BLOCKS = 64, 16
TIMES = ("clock", "globaltimer")  # what differs from one code to another
LAYOUT = "xyz"


def names(target: str) -> list[str]:
    """The special registers of a target, vectors by their components; registers that are vectors as a whole are left out."""
    number = ix.TARGETS[target][0]
    return [name for name, (_, components, _, sm, _) in ix.SPECIAL.items() if components == 1 and sm <= number]


def kernel(target: str) -> str:
    """A kernel that stores each register of a target as 64 bits: ``out[register][block][thread]``."""
    reads = []
    for row, name in enumerate(names(target)):
        type_ = ix.SPECIAL[name][0]
        if type_ == "pred":
            read = f"mov.pred %p1, %{name}; selp.u64 %d2, 1, 0, %p1;"
        elif type_[1:] == "64":
            read = f"mov.{type_} %d2, %{name};"
        else:
            read = f"mov.{type_} %r1, %{name}; cvt.u64.u32 %d2, %r1;"
        reads.append(f"{read} st.global.u64 [%d1+{row * BLOCKS * THREADS * 8}], %d2;")
    return f"""
.version 9.0
.target {target}
.address_size 64
.extern .shared .align 8 .b8 more[];
.visible .entry k(.param .u64 out)
{{
  .reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<3>; .shared .align 8 .b8 room[40];
  ld.param.u64 %d1, [out]; st.shared.u32 [room], 0; st.shared.u32 [more], 0;
  mov.v4.u32 {{%r2, %r3, %r4, %r5}}, %ctaid; mov.v4.u32 {{%r6, %r7, %r8, %r9}}, %nctaid; mad.lo.u32 %r10, %r4, %r7, %r3; mad.lo.u32 %r10, %r10, %r6, %r2;
  mov.v4.u32 {{%r2, %r3, %r4, %r5}}, %tid; mov.v4.u32 {{%r6, %r7, %r8, %r9}}, %ntid; mad.lo.u32 %r11, %r4, %r7, %r3; mad.lo.u32 %r11, %r11, %r6, %r2;
  mad.lo.u32 %r10, %r10, {THREADS}, %r11; add.u32 %r10, %r10, %r5; add.u32 %r10, %r10, %r9; mul.wide.u32 %d2, %r10, 8; add.u64 %d1, %d1, %d2;
  {" ".join(reads)}
  ret;
}}
"""


def launched(image: bytes, target: str) -> dict[str, Array]:
    """The values by register: [block, thread]."""
    found = names(target)
    out = np.zeros((len(found), BLOCKS, THREADS), np.uint64)
    cluster = {"cluster": CLUSTER} if "clusters" in TARGETS[target].features else {}
    oric.sim.load(image).launch("k", grid=GRID, block=BLOCK, args=[out], shared_bytes=DYNAMIC, **cluster)
    return dict(zip(found, out, strict=True))


def places(shape: tuple[int, int, int], count: int) -> Array:
    """The three coordinates of the elements of a shape, the first one fastest."""
    return np.stack(
        [np.arange(count) % shape[0], np.arange(count) // shape[0] % shape[1], np.arange(count) // (shape[0] * shape[1])]
    )


def expected(target: str) -> dict[str, Any]:
    """What the manual says of the registers whose values follow from the launch: an array [block, thread] or a number."""
    features = TARGETS[target].features
    tid, ctaid = places(BLOCK, THREADS)[:, None, :], places(GRID, BLOCKS)[:, :, None]
    lane = np.arange(THREADS)[None, :] % 32
    out: dict[str, Any] = {"laneid": lane, "warpid": np.arange(THREADS)[None, :] // 32, "smid": 0, "nsmid": 1, "gridid": 1,
                           "dynamic_smem_size": DYNAMIC, "current_graph_exec": 0}  # fmt: skip
    out |= {"lanemask_eq": 1 << lane, "lanemask_lt": (1 << lane) - 1, "lanemask_le": (2 << lane) - 1}
    out |= {"lanemask_ge": 0xFFFFFFFF & ~((1 << lane) - 1), "lanemask_gt": 0xFFFFFFFF & ~((2 << lane) - 1)}
    out |= {f"pm{n}": 0 for n in range(8)} | {f"pm{n}_64": 0 for n in range(8)} | {f"envreg{n}": 0 for n in range(8)}
    vectors: list[tuple[str, Any]] = [("tid", tid), ("ntid", BLOCK), ("ctaid", ctaid), ("nctaid", GRID)]
    if "clusters" in features:
        shape = np.array(CLUSTER)[:, None, None]
        vectors += [("clusterid", ctaid // shape), ("nclusterid", np.array(GRID) // CLUSTER), ("cluster_ctaid", ctaid % shape)]
        vectors += [("cluster_nctaid", CLUSTER)]
        rank = ctaid % shape
        out |= {
            "is_explicit_cluster": 1,
            "cluster_nctarank": 4,
            "cluster_ctarank": rank[0] + CLUSTER[0] * (rank[1] + CLUSTER[1] * rank[2]),
        }
    for name, values in vectors:
        out |= {f"{name}.{c}": values[k] for k, c in enumerate(LAYOUT)} | {f"{name}.w": 0}
    out["total_smem_size"] = 48 + DYNAMIC  # what the block has by itself is a multiple of 16
    return out


@pytest.mark.row("R4-22")
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a", "sm_120"])
def test_every_special_register(target: str, level: int) -> None:
    """Registers that the launch settles have the value that the manual says; all can be read."""
    got = launched(oric.compile(kernel(target), arch=target, opt_level=level).image, target)
    want = expected(target)
    wrong = [name for name, value in want.items() if not (got[name] == np.asarray(value, np.uint64)).all()]
    assert not wrong
    assert (got["nwarpid"] == TARGETS[target].warps_per_sm).all()


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a", "sm_120"])
def test_the_vendors_code_reads_the_same(tmp_path: Path, target: str) -> None:
    """All registers but clocks, those that no manual settles included."""
    ptxas = shutil.which("ptxas")
    if not ptxas:
        pytest.skip("ptxas not found on PATH: special registers were NOT read by the vendor's code")
    (tmp_path / "k.ptx").write_text(kernel(target))
    subprocess.run([ptxas, f"-arch={target}", "k.ptx", "-o", "k.cubin"], cwd=tmp_path, check=True)
    theirs = launched((tmp_path / "k.cubin").read_bytes(), target)
    ours = launched(oric.compile(kernel(target), arch=target).image, target)
    assert [name for name in ours if not name.startswith(TIMES) and (ours[name] != theirs[name]).any()] == []


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_clocks_are_read_where_they_stand(target: str, level: int) -> None:
    """Two reads of a clock are two, and time goes on between them."""
    reads = " ".join(f"mov.u{w} %{r}{n}, %{name}; mov.u{w} %{r}{n + 1}, %{name};" for n, (name, r, w) in enumerate(
        [("clock", "r", 32), ("clock64", "d", 64), ("globaltimer", "d", 64), ("globaltimer_lo", "r", 32)]) for n in [2 + 2 * n])  # fmt: skip
    body = f"""
.version 8.5
.target {target}
.address_size 64
.visible .entry k(.param .u64 out)
{{
  .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<9>; ld.param.u64 %d1, [out]; {reads}
  setp.lo.u32 %p1, %r2, %r3; setp.lo.u64 %p2, %d4, %d5; setp.lo.u64 %p3, %d6, %d7; setp.lo.u32 %p4, %r8, %r9;
  and.pred %p1, %p1, %p2; and.pred %p1, %p1, %p3; and.pred %p1, %p1, %p4; selp.u32 %r1, 1, 0, %p1; st.global.u32 [%d1], %r1; ret;
}}
"""
    out = np.zeros(1, np.uint32)
    oric.sim.load(oric.compile(body, arch=target, opt_level=level).image).launch("k", grid=(1, 1, 1), block=(1, 1, 1), args=[out])
    assert out[0] == 1


@pytest.mark.parametrize("level", [0, 3])
def test_narrower_and_wider_registers(level: int) -> None:
    """The sizes that registers had in older versions, and wider ones."""
    body = """
.version 8.5
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %d<20>; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 16; add.u64 %d1, %d1, %d2;
  mov.u16 %h1, %tid.x; mov.b16 %h2, %ntid.x; cvt.u32.u16 %r2, %h1; cvt.u32.u16 %r3, %h2; mov.u32 %r4, %gridid; mov.u32 %r5, %nctaid.w;
  st.global.v4.u32 [%d1], {%r2, %r3, %r4, %r5}; ret;
}
"""
    out = np.full((33, 4), 9, np.uint32)
    oric.sim.load(oric.compile(body, arch="sm_80", opt_level=level).image).launch(
        "k", grid=(1, 1, 1), block=(33, 1, 1), args=[out]
    )
    assert out.tolist() == [[t, 33, 1, 0] for t in range(33)]
