"""Scoreboards where threads of a warp are apart: what some of them leave under way when they wait for the others."""

from __future__ import annotations

import numpy as np
import oric
import pytest
from oric.sim import Modes, load

# Some threads begin in the loop, which the first of them leave at once; others come to its beginning later. The limits, words
# that are the same for all threads, are read there and used behind the branch.
TWO_ENTRIES = """
.version 8.8
.target {target}
.address_size 64
.visible .entry two_entries(.param .u64 data, .param .u64 result, {parameters})
{{
  .reg .b32 %a<{limits}>, %y, %odd, %n, %q, %w, %z; .reg .b64 %x, %count, %read, %three, %least, %same, %in, %out, %at;
  .reg .pred %never, %late, %p;
  mov.u32 %q, %tid.x; mov.u32 %w, %ctaid.x; mov.u32 %z, %ntid.x; mad.lo.u32 %n, %w, %z, %q;
  ld.param.u64 %in, [data]; ld.param.u64 %out, [result];
  mul.wide.u32 %at, %n, 96; add.s64 %in, %in, %at; mul.wide.u32 %at, %n, 256; add.s64 %out, %out, %at;
  ld.global.b64 %read, [%in+64]; mov.b64 %count, %read;
  ld.global.b64 %x, [%in+0]; ld.global.b64 %least, [%in+8];
  setp.eq.u64 %never, %count, 77;
  ld.global.b32 %odd, [%in+24]; setp.ne.u32 %late, %odd, 0;
  {loads} ld.global.b64 %same, [%in+80];
  @%late bra LATE;
AGAIN:
  setp.ls.u64 %p, %count, %least; @%p bra DONE;
INNER:
  cvt.u32.u64 %y, %x;
  {tests}
  setp.ne.s64 %p, %x, %three;
BELOW:
  add.u64 %count, %count, 0xfffffffffffffffe;
  setp.gt.or.u64 %p, %count, %least, %never; @%p bra INNER;
LATE:
  setp.ne.u64 %p, %count, %same; @%p bra AGAIN;
DONE:
  st.global.u32 [%out], %n;
}}
"""


LIMITS = 8


def two_entries(target: str) -> str:
    """The kernel, with so many limits that some have a uniform register that is written in one place only."""
    each = range(LIMITS)
    return TWO_ENTRIES.format(
        target=target,
        limits=LIMITS,
        parameters=", ".join(f".param .u32 a{k}" for k in each),
        loads=" ".join(f"ld.param.b32 %a{k}, [a{k}];" for k in each),
        tests="\n  ".join(f"setp.gt.s32 %p, %y, %a{k}; @!%p bra BELOW;" for k in each),
    )


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_100a", "sm_120a"])
def test_a_uniform_word_is_there_before_other_threads_read_it_again(target: str, level: int) -> None:
    """Who leaves the loop while the word is under way lets others come to the same block: they must not find it late."""
    image = oric.compile(two_entries(target), arch=target, opt_level=level).image
    rng = np.random.default_rng(1)
    for _ in range(4):
        data = np.zeros((32, 12), np.uint64)
        data[:, 8], data[:, 1] = 2 * rng.integers(0, 12, 32), 2 * rng.integers(0, 9, 32)
        data[:, 0], data[:, 3] = rng.integers(0, 9, 32), rng.integers(0, 2, 32)
        data[:, 10] = np.where(rng.integers(0, 2, 32), data[:, 8], 99)
        out = np.zeros((32, 64), np.uint32)
        done = load(image).launch("two_entries", 1, 32, [data, out, *range(LIMITS)], modes=Modes(strict=True))
        assert not done.reports, str(done.reports[0])
        assert out[:, 0].tolist() == list(range(32))
