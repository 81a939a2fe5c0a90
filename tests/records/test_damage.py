"""Damaged files: refused with a place, whatever is wrong with them; no crash, no hang, no memory without end."""

from __future__ import annotations

import os
import random
import tracemalloc
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oric.driver.saving import CLASSES, load, resume
from oric.records import RecordError, read, sections_of, write
from oric.records.container import TAG

from tests.campaigns import seeds

from . import samples

# A tenth of a million; DAMAGED_CHUNKS=100 for a million in all.
CHUNKS, CHUNK = int(os.environ.get("DAMAGED_CHUNKS", "10")), 10_000
PHASES = (13, 60, 100, 126)
STATE = [TAG[name] for name in ("start", "options", "head", "code", "facts", "module", "symbols", "lines")]
ARRAYS = ("op", "mods", "guard", "aux", "first", "count", "room", "prev", "next", "block", "operand", "head", "tail",
          "succ_first", "succ_count", "succ", "reg_type", "reg_size", "reg_word", "physical", "parent")  # fmt: skip


@cache
def _bases() -> list[bytes]:
    return [samples.saved(samples.SMALL, "sm_75", phase, full=n % 2 == 0, wrapped=n == 0) for n, phase in enumerate(PHASES)]


def told(data: bytes) -> str:
    """What the reader says of a file, "" when it takes it; then it is a file that is written as the same bytes."""
    try:
        saved = load(data)
    except RecordError as error:
        assert error.message and 0 <= error.offset <= len(data)
        return error.message
    known = {section.tag for section in read(data).sections} <= {*STATE, *_known()}
    assert not known or write(sections_of(saved, CLASSES), saved.flags) == data
    return ""


@cache
def _known() -> frozenset[int]:
    return frozenset(TAG.values())


def one(rng: random.Random, within: float = 0.5) -> bytes:
    """A damaged file; ``within``: the part of them that have the checksums that they need, and damage in what these protect."""
    base = rng.choice(_bases())
    if rng.random() >= within:
        return samples.mutated(base, rng)
    if rng.random() < 0.3:
        return samples.sealed(samples.mutated(base, rng))
    sections = read(base).sections
    number = rng.choice([n for n, section in enumerate(sections) if section.payload and section.shares < 0])
    return samples.with_sections(base, {number: samples.mutated(sections[number].payload, rng)})


def campaign(seed: int, count: int, within: float = 0.5) -> int:
    """How many damaged files of a campaign were refused. The others are files of something else, a PTX text or a name for one;
    without new checksums there are none."""
    rng, refused = random.Random(seed), 0
    for _ in range(count):
        data = one(rng, within)
        message = told(data)
        assert message or data in _bases() or samples.sealed(data) == data
        refused += bool(message)
    return refused


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_refused(seed: int) -> None:
    assert campaign(seed, 800) > 700


@pytest.mark.measure
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_many_damaged_files(chunk: int) -> None:
    assert campaign(1000 + chunk, CHUNK, 0.15) > CHUNK * 7 // 8


@given(st.binary(max_size=300))
def test_bytes_that_are_nothing(data: bytes) -> None:
    assert told(data)
    assert told(samples.small()[:16] + data)


@given(st.integers(0, 1 << 30), st.binary(min_size=1, max_size=40))
def test_bytes_in_the_middle(place: int, data: bytes) -> None:
    base = samples.small()
    at = place % len(base)
    changed = base[:at] + data + base[at + len(data) :]
    assert changed == base or told(changed)


@pytest.mark.parametrize("size", [0, 1, 31, 63, 64, 65, 1000])
def test_files_that_are_cut_off(size: int) -> None:
    assert told(samples.small()[:size])


@pytest.mark.measure
def test_no_memory_without_end() -> None:
    """Counts that promise more than is there are seen before anything is made of them."""
    rng = random.Random(5)
    files = [one(rng) for _ in range(150)]
    told(files[0])
    for data in files:
        tracemalloc.start()
        told(data)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 100 * len(data) + (1 << 20)


def _planted(rng: random.Random) -> tuple[str, bytes] | None:
    """A sound file of code with one number changed: what was changed, and the file; None where the number says nothing."""
    saved = load(rng.choice(_bases()))
    f = saved.parts[0].function
    name = rng.choice(ARRAYS)
    array = getattr(f, name)
    if not len(array):
        return None
    at = rng.randrange(len(array))
    value = rng.choice((int(array[at]) + 1, -2, 1 << 40, int(array[at]) ^ 1 << rng.randrange(60)))
    array[at] = value
    try:
        return f"{name}[{at}] = {value}", write(sections_of(saved, CLASSES), saved.flags)
    except Exception:
        return None  # not even the writer can look at it


def _takes(rng: random.Random, count: int) -> tuple[int, int]:
    refused = gone_on = 0
    for _ in range(count):
        found = _planted(rng)
        if found is None:
            continue
        try:
            resume(found[1])
            gone_on += 1
        except RecordError:
            refused += 1
        except Exception:
            gone_on += 1  # a phase refuses code that is sound and makes no sense
    return refused, gone_on


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(3))
def test_numbers_that_lead_nowhere_do_no_harm(seed: int) -> None:
    """What the reader takes is compiled on: that ends, and the process goes on."""
    refused, gone_on = _takes(random.Random(seed), 60)
    assert refused > 10 and gone_on


@pytest.mark.measure
@pytest.mark.parametrize("seed", seeds(40, 0))
def test_many_numbers_that_lead_nowhere_do_no_harm(seed: int) -> None:
    refused, gone_on = _takes(random.Random(100 + seed), 250)
    assert refused and gone_on


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.op.__setitem__(0, 1 << 20), "'op' has 1048576, which is not from"),
        (lambda f: f.op.__setitem__(0, 0), "'op' has 0"),
        (lambda f: f.mods.__setitem__(f.head[0], -1), "has modifiers"),
        (lambda f: f.first.__setitem__(0, 1 << 20), "'first' has 1048576"),
        (lambda f: f.room.__setitem__(f.head[0], 0), "are beyond the pool"),
        (lambda f: f.next.__setitem__(f.head[0], f.head[0]), "are no list"),
        (lambda f: f.succ.__setitem__(0, 77), "'succ' has 77"),
        (lambda f: f.reg_word.__setitem__(1, 77), "register 1 begins at word 77"),
        (lambda f: f.physical.__setitem__(0, 999), "'physical' has 999"),
        (lambda f: f.parent.__setitem__(0, 5000), "'parent' has 5000"),
        (lambda f: setattr(f, "words", 5), "words of registers, not 5"),
        (lambda f: f.marks.append(9999), "an instruction 9999 is named"),
        (lambda f: setattr(f, "target", "sm_80"), "it is for sm_80, the file for sm_75"),
        (lambda f: setattr(f, "expanded", 999), "there is no phase 999"),
        (lambda f: setattr(f.attributes, "local_size", -7), "'local_size' is -7"),
        (lambda f: f.attributes.shared_offsets.update({5: 0}), "there is no variable 5"),
        (lambda f: f.shared_code.append(1), "that has none"),
    ],
)
def test_numbers_out_of_range_are_named(change, message) -> None:  # type: ignore[no-untyped-def]
    from oric.records.codec import Codec
    from oric.records.state import CLASSES as OWN

    base = samples.saved(samples.SMALL, "sm_75", 60)
    saved = load(base)
    f = saved.parts[0].function
    change(f)
    codec = Codec({**OWN, **CLASSES})
    numbers = {section.tag: number for number, section in reversed(list(enumerate(read(base).sections)))}
    data = samples.with_sections(base, {
        numbers[TAG["code"]]: codec.encode("Function", f),
        numbers[TAG["facts"]]: codec.encode("FunctionAttributes", f.attributes),
    })  # fmt: skip
    assert message in told(data)
