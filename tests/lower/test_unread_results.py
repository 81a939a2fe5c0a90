"""Loads and atomics whose results nobody reads: what others see, or what orders others, stays at every level."""

from __future__ import annotations

import re

import oric
import pytest
from oric.sass import decode
from oric.support import elf

TARGETS = ("sm_75", "sm_80", "sm_90", "sm_100")
HEAD = """.version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 out)
{{
  .reg .b32 %r<9>; .reg .b64 %o; .shared .align 8 .b8 shared[64]; .local .align 8 .b8 own[64];
  ld.param.u64 %o, [out];
{body}
  ret;
}}
"""
LOADS = {"": "[%o]", ".global": "[%o]", ".shared": "[shared+4]", ".local": "[own+4]"}
STAYS = ("volatile", "relaxed.gpu", "relaxed.sys", "acquire.cta", "acquire.gpu", "acquire.sys", "mmio.relaxed.sys")
MEMORY = re.compile(r"(LD|LDG|LDS|LDL|ATOM|ATOMG|ATOMS|RED|REDG)\b")


def forms(target: str) -> list[str]:
    """One of each kind, which stands alone in a kernel."""
    out = []
    for space, address in LOADS.items():
        for kind in STAYS:
            if space in ("", ".global"):  # the others go, as with ptxas, but for what they order
                stays = kind in ("volatile", "mmio.relaxed.sys")
            else:
                stays = space == ".shared" and "mmio" not in kind
            if stays:
                out.append(f"ld.{kind}{space}.u32 %r1, {address};")
    for space in ("", ".global", ".shared"):
        for operation in ("add.u32 %r1, {0}, 1;", "exch.b32 %r1, {0}, 1;", "cas.b32 %r1, {0}, 1, 2;", "inc.u32 _, {0}, 5;"):
            out += [f"atom{kind}{space}.{operation.format(LOADS[space])}" for kind in ("", ".acquire.gpu", ".release.cta")]
    return out


@pytest.mark.parametrize("level", [0, 1, 3])
@pytest.mark.parametrize("target", TARGETS)
def test_what_others_see_stays(target: str, level: int) -> None:
    """As with ptxas, which keeps but volatile loads of shared memory."""
    chosen = forms(target)
    image = oric.compile(HEAD.format(target=target, body="\n".join(chosen)), arch=target, opt_level=level).image
    text = next(s for s in elf.read(image).sections if s.name == ".text.k")
    found = [
        line for i in decode(text.data, target) if MEMORY.match(line := re.sub(r"^@\S+\s+", "", i.text)) and "LDS RZ" not in line
    ]
    assert len(found) == len(chosen)


@pytest.mark.parametrize("level", [1, 3])
@pytest.mark.parametrize("target", TARGETS)
def test_plain_loads_go(target: str, level: int) -> None:
    body = "\n".join(f"ld{space}.u32 %r1, {address};" for space, address in LOADS.items())
    image = oric.compile(HEAD.format(target=target, body=body), arch=target, opt_level=level).image
    text = next(s for s in elf.read(image).sections if s.name == ".text.k")
    assert not [i.text for i in decode(text.data, target) if MEMORY.match(i.text)]
