"""Control-flow phases: edges, splitting, straightening. Behaviour is checked by running the code before and after."""

from __future__ import annotations

import random

import pytest
from oric.ir import operand as opd
from oric.ir.cfg import Cfg, analyze
from oric.ir.code import CodeObject, Instruction, P
from oric.ir.dump import dump, dump_dot, dump_order
from oric.ir.verify import MalformedCode, verify
from oric.phases.cleanup import check_initial_program, remove_dead_code, sanitize
from oric.phases.control import analyze_control_flow, set_control_flow_last, simplify_control_flow
from oric_tables import ops

from tests.ir.oritext import context, parse


def trace(code: CodeObject, choices: list[bool]) -> list[int]:
    """Values of the MOVs that are run, when predicate p is choices[(k + p) % n] after the k-th of them."""
    out: list[int] = []
    at = code.blocks[0]
    for _ in range(4000):
        if len(out) >= 60:
            break
        following = at.index + 1
        for node in at:
            taken = True
            if node.guard:
                register = node.guard & opd.INDEX_MASK
                taken = choices[(len(out) + register) % len(choices)] ^ bool(node.guard & opd.NEGATE)
            if node.op == ops.MOV:
                out.append(code.imm_value(node.operands[1]))
            elif node.op == ops.EXIT and taken:
                return out
            elif node.op == ops.BRA and taken:
                following = node.operands[0] & opd.INDEX_MASK
                break
        at = code.blocks[following]
    return out[:60]


def random_code(rng: random.Random) -> CodeObject:
    code = CodeObject("random", "sm_90")
    for _ in range(4):
        code.new_reg(P)
    target = code.new_reg(1)
    n = rng.randint(2, 12)
    for number in range(n):
        block = code.new_block()
        if rng.random() < 0.55:
            code.append(block, Instruction(ops.MOV, [opd.reg(target), code.imm(number)]))
        kind = rng.random()
        guard = opd.reg(rng.randrange(4)) ^ (opd.NEGATE if rng.random() < 0.5 else 0)
        if number == n - 1 or kind < 0.12:
            code.append(block, Instruction(ops.EXIT, [], 0, 0 if number == n - 1 or rng.random() < 0.5 else guard))
        elif kind < 0.4:
            code.append(block, Instruction(ops.BRA, [opd.label(rng.randrange(n))]))
        elif kind < 0.85:
            code.append(block, Instruction(ops.BRA, [opd.label(rng.randrange(n))], 0, guard))
    return code


@pytest.mark.parametrize("seed", range(400))
def test_straightening_keeps_behaviour(seed: int) -> None:
    rng = random.Random(seed)
    code = random_code(rng)
    analyze_control_flow(code, context())
    choices = [[rng.random() < 0.5 for _ in range(17)] for _ in range(4)]
    before = [trace(code, c) for c in choices]
    verify(code, final_flow=True)
    jumps = sum(node.op == ops.BRA for node in code.instructions())
    simplify_control_flow(code, context())
    verify(code, final_flow=True)
    for expected, c in zip(before, choices, strict=True):
        got = trace(code, c)
        length = min(len(expected), len(got), 40)
        assert got[:length] == expected[:length] and (len(got) == len(expected) or length == 40)
    assert sum(node.op == ops.BRA for node in code.instructions()) <= jumps + 1


def test_edges_of_a_forward_branch() -> None:
    code = parse("""
        bix0:
            @P1 BRA bix3
        bix1:
            MOV R0, 0x1
            BRA bix3
        bix2:
            EXIT
        bix3:
            @!P1 BRA bix1
        bix4:
            EXIT
    """)
    assert [b.succs for b in code.blocks] == [[3, 1], [3], [], [1, 4], []]
    assert [b.preds for b in code.blocks] == [[], [0, 3], [], [0, 1], [3]]
    assert analyze(code).loops.depth == [0, 0, 0, 0, 0]  # two ways in: irreducible, no natural loop
    sanitize(code, context())


def test_split_behind_control_flow() -> None:
    code = parse("""
        bix0:
            MOV R0, 0x1
            @P1 BRA bix1
            MOV R0, 0x2
            @P2 EXIT
            BRA bix0
            MOV R0, 0x3
        bix1:
            EXIT
    """)
    check_initial_program(code, context())
    with pytest.raises(MalformedCode, match="not last"):
        sanitize(code, context())
    assert set_control_flow_last(code, context())
    sanitize(code, context())
    bodies = [[(node.op, list(node.operands)) for node in block] for block in code.blocks]
    assert [len(b) for b in bodies] == [0, 2, 2, 1, 1, 1]
    assert code.blocks[1].succs == [5, 2] and code.blocks[3].succs == [1]
    assert not set_control_flow_last(code, context())


def test_a_bare_exit_is_not_jumped_to() -> None:
    code = parse("""
        bix0:
            @P1 BRA bix2
        bix1:
            MOV R0, 0x1
        bix2:
            EXIT
    """)
    simplify_control_flow(code, context())
    assert dump(code) == (
        "entry test sm_90\nbix0:  // from - to bix1\n    @P1 EXIT\nbix1:  // from bix0 to -\n    MOV R0, 0x1\n    EXIT\n"
    )


def test_branch_round_a_jump_is_turned() -> None:
    code = parse("""
        bix0:
            @P1 BRA bix2
        bix1:
            BRA bix3
        bix2:
            MOV R0, 0x1
        bix3:
            MOV R0, 0x2
            EXIT
    """)
    simplify_control_flow(code, context())
    assert [[n.op for n in b] for b in code.blocks] == [[ops.BRA], [ops.MOV], [ops.MOV, ops.EXIT]]
    assert code.blocks[0].tail is not None and code.blocks[0].tail.guard == opd.reg(1) | opd.NEGATE


def test_dead_code_round_a_loop() -> None:
    code = parse("""
        bix0:
            MOV R1, 0x0
            MOV R2, 0x0
            LDC R5, 0x0, bank0, 0x210
        bix1:
            IADD3 R1, R1, 0x1, RZ
            IADD3 R2, R2, 0x1, RZ
            ISETP{cmp=LT} P4, R1, 0x20
            LDS{size=64} R6:2, R1, 0x0
            @P4 BRA bix1
        bix2:
            STS R1, 0x0, R6.1
            EXIT
    """)
    assert remove_dead_code(code, context())
    left = [node.op for node in code.instructions()]
    assert left == [ops.MOV, ops.IADD3, ops.ISETP, ops.LDS, ops.BRA, ops.STS, ops.EXIT]
    assert not remove_dead_code(code, context())


def test_volatile_loads_stay() -> None:
    code = parse("""
        bix0:
            LDS R1, R2, 0x0  // aux=0x20
            LDS R1, R2, 0x0
            EXIT
    """)
    remove_dead_code(code, context())
    assert [node.aux for node in code.instructions()] == [0x20, 0]


def test_dumps() -> None:
    code = parse("""
        bix0:
            @P1 BRA bix2
        bix1:
            @P2 BRA bix1
        bix2:
            EXIT
    """)
    assert dump_dot(code) == (
        'digraph f {\n    node [fontname="Courier" shape=box]\n'
        "    bix0 -> bix2\n    bix0 -> bix1\n    bix1 -> bix1  // backedge (loop)\n    bix1 -> bix2\n}\n"
    )
    assert dump_order(code).startswith("Showing RPO state for each basic block:\nbix0 -> RPONum: 0\n")
    assert "bix1 -> backedge's successor BB: 1\n" in dump_order(code)
    assert Cfg([b.succs for b in code.blocks]).loops.count == 1
