"""spec/ptx resolved; its mistakes are in ``mistakes/ptx.yaml``."""

from pathlib import Path

from oricgen.ptx import BIT, families, split_operands, without_groups

from tests import specification

ROOT = Path(__file__).resolve().parents[2]


def test_groups_are_written_out():
    assert without_groups("x{.sem.scope}{.ftz}.f32 d") == ["x{.ftz}.f32 d", "x.sem.scope{.ftz}.f32 d"]


def test_operands_are_split_outside_of_brackets():
    assert split_operands("d|p, [a:tex, c*geom]{, e:u32*2}, s<1|2>{, p}") == [
        ("d|p", False),
        ("[a:tex, c*geom]", False),
        ("e:u32*2", True),
        ("s<1|2>", False),
        ("p", True),
    ]
    assert split_operands("d{|p}, a") == [("d{|p}", False), ("a", False)]


FRESH = """
source: a test
slots: {geom: [1d, 2d], dtype: [f16, f32]}
gates: {f16: {ptx: "7.0", arch: $tcgen05}}
counts: {geom: {1d: 1, 2d: 2}}
instructions:
  fresh:
    section: x
    gates: {f32: {sm: 90}}
    forms:
      - {syntax: "fresh.geom.dtype d:dtype*4, [t:texref, c:s32*geom+bare]{, e:imm<-1|1>}", removed: {ptx: "8.0", sm: 90}}
      - syntax: "fresh.shape.f32 d:f32*D"
        over:
          - {shape: [m8, m16], D: 2}
          - {shape: [m32], D: 4, sm: 90, arch: [sm_90a]}
      - syntax: ["fresh.size.f32 d:f32*size.m/8, [t:u32], {i:u16<0..K>, j:u16}", "fresh.size.f64 d:f64"]
        over: [{size: ["m<8..24/8>"], K: 3}]
"""


def test_vectors_choices_and_tables_of_forms():
    spec = specification.spec().edited({"ptx/zz.yaml": FRESH})
    family = next(f for f in families(spec) if f.stem == "zz")
    (fresh,) = family.instructions
    texture, small, large, ranged, other = fresh.forms
    d, t, e = texture.operands
    assert (d.type, d.count, d.mask & BIT["vec"]) == ("$dtype", 4, BIT["vec"])
    assert (t.type, t.mask) == ("texref", BIT["addr"] | BIT["tex"])
    assert [(c.type, c.count, bool(c.mask & BIT["bare"])) for c in t.rest] == [("s32", "geom", True)]
    assert (e.choices, e.optional) == ((-1, 1), True)
    assert texture.removed == (80, 90)
    assert [(f.slots[0][1], f.operands[0].count, f.sm, f.arch) for f in (small, large)] == [
        (("m8", "m16"), 2, 0, ()),
        (("m32",), 4, 90, ("sm_90a",)),
    ]
    sized, address, group = ranged.operands
    assert sized.count == "size.m/8" and not sized.mask & BIT["frag"]
    assert (address.type, address.mask) == ("u32", BIT["addr"] | BIT["areg"])
    assert (group.count, [(o.name, o.bounds) for o in group.rest]) == (2, [("i", (0, 3, 1)), ("j", None)])
    assert other.slots[0] == ranged.slots[0] == ("size", ("m8", "m16", "m24"), True)
    assert family.gates["f16"][2][0] == "sm_100a" and fresh.gates == {"f32": (0, 90, ())}
    assert family.counts == {"geom": ("geom", {"1d": 1, "2d": 2}), "size.m/8": ("size", {"m8": 1, "m16": 2, "m24": 3})}


def test_every_form_of_the_real_specification_is_read():
    found = families(specification.spec())
    assert sum(len(i.forms) for f in found for i in f.instructions) > 350
    assert all(i.section for f in found for i in f.instructions)
