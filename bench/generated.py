"""PTX of any size for the scaling check: one long block, or many short blocks joined by branches and loops."""

from __future__ import annotations

import random

HEAD = """.version 8.0
.target {target}
.address_size 64
.visible .entry generated(.param .u64 data, .param .u32 count)
{{
	.reg .pred %p<4>;
	.reg .b32 %r<{registers}>;
	.reg .f32 %f<{registers}>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [data];
	ld.param.u32 %r0, [count];
	cvta.to.global.u64 %rd2, %rd1;
"""
LIVE = 12  # values of each type that stay alive; far below the register limit

INTEGER = ("add.s32", "sub.s32", "xor.b32", "and.b32", "or.b32", "mul.lo.s32", "min.s32", "max.u32")
FLOAT = ("add.f32", "mul.f32", "sub.f32", "min.f32", "max.f32")


class Writer:
    """Emits arithmetic on recent values, each result in a new register as compilers write them."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.fresh = LIVE + 1
        self.ints = list(range(1, LIVE + 1))
        self.floats = list(range(1, LIVE + 1))
        self.lines = [f"\tadd.s32 %r{k}, %r0, {k * 37};" for k in self.ints]
        self.lines += [f"\tcvt.rn.f32.s32 %f{k}, %r{k};" for k in self.floats]

    def statements(self, count: int, keep: bool = True) -> list[str]:
        """`count` instructions; unless `keep`, later code does not read their results."""
        rng, ints, floats = self.rng, self.ints, self.floats
        if not keep:
            ints, floats = list(ints), list(floats)
        lines = []
        for _ in range(count):
            kind, number, slot = rng.randrange(10), self.fresh, rng.randrange(LIVE)
            self.fresh += 1
            if kind < 5:
                lines.append(f"\t{rng.choice(INTEGER)} %r{number}, %r{rng.choice(ints)}, %r{rng.choice(ints)};")
                ints[slot] = number
            elif kind < 9:
                lines.append(f"\t{rng.choice(FLOAT)} %f{number}, %f{rng.choice(floats)}, %f{rng.choice(floats)};")
                floats[slot] = number
            else:
                lines.append(f"\tld.global.u32 %r{number}, [%rd2+{4 * rng.randrange(256)}];")
                ints[slot] = number
        if not keep:
            lines.append(f"\tst.global.u32 [%rd2+{4 * rng.randrange(256)}], %r{ints[slot]};")
        return lines

    def finish(self, target: str) -> str:
        """Store every live value, so that the work is not dead, and close the kernel."""
        lines = self.lines + [f"\tst.global.u32 [%rd2+{4 * k}], %r{r};" for k, r in enumerate(self.ints)]
        lines += [f"\tst.global.f32 [%rd2+{4 * (k + LIVE)}], %f{r};" for k, r in enumerate(self.floats)]
        return HEAD.format(target=target, registers=self.fresh + 1) + "\n".join(lines) + "\n\tret;\n}\n"


def straight(size: int, target: str, seed: int = 1) -> str:
    """One kernel of about `size` instructions in one basic block."""
    writer = Writer(seed)
    writer.lines += writer.statements(size)
    return writer.finish(target)


def branchy(size: int, target: str, seed: int = 1) -> str:
    """One kernel of about `size` instructions in blocks of five to nine: branches around code, and loops."""
    writer, label, emitted = Writer(seed), 0, 0
    while emitted < size:
        label += 1
        body, side = writer.statements(6), writer.statements(4, keep=False)
        a, b = writer.rng.choice(writer.ints), writer.rng.choice(writer.ints)
        if label % 8:
            writer.lines += [*body, f"\tsetp.lt.s32 %p1, %r{a}, %r{b};", f"\t@%p1 bra L{label};", *side, f"L{label}:"]
        else:
            writer.lines += [
                "\tmov.u32 %r0, 0;",
                f"L{label}:",
                *body,
                "\tadd.s32 %r0, %r0, 1;",
                f"\tsetp.lt.s32 %p2, %r0, %r{a};",
                f"\t@%p2 bra L{label};",
                *side,
            ]
        emitted += len(body) + len(side) + 2
    return writer.finish(target)
