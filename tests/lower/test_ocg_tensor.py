"""Intrinsics of tensor memory: the simulator's programs with calls in place of the PTX instructions that mean the same."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import oric
import oric.sim
import pytest

from tests.sim import test_tensor_memory as memory
from tests.sim.tensor_forms import MOVES, extremes_text, module_text, move_kernel

from .ocg_calls import Calls, b32
from .tensor_programs import programs_instead

SHAPES = {"32x32b": "32dp32bit", "16x64b": "16dp64bit", "16x128b": "16dp128bit", "16x256b": "16dp256bit"}
COPIES = {
    "128x256b": "128dp256bit", "128x128b": "128dp128bit", "4x256b": "4dp256bit", "32x128b.warpx4": "4x32dp128bit",
    "64x128b.warpx2::02_13": "2x64dp128bitlw02lw13", "64x128b.warpx2::01_23": "2x64dp128bitlw01lw23",
}  # fmt: skip
KINDS = {"f16": "h", "tf32": "h", "i8": "i", "f8f6f4": "q", "mxf8f6f4": "q", "mxf4": "o", "mxf4nvf4": "o"}
REGISTERS = ".reg .b32 ocg_t, ocg_h; .reg .b64 ocg_e;\n"
HALVES = [move for move in MOVES if move[0] == "16x32bx2"]


class Replaced(Calls):
    """A module in which calls take the place of instructions; ``halves``: half warps load and store apart."""

    def __init__(self, halves: bool = False) -> None:
        super().__init__()
        self.halves = halves

    def text(self, module: str) -> str:
        """The module."""
        head, body = module.split(".visible", 1)
        body = re.sub(r"\) (\.explicitcluster [^{]*)?\{\n", lambda m: f"{m[0]}{REGISTERS}", ".visible" + body)
        lines = [self.line(line) for line in body.split("\n")]
        return head + "\n".join([*self.declared.values(), *lines])

    def line(self, line: str) -> str:
        """A line, or the call for it."""
        found = re.fullmatch(r"(@!?\w+ )?tcgen05\.(\w+)\.(\S+) (.*);", line)
        if not found or (found[2] in {"ld", "st"} and "[mine]" not in line):
            return line
        guard, what, words, rest = found[1] or "", found[2], found[3].split("."), found[4]
        operands = [part.strip() for part in re.findall(r"\{[^}]*\}|[^,{]+", rest) if part.strip()]
        make = getattr(self, what, None)
        return line if make is None else make(guard, words, operands)

    def ld(self, guard: str, words: list[str], operands: list[str]) -> str:
        """A load, with an extreme as well."""
        red = words[0] == "red"
        shape, count = words[2 + red], words[3 + red]
        fused = shape == "16x32bx2"
        name = f"ldtm_{'16dp32bit_fused' if fused else SHAPES[shape]}_{count}{'_pack16bit' if 'pack::16b' in words else ''}"
        if red:
            extreme = words[4 + red] + ("abs" if "abs" in words else "")
            name += f"_stat_{extreme}_{words[-1]}{'_nan' if 'NaN' in words else ''}"
        results = b32(*operands[0].strip("{}").split(", "), *operands[1 : 1 + red])
        rest = operands[1 + red :]
        if fused and self.halves:
            first = self.call(guard, name.replace("_fused", "t0t15"), b32("mine"), results)
            others = b32(*(f"r{64 + n}" for n in range(len(results))))
            before = f"add.u32 ocg_t, mine, {rest[1]};"
            second = self.call(guard, name.replace("_fused", "t16t31"), b32("ocg_t"), others, before)
            chosen = [f"selp.b32 {a}, {b}, {a}, q5;" for (_, a), (_, b) in zip(results, others, strict=True)]
            return "\n".join([first, second, "and.b32 ocg_t, t, 16;", "setp.ne.u32 q5, ocg_t, 0;", *chosen])
        return self.call(guard, name, b32(*(part.strip("[]") for part in rest)), results)

    def st(self, guard: str, words: list[str], operands: list[str]) -> str:
        """A store."""
        shape, count = words[2], words[3]
        fused = shape == "16x32bx2"
        name = f"sttm_{'16dp32bit_fused' if fused else SHAPES[shape]}_{count}"
        name += "_expand16bit" if "unpack::16b" in words else ""
        stored = operands[-1].strip("{}").split(", ")
        if fused and self.halves:
            given = b32(*stored)
            first = self.call(guard, name.replace("_fused", "t0t15"), [*given, *b32("mine")])
            before = f"add.u32 ocg_t, mine, {operands[1]};"
            return first + "\n" + self.call(guard, name.replace("_fused", "t16t31"), [*given, *b32("ocg_t")], before=before)
        return self.call(guard, name, b32(*(part.strip("[]") for part in (*stored, *operands[:-1]))))

    def cp(self, guard: str, words: list[str], operands: list[str]) -> str:
        """A copy."""
        name = f"tccp_cta1_{COPIES['.'.join(words[1:])]}"
        return self.call(guard, name, [("b32", operands[0].strip("[]")), ("b64", operands[1])])

    def commit(self, guard: str, words: list[str], operands: list[str]) -> str:
        """An arrival."""
        cta, multicast = words[0][-1], "multicast::cluster" in words
        before = "add.u32 ocg_t, s, 8;" + (" cvt.u32.u16 ocg_h, h;" if multicast else "")
        arguments = b32("ocg_t", *(["ocg_h"] if multicast else []))
        return self.call(guard, f"tcbar_cta{cta}{'_multicast' if multicast else ''}", arguments, before=before)

    def mma(self, guard: str, words: list[str], operands: list[str]) -> str:
        """A product; y says whether D counts."""
        rest = list(operands)
        cta = next(word[-1] for word in words if word.startswith("cta_group"))
        ws, scales = "ws" in words, "block_scale" in words
        kind = next(word for word in words if word.startswith("kind")).partition("::")[2]
        d, a, b = rest.pop(0).strip("[]"), rest.pop(0), rest.pop(0)
        chosen = rest.pop(0).strip("[]") if "sp" in words else "0"
        before = f"mov.b64 ocg_e, {{{chosen}, {rest.pop(0)}}};"
        between = ["0"] * (2 if ws else 8 if cta == "2" else 4)
        if scales:
            between = [rest.pop(0).strip("[]"), rest.pop(0).strip("[]")]
        elif rest[0].startswith("{"):
            between = rest.pop(0).strip("{}").split(", ")
        scale = rest[1:]
        name = f"tcmma_{'tmem' if a.startswith('[') else 'gdesc'}_{KINDS[kind]}_cta{cta}{'_ws' if ws else ''}"
        name += ("_blockscale_4x" if "scale_vec::4X" in words else "_blockscale") if scales else ""
        name += "_scale" if scale else ""
        types = ["b32" if a.startswith("[") else "b64", "b64", "b32", "b64", *["b32"] * (len(between) + 1 + len(scale))]
        given = [a.strip("[]"), b, d, "ocg_e", *between, "y", *scale]
        return self.call(guard, name, list(zip(types, given, strict=True)), before=before)


@cache
def made(target: str, level: int) -> bytes:
    """All programs for a target, compiled at a level."""
    calls = Replaced()
    text = calls.text(module_text() if target == "sm_100a" else extremes_text())
    assert set(calls.made) == ({"ldtm", "sttm", "tccp", "tcbar", "tcmma"} if target == "sm_100a" else {"ldtm"})
    return oric.compile(text, arch=target, opt_level=level).image


instead = programs_instead(made)


def _of(name: str) -> Any:
    return getattr(memory, name)


def level_of(request: pytest.FixtureRequest) -> int:
    """The level of a test."""
    return int(request.node.callspec.params["instead"])


@pytest.mark.parametrize("move", HALVES, ids=lambda m: f"x{m[1]}{'_half' if m[2] else ''}")
def test_half_warps(move: tuple[str, int, bool], request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each half of a warp by a call of its own."""
    calls = Replaced(halves=True)
    text = ".version 9.0\n.target sm_100a\n.address_size 64\n" + "".join(move_kernel(store, *move) for store in (False, True))
    image = oric.compile(calls.text(text), arch="sm_100a", opt_level=level_of(request)).image
    assert calls.made == {"ldtm": 2, "sttm": 2}
    monkeypatch.setattr(memory, "module", lambda: oric.sim.load(image))
    memory.test_loads_and_stores(move)


def test_columns_taken(request: pytest.FixtureRequest) -> None:
    """Columns are found, taken and given back, by all threads of a warp one after the other; each gets what there was for it."""
    calls = Replaced()
    body = [
        calls.call("", "tcatomsws_findandset_cta1", b32("one"), b32("found", "at")),
        "st.global.v2.b32 [p0], {found, at};",
    ]
    body += ["shl.b32 one, one, at;", "not.b32 one, one;", calls.call("", "tcatomsws_and_cta1", b32("one"), b32("was"))]
    body += ["st.global.b32 [p0+8], was;", "mov.u32 one, 16;"]
    body += [calls.call("", "tcatomsws_findandset_align", b32("one"), b32("found", "at")), "st.global.b32 [p0+12], found;"]
    begin = [".reg .b32 t, one, found, at, was;", ".reg .b64 p0;", "ld.param.u64 p0, [p_out];", "mov.u32 t, %tid.x;"]
    begin += ["mad.wide.u32 p0, t, 16, p0;", "mov.u32 one, 1;"]
    head = ".version 9.0\n.target sm_100a\n.address_size 64\n" + "\n".join(calls.declared.values())
    text = head + "\n.visible .entry k(.param .u64 p_out) {\n" + "\n".join([*begin, *body, "ret;", "}"]) + "\n"
    out = np.zeros((16, 4), np.uint32)
    oric.sim.load(oric.compile(text, arch="sm_100a", opt_level=level_of(request)).image).launch("k", 1, 16, [out])
    for i in range(16):
        assert out[i].tolist() == [0xFFFFFFFF, i, 0xFFFF << i & 0xFFFF, 0 if i else 0xFFFFFFFF]


test_loads_and_stores = _of("test_loads_and_stores")
test_loads_with_an_extreme = _of("test_loads_with_an_extreme")
test_copies = _of("test_copies")
test_products = _of("test_products")
test_pair_of_ctas = _of("test_pair_of_ctas")
