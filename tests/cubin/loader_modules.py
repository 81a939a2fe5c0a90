"""Small modules that show what a loader is told: kernels, data and limits of every kind, and each record that scalar code brings.

A module is PTX without its head; ``least`` is the first SM that takes it, ``families`` the targets where only some do.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_HEAD = ".version 9.0\n.target {target}\n.address_size 64\n"
_REGISTERS = (
    ".reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .f32 %f<9>; .reg .f64 %g<9>; .reg .pred %p<9>;"
    " ld.param.u64 %d1, [out]; cvta.to.global.u64 %d1, %d1; mov.u32 %r1, %tid.x; mad.wide.u32 %d1, %r1, 16, %d1;"
)


class LoaderModule(NamedTuple):
    """A module: its name, its PTX, the SMs that take it."""

    name: str
    body: str
    least: int
    families: tuple[str, ...]

    def text(self, target: str) -> str:
        """The PTX for a target."""
        return _HEAD.format(target=target) + self.body

    def fits(self, target: str) -> bool:
        """Whether a target takes it."""
        number = int(re.sub(r"\D", "", target))
        return number >= self.least and (not self.families or target in self.families)


def kernel(body: str, name: str = "k", directives: str = "", more: str = "", linkage: str = ".visible") -> str:
    """A kernel whose threads have 16 bytes at %d1 for what they find, and their number in %r1."""
    return f"{linkage} .entry {name}(.param .u64 out{more}) {directives} {{ {_REGISTERS}\n{body}\nret; }}\n"


_STORE = "st.global.u32 [%d1], %r2;"
_GRID = "mov.u32 %r2, %ctaid.{0}; mov.u32 %r3, %nctaid.{0}; mov.u32 %r4, %ntid.{0}; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4;"
_SPECIAL = (
    "laneid", "warpid", "nwarpid", "smid", "nsmid", "lanemask_eq", "lanemask_lt", "clock", "clock_hi", "globaltimer_lo",
    "globaltimer_hi", "total_smem_size", "dynamic_smem_size", "tid.y", "tid.z", "ntid.y", "ctaid.y", "nctaid.y", "envreg0", "pm0",
)  # fmt: skip


def _special() -> str:
    lines = [f"mov.u32 %r2, %{name}; add.u32 %r3, %r3, %r2;" for name in _SPECIAL]
    return "mov.u32 %r3, 0;\n" + "\n".join(lines) + "\nst.global.u32 [%d1], %r3;"


_MODULES: dict[str, tuple[str, int, tuple[str, ...]]] = {}


def _module(name: str, *kernels: str, least: int = 75, families: tuple[str, ...] = ()) -> None:
    _MODULES[name] = ("".join(kernels), least, families)


_module("nothing", "")
_module("empty", ".visible .entry e() { ret; }\n")
_module("grid_x", kernel(_GRID.format("x") + _STORE))
_module("grid_y", kernel(_GRID.format("y") + _STORE))
_module("grid_z", kernel(_GRID.format("z") + _STORE), kernel(_STORE.replace("%r2", "%r1"), "other"))
_module("special", kernel(_special()))
_module(
    "parameters",
    kernel(
        "ld.param.u32 %r2, [a+4]; ld.param.u16 %h1, [b]; ld.param.f64 %g1, [c+24]; cvt.u32.u16 %r3, %h1; add.u32 %r2, %r2, %r3;"
        "cvt.rzi.u32.f64 %r3, %g1; add.u32 %r2, %r2, %r3;" + _STORE,
        more=", .param .align 8 .b8 a[12], .param .u16 b, .param .align 16 .b8 c[48], .param .u8 d, .param .f64 e",
    ),
    kernel(
        "ld.param.u64 %d2, [p]; ld.global.u32 %r2, [%d2];" + _STORE, "pointers",
        more=", .param .u64 .ptr .global .align 16 p, .param .u64 .ptr .shared .align 4 q, .param .u64 .ptr .const .align 1 r,"
        " .param .u64 .ptr .local .align 64 s, .param .u64 .ptr .align 8 t, .param .u64 .ptr u",
    ),
    ".visible .entry none() { .reg .b32 %r<3>; ret; }\n",
)  # fmt: skip
_module(
    "large_parameters",
    kernel("ld.param.u32 %r2, [a+3996];" + _STORE, more=", .param .align 4 .b8 a[4000]"),
)
_module(
    "many_parameters",
    kernel("ld.param.u32 %r2, [p19];" + _STORE, more="".join(f", .param .{('u32', 'u8', 'u64')[n % 3]} p{n}" for n in range(20))),
)
_module(
    "wide_parameters",
    kernel("ld.param.u32 %r2, [a+20476]; ld.param.u32 %r3, [b+4]; add.u32 %r2, %r2, %r3;" + _STORE,
           more=", .param .align 4 .b8 a[20480], .param .align 8 .b8 b[8]"),
    kernel("ld.param.u32 %r2, [a+16380];" + _STORE, "just", more=", .param .align 4 .b8 a[16384]"),
    kernel("ld.param.u32 %r2, [a+16376];" + _STORE, "below", more=", .param .align 4 .b8 a[16380]"),
)  # fmt: skip
_module(
    "limits",
    *(
        kernel(_STORE.replace("%r2", "%r1"), f"k{number}", directives)
        for number, directives in enumerate((
            ".maxnreg 24", ".maxnreg 64", ".maxntid 128", ".maxntid 16, 8, 4", ".reqntid 64", ".reqntid 8, 8, 2",
            ".maxntid 256 .minnctapersm 4", ".reqntid 512 .minnctapersm 2", ".maxntid 1024", ".maxntid 96 .maxnreg 40",
            ".minnctapersm 3", ".maxntid 1 .minnctapersm 32", ".maxntid 512 .minnctapersm 1 .maxnreg 128",
        ))
    ),
)  # fmt: skip
_module(
    "shared",
    ".shared .align 8 .b8 outer[40];\n.shared .align 4 .b8 unused[12];\n",
    kernel(".shared .align 4 .b8 inner[13]; .shared .align 2 .b8 idle[6]; st.shared.u32 [outer+8], %r1; bar.sync 0;"
           "mov.u32 %r3, inner; add.u32 %r3, %r3, %r1; st.shared.u8 [%r3], %r1; ld.shared.u32 %r2, [outer+8];" + _STORE),
    kernel("st.shared.u32 [outer], %r1; ld.shared.u32 %r2, [outer];" + _STORE, "second"),
    kernel(_STORE.replace("%r2", "%r1"), "third"),
)  # fmt: skip
_module(
    "dynamic_shared",
    ".extern .shared .align 4 .b8 small[];\n.extern .shared .align 64 .b8 large[];\n",
    kernel(".shared .align 4 .b8 fixed[20]; st.shared.u32 [fixed+16], %r1; mov.u32 %r3, small; mov.u32 %r4, large;"
           "add.u32 %r3, %r3, %r1; st.shared.u32 [%r3], %r4; ld.shared.u32 %r2, [fixed+16];" + _STORE),
    kernel("mov.u32 %r3, small; add.u32 %r3, %r3, %r1; st.shared.u8 [%r3], %r1;", "only"),
    kernel(_STORE.replace("%r2", "%r1"), "none"),
)  # fmt: skip
_module(
    "dynamic_shared_later",
    ".extern .shared .align 8 .b8 early[];\n",
    kernel(".shared .align 4 .b8 fixed[20]; st.shared.u32 [fixed+16], %r1; mov.u32 %r2, early; st.shared.u32 [%r2], %r2;"),
    ".extern .shared .align 128 .b8 late[];\n",
    kernel(".shared .align 4 .b8 more[20]; st.shared.u32 [more+16], %r1; mov.u32 %r2, late; st.shared.u32 [%r2], %r2;", "second"),
)
_module(
    "data",
    ".visible .global .align 8 .b8 zero[100];\n.global .align 4 .u32 init[5] = {1, 2, 3};\n.global .align 1 .u8 byte = 7;\n"
    ".visible .const .align 16 .f32 table[4] = {0f3F800000, 0f40000000};\n.const .align 4 .u32 empty[3];\n"
    ".weak .global .align 4 .u32 weak = 9;\n.visible .global .align 8 .u64 pointers[3] = {init, generic(zero)+8, init+4};\n"
    ".common .global .align 4 .u32 shared_by_all;\n.visible .global .attribute(.managed) .align 4 .u32 managed[2];\n",
    kernel("ld.global.u32 %r2, [zero+4]; ld.const.f32 %f1, [table+4]; ld.global.u32 %r3, [init+8]; add.u32 %r2, %r2, %r3;"
           "cvt.rzi.u32.f32 %r3, %f1; add.u32 %r2, %r2, %r3;" + _STORE),
    kernel("mov.u64 %d2, empty; cvta.const.u64 %d2, %d2; ld.u32 %r2, [%d2]; ld.global.u64 %d3, [pointers];"
           "ld.u32 %r3, [%d3]; add.u32 %r2, %r2, %r3;" + _STORE, "second"),
)  # fmt: skip
_module("data_alone", ".visible .global .align 4 .u32 one = 1;\n.visible .const .align 4 .u32 two[3];\n")
_module(
    "addresses",
    ".visible .global .align 8 .u32 there[4] = {1, 2, 3, 4};\n.visible .const .align 8 .u32 fixed[4] = {1, 2, 3, 4};\n"
    ".visible .global .align 8 .u64 whole[6] = {there, there+8, generic(there)+4, fixed+8, generic(fixed)+4, 5};\n"
    ".visible .const .align 8 .u64 kept[2] = {there+4, fixed+4};\n"
    ".visible .global .align 8 .u64 bytes[4] = {0xFF(there+4), 0xFF00(fixed+8), 0xFF(fixed+4), 0xFF00(there)};\n"
    ".visible .global .align 8 .u8 mixed[8] = {0xFF00(fixed), 0xFF(fixed+8), 6, 7, 5, 0xFF(generic(fixed)), 0xFF("
    "generic(there)+4), 0xFF(generic(fixed)+4)};\n"
    ".visible .const .align 8 .u8 each[8] = {0xFF(there), 0xFF00(there), 0xFF0000(there), 0xFF000000(there), 0xFF00000000(there),"
    " 0xFF0000000000(there), 0xFF000000000000(there), 0xFF00000000000000(there)};\n",
    kernel(_STORE.replace("%r2", "%r1")),
)
_module(
    "linkage",
    kernel("", "hidden", linkage=""),
    kernel("", "weak", linkage=".weak"),
    kernel("", "seen"),
    kernel(_STORE.replace("%r2", "%r1"), "$odd_name$"),
)
_module(
    "local",
    kernel(".local .align 16 .b8 frame[72]; mov.u32 %r3, frame; and.b32 %r4, %r1, 15; mad.lo.u32 %r3, %r4, 4, %r3;"
           "st.local.u32 [%r3], %r1; ld.local.u32 %r2, [frame+20];" + _STORE),
    kernel(_STORE.replace("%r2", "%r1"), "without"),
)  # fmt: skip
_module(
    "barriers",
    kernel("bar.sync 3; bar.sync 0, 64; barrier.sync.aligned 5;" + _STORE.replace("%r2", "%r1")),
    kernel("bar.sync 0;" + _STORE.replace("%r2", "%r1"), "zero"),
    kernel("bar.sync 15;", "last"),
    kernel("setp.lt.u32 %p1, %r1, 7; barrier.red.popc.aligned.u32 %r2, 2, %p1; bar.arrive 4, 96;" + _STORE, "reduced"),
    kernel("barrier.sync %r1; barrier.sync %r1, 64; barrier.arrive %r1, 64;", "computed"),
    kernel("bar.warp.sync 0xffffffff; " + _STORE.replace("%r2", "%r1"), "of_warp"),
    kernel("bar.warp.sync %r1; " + _STORE.replace("%r2", "%r1"), "of_some"),
)
_module(
    "warp_constant_mask",
    kernel("shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; shfl.sync.up.b32 %r3|%p1, %r2, %r1, 0, -1; selp.u32 %r2, %r2, %r3, %p1;"
           "setp.lt.u32 %p2, %r2, 9; vote.sync.ballot.b32 %r3, %p2, -1; vote.sync.any.pred %p3, %p2, -1;"
           "selp.u32 %r2, %r2, %r3, %p3; match.any.sync.b32 %r4, %r2, -1; add.u32 %r2, %r2, %r4;" + _STORE),
    kernel("activemask.b32 %r2; shfl.sync.idx.b32 %r3, %r1, 0, 31, 0xffff; add.u32 %r2, %r2, %r3;" + _STORE, "half"),
    kernel("match.all.sync.b64 %r2|%p1, %d1, -1; vote.sync.uni.pred %p2, %p1, -1; selp.u32 %r2, %r2, 0, %p2;" + _STORE, "all"),
)  # fmt: skip
_module(
    "warp_variable_mask",
    kernel("ld.param.u32 %r9, [mask]; shfl.sync.down.b32 %r2, %r1, 1, 31, %r9; setp.lt.u32 %p2, %r2, 9;"
           "vote.sync.ballot.b32 %r3, %p2, %r9; match.any.sync.b32 %r4, %r2, %r9; add.u32 %r2, %r3, %r4;" + _STORE,
           more=", .param .u32 mask"),
)  # fmt: skip
_module(
    "warp_reductions",
    kernel("redux.sync.add.s32 %r2, %r1, -1; redux.sync.or.b32 %r3, %r2, -1; add.u32 %r2, %r2, %r3;" + _STORE),
    kernel("redux.sync.min.u32 %r2, %r1, %r1;" + _STORE, "some"),
    least=80,
)
_module(
    "divergence",
    kernel("and.b32 %r3, %r1, 3; setp.eq.u32 %p1, %r3, 0; @%p1 bra A; ld.global.u32 %r2, [%d1+4]; bra B; A: ld.global.u32 %r2,"
           " [%d1+8]; mul.lo.u32 %r2, %r2, %r2; B: " + _STORE),
    kernel("mov.u32 %r2, 0; L: ld.global.u32 %r3, [%d1+4]; add.u32 %r2, %r2, %r3; setp.lt.u32 %p1, %r2, %r1; @%p1 bra L;"
           + _STORE, "loop"),
    kernel("setp.lt.u32 %p1, %r1, 9; @%p1 exit; ld.global.u32 %r2, [%d1+4]; setp.lt.u32 %p2, %r2, 9; @%p2 ret;"
           + _STORE, "exits"),
    kernel("setp.lt.u32 %p1, %r1, 9; @%p1 trap;" + _STORE.replace("%r2", "%r1"), "trap"),
    kernel("setp.lt.u32 %p1, %r1, 9; @%p1 brkpt;" + _STORE.replace("%r2", "%r1"), "stop"),
    kernel("L: ld.volatile.global.u32 %r2, [%d1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;", "spin"),
    kernel("L: bra L;", "forever"),
)  # fmt: skip
_module(
    "jump_table",
    kernel("and.b32 %r3, %r1, 3; T: .branchtargets A, B, C, D; brx.idx %r3, T; A: mov.u32 %r2, 5; bra E; B: ld.global.u32 %r2,"
           " [%d1+4]; bra E; C: mul.lo.u32 %r2, %r1, %r1; bra E; D: ld.global.u32 %r2, [%d1+8]; E:" + _STORE),
)  # fmt: skip
_module(
    "atomics",
    kernel("atom.global.add.u32 %r2, [%d1], 1; atom.global.cas.b64 %d2, [%d1+8], %d1, %d1; cvt.u32.u64 %r3, %d2;"
           "add.u32 %r2, %r2, %r3; red.global.max.s32 [%d1], %r1;" + _STORE),
    kernel("ld.param.u64 %d2, [out]; cvta.to.global.u64 %d2, %d2; red.global.add.u32 [%d2], 1;", "one_place"),
    kernel("atom.sys.global.add.u32 %r2, [%d1], 1; atom.cta.global.exch.b32 %r3, [%d1+4], %r2;" + _STORE, "scopes"),
    kernel(".shared .align 8 .b8 s[8]; atom.shared.add.u32 %r2, [s], 1; atom.shared.add.f32 %f1, [s+4], 0f3F800000;" + _STORE,
           "shared"),
    kernel("atom.global.add.f64 %g1, [%d1+8], 0d3FF0000000000000; st.global.f64 [%d1], %g1;", "doubles"),
)  # fmt: skip
_module(
    "half_atomics",
    kernel("atom.global.add.noftz.f16x2 %r2, [%d1], %r1;" + _STORE),
    kernel("mov.b16 %h1, 1; atom.global.cas.b16 %h2, [%d1], %h1, %h1; cvt.u32.u16 %r2, %h2;" + _STORE, "swap"),
    kernel("mov.b16 %h1, 1; atom.global.add.noftz.f16 %h2, [%d1], %h1; cvt.u32.u16 %r2, %h2;" + _STORE, "half"),
    kernel("mov.b16 %h1, 1; atom.add.noftz.f16 %h2, [%d1], %h1; cvt.u32.u16 %r2, %h2;" + _STORE, "generic"),
    kernel(".shared .align 4 .b8 s[4]; mov.b16 %h1, 1; atom.shared.add.noftz.f16 %h2, [s+2], %h1; cvt.u32.u16 %r2, %h2;" + _STORE,
           "shared"),
)  # fmt: skip
_module(
    "fences",
    kernel("st.global.u32 [%d1+4], %r1; membar.sys; ld.relaxed.sys.global.u32 %r2, [%d1];" + _STORE),
    kernel("st.release.gpu.global.u32 [%d1+4], %r1; fence.acq_rel.gpu; ld.acquire.gpu.global.u32 %r2, [%d1];" + _STORE, "gpu"),
    kernel("membar.cta; membar.gl; fence.sc.sys;" + _STORE.replace("%r2", "%r1"), "all"),
)
_MBARRIERS = ".shared .b64 s; .shared .b64 t[4]; mov.u64 %d4, 0;"
_module(
    "mbarriers",
    kernel(_MBARRIERS + "mbarrier.init.shared.b64 [s], %r1; mbarrier.init.shared.b64 [t+8], 5; "
           "mbarrier.arrive.shared.b64 %d2, [s];"
           "mbarrier.arrive_drop.shared.b64 %d3, [t+8]; mbarrier.arrive.noComplete.shared.b64 %d4, [s], 2;"
           "mbarrier.arrive_drop.noComplete.shared.b64 %d5, [s], %r1; xor.b64 %d4, %d4, %d5; xor.b64 %d4, %d4, %d3;"
           "mbarrier.test_wait.shared.b64 %p1, [s], %d2; @%p1 add.u64 %d4, %d4, 1; "
           "mbarrier.test_wait.parity.shared.b64 %p2, [t+8], 1;"
           "@%p2 add.u64 %d4, %d4, 2; st.global.u64 [%d1], %d4;"),
    kernel(_MBARRIERS + "mov.u64 %d5, t; cvta.shared.u64 %d5, %d5; mad.wide.u32 %d5, %r1, 8, %d5; "
           "mbarrier.init.b64 [%d5], 3;"
           "mbarrier.arrive.b64 %d2, [%d5]; mbarrier.arrive.noComplete.b64 %d3, [%d5], %r1; "
           "mbarrier.test_wait.b64 %p1, [%d5], %d2;"
           "@%p1 add.u64 %d3, %d3, 1; st.global.u64 [%d1], %d3;", "generic"),
    kernel(_MBARRIERS + "mbarrier.arrive.shared.b64 %d2, [s]; "
           "mbarrier.pending_count.b64 %r2, %d2;" + _STORE, "made_elsewhere"),
    kernel(_MBARRIERS + "mbarrier.init.shared.b64 [s], 1; cp.async.mbarrier.arrive.noinc.shared.b64 [s];"
           "mbarrier.arrive.shared.b64 %d2, [s]; st.global.u64 [%d1], %d2;", "copies"),
    least=80,
)  # fmt: skip
_module(
    "mbarrier_transactions",
    kernel(_MBARRIERS + "mbarrier.init.shared.b64 [s], 1; mbarrier.expect_tx.relaxed.cta.shared.b64 [s], %r1;"
           "mbarrier.complete_tx.relaxed.cta.shared.b64 [s], 8; mbarrier.arrive.expect_tx.shared.b64 %d2, [s], 16;"
           "mbarrier.try_wait.shared.b64 %p1, [s], %d2; @%p1 add.u64 %d4, %d4, 1; "
           "mbarrier.try_wait.parity.shared.b64 %p2, [s], 0, %r1;"
           "@%p2 add.u64 %d4, %d4, 2; mbarrier.arrive.shared.b64 _, [s], %r1; "
           "mbarrier.inval.shared.b64 [s]; st.global.u64 [%d1], %d4;"),
    kernel("mapa.shared::cluster.u32 %r3, %r1, 1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];" +
           _STORE.replace("%r2", "%r1"), "remote"),
    kernel("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r1], 16;" +
           _STORE.replace("%r2", "%r1"), "bytes_alone"),
    least=90,
)  # fmt: skip
_module(
    "vectors",
    kernel("ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d1]; add.u32 %r2, %r2, %r5;" + _STORE),
    kernel("ld.global.v2.u64 {%d2, %d3}, [%d1]; st.global.u64 [%d1], %d3;", "pairs"),
    kernel("ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%d1]; st.global.f32 [%d1], %f3;", "read_only"),
    kernel("ld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%d1]; st.global.u8 [%d1], %h2;", "bytes"),
)
_module(
    "spills",
    kernel(
        "\n".join(f"ld.volatile.global.u32 %s{n}, [%d1+{4 * n}];" for n in range(60))
        + "".join(f"st.volatile.global.u32 [%d1+{4 * n}], %s{n};\n" for n in reversed(range(60))),
        directives=".maxnreg 32",
    ).replace(_REGISTERS, ".reg .b32 %s<60>;" + _REGISTERS),
)
_module(
    "functions",
    ".func (.reg .u32 r) twice(.reg .u32 a) { add.u32 r, a, a; ret; }\n"
    ".func nothing() { ret; }\n",
    kernel("call (%r2), twice, (%r1); call nothing;" + _STORE),
)  # fmt: skip
_module(
    "miscellany",
    kernel("nanosleep.u32 100; prefetch.global.L2 [%d1]; discard.global.L2 [%d1], 128; isspacep.shared %p1, %d1;"
           "selp.u32 %r2, 1, 2, %p1;" + _STORE),
    kernel("div.rn.f32 %f2, %f1, %f1; sqrt.rn.f64 %g2, %g1; rem.u64 %d3, %d1, %d2; st.global.f32 [%d1], %f2;"
           "st.global.f64 [%d1+8], %g2; st.global.u64 [%d1+8], %d3;", "divisions"),
    least=80,
)  # fmt: skip
_module(
    "clusters",
    kernel(_STORE.replace("%r2", "%r1"), "fixed", ".reqnctapercluster 2, 1, 1"),
    kernel(_STORE.replace("%r2", "%r1"), "any", ".explicitcluster"),
    kernel(_STORE.replace("%r2", "%r1"), "most", ".explicitcluster .maxclusterrank 8"),
    kernel(_STORE.replace("%r2", "%r1"), "rank", ".maxclusterrank 4 .maxntid 128"),
    kernel(_STORE.replace("%r2", "%r1"), "blocks", ".reqntid 64 .reqnctapercluster 4, 2 .blocksareclusters"),
    kernel("mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %clusterid.x; mov.u32 %r4, %cluster_nctarank; add.u32 %r2, %r2, %r3;"
           "add.u32 %r2, %r2, %r4; barrier.cluster.arrive; barrier.cluster.wait;" + _STORE, "reads", ".explicitcluster"),
    least=90,
)  # fmt: skip
_module(
    "cluster_memory",
    kernel(".shared .align 4 .b8 s[16]; mov.u32 %r3, s; mapa.shared::cluster.u32 %r4, %r3, 1; st.shared::cluster.u32 [%r4], %r1;"
           "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ld.shared.u32 %r2, [s];" + _STORE, "k",
           ".reqnctapercluster 2, 1, 1"),
    least=90,
)  # fmt: skip
_module(
    "dependent_launch",
    kernel("griddepcontrol.wait; ld.global.u32 %r2, [%d1+4]; griddepcontrol.launch_dependents;" + _STORE),
    least=90,
)
_module(
    "one_of_a_warp",
    kernel("elect.sync _|%p1, -1; selp.u32 %r2, 1, 0, %p1;" + _STORE),
    least=90,
)

MODULES = tuple(LoaderModule(name, *row) for name, row in _MODULES.items())
