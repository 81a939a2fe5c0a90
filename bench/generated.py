"""PTX of any size: one long block, many short ones joined by branches and loops, nests of loops, inlined calls."""

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

    def in_place(self, count: int) -> list[str]:
        """`count` instructions that change one of few values each, as loops do: what they need at once stays the same."""
        rng, ints = self.rng, self.ints
        picked = [(rng.choice(INTEGER), *rng.sample(ints, 2)) for _ in range(count)]
        return [f"\t{name} %r{a}, %r{a}, %r{b};" for name, a, b in picked]

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


def branchy(size: int, target: str, seed: int = 1, before: int = 6, aside: int = 4) -> str:
    """One kernel of about `size` instructions in blocks of five to nine: branches around code, and loops.

    `before`: instructions in front of a branch; `aside`: of those that it leaves out.
    """
    writer, label, emitted = Writer(seed), 0, 0
    while emitted < size:
        label += 1
        body, side = writer.statements(before), writer.statements(aside, keep=False)
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


def one_block(size: int, target: str) -> tuple[str, int]:
    """`straight`, with its number of instructions."""
    return straight(size, target), size


def many_blocks(size: int, target: str) -> tuple[str, int]:
    """`branchy` with five instructions in a block on average, with its number of instructions."""
    return branchy(size, target, before=5, aside=2), size


NEST = 20  # loops within each other
EACH = 10  # instructions of a loop without those inside


def loop_nests(size: int, target: str) -> tuple[str, int]:
    """Nests of twenty counted loops, one behind the other, with their number of instructions."""
    writer = Writer(1)
    nests = max(1, size // (NEST * EACH))
    for nest in range(nests):
        first = writer.fresh
        writer.fresh += NEST
        for depth in range(NEST):
            writer.lines += [f"\tmov.u32 %r{first + depth}, 0;", f"N{nest}_{depth}:", *writer.in_place(EACH - 5)]
        for depth in reversed(range(NEST)):
            writer.lines += [
                *writer.in_place(1),
                f"\tadd.s32 %r{first + depth}, %r{first + depth}, 1;",
                f"\tsetp.lt.s32 %p1, %r{first + depth}, %r0;",
                f"\t@%p1 bra N{nest}_{depth};",
            ]
    return writer.finish(target), NEST * EACH * nests


def one_nest(size: int, target: str) -> tuple[str, int]:
    """One nest of as many loops as there are tens of instructions, each left when memory says so; with its number of these."""
    writer = Writer(1)
    levels = max(1, size // EACH)
    for level in range(levels):
        writer.lines += [f"N{level}:", *writer.in_place(EACH - 4)]
    for level in reversed(range(levels)):
        read = writer.fresh
        writer.fresh += 1
        writer.lines += [
            *writer.in_place(1),
            f"\tld.global.u32 %r{read}, [%rd2+{4 * (level % 1000)}];",
            f"\tsetp.lt.s32 %p1, %r{read}, %r0;",
            f"\t@%p1 bra N{level};",
        ]
    return writer.finish(target), EACH * levels


CALLS = 300
CALL_COST = 4  # instructions of a call beside those of the body
FUNCTION = """.func (.param .b32 result) body(.param .b32 first, .param .b32 second)
{{
	.reg .b32 %r<{registers}>;
	ld.param.b32 %r0, [first];
	ld.param.b32 %r1, [second];
"""
CALL = """	{{
	.param .b32 a;
	.param .b32 b;
	.param .b32 c;
	st.param.b32 [a], %r{first};
	st.param.b32 [b], %r{second};
	call.uni (c), body, (a, b);
	ld.param.b32 %r{result}, [c];
	}}"""


def inlined_calls(size: int, target: str) -> tuple[str, int]:
    """A kernel that calls one function three hundred times, with the number of instructions that this makes."""
    rng, length = random.Random(2), max(1, size // CALLS - CALL_COST)
    body = [
        f"\t{rng.choice(INTEGER)} %r{n}, %r{rng.randrange(max(0, n - LIVE), n)}, %r{rng.randrange(max(0, n - LIVE), n)};"
        for n in range(2, length + 2)
    ]
    end = f"\tst.param.b32 [result], %r{length + 1};\n\tret;\n}}\n"
    writer = Writer(1)
    for _ in range(CALLS):
        first, second = writer.rng.sample(writer.ints, 2)
        writer.lines.append(CALL.format(first=first, second=second, result=writer.fresh))
        writer.ints[writer.rng.randrange(LIVE)] = writer.fresh
        writer.fresh += 1
    head, entry, rest = writer.finish(target).partition(".visible")
    function = FUNCTION.format(registers=length + 3) + "\n".join(body) + "\n" + end
    return head + function + entry + rest, CALLS * (length + CALL_COST)
