"""Instructions as the signatures of ``spec/ptx`` have them: what editors show of one, and what may follow in a mnemonic."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

from oric_tables import ptx_help
from oric_tables import ptx_index as ix

from oric.ptx.signatures import Gate, combined, word_gates
from oric.support.qualifiers import assign

_SHOWN_FORMS: Final = 12
_SHOWN_VALUES: Final = 24
_SPECIAL: Final = {"call": "(results), function, (arguments)"}


class Module(NamedTuple):
    """What the header of a module says: its version * 10 and its target, 0 and "" where that is not known."""

    version: int = 0
    target: str = ""

    def passes(self, gate: Gate) -> bool:
        """The version and target have what needs this; what is not known has everything."""
        ptx, sm, arch = gate
        level = ix.TARGETS[self.target][0] if self.target in ix.TARGETS else 0
        if self.version and self.version < ptx:
            return False
        return not level or (level >= sm and (not arch or self.target in arch))


class Form(NamedTuple):
    """One form of an instruction: its slots ``(field, words, required)``, its operands, and what it needs."""

    name: str
    slots: tuple[Any, ...]
    operands: tuple[Any, ...]
    gate: Gate
    special: str
    removed: tuple[int, int] | None


@cache
def forms_of(name: str) -> tuple[Form, ...]:
    """The forms of an instruction, by its whole name (``cp.async.bulk``)."""
    found = _forms(name)
    return tuple(Form(name, form[0], form[1], tuple(form[2:5]), form[5], form[6]) for form in found[1])


@cache
def _forms(name: str) -> Any:
    return _tables(name).FORMS[name]


@cache
def _tables(name: str) -> Any:
    first, *rest = name.split(".")
    family = next(family for words, family in ix.HEADS[first] if words == tuple(rest))
    return importlib.import_module(f"oric_tables.ptx_{family}")


def section_of(name: str) -> str:
    """The section of the manual that describes an instruction."""
    section: str = _forms(name)[0]
    return section


def names_of(words: Sequence[str]) -> list[str]:
    """The names of instructions that the words of a mnemonic can be of, the longest first."""
    heads = ix.HEADS.get(words[0], ()) if words else ()
    return [".".join((words[0], *rest)) for rest, _ in heads if all(word in words[1:] for word in rest)]


def begun_names(words: Sequence[str]) -> list[str]:
    """The names of all instructions with the first word of a mnemonic."""
    heads = ix.HEADS.get(words[0], ()) if words else ()
    return [".".join((words[0], *rest)) for rest, _ in heads]


def fitting(name: str, words: Sequence[str], whole: bool = False) -> list[Form]:
    """The forms of an instruction that take all the words behind the first one; ``whole``: and need no more of them."""
    out = []
    for form in forms_of(name):
        taken, extra = assign(form.slots, words)
        missing = any(required and not word for (_, _, required), word in zip(form.slots, taken, strict=True))
        if not extra and not (whole and missing):
            out.append(form)
    return out


def name_of(mnemonic: str) -> str:
    """The name of the instruction that a mnemonic is of, "" for none; of one that fits nowhere the longest that it may be."""
    words = mnemonic.rstrip(".").split(".")
    names = names_of(words)
    return next((name for whole in (True, False) for name in names if fitting(name, words[1:], whole)), names[0] if names else "")


def gate_of(name: str, words: Sequence[str], form: Form) -> Gate:
    """What a form needs when it is written with these words."""
    tables = _tables(name)
    taken, _ = assign(form.slots, words)
    fields = {slot[0]: word for slot, word in zip(form.slots, taken, strict=True) if word}
    return combined([form.gate, *word_gates(fields, _forms(name)[2], tables.GATES)])


class Next(NamedTuple):
    """A word that may follow in a mnemonic: what it means; ``required``: a form needs it or one like it."""

    word: str
    doc: str
    required: bool


def following(mnemonic: str, module: Module) -> list[Next]:
    """The words that may follow behind the dot at the end of a mnemonic, in the order of the forms."""
    words = [word for word in mnemonic.split(".") if word]
    found: dict[str, Next] = {}
    for name in begun_names(words):
        for form in fitting(name, words[1:]):
            taken, _ = assign(form.slots, words[1:])
            for (field, values, required), word in zip(form.slots, taken, strict=True):
                if word:
                    continue
                for value in values:
                    if value in found and (found[value].required or not required):
                        continue
                    more = [*words[1:], value]
                    if not assign(form.slots, more)[1] and module.passes(gate_of(name, more, form)):
                        found[value] = Next(value, _word_doc(name, value, field), required)
                if required:
                    break  # what stands behind it comes later
    return sorted(found.values(), key=lambda row: not row.required)


def _word_doc(name: str, word: str, field: str) -> str:
    if field.startswith(".") and word in name.split("."):
        return ptx_help.INSTRUCTIONS[name]
    return word_doc(name, word)


def word_doc(name: str, word: str) -> str:
    """What a qualifier of an instruction means."""
    if word in ix.TYPES:
        return type_doc(word)
    return ptx_help.QUALIFIERS_OF.get((name, word)) or ptx_help.QUALIFIERS.get(word, "")


def type_doc(name: str) -> str:
    """What a type is."""
    kind, bits = ix.TYPES[name][:2]
    kinds = {"int": "signed integer" if name[0] == "s" else "unsigned integer", "float": "floating-point number",
             "bits": "untyped word", "pred": "predicate", "packed": "packed or narrow type", "opaque": "reference"}  # fmt: skip
    return f"{kinds.get(kind, kind)} of {bits} bit{'s' if bits != 1 else ''}"


def gate_text(gate: Gate, removed: tuple[int, int] | None = None) -> str:
    """``PTX 7.8, sm_90 or later``."""
    ptx, sm, arch = gate
    parts = [f"PTX {ptx // 10}.{ptx % 10}"] if ptx else []
    if arch:
        parts.append(" ".join(arch))
    elif sm:
        parts.append(f"sm_{sm} or later")
    text = ", ".join(parts) or "every version and target"
    if removed:
        text += f"; gone from PTX {removed[0] // 10}.{removed[0] % 10}" + (f", sm_{removed[1]}" if removed[1] else "") + " on"
    return text


def describe(mnemonic: str, module: Module, word: str = "") -> str:
    """Markdown about an instruction; ``word``: a qualifier of it to begin with. "" for what is no instruction."""
    name = name_of(mnemonic)
    if not name:
        return ""
    words = mnemonic.rstrip(".").split(".")
    lines = [f"**{name}**: {ptx_help.INSTRUCTIONS[name]}", ""]
    exact = fitting(name, words[1:], whole=True)
    doc = word_doc(name, word) if word and not exact else ""
    if doc:
        lines += [f"`.{word}`: {doc}", ""]
    forms = exact or fitting(name, words[1:]) or list(forms_of(name))
    lines += ["```ptx", *dict.fromkeys(syntax(form) for form in forms[:_SHOWN_FORMS]), "```"]
    if len(forms) > _SHOWN_FORMS:
        lines.append(f"and {len(forms) - _SHOWN_FORMS} more forms")
    lines += _legend(name, words[1:], forms[:_SHOWN_FORMS], bool(exact))
    lines += ["", *_needs(name, words[1:], exact, module), "", f"PTX ISA: {section_of(name)}"]
    return "\n".join(lines)


def _needs(name: str, words: list[str], exact: list[Form], module: Module) -> Iterator[str]:
    """What version and target the instruction needs, and whether the module has them."""
    gates = [(gate_of(name, words, form), form.removed) for form in exact] or [(f.gate, f.removed) for f in forms_of(name)]
    texts = dict.fromkeys(gate_text(*gate) for gate in gates)
    yield "Needs " + "; or ".join(list(texts)[:4]) + ("; ..." if len(texts) > 4 else "")
    if module.target and not any(module.passes(gate) for gate, _ in gates):
        version = f"PTX {module.version // 10}.{module.version % 10}, " if module.version else ""
        yield f"(the module: {version}{module.target})"


def _legend(name: str, words: list[str], forms: list[Form], exact: bool) -> Iterator[str]:
    """What the words of a mnemonic mean, or, where it is not complete, those that its slots take."""
    if exact:
        told = [f"- `.{word}`: {word_doc(name, word)}" for word in dict.fromkeys(words) if word_doc(name, word)]
        yield from ["", *told] if told else []
        return
    values: dict[str, dict[str, None]] = {}
    for form in forms:
        for field, choices, _ in form.slots:
            if len(choices) > 1:
                values.setdefault(_slot(field), {}).update(dict.fromkeys(choices))
    yield ""
    for slot, found in values.items():
        shown = list(found)[:_SHOWN_VALUES]
        yield f"- `.{slot}`: {' '.join(f'`.{v}`' for v in shown)}{' ...' if len(found) > len(shown) else ''}"


def _slot(field: str) -> str:
    return field.lstrip(".")


def syntax(form: Form) -> str:
    """A form as a line: ``add{.rnd}{.ftz}{.sat}.f32 d, a, b;``."""
    text = form.name.split(".", maxsplit=1)[0]
    for field, values, required in form.slots:
        word = f".{values[0] if len(values) == 1 else _slot(field)}"
        text += word if required else f"{{{word}}}"
    if form.special in _SPECIAL:
        return f"{text} {_SPECIAL[form.special]};"
    operands = ""
    for number, operand in enumerate(form.operands):
        shown = f"{', ' if number else ' '}{_operand(operand)}"
        operands += f"{{{shown}}}" if operand[3] else shown
    return f"{text}{operands};"


def _operand(row: Any) -> str:
    """An operand: addresses in brackets, vectors in braces."""
    name, _, mask, _, _, _, part, pair, _, rest = row
    shown = f"{name}{{.{part}}}" if part else str(name)
    if rest:
        shown = f"[{', '.join([shown, *(_operand(inner) for inner in rest)])}]"
    elif mask & (ix.ADDR | ix.TEX | ix.AREG):
        shown = f"[{shown}]"
    elif row[8] or (mask & ix.VEC and not mask & ix.PACK):
        shown = f"{{{shown}...}}"
    if pair is not None:
        shown += f"{{|{_operand(pair[0])}}}" if pair[1] else f"|{_operand(pair[0])}"
    return shown
