"""The documented sections: each is written from code of the tests, and says what the code says."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from oric.driver.saving import CLASSES, load
from oric.ir.image import Image
from oric.ir.text import all_instructions
from oric.records import RecordError, Section, read, sections_of, write
from oric.records.container import TAG
from oric.records.elements import rows_of
from oric.records.projections import projected
from oric.records.shown import Shown
from oric_tables.record_tags import ABOVE, ARCH_ABOVE, TAGS
from oric_tables.targets import TARGETS

from tests.kernels import cases

from . import samples

# Types of registers that nothing makes (spec/registers.yaml), and what has no data by its nature.
NEVER = {"class_2", "class_4", "class_6", "class_8", "class_9", "externals"}
TEXTURE = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry sample(.param .u64 out, .param .texref tex)
{
.reg .u64 %d; .reg .u32 %r<4>; .reg .f32 %f<5>;
ld.param.u64 %d, [out]; mov.u32 %r0, %tid.x;
tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [tex, {%r0}];
st.volatile.global.f32 [%d], %f0;
ret;
}
"""
CALLS = """\
.version 8.0
.target sm_90
.address_size 64
.extern .global .u32 other;
.extern .func (.param .b32 r) elsewhere(.param .b32 a);
.visible .entry calling(.param .u64 out)
{
.reg .u64 %d; .reg .u32 %r<4>;
ld.param.u64 %d, [out]; mov.u32 %r0, %tid.x;
{ .param .b32 a; .param .b32 r; st.param.b32 [a], %r0; call.uni (r), elsewhere, (a); ld.param.b32 %r1, [r]; }
st.global.u32 [%d], %r1; st.global.u32 [other], %r1;
ret;
}
"""


@cache
def files() -> list[bytes]:
    """Record files with all sections: of kernels of the tests, with registers few and many, with calls and textures."""
    out = [
        samples.saved(samples.kernel(name, "sm_90"), "sm_90", phase, full=True, wrapped=True)
        for name, phase in (("switch", 30), ("nests", 125), ("reduction", 125), ("jump_table", 80), ("softmax", 130))
    ]
    out.append(samples.saved(samples.kernel("sgemm", "sm_90"), "sm_90", 130, full=True, maxrregcount=24))
    out.append(samples.saved(TEXTURE, "sm_90", 20, full=True))
    out.append(samples.saved(CALLS, "sm_90", 20, full=True, relocatable=True))
    out.append(samples.saved(CALLS, "sm_90", 125, full=True, relocatable=True))
    return out


def sections(name: str) -> Iterator[Section]:
    for data in files():
        yield from (section for section in read(data).sections if section.tag == TAG[name])


@pytest.mark.row("R3-69")
@pytest.mark.parametrize("tag", [tag for tag in TAGS if tag.group == "base"], ids=lambda tag: tag.name)
def test_each_base_tag_is_written_from_real_data(tag) -> None:  # type: ignore[no-untyped-def]
    found = list(sections(tag.name))
    assert found and (tag.name in NEVER or any(section.elements and section.payload for section in found))
    if tag.name in NEVER:
        assert any(section.elements or section.aux for section in found)


@pytest.mark.row("R3-70")
@pytest.mark.parametrize("tag", [tag for tag in TAGS if tag.group == "extended"], ids=lambda tag: tag.name)
def test_each_extended_tag_is_written_from_real_data(tag) -> None:  # type: ignore[no-untyped-def]
    found = list(sections(tag.name))
    assert found and (tag.name in NEVER or any(section.elements and section.payload for section in found))


@pytest.mark.row("R3-70")
def test_extended_tags_stand_only_when_they_are_asked_for() -> None:
    extended = {tag.tag for tag in TAGS if tag.group == "extended"}
    assert not {s.tag for s in read(samples.saved(samples.SMALL, "sm_75", 50)).sections} & extended


@pytest.mark.row("R3-70")
@pytest.mark.parametrize(("encoded", "above"), [(0x4FFF, False), (0x5000, True), (0x6000, True), (0, False)])
def test_two_of_them_stand_above_an_architecture_alone(encoded: int, above: bool) -> None:
    part = load(samples.saved(samples.SMALL, "sm_75", 50)).parts[0]
    target = TARGETS["sm_75"]._replace(encoded_arch=encoded)
    tags = {section.tag for section in projected(Shown(part.function, part.module, target, 3), full=True)}
    assert set(ABOVE) == {0x1216, 0x1217} and ARCH_ABOVE == 0x4FFF
    assert tags & ABOVE == (ABOVE if above else frozenset())


@pytest.mark.row("R3-70")
@pytest.mark.parametrize("arch", TARGETS)
def test_all_targets_of_today_are_above_it(arch: str) -> None:
    assert {s.tag for s in read(samples.saved(samples.SMALL, arch, 50, full=True)).sections} >= ABOVE


@pytest.mark.row("R3-70")
def test_live_registers_have_twelve_bytes() -> None:
    for name in ("live_in", "live_out"):
        assert all(len(section.payload) == 12 * section.elements for section in sections(name))


@pytest.mark.row("R3-72")
@pytest.mark.parametrize("wrapped", [False, True])
def test_header_and_trailer_stand_when_they_are_asked_for(wrapped: bool) -> None:
    tags = [s.tag for s in read(samples.saved(samples.SMALL, "sm_75", 50, wrapped=wrapped)).sections]
    assert (tags[0] == 44, tags[-1] == 62) == (wrapped, wrapped) and (44 in tags, 62 in tags) == (wrapped, wrapped)


@pytest.mark.row("R3-72")
def test_links_join_the_parts() -> None:
    data = samples.saved(samples.kernel("reduction", "sm_90"), "sm_90", 60)
    file, saved = read(data), load(data)
    links = [number for number, section in enumerate(file.sections) if section.tag == 59]
    assert len(links) == len(saved.parts) - 1 > 0
    for number in links:
        (row,) = rows_of(file.sections[number])
        assert file.sections[row["next"]].tag == TAG["head"] and row["parts"] == len(saved.parts)
    broken = samples.with_sections(data, {links[0]: file.sections[links[0]].payload[::-1]})
    with pytest.raises(RecordError, match=r"tag 0x3b \(link\): it does not lead to the next"):
        load(broken)


def test_sections_say_what_the_code_says() -> None:
    for data in files():
        saved = load(data)
        f = saved.parts[0].function
        found = {section.tag: section for section in reversed(read(data).sections)}
        rows = {
            name: list(rows_of(found[TAG[name]])) for name in ("destinations", "files", "constants", "instructions", "blocks")
        }
        order = all_instructions(f)
        assert len(rows["instructions"]) == len(order) == sum(row["instructions"] for row in rows["blocks"])
        assert found[1].payload == Image(f, TARGETS[f.target].isa).instructions
        assert len(rows["destinations"]) == sum(f.count[i] for i in order)
        assert [row["words"] for row in rows["files"]] == [f.reg_size[r] & 0xFF for r in range(f.registers())]
        assert {row["number"]: row["pattern"] for row in rows["constants"]} == {
            number: value % (1 << 64) for value, number in f._immediate_ids.items()
        }


@pytest.mark.row("R3-71")
def test_names_of_original_definitions() -> None:
    """Each in a section of its own, whose payload takes align16(length of the name + 21) bytes as the document counts."""
    texts = [section.payload for section in sections("originals")]
    assert texts and all(text.startswith(b"_ORI_R") and text.endswith(b"\0") for text in texts)
    for text in texts:
        name = text.removeprefix(b"_ORI_").rstrip(b"\0")
        assert (len(text) + 15) & ~15 == (len(name) + 21) & ~15


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", [tag.name for tag in TAGS if tag.group != "own"])
def test_sections_that_the_code_contradicts_are_refused(name: str) -> None:
    done = 0
    for data in files():
        for number, section in enumerate(read(data).sections):
            if section.tag == TAG[name] and section.payload and section.shares < 0:
                other = bytes([section.payload[0] ^ 1]) + section.payload[1:]
                with pytest.raises(RecordError):
                    load(samples.with_sections(data, {number: other}))
                done += 1
                break
    assert done or name in NEVER


def test_every_kernel_of_the_tests_comes_back() -> None:
    for at, file in enumerate(cases.files()):
        text = cases.ptx(file, "sm_90")
        data = samples.saved(text, "sm_90", samples.PHASE_NUMBERS[at * 37 % len(samples.PHASE_NUMBERS)], full=at % 2 == 0)
        saved = load(data)
        assert write(sections_of(saved, CLASSES), saved.flags) == data
