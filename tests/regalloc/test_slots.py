"""Words of a frame: pieces never overlap, lie at multiples of their sizes, and are whole again when all are free."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from oric.regalloc.slots import Frame

SIZES = (1, 2, 4)
steps = st.lists(st.one_of(st.sampled_from(SIZES), st.integers(min_value=-30, max_value=-1)), max_size=80)


@given(st.integers(min_value=0, max_value=9), steps)
def test_pieces(base: int, plan: list[int]) -> None:
    """A positive number takes a piece of so many words, a negative one gives a piece back."""
    frame = Frame(base)
    taken: list[tuple[int, int]] = []
    for step in plan:
        if step < 0:
            if taken:
                frame.give(*taken.pop(step % len(taken)))
            continue
        first = frame.take(step)
        words = set(range(first, first + step))
        assert first % step == 0
        assert first >= base
        assert first + step <= frame.top
        assert all(words.isdisjoint(range(at, at + size)) for at, size in taken)
        taken.append((first, step))
    for piece in taken:
        frame.give(*piece)
    top, whole = frame.top, -(-base // 4) * 4
    found = sorted(frame.take(4) for _ in range((top - whole) // 4))
    assert found == list(range(whole, top, 4))
    assert frame.top == top


def test_the_least_piece_is_taken() -> None:
    frame = Frame(0)
    assert [frame.take(1), frame.take(2), frame.take(1), frame.take(4)] == [0, 2, 1, 4]
    frame.give(2, 2)
    assert [frame.take(1), frame.take(1), frame.top] == [2, 3, 8]
