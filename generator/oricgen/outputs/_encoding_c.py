"""C form tables: ``c/tables/forms.h`` and ``c/tables/forms.c``."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from ..isa import ranges
from ..isa.bits import Bits
from ..isa.model import EFFECTS, KINDS, Form, FormMod, FormOperand, Machine, Operation
from ..isa.spellings import Spelling
from ..isa.text import PRINT_OPS
from ..render import header, template

FORMATS = (
    "gpr", "ugpr", "pred", "upred", "breg", "sb", "sreg", "cbank", "cbanku", "bank", "rel", "relnum", "hex", "signed", "f32",
    "f64h", "f16x2", "bf16x2", "f16", "bf16",
)  # fmt: skip
TESTS = ("RZ", "zero", "one", "pow2")
_WORD64 = (1 << 64) - 1
_ALWAYS_KNOWN = 0xF000 | ((1 << 17) - 1) << 105


def format_of(spec: str) -> str:
    """Number format of an operand's place: plain immediates print as hexadecimal, signed or not."""
    if spec in FORMATS:
        return spec
    if spec == "abs":
        return "hex"
    if spec.startswith("rel"):
        return "rel"
    return "signed" if spec[0] == "s" else "hex"


class _Strings:
    """A pool of texts; equal ones are kept once. Offset 0 is the empty text."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {"": 0}
        self.size = 1

    def add(self, text: str) -> int:
        if text not in self.texts:
            self.texts[text] = self.size
            self.size += len(text) + 1
        return self.texts[text]


class _Pool:
    """Rows of a table; a sequence of rows that stands in it somewhere is kept once."""

    def __init__(self) -> None:
        self.rows: list[str] = []
        self.places: dict[str, list[int]] = {}

    def add(self, rows: list[str]) -> int:
        """Where ``rows`` stand; appended when they are new."""
        for at in self.places.get(rows[0], ()) if rows else (0,):
            if self.rows[at : at + len(rows)] == rows:
                return at
        first = len(self.rows)
        for at, row in enumerate(rows, first):
            self.places.setdefault(row, []).append(at)
        self.rows += rows
        return first


class _Tables:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.strings = _Strings()
        self.field_rows = _Pool()
        self.modfields = _Pool()
        self.mod_map: list[int] = []
        self.maps: dict[tuple[int, ...], int] = {}
        self.mods: list[str] = []
        self.mod_text: list[int] = []
        self.first_mod: dict[int, int] = {}
        self.text = bytearray()
        self.text_at: dict[bytes, int] = {}
        self.known: dict[int, str] = {}  # forms that several ISAs share

    def add_mods(self, operation: Operation) -> None:
        self.first_mod[operation.number] = len(self.mods)
        for m in operation.mods:
            size = 1 << m.width if m.texts else 0
            self.mods.append(f"{{{m.shift}, {m.width}, {len(self.mod_text)}, {m.default}}}")
            self.mod_text += [self.strings.add(m.texts.get(code, "")) for code in range(size)]

    def form(self, form: Form, operation: Operation) -> str:
        if id(form) not in self.known:
            self.known[id(form)] = self._form(form, operation)
        return self.known[id(form)]

    def _form(self, form: Form, operation: Operation) -> str:
        rows = [_field(o) for o in form.operands]
        first_field = self.field_rows.add(rows)
        rows = [self._modfield(m, operation) for m in form.mods]
        first_mod = self.modfields.add(rows)
        if form.code not in self.text_at:
            self.text_at[form.code] = len(self.text)
            self.text += form.code
        kinds = sum(KINDS[o.kind] << 4 * o.index for o in form.operands)
        optional = sum(15 << 4 * o.index for o in form.operands if o.default is not None and o.default.kind != "none")
        known = form.mask | form.fields | _ALWAYS_KNOWN
        words = ", ".join(_pair(v) for v in (form.mask, form.value, form.fixed, known))
        return (
            f"{{{words}, {kinds:#x}, {optional:#x}, {form.op}, "
            f"{first_field}, {first_mod}, {len(form.operands)}, {len(form.mods)}, {self.text_at[form.code]}}}"
        )

    def _modfield(self, mod: FormMod, operation: Operation) -> str:
        m = operation.mods[mod.mod]
        flip = mod.decode[0]
        table = -1
        if any(code != raw ^ flip for raw, code in enumerate(mod.decode)):
            key = mod.decode
            if key not in self.maps:
                self.maps[key] = len(self.mod_map)
                self.mod_map += [255 if code < 0 else code for code in key]
            table = self.maps[key]
            flip = 0
        return f"{{{_bits(mod.bits)}, {mod.mod}, {m.shift}, {m.width}, {flip}, {table}}}"


def _pair(value: int) -> str:
    return f"{{{value & _WORD64:#x}, {value >> 64:#x}}}"


@cache
def _bits(bits: Bits | None) -> str:
    runs = bits.segments if bits else ()
    padded = (*runs, *[(0, 0)] * (3 - len(runs)))
    return f"{{{len(runs)}, {{{', '.join(str(lo) for lo, _ in padded)}}}, {{{', '.join(str(n) for _, n in padded)}}}}}"


def _field(o: FormOperand) -> str:
    flags = o.invert | o.signed << 1 | o.same << 2
    default = o.default
    required = default is None or default.kind == "none"
    kind = 255 if default is None or default.kind == "none" else KINDS[default.kind]
    numbers = FORMATS.index(format_of(o.spec))
    return (
        f"{{{_bits(o.bits)}, {_bits(o.second)}, {o.index}, {KINDS[o.kind]}, {numbers}, {flags}, {o.shift}, {kind}, "
        f"{0 if required or default is None else int(default.negated)}, {0 if default is None else default.reg}, "
        f"{o.neg}, {o.abs}, {o.inv}, {o.reuse}}}"
    )


def _numbers(values: Iterable[int]) -> str:
    words = [str(v) for v in values]
    return "\n".join("    " + ", ".join(words[i : i + 24]) + "," for i in range(0, len(words), 24)) or "    0,"


def _below(values: Iterable[int], count: int) -> Iterator[int]:
    """How many of the values are below 0, 1, ... ``count`` - 1."""
    ordered = sorted(values)
    return (bisect_left(ordered, n) for n in range(count))


def render(machine: Machine, names: dict[str, Any], spellings: Mapping[str, list[Spelling]]) -> dict[str, str]:
    """The two C files; ``names`` is the ``names`` part of formats.yaml, ``spellings`` those of every model."""
    tables = _Tables(machine)
    for operation in machine.operations:
        tables.add_mods(operation)
    values: dict[str, Any] = {key: {} for key in ("forms", "by_opcode", "op_first", "op_forms", "sreg", "breg")}
    for isa in machine.isas:
        ordered = machine.forms_of(isa)
        numbered = machine.form_order(isa)
        number = {at: n for n, at in enumerate(numbered)}
        values["forms"][isa] = [tables.form(*ordered[i]) for i in numbered]
        opcodes = [ordered[i][0].value & 0xFFF for i in numbered]
        values["by_opcode"][isa] = _numbers(_below(opcodes, 4097))
        values["op_first"][isa] = _numbers(_below([f.op for f, _ in ordered], len(machine.operations) + 2))
        values["op_forms"][isa] = _numbers(number[i] for i in range(len(ordered)))
        for kind in ("sreg", "breg"):
            parts = [part for key, part in names[kind].items() if key == "all" or isa in ranges.expand(key, machine.isas)]
            known = {int(k): v for part in parts for k, v in part.items()}
            values[kind][isa] = _numbers(tables.strings.add(known.get(i, "")) for i in range(256))
    aliases = [_alias(tables.strings.add(name), conditions) for name, conditions in machine.aliases]
    head = header("//", "oricgen.outputs.encoding", ["spec/encoding/*.yaml", "spec/formats.yaml"])
    operations = ["{0, 0, 0, 0, 0}"] + [
        f"{{{tables.first_mod[o.number]}, {len(o.mods)}, {len(o.operands)}, {int(o.guard == 'UP')}, "
        f"{sum(1 << EFFECTS.index(e) for e in o.effects):#x}}}"
        for o in machine.operations
    ]
    return {
        "c/tables/forms.h": template(
            "forms.h.j2", header=head, isas=machine.isas, n_ops=len(machine.operations) + 1, print_ops=PRINT_OPS, formats=FORMATS,
            tests=TESTS,
        ),
        "c/tables/forms.c": template(
            "forms.c.j2", header=head, isas=machine.isas, **values, fields=tables.field_rows.rows,
            modfields=tables.modfields.rows, mod_map=_numbers(tables.mod_map), operations=operations, mods=tables.mods,
            mod_text=_numbers(tables.mod_text), aliases=aliases, strings=[f'"{text}\\0"' for text in tables.strings.texts],
            text=_numbers(tables.text),
            spellings={isa: [_spelling(s) for s in found] for isa, found in spellings.items() if found},
        ),
    }  # fmt: skip


def _spelling(s: Spelling) -> str:
    return f"{{{s.op}, {s.shift}, {s.width}, {s.said}, {s.meant}}}"


def _alias(name: int, conditions: tuple[tuple[int, str], ...]) -> str:
    padded = [(o, TESTS.index(t)) for o, t in conditions] + [(0, 0)] * (2 - len(conditions))
    return f"{{{name}, {len(conditions)}, {{{padded[0][0]}, {padded[1][0]}}}, {{{padded[0][1]}, {padded[1][1]}}}}}"
