"""Turns a cubin that ptxas made back into what the writer takes, so that the writer's file can be laid beside the original."""

from __future__ import annotations

import re

from oric.ir.attributes import Param
from oric.ir.encoded import FULL_MASK, EncodedFunction
from oric.ir.function import Function
from oric.ir.module import Module, Relocation, Symbol
from oric.support import elf
from oric.support.elf import Cubin, Record, target_of

_BINDINGS = {0: "local", 1: "global", 2: "weak"}


_VARIABLE = re.compile(r"\.(?:global|const)\b[^;{]*?\.align (\d+) \.\w+ (\w+)")
_ENTRY = re.compile(r"\.entry (\w+)\([^)]*\)([^{]*)\{")
_LIMIT = re.compile(r"\.(maxntid|reqntid|minnctapersm|maxnreg) ([\d, ]+)")


def reconstruct(cubin: Cubin, ptx: str) -> tuple[Module, list[EncodedFunction]]:
    """The module and its kernels in the order of the source.

    ``ptx`` is the source: it alone tells the order and alignment of variables and the limits behind MAXREG_COUNT.
    """
    target = target_of(cubin)
    module = Module(target.name)
    ids = _symbols(cubin, module, {name: int(align) for align, name in _VARIABLE.findall(ptx)})
    slots = {r.offset: ids[r.symbol] for r in cubin.relocations_of(cubin.constant_sections.get(4, 0))}
    for offset in sorted(slots):
        assert module.address_slot(slots[offset]) == offset
    limits = {name: dict(_LIMIT.findall(text)) for name, text in _ENTRY.findall(ptx)}
    encoded = []
    for function in reversed(cubin.functions.values()):
        module.add_function(_code(cubin, function, target.shared_base, limits[function.name]))
        encoded.append(_encoded(function))
    dynamic = any(f.shared_section and f.shared_size == target.shared_base for f in cubin.functions.values())
    if dynamic:
        align = max(cubin.sections[f.shared_section].align for f in cubin.functions.values())
        module.add_symbol(Symbol("dynamic", "shared", 0, align, binding="extern"))
    return module, encoded


def _symbols(cubin: Cubin, module: Module, aligns: dict[str, int]) -> dict[int, int]:
    ids: dict[int, int] = {}
    spaces = {".nv.constant3": "const", ".nv.global": "global", ".nv.global.init": "global"}
    found = [s for s in cubin.symbols if s.info & 0xF == 1 and spaces.get(cubin.sections[s.section].name)]
    order = list(aligns)
    for symbol in sorted(found, key=lambda s: order.index(s.name)):
        section = cubin.sections[symbol.section]
        space = spaces[section.name]
        init = section.data[symbol.value : symbol.value + symbol.size]
        entry = Symbol(symbol.name, space, symbol.size, aligns[symbol.name], init, binding=_BINDINGS[symbol.info >> 4])
        entry.offset = symbol.value if space == "const" else -1
        entry.managed = bool(symbol.other & 4)
        ids[symbol.number] = module.add_symbol(entry)
    constants = cubin.section(".nv.constant3")
    module.constant_size = constants.size if constants else 0
    for symbol in found:
        for r in cubin.relocations_of(symbol.section):
            if symbol.value <= r.offset < symbol.value + symbol.size:
                pointer = Relocation(r.offset - symbol.value, ids[r.symbol], r.addend, generic=True)
                module.symbols[ids[symbol.number]].relocations.append(pointer)
    return ids


def _words(function: elf.Function, name: str) -> tuple[int, ...]:
    return next((r.words() for r in function.records if r.name == name), ())


def _triple(function: elf.Function, name: str) -> tuple[int, int, int] | None:
    words = _words(function, name)
    return (words[0], words[1], words[2]) if words else None


def _record(function: elf.Function, name: str) -> Record | None:
    return next((r for r in function.records if r.name == name), None)


def _code(cubin: Cubin, function: elf.Function, shared_base: int, limits: dict[str, str]) -> Function:
    code = Function(function.name, cubin.target)
    a = code.attributes
    for p in function.params:
        a.params.append(Param(p.ordinal, f"p{p.ordinal}", p.offset, p.size, min(p.size & -p.size, 16), p.space, p.pointee_align))
    a.param_size = function.param_size
    a.maxntid, a.reqntid = function.max_threads, function.required_threads
    a.maxnreg, a.minnctapersm = int(limits.get("maxnreg", "0")), int(limits.get("minnctapersm", "0"))
    a.reqnctapercluster = _triple(function, "CTA_PER_CLUSTER")
    a.maxclusterrank = (_words(function, "MAX_CLUSTER_RANK") or (0,))[0]
    a.explicitcluster = _record(function, "EXPLICIT_CLUSTER") is not None
    a.blocksareclusters = _record(function, "BLOCKS_ARE_CLUSTERS") is not None
    a.num_barriers = function.barriers
    a.frame_size = function.frame_size
    a.binding = _BINDINGS[cubin.symbols[function.symbol].info >> 4]
    if function.shared_section:
        a.static_shared = function.shared_size - shared_base
        a.shared_align = cubin.sections[function.shared_section].align
        a.uses_dynamic_shared = not a.static_shared and cubin.section(f".rela.text.{function.name}") is not None
    return code


def _encoded(function: elf.Function) -> EncodedFunction:
    out = EncodedFunction(function.name, function.text, function.registers, list(function.exits))
    offsets = _words(function, "COOP_GROUP_INSTR_OFFSETS")
    masks = _words(function, "COOP_GROUP_MASK_REGIDS")
    out.coop_groups = [(o, FULL_MASK if m == FULL_MASK else m & 0xFF) for o, m in zip(offsets, masks, strict=True)]
    out.warp_wide = list(_words(function, "INT_WARP_WIDE_INSTR_OFFSETS"))
    out.indirect_branches = [(at, list(targets)) for at, targets in function.branch_targets.items()]
    out.constant2 = function.constants.get(2, b"")
    out.uses_convergence = _record(function, "CRS_STACK_SIZE") is not None
    return out
