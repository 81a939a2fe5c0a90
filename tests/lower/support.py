"""Small kernels: a body between the usual first and last lines, launched on one block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import oric
from oric.driver.front import PtxInput, build_inputs
from oric.driver.options import CompileOptions
from oric.ir.function import Function
from oric.ir.module import Module
from oric.ir.text import all_instructions
from oric.sim import Modes
from oric_tables import ops

HEAD = """.version 9.0
.target {sm}
.address_size 64
{module}
.visible .entry k(.param .u64 pin, .param .u64 pout{params})
{{
  .reg .pred %p<20>; .reg .b16 %h<40>; .reg .b32 %r<60>; .reg .b64 %d<60>; .reg .f32 %f<40>; .reg .f64 %g<40>;
  .reg .b64 %in; .reg .b64 %out; .reg .b32 %i; .reg .b64 %tid8; .reg .b64 %tid4;
  ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout];
  mov.u32 %i, %tid.x; mul.wide.u32 %tid8, %i, 8; mul.wide.u32 %tid4, %i, 4;
{body}
  ret;
}}
"""


def source(body: str, sm: str = "sm_90", module: str = "", params: str = "") -> str:
    """PTX of a kernel: ``%in``, ``%out`` are the buffers, ``%i`` the thread, ``%tid4``, ``%tid8`` its byte offsets."""
    return HEAD.format(sm=sm, module=module, params=params, body=body)


def lowered(text: str, arch: str = "sm_90") -> Module:
    """The module before any phase, of PTX that is accepted without a message."""
    front = build_inputs([PtxInput(text, "m.ptx")], CompileOptions(arch))
    assert not any(part.items for part in front.parts), [part.render() for part in front.parts]
    return front.module


def name(f: Function, i: int) -> str:
    """The operation of an instruction."""
    op = ops.OPS[f.op[i]]
    assert op is not None
    return op.name


def names(f: Function, line: int | None = None) -> list[str]:
    """The operations of a function in order; those of one line of the PTX."""
    return [name(f, i) for i in all_instructions(f) if line is None or f.line[i] == line]


def launch(
    text: str,
    data: Any,
    out: Any,
    arch: str = "sm_90",
    level: int = 3,
    threads: int = 32,
    extra: Sequence[Any] = (),
    shared: int = 0,
    grid: int = 1,
    modes: Modes | None = None,
) -> Any:
    """Compile, run one block or several; the output array."""
    image = oric.compile(text, arch=arch, opt_level=level).image
    result = np.array(out)
    args = [data, result, *extra]
    modes = modes or Modes()
    oric.sim.load(image).launch("k", grid=(grid, 1, 1), block=(threads, 1, 1), args=args, shared_bytes=shared, modes=modes)
    return result
