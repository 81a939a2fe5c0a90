"""Contents of the CUDA sections: ``.nv.info`` records, notes, call graph, call frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from struct import pack
from typing import TYPE_CHECKING, Final

from oric_tables import cubin_layout as tables
from oric_tables.registers import COUNTS

from oric.ir.attributes import TENSOR_COLUMNS, TENSOR_OWN, TENSOR_PAIR, TENSOR_USED, WMMA

if TYPE_CHECKING:
    from oric_tables.targets import Target

    from oric.ir.attributes import FunctionAttributes, Param
    from oric.ir.encoded import EncodedFunction
    from oric.ir.module import Module

    from .container import OutSymbol


_FUNCTION_MOVES: Final = 12  # bytes of an FDE that tells of no move
_HEAD: Final = 12  # bytes of the length of a unit of .debug_frame
_UNKNOWN: Final = 0xFFFFFFFF  # bytes of a stack
_NO_REGISTER: Final = 0xFF  # in a record of an mbarrier: the address is a displacement


class KernelFacts:
    """What the records of one kernel are made from; symbol numbers are filled in when they are known."""

    __slots__ = (
        "attributes", "bank0_symbol", "encoded", "externs", "functions", "header_types", "images", "is_entry",
        "register_default", "symbol", "target",
    )  # fmt: skip

    def __init__(
        self,
        encoded: EncodedFunction,
        attributes: FunctionAttributes,
        target: Target,
        register_default: int,
        is_entry: bool = True,
    ) -> None:
        self.is_entry = is_entry  # False: a function in a section of its own
        self.encoded = encoded
        self.attributes = attributes
        self.target = target
        self.register_default = register_default
        self.externs: list[OutSymbol] = []  # functions of the driver that it calls, in the order of the first calls
        self.functions: list[OutSymbol] = []  # of those behind its code
        self.images: dict[int, OutSymbol] = {}  # parameters that the driver keeps, by their ids in the module
        self.header_types: frozenset[str] = frozenset()  # of the references whose headers it has
        self.symbol = 0
        self.bank0_symbol = 0


def record(code: int, form: int, value: int = 0, data: bytes = b"") -> bytes:
    """One record: the value of forms 1 to 3, the data of form 4."""
    return pack("<BBH", form, code, len(data) if form == tables.FORMAT_SIZED else value) + data


def words(*values: int) -> bytes:
    """Unsigned 32-bit words."""
    return pack(f"<{len(values)}I", *values)


def kernel_records(facts: KernelFacts, layout: tables.Layout) -> bytes:
    """The section ``.nv.info.NAME``."""
    out = bytearray()
    for code, form, fact, value in layout.records:
        if not fact:
            out += record(code, form, value, words(value) if form == tables.FORMAT_SIZED else b"")
            continue
        for found in FACTS[fact](facts):
            if isinstance(found, bytes):
                out += record(code, form, 0, found)
            else:
                out += record(code, form, found)
    return bytes(out)


def _params(facts: KernelFacts) -> list[bytes | int]:
    if facts.attributes.param_size > tables.SHORT_PARAMETERS:
        return []
    return [_param(p, facts) for p in sorted(facts.attributes.params, key=lambda p: -p.ordinal)]


def _param(param: Param, facts: KernelFacts) -> bytes:
    word = _pointee_align(param) | _pointee_space(param, facts) << 8 | tables.KPARAM_BANK << 12 | param.size << 18
    symbol = facts.images[param.symbol].number if param.symbol >= 0 else 0
    return pack("<IHHI", symbol, param.ordinal, param.offset, word)


def _pointee_align(param: Param) -> int:
    """As a power of two."""
    return max(param.pointee_align, 1).bit_length() - 1


def _pointee_space(param: Param, facts: KernelFacts) -> int:
    space = int(param.pointee_space)
    return (
        int(tables.LAYOUTS[str(facts.target.elf["layout"])].const_pointee) if space == tables.POINTEE_SPACES["const"] else space
    )


def _long_params(facts: KernelFacts) -> list[bytes | int]:
    if facts.attributes.param_size <= tables.SHORT_PARAMETERS:
        return []
    return [_long_param(p, facts) for p in sorted(facts.attributes.params, key=lambda p: -p.ordinal)]


def _long_param(param: Param, facts: KernelFacts) -> bytes:
    space = _pointee_space(param, facts)
    return pack("<IHHHBB", 0, param.ordinal, param.offset, param.size, _pointee_align(param), space)


def _param_cbank(facts: KernelFacts) -> list[bytes | int]:
    if not facts.attributes.params:
        return []
    return [words(facts.bank0_symbol, facts.attributes.param_size << 16 | facts.attributes.param_base(facts.target))]


def _param_size(facts: KernelFacts) -> list[bytes | int]:
    return [facts.attributes.param_size] if facts.attributes.params else []


def _offsets(values: list[int]) -> list[bytes | int]:
    return [words(*values)] if values else []


def _coop_masks(facts: KernelFacts) -> list[bytes | int]:
    full = tables.CONSTANT_MASK
    return _offsets([mask if mask == full else tables.MASK_REGISTER_TAG | mask for _, mask in facts.encoded.coop_groups])


def _coop_offsets(facts: KernelFacts) -> list[bytes | int]:
    return _offsets([offset for offset, _ in facts.encoded.coop_groups])


def _mbarrier_instructions(facts: KernelFacts) -> list[bytes | int]:
    none = tables.LAYOUTS[str(facts.target.elf["layout"])].no_uniform
    data = bytearray()
    for place, register, displacement, number, uniform in facts.encoded.mbarriers:
        address = _NO_REGISTER if register < 0 else register
        data += pack("<IIiBBBB", place, address, displacement, number, 1, none if uniform < 0 else uniform, 0)
    return [bytes(data)] if data else []


def _branches(facts: KernelFacts) -> list[bytes | int]:
    flat: list[int] = []
    for offset, targets in facts.encoded.indirect_branches:
        flat += [offset, 0, len(targets), *targets]
    return _offsets(flat)


def _annotation(encoded: EncodedFunction) -> bytes:
    text = (COUNTS % (encoded.instructions, encoded.num_regs)).encode() + b"\0"
    return words(tables.ANNOTATION_COUNTS, len(text)) + text + bytes(-len(text) % 4)


def _reserved_used(facts: KernelFacts) -> list[bytes | int]:
    variables = tables.LAYOUTS[str(facts.target.elf["layout"])].reserved_variables
    columns = facts.attributes.tensor_memory & TENSOR_COLUMNS
    return [0] if variables or facts.attributes.reserved_read or columns else []


def _fragments(facts: KernelFacts) -> list[bytes | int]:
    used = facts.attributes.tensor_memory
    if not used & TENSOR_COLUMNS:
        return []
    return [words(tables.TENSOR_FRAGMENTS[1 if used & TENSOR_PAIR else 0])]


def _used(facts: KernelFacts, bit: int) -> list[bytes | int]:
    return [0] if facts.attributes.tensor_memory & bit else []


def _size3(size: tuple[int, int, int] | None) -> list[bytes | int]:
    return [words(*size)] if size is not None else []


# What a record is made from: the name in spec/cubin.yaml -> payloads (bytes) or values (int); none leaves the record out.
FACTS: Final[dict[str, Callable[[KernelFacts], list[bytes | int]]]] = {
    "api_version": lambda f: [words(tables.API_VERSION)],
    "param_cbank": _param_cbank,
    "param_size": _param_size,
    "params": _params,
    "long_params": _long_params,
    "register_limit": lambda f: [f.attributes.register_limit(f.target, f.register_default)] if f.is_entry else [],
    "annotations": lambda f: [_annotation(f.encoded)] if f.attributes.annotate else [],
    "barriers": lambda f: [f.attributes.num_barriers] if f.attributes.num_barriers else [],
    "warp_wide": lambda f: _offsets(f.encoded.warp_wide),
    "coop_masks": _coop_masks,
    "coop_offsets": _coop_offsets,
    "mbarrier_instructions": _mbarrier_instructions,
    "mbarriers": lambda f: [f.attributes.mbarriers] if f.encoded.mbarriers else [],
    "externs": lambda f: _offsets([symbol.number for symbol in f.externs]),
    "syscalls": lambda f: _offsets([offset for offset, _ in f.encoded.syscalls]),
    "exits": lambda f: _offsets(f.encoded.exits),
    "indirect_branches": _branches,
    "grid_depth": lambda f: [0] if tables.REGISTER_RECORDS["CTAIDZ_USED"] in f.encoded.special else [],
    "max_threads": lambda f: _size3(f.attributes.maxntid if f.attributes.reqntid is None else None),
    "required_threads": lambda f: _size3(f.attributes.reqntid),
    "convergence": lambda f: [words(0)] if f.encoded.uses_convergence else [],
    "blocks_are_clusters": lambda f: [0] if f.attributes.blocksareclusters else [],
    "cluster": lambda f: _size3(f.attributes.reqnctapercluster),
    "cluster_rank": lambda f: [words(f.attributes.maxclusterrank)] if f.attributes.maxclusterrank else [],
    "headers": lambda f: [0] if f.header_types else [],
    "texture_headers": lambda f: [0] if f.header_types - {"surfref"} else [],
    "surface_headers": lambda f: [0] if "surfref" in f.header_types else [],
    "reserved_used": _reserved_used,
    "fragments": _fragments,
    "sparse_products": lambda f: [f.attributes.sparse_products & ~WMMA],
    "wmma": lambda f: [0] if f.attributes.sparse_products & WMMA else [],
    "tensor_count": lambda f: [tables.TENSOR_COUNT if f.attributes.tensor_memory & TENSOR_USED else 0],
    "tensor_own": lambda f: _used(f, TENSOR_OWN),
    "tensor_pair": lambda f: _used(f, TENSOR_PAIR),
    "explicit_cluster": lambda f: [0] if f.attributes.explicitcluster else [],
    "workarounds": lambda f: [words(f.target.elf["sw_war"])] if f.target.elf["sw_war"] else [],
}


def module_records(kernels: list[KernelFacts], layout: tables.Layout, images: bytes = b"", independent: bool = False) -> bytes:
    """The section ``.nv.info``; ``kernels`` in order of making (the last of the source first). ``images``: records of samplers.
    ``independent``: these stand beside textures.
    """
    out = bytearray()
    if not kernels:
        for code, form, _, value in layout.records:
            if code == tables.EMPTY_MODULE_ATTRIBUTE:
                out += record(code, form, value)
    for k in reversed(kernels):
        out += record(tables.ATTR_REGCOUNT, tables.FORMAT_SIZED, 0, words(k.symbol, k.encoded.num_regs))
        frame = k.attributes.frame_size
        for symbol, size in (*reversed(_frames(k, frame)), (k.symbol, frame)):
            out += record(tables.ATTR_FRAME_SIZE, tables.FORMAT_SIZED, 0, words(symbol, size))
        if k.attributes.errors_visible:
            out += record(tables.ATTR_GEN_ERRBAR_AT_EXIT, tables.FORMAT_NONE)
    out += images
    if independent:
        out += record(tables.ATTR_TEXMODE_INDEPENDENT, tables.FORMAT_NONE)
    for k in sorted((k for k in kernels if k.is_entry), key=lambda k: k.symbol):
        stack = max(k.encoded.stack, k.attributes.frame_size)
        out += record(tables.ATTR_MIN_STACK_SIZE, tables.FORMAT_SIZED, 0, words(k.symbol, stack))
    return bytes(out)


def compat_records(target: Target, module: Module, layout: tables.Layout) -> bytes:
    """The section ``.nv.compat``."""
    facts = {"variant": int(target.variant == "a"), "isa_class": module.isa_class}
    facts |= {"tensor_maps": module.tensor_maps, "tensor_products": module.tensor_products}
    out = bytearray()
    for form, code, fact, value, payload in layout.compat:
        found = max(facts[fact], value) if fact else value
        out += record(code, form, found, words(*payload))
    return bytes(out)


def _frames(kernel: KernelFacts, frame: int) -> list[tuple[int, int]]:
    """Symbols of the functions behind a kernel, and their frames: code that stands for macros, the last of them, has none."""
    without = len(kernel.functions) - kernel.encoded.shared
    return [(f.number, frame if n < without else 0) for n, f in enumerate(kernel.functions)]


def extensible_records(kernels: list[KernelFacts], layout: tables.Layout) -> bytes:
    """The section ``.nv.info`` of an extensible whole program: the linker counts with frames, so that of a kernel has all in it
    that its functions may need; -1 for a stack that nobody knows. ``kernels``: see :func:`module_records`.
    """
    if not kernels:
        return module_records(kernels, layout)
    out = bytearray()
    for k in reversed(kernels):
        out += record(tables.ATTR_REGCOUNT, tables.FORMAT_SIZED, 0, words(k.symbol, k.encoded.num_regs))
        frame = max(k.encoded.stack, k.attributes.frame_size)
        for symbol, size in (*reversed(_frames(k, frame)), (k.symbol, frame)):
            out += record(tables.ATTR_MAX_STACK_SIZE, tables.FORMAT_SIZED, 0, words(symbol, 0))
            if k.encoded.recursive:
                out += record(tables.ATTR_MIN_STACK_SIZE, tables.FORMAT_SIZED, 0, words(symbol, _UNKNOWN))
            out += record(tables.ATTR_FRAME_SIZE, tables.FORMAT_SIZED, 0, words(symbol, size))
        if k.attributes.errors_visible:
            out += record(tables.ATTR_GEN_ERRBAR_AT_EXIT, tables.FORMAT_NONE)
    return bytes(out)


def call_graph(addressed: list[int], calls: list[tuple[int, int]], takers: Sequence[tuple[int, int]] = ()) -> bytes:
    """``.nv.callgraph``; ``addressed``: symbols of functions whose address is taken; ``calls``: a kernel's symbol and that of a
    function elsewhere that it calls; ``takers``: ... and that of one whose address it takes.
    """
    first, second, third, fourth = (words(0, end) for end in tables.CALLGRAPH_ENDS)
    pairs = (first, *(words(*call) for call in calls), second, *(words(symbol, 0) for symbol in addressed))
    return b"".join([*pairs, third, fourth, *(words(*pair) for pair in takers)])


def frame_entry(offset: int, kernel: KernelFacts) -> tuple[bytes, int]:
    """CIE and FDE of one kernel, placed at ``offset`` of ``.debug_frame``.

    Returns the bytes and the offset within the section of the 8-byte address of the code, which needs a relocation.
    The frame address is the stack register plus the frame's size from ``frame_ready`` on; a kernel with calls moves the stack
    register there alone.
    """
    encoded = kernel.encoded
    frame_size = 0 if encoded.calls else kernel.attributes.frame_size
    end = encoded.functions[0][1] if encoded.functions else len(encoded.words)
    cie = frame_unit(b"\xff" * 8 + tables.CIE)
    last = max((place for place in encoded.exits if place < end), default=end)
    ready = min(encoded.frame_ready, last)
    moves = advance(ready) + b"\x0c" + uleb(tables.STACK_REGISTER) + uleb(frame_size) + advance(last - ready)
    moves += bytes(-len(moves) % 8)
    fde = frame_unit(pack("<QQQ", offset, 0, end) + moves)
    return cie + fde, offset + len(cie) + _HEAD + 8


def function_frame_entry(offset: int, size: int) -> tuple[bytes, int, int]:
    """CIE and FDE of a function behind a kernel, placed at ``offset`` of ``.debug_frame``.

    Returns the bytes and the offsets within the section of two 8-byte addresses, which need relocations: of the kernel and the
    code. The stack register moves at calls alone.
    """
    cie = frame_unit(b"\xff" * 8 + tables.FUNCTION_CIE)
    fde = frame_unit(pack("<QQQ", offset, 0, size) + bytes(_FUNCTION_MOVES))
    return cie + fde, offset + _HEAD + 8 + tables.FUNCTION_CODE, offset + len(cie) + _HEAD + 8


def object_frame_entry(offset: int, facts: KernelFacts) -> tuple[bytes, tuple[int, int, int]]:
    """CIE and FDE of a function or an entry of an object, placed at ``offset`` of ``.debug_frame``.

    Returns the bytes and the offsets within the section of three 8-byte fields that need relocations: the place of the CIE, the
    address of the code and its size.
    """
    if facts.is_entry:
        unit, place = frame_entry(offset, facts)
        return unit, (place - 8, place, place + 8)
    end = len(facts.encoded.words)
    cie = frame_unit(b"\xff" * 8 + tables.OBJECT_CIE)
    moves = b"\x0c" + uleb(tables.STACK_REGISTER) + uleb(0) + advance(end)
    fde = frame_unit(pack("<QQQ", offset, 0, end) + moves + bytes(-len(moves) % 8))
    place = offset + len(cie) + _HEAD + 8
    return cie + fde, (place - 8, place, place + 8)


def frame_unit(body: bytes) -> bytes:
    """A unit of .debug_frame."""
    return pack("<IQ", 0xFFFFFFFF, len(body)) + body


def advance(size: int) -> bytes:
    """Go on by so many bytes of code."""
    return b"\x04" + words(size // tables.CODE_ALIGN)


def uleb(value: int) -> bytes:
    """A number without sign as LEB128."""
    out = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)
