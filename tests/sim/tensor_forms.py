"""The kernels of tensor memory (tcgen05) that tests/sim/vendor/tensor.sm_100a.cubin.xz holds.

Each is one warp group that allocates all of tensor memory and fills it from `cells`. A kernel of a load or store moves `words`
with one instruction; the others copy `image` into shared memory and execute one product or copy. All is written back.
"""

from __future__ import annotations

from dataclasses import dataclass

ROOM = 40960  # bytes of shared memory for the matrices
COLUMNS = 512

SHAPES = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}
MOVES = [
    (shape, count, half)
    for shape, counts in (
        ("32x32b", (1, 2, 16, 128)),
        ("16x64b", (1, 4, 32)),
        ("16x128b", (1, 2, 16)),
        ("16x256b", (1, 4)),
        ("16x32bx2", (1, 8, 32)),
    )
    for count in counts
    for half in (False, True)
]
COPIES = ["128x256b", "128x128b", "4x256b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23", "32x128b.warpx4"]

# Loads that find the least or greatest of a thread's registers too (sm_103a): shape, registers, operation.
EXTREMES = [
    ("32x32b", 2, "min.f32"), ("32x32b", 16, "max.f32"), ("32x32b", 64, "max.abs.f32"), ("32x32b", 4, "min.abs.NaN.f32"),
    ("32x32b", 8, "max.NaN.f32"), ("32x32b", 128, "min.u32"), ("32x32b", 8, "max.s32"), ("16x32bx2", 4, "max.u32"),
    ("16x32bx2", 8, "min.s32"), ("16x32bx2", 32, "min.NaN.f32"), ("16x32bx2", 2, "max.abs.NaN.f32"),
]  # fmt: skip
PAIRS = ("f16", "i8", "f8f6f4")  # kinds of products by two CTAs


@dataclass(frozen=True)
class Product:
    """One kernel of a product: instruction `kind`, where A is, and optional parts."""

    kind: str
    tensor_a: bool = False
    sparse: bool = False
    masked: bool = False  # output lanes are disabled
    scale: int = 0  # of the accumulator: 2^-scale
    ws: bool = False
    vec: str = ""  # scales of blocks

    @property
    def name(self) -> str:
        """Name of the kernel."""
        marks = "".join(f"_{m}" for m in ("tensor_a", "sparse", "masked", "ws") if getattr(self, m))
        return f"mma_{self.kind}{marks}{f'_scale{self.scale}' if self.scale else ''}{self.vec}"


PRODUCTS = (
    Product("f16"), Product("f16", tensor_a=True), Product("f16", masked=True), Product("f16", scale=3), Product("f16", ws=True),
    Product("f16", sparse=True), Product("tf32"), Product("i8"), Product("f8f6f4"), Product("f8f6f4", tensor_a=True),
    Product("f8f6f4", sparse=True), Product("mxf8f6f4", vec="1X"), Product("mxf4", vec="2X"), Product("mxf4nvf4", vec="4X"),
)  # fmt: skip


def move_name(store: bool, shape: str, count: int, half: bool) -> str:
    """Name of a kernel of a load or store."""
    return f"{'st' if store else 'ld'}_{shape}_x{count}{'_half' if half else ''}"


def _begin() -> list[str]:
    """Registers, allocation of all columns (the first warp), address in `base`, of this warp's lanes in `mine`."""
    lines = [".reg .b32 r<128>, t, base, mine, s, x, y, i, warp;", ".reg .b64 p<12>, da, db;", ".reg .pred q<6>;"]
    lines += [f".shared .align 1024 .b8 room[{ROOM}];", ".shared .align 16 .b8 small[32];"]
    lines += ["mov.u32 t, %tid.x;", "mov.u32 s, small;", "shr.u32 warp, t, 5;", "setp.ne.u32 q0, warp, 0;", "@q0 bra ALLOCATED;"]
    lines += [f"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], {COLUMNS};"]
    lines += ["tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;", "ALLOCATED:", "bar.sync 0;"]
    lines += ["ld.shared.b32 base, [s];", "shl.b32 x, warp, 21;", "add.u32 mine, base, x;"]
    return lines


def _end() -> list[str]:
    lines = ["bar.sync 0;", "@q0 bra DONE;", f"tcgen05.dealloc.cta_group::1.sync.aligned.b32 base, {COLUMNS};", "DONE:", "ret;"]
    return [*lines, "}"]


def _cells(store: bool, pointer: str) -> list[str]:
    """All columns of this thread's lane from or to [pointer] (512 words a thread)."""
    lines = []
    names = "{" + ", ".join(f"r{j}" for j in range(64)) + "}"
    for column in range(0, COLUMNS, 64):
        lines.append(f"add.u32 x, mine, {column};")
        if store:
            lines += [
                f"ld.global.v4.b32 {{r{j}, r{j + 1}, r{j + 2}, r{j + 3}}}, [{pointer}+{4 * (column + j)}];"
                for j in range(0, 64, 4)
            ]
            lines.append(f"tcgen05.st.sync.aligned.32x32b.x64.b32 [x], {names};")
        else:
            lines += [f"tcgen05.ld.sync.aligned.32x32b.x64.b32 {names}, [x];", "tcgen05.wait::ld.sync.aligned;"]
            lines += [
                f"st.global.v4.b32 [{pointer}+{4 * (column + j)}], {{r{j}, r{j + 1}, r{j + 2}, r{j + 3}}};"
                for j in range(0, 64, 4)
            ]
    return [*lines, "tcgen05.wait::st.sync.aligned;"] if store else lines


def move_kernel(store: bool, shape: str, count: int, half: bool) -> str:
    """A load or store of one shape; `words` are the registers, `cells` tensor memory."""
    words = count * SHAPES[shape]
    names = "{" + ", ".join(f"r{j}" for j in range(words)) + "}"
    middle = f", {2 * count if half else count}" if shape == "16x32bx2" else ""
    lines = [*_begin(), "ld.param.u64 p0, [p_cells];", f"mad.wide.u32 p0, t, {4 * COLUMNS}, p0;"]
    lines += ["ld.param.u64 p1, [p_words];", f"mad.wide.u32 p1, t, {4 * words}, p1;", *_cells(True, "p0")]
    if store:
        lines += [f"ld.global.b32 r{j}, [p1+{4 * j}];" for j in range(words)]
        tail = ".unpack::16b" if half else ""
        lines += [
            f"tcgen05.st.sync.aligned.{shape}.x{count}{tail}.b32 [mine]{middle}, {names};",
            "tcgen05.wait::st.sync.aligned;",
        ]
        lines += _cells(False, "p0")
    else:
        tail = ".pack::16b" if half else ""
        lines += [
            f"tcgen05.ld.sync.aligned.{shape}.x{count}{tail}.b32 {names}, [mine]{middle};",
            "tcgen05.wait::ld.sync.aligned;",
        ]
        lines += [f"st.global.b32 [p1+{4 * j}], r{j};" for j in range(words)]
    name = move_name(store, shape, count, half)
    return f".visible .entry {name}(.param .u64 p_cells, .param .u64 p_words) {{\n" + "\n".join([*lines, *_end()]) + "\n"


def extreme_name(shape: str, count: int, operation: str) -> str:
    """Name of a kernel of a load that finds an extreme."""
    return f"red_{shape}_x{count}_{operation.replace('.', '_')}"


def extreme_kernel(shape: str, count: int, operation: str) -> str:
    """`words` are the registers, and behind them the extreme."""
    names = "{" + ", ".join(f"r{j}" for j in range(count)) + "}"
    extreme = "f" if operation.endswith("f32") else "y"
    lines = [*_begin(), ".reg .f32 f;", "ld.param.u64 p0, [p_cells];", f"mad.wide.u32 p0, t, {4 * COLUMNS}, p0;"]
    lines += ["ld.param.u64 p1, [p_words];", f"mad.wide.u32 p1, t, {4 * (count + 1)}, p1;", *_cells(True, "p0")]
    middle = f", {count}" if shape == "16x32bx2" else ""
    lines += [f"tcgen05.ld.red.sync.aligned.{shape}.x{count}.{operation} {names}, {extreme}, [mine]{middle};"]
    lines += ["tcgen05.wait::ld.sync.aligned;", *(f"st.global.b32 [p1+{4 * j}], r{j};" for j in range(count))]
    lines += [f"st.global.b32 [p1+{4 * count}], {extreme};", *_end()]
    name = extreme_name(shape, count, operation)
    return f".visible .entry {name}(.param .u64 p_cells, .param .u64 p_words) {{\n" + "\n".join(lines) + "\n"


def _image() -> list[str]:
    """Copy `image` into shared memory; the barrier is made by the first thread."""
    lines = [
        "ld.param.u64 p2, [p_image];",
        "mov.u32 y, room;",
        "mul.lo.u32 i, t, 4;",
        "COPY:",
        "cvt.u64.u32 p4, i;",
        "add.u64 p5, p2, p4;",
    ]
    lines += ["ld.global.b32 x, [p5];", "add.u32 s, y, i;", "st.shared.b32 [s], x;", "add.u32 i, i, 512;"]
    lines += [f"setp.lt.u32 q1, i, {ROOM};", "@q1 bra COPY;", "mov.u32 s, small;", "setp.ne.u32 q2, t, 0;"]
    lines += [
        "@!q2 mbarrier.init.shared.b64 [s+8], 1;",
        "fence.proxy.async;",
        "tcgen05.fence::before_thread_sync;",
        "bar.sync 0;",
    ]
    return [*lines, "tcgen05.fence::after_thread_sync;"]


def _wait() -> list[str]:
    commit = "@!q2 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [s+8];"
    test = "mbarrier.try_wait.parity.shared.b64 q3, [s+8], 0;"
    return [commit, "WAIT:", test, "@!q3 bra WAIT;", "bar.warp.sync 0xffffffff;", "tcgen05.fence::after_thread_sync;"]


def _addresses() -> list[str]:
    lines = ["ld.param.u64 da, [p_da];", "ld.param.u64 db, [p_db];", "mov.u32 x, room;", "shr.u32 x, x, 4;", "cvt.u64.u32 p4, x;"]
    return [*lines, "add.u64 da, da, p4;", "add.u64 db, db, p4;"]


def product_kernel(product: Product) -> str:
    """A product. Columns: the accumulator from 0, A from 256, metadata from 320, scales of A from 384 and of B from 448."""
    lines = [
        *_begin(),
        "ld.param.u64 p0, [p_cells];",
        f"mad.wide.u32 p0, t, {4 * COLUMNS}, p0;",
        *_cells(True, "p0"),
        *_image(),
        *_addresses(),
    ]
    lines += ["ld.param.u32 x, [p_idesc];", "ld.param.u32 y, [p_used];", "setp.ne.u32 q4, y, 0;"]
    lines += [f"add.u32 r{j}, base, {256 + 64 * j};" for j in range(4)]
    lines += [f"mov.b32 r{8 + j}, {0x80000001 << j & 0xFFFFFFFF};" for j in range(4)]
    head = f"tcgen05.mma{'.ws' if product.ws else ''}{'.sp' if product.sparse else ''}.cta_group::1.kind::{product.kind}"
    head += f".block_scale.scale_vec::{product.vec}" if product.vec else ""
    operands = ["[base]", "[r0]" if product.tensor_a else "da", "db", *(["[r1]"] if product.sparse else []), "x"]
    operands += ["[r2]", "[r3]"] if product.vec else []
    operands += ["{r8, r9, r10, r11}"] if product.masked else []
    operands += ["q4", *([str(product.scale)] if product.scale else [])]
    lines += [f"@!q2 {head} {', '.join(operands)};", *_wait(), *_cells(False, "p0"), *_end()]
    parameters = "p_cells, .param .u64 p_image, .param .u64 p_da, .param .u64 p_db, .param .u32 p_idesc, .param .u32 p_used"
    return f".visible .entry {product.name}(.param .u64 {parameters}) {{\n" + "\n".join(lines) + "\n"


def copy_kernel(shape: str) -> str:
    """A copy from shared memory; its name is that of the shape with `_` for what a name cannot have."""
    lines = [
        *_begin(),
        "ld.param.u64 p0, [p_cells];",
        f"mad.wide.u32 p0, t, {4 * COLUMNS}, p0;",
        *_cells(True, "p0"),
        *_image(),
        *_addresses(),
    ]
    lines += [f"@!q2 tcgen05.cp.cta_group::1.{shape} [base], da;", *_wait(), *_cells(False, "p0"), *_end()]
    parameters = "p_cells, .param .u64 p_image, .param .u64 p_da, .param .u64 p_db"
    return f".visible .entry {copy_name(shape)}(.param .u64 {parameters}) {{\n" + "\n".join(lines) + "\n"


def pair_kernel(kind: str) -> str:
    """A product by a pair of CTAs: the first one issues it, both wait for it. Arrays have a part for each CTA."""
    lines = [*_begin(), ".reg .b32 rank;", "mov.u32 rank, %cluster_ctarank;", "mad.lo.u32 t, rank, 128, t;"]
    lines += ["ld.param.u64 p0, [p_cells];", f"mad.wide.u32 p0, t, {4 * COLUMNS}, p0;", "mov.u32 t, %tid.x;"]
    lines += [
        *_cells(True, "p0"),
        "ld.param.u64 p2, [p_image];",
        f"mad.wide.u32 p2, rank, {ROOM}, p2;",
        *_image()[1:],
        *_addresses(),
    ]
    lines += ["ld.param.u32 x, [p_idesc];", "ld.param.u32 y, [p_used];", "setp.ne.u32 q4, y, 0;", "setp.ne.u32 q5, rank, 0;"]
    lines += ["barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;", "or.pred q2, q2, q5;", "mov.b16 h, 3;"]
    lines.append(f"@!q2 tcgen05.mma.cta_group::2.kind::{kind} [base], da, db, x, q4;")
    commit = "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64"
    lines += [f"@!q2 {commit} [s+8], h;", *_wait()[1:], *_cells(False, "p0")]
    lines += ["barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;", *_end()]
    lines = [line.replace("cta_group::1", "cta_group::2") for line in lines]
    parameters = "p_cells, .param .u64 p_image, .param .u64 p_da, .param .u64 p_db, .param .u32 p_idesc, .param .u32 p_used"
    head = f".visible .entry pair_{kind}(.param .u64 {parameters}) .explicitcluster .reqnctapercluster 2, 1, 1 {{\n.reg .b16 h;\n"
    return head + "\n".join(lines) + "\n"


def allocation_kernel() -> str:
    """A pair of CTAs takes columns three times and gives them back; `out` gets the addresses, a row for each CTA."""
    lines = [".reg .b32 s, a<3>, rank;", ".reg .b64 p0;", ".shared .align 16 .b8 small[32];", "mov.u32 s, small;"]
    alloc, dealloc = "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32", "tcgen05.dealloc.cta_group::2.sync.aligned.b32"
    lines += ["mov.u32 rank, %cluster_ctarank;", "ld.param.u64 p0, [p_out];", "mad.wide.u32 p0, rank, 12, p0;"]
    for i, columns in enumerate((64, 256, 256)):
        lines += [f"{alloc} [s], {columns};", f"ld.shared.b32 a{i}, [s];", f"st.global.b32 [p0+{4 * i}], a{i};"]
        lines += [f"{dealloc} a0, 64;"] if i == 1 else []
    lines += ["tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;", *(f"{dealloc} a{i}, 256;" for i in (1, 2))]
    lines += ["barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;", "ret;", "}"]
    head = ".visible .entry pair_allocations(.param .u64 p_out) .explicitcluster .reqnctapercluster 2, 1, 1 {\n"
    return head + "\n".join(lines) + "\n"


def copy_name(shape: str) -> str:
    """Name of the kernel of a copy."""
    return "cp_" + shape.replace(".", "_").replace("::", "_")


def module_text() -> str:
    """The PTX module."""
    text = ".version 9.0\n.target sm_100a\n.address_size 64\n"
    text += "".join(move_kernel(store, *move) for store in (False, True) for move in MOVES)
    text += "".join(copy_kernel(s) for s in COPIES) + "".join(product_kernel(p) for p in PRODUCTS)
    return text + "".join(pair_kernel(kind) for kind in PAIRS) + allocation_kernel()


def extremes_text() -> str:
    """The PTX module of what only sm_103a and sm_110a have."""
    return ".version 9.0\n.target sm_103a\n.address_size 64\n" + "".join(extreme_kernel(*e) for e in EXTREMES)
