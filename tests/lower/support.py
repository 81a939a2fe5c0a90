"""Small kernels: a body between the usual first and last lines, launched on one block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import oric

HEAD = """.version 8.5
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


def launch(
    text: str,
    data: Any,
    out: Any,
    arch: str = "sm_90",
    level: int = 3,
    threads: int = 32,
    extra: Sequence[Any] = (),
    shared: int = 0,
) -> Any:
    """Compile, run one block; the output array."""
    image = oric.compile(text, arch=arch, opt_level=level).image
    result = np.array(out)
    oric.sim.load(image).launch("k", grid=(1, 1, 1), block=(threads, 1, 1), args=[data, result, *extra], shared_bytes=shared)
    return result
