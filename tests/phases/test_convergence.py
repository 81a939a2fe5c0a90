"""Convergence barriers: known shapes as ptxas makes them, and random graphs on a small warp model."""

from __future__ import annotations

import random

import pytest
from oric.ir import operand as opd
from oric.ir.code import CodeObject
from oric.ir.dump import dump
from oric.ir.verify import verify
from oric.phases.control import analyze_control_flow, simplify_control_flow
from oric.phases.convergence import insert_convergence_barriers
from oric_tables import ops

from tests.ir.oritext import context, parse
from tests.phases.test_control import random_code
from tests.phases.warp import Warp


def converge(text: str, level: int = 3, arch: str = "sm_90") -> CodeObject:
    code = parse(text, arch)
    insert_convergence_barriers(code, context(arch, level))
    verify(code, final_flow=True)
    return code


def names(code: CodeObject) -> list[list[str]]:
    return [[ops.op(n.op).name for n in block] for block in code.blocks]


TID = """
    bix0:
        S2R R0, SR33
        ISETP{cmp=GE} P1, R0, 0x10
"""


def test_if_then() -> None:
    code = converge(
        TID
        + """
        @P1 BRA bix2
    bix1:
        MOV R2, 0x1
    bix2:
        MOV R3, 0x2
        EXIT
    """
    )
    assert dump(code) == (
        "entry test sm_90\n"
        "bix0:  // from - to bix2 bix1\n    S2R R0, SR33\n    ISETP{cmp=GE} P1, R0, 0x10\n    BSSY B0, bix3\n    @P1 BRA bix2\n"
        "bix1:  // from bix0 to bix2\n    MOV R2, 0x1\n"
        "bix2:  // from bix0 bix1 to bix3\n    BSYNC B0\n"
        "bix3:  // from bix2 to -\n    MOV R3, 0x2\n    EXIT\n"
    )
    assert code.attributes.num_convergence_barriers == 1


def test_uniform_branch_needs_none() -> None:
    code = converge("""
    bix0:
        S2R R0, SR37
        IMAD R0, R0, c[0x0][0x0], RZ
        MOV R5, 0x0
    bix1:
        IADD3 R5, R5, 0x1, RZ
        ISETP{cmp=LT} P1, R5, R0
        @P1 BRA bix1
    bix2:
        EXIT
    """)
    assert "BSSY" not in dump(code)


def test_value_that_depends_on_the_way_is_divergent() -> None:
    text = (
        TID
        + """
        MOV R5, 0x0
        @P1 BRA bix2
    bix1:
        MOV R5, 0x1
    bix2:
        ISETP{cmp=EQ} P2, R5, RZ
        @P2 BRA bix4
    bix3:
        MOV R6, 0x1
    bix4:
        MOV R6, 0x2
        EXIT
    """
    )
    assert dump(converge(text)).count("BSSY") == 2
    assert dump(converge(text.replace("MOV R5, 0x1", "MOV R4, 0x1"))).count("BSSY") == 1


def test_loop_counter_after_a_divergent_exit_is_divergent() -> None:
    code = converge(
        TID
        + """
        MOV R5, 0x0
    bix1:
        IADD3 R5, R5, 0x1, RZ
        ISETP{cmp=LT} P2, R5, R0
        @P2 BRA bix1
    bix2:
        ISETP{cmp=EQ} P3, R5, 0x7
        @P3 BRA bix4
    bix3:
        MOV R6, 0x1
    bix4:
        MOV R6, 0x2
        EXIT
    """
    )
    assert names(code)[0][-1] == "BSSY"  # in front of the loop
    assert dump(code).count("BSSY B0") == 2


def test_loop_with_branch_inside_nests() -> None:
    code = converge(
        TID
        + """
        MOV R5, 0x0
        @P1 EXIT
    bix1:
        ISETP{cmp=EQ} P2, R5, R0
        @P2 BRA bix3
    bix2:
        MOV R6, 0x1
    bix3:
        IADD3 R5, R5, 0x1, RZ
        ISETP{cmp=LT} P3, R5, R0
        @P3 BRA bix1
    bix4:
        MOV R6, 0x2
        EXIT
    """
    )
    text = dump(code)
    assert text.count("BSSY B0") == 1 and text.count("BSSY B1") == 1
    assert code.attributes.num_convergence_barriers == 2
    assert text.index("BSSY B0") < text.index("BSSY B1") < text.index("BSYNC B1") < text.index("BSYNC B0")


def test_branches_that_meet_together_share_a_barrier() -> None:
    code = converge(
        TID
        + """
        ISETP{cmp=LT} P2, R0, 0x3
        @P1 BRA bix3
    bix1:
        @P2 BRA bix3
    bix2:
        MOV R6, 0x1
    bix3:
        MOV R6, 0x2
        EXIT
    """
    )
    text = dump(code)
    assert text.count("BSSY") == 1 and text.count("BSYNC") == 1


def test_early_exit_does_not_count() -> None:
    code = converge(
        TID
        + """
        ISETP{cmp=LT} P2, R0, 0x3
        @P1 BRA bix4
    bix1:
        @P2 BRA bix3
    bix2:
        MOV R6, 0x1
        EXIT
    bix3:
        MOV R6, 0x3
    bix4:
        MOV R6, 0x2
        EXIT
    """
    )
    text = dump(code)
    assert text.count("BSSY") == 1 and names(code)[0][-2] == "BSSY"


@pytest.mark.parametrize("load", ["ATOMG{op=ADD} R2, R4:2, 0x0, R0, _, PT", "LDG{order=STRONG.SYS} R2, R4:2, 0x0"])
def test_no_barrier_behind_a_loop_that_waits(load: str) -> None:
    code = converge(f"""
    bix0:
        MOV R0, 0x1
    bix1:
        {load}
        ISETP{{cmp=NE}} P1, R2, RZ
        @P1 BRA bix1
    bix2:
        WARPSYNC R0  // aux=0x1
        SHFL R6, PT, R2, 0x1, 0x1f
        BAR.SYNC 0x0
        EXIT
    """)
    assert "BSSY" not in dump(code)
    assert names(code)[1][0] == "YIELD"
    assert names(code)[-1] == ["WARPSYNC", "SHFL", "WARPSYNC.ALL", "BAR.SYNC", "EXIT"]


def test_atomics_that_decide_nothing_keep_the_barrier() -> None:
    code = converge(
        TID
        + """
    bix1:
        ATOMG{op=ADD} R2, R4:2, 0x0, R0, _, PT
        IADD3 R0, R0, 0x1, RZ
        ISETP{cmp=LT} P3, R0, 0x40
        @P3 BRA bix1
    bix2:
        MOV R6, 0x2
        EXIT
    """
    )
    assert "BSSY B0" in dump(code)


def test_warpsync_goes_where_threads_are_together() -> None:
    text = (
        TID
        + """
        @P1 BRA bix2
    bix1:
        WARPSYNC R0  // aux=0x1
        SHFL R6, PT, R2, 0x1, 0x1f
    bix2:
        WARPSYNC R0  // aux=0x1
        SHFL R7, PT, R2, 0x1, 0x1f
        WARPSYNC R0
        EXIT
    """
    )
    code = converge(text)
    assert [n.aux for n in code.instructions() if n.op == ops.WARPSYNC] == [0]
    straight = converge("bix0:\n WARPSYNC R0  // aux=0x1\n SHFL R6, PT, R2, 0x1, 0x1f\n EXIT")
    assert names(straight) == [["SHFL", "EXIT"]]


@pytest.mark.parametrize("level", [0, 3])
def test_nobody_waits_in_front_of_a_bare_exit(level: int) -> None:
    code = converge(
        TID
        + """
        @P1 BRA bix4
    bix1:
        ISETP{cmp=EQ} P2, R0, 0x3
        @P2 BRA bix3
    bix2:
        MOV R6, 0x1
    bix3:
        SHFL R7, PT, R6, 0x1, 0x1f
        STS R0, 0x0, R7
    bix4:
        EXIT
    """,
        level,
    )
    text = dump(code)
    assert "@P1 EXIT" in text and text.count("BSYNC") == 1
    assert text.index("BSYNC") < text.index("SHFL")


def test_branches_inside_a_loop_that_ends_in_exit_still_meet() -> None:
    code = converge(
        TID
        + """
    bix1:
        ISETP{cmp=EQ} P2, R0, 0x3
        @P2 BRA bix3
    bix2:
        MOV R6, 0x1
    bix3:
        IADD3 R0, R0, 0x1, RZ
        ISETP{cmp=LT} P3, R0, 0x9
        @P3 BRA bix1
    bix4:
        EXIT
    """
    )
    assert dump(code).count("BSYNC") == 1


def test_sm_80_has_no_warpsync_all() -> None:
    code = converge(
        """
    bix0:
        MOV R0, 0x1
    bix1:
        LDG{order=STRONG.GPU} R2, R4:2, 0x0
        ISETP{cmp=NE} P1, R2, RZ
        @P1 BRA bix1
    bix2:
        BAR.SYNC 0x0
        EXIT
    """,
        arch="sm_80",
    )
    assert "WARPSYNC 0xffffffff" in dump(code)


@pytest.mark.parametrize("seed", range(500))
def test_random_graphs(seed: int) -> None:
    rng = random.Random(seed)
    code = random_code(rng)
    analyze_control_flow(code, context(level=0))
    if seed % 2:
        simplify_control_flow(code, context())
    table = [[[rng.random() < 0.5 for _ in range(13)] for _ in range(4)] for _ in range(4)]

    def decide(thread: int, predicate: int, step: int) -> bool:
        return table[thread][predicate][step % 13]

    alone = []
    for thread in range(4):
        single = Warp(code, 1, lambda _, p, k, t=thread: decide(t, p, k))  # type: ignore[misc]
        single.run()
        alone.append((single.traces[0], single.place[0] is None))
    insert_convergence_barriers(code, context(level=0))
    verify(code, final_flow=True)
    warp = Warp(code, 4, decide)
    warp.run()
    if all(done for _, done in alone):  # threads that never end keep others waiting, as they may
        assert [t for t, _ in alone] == warp.traces
        assert warp.place == [None] * 4
    for node in code.instructions():
        if node.op == ops.BSSY:  # the barrier's label is the block right behind its BSYNC
            target = code.blocks[node.operands[1] & opd.INDEX_MASK]
            sync = code.blocks[target.index - 1].tail
            assert sync is not None and sync.op == ops.BSYNC and sync.operands[0] == node.operands[0]
