"""What is shown of the thing at a place: Markdown, and the part of the text that it is about."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from oric_tables import ptx_help
from oric_tables import ptx_index as ix

from oric.ptx.lexer import DOT_WORD, IDENT

from . import outline as ol
from .document import Document
from .mnemonics import describe, gate_text, type_doc
from .tokens import MNEMONIC, Token, token_at

_SHOWN_LINES: Final = 48  # of machine code
_NAMES: Final = {ol.ENTRY: "kernel", ol.TABLE: "table of labels, functions or parameters"}


class Hover(NamedTuple):
    """``text``: Markdown; ``at``, ``after``: what it is about; ``statement``: the instruction whose code is wanted, too."""

    text: str
    at: int
    after: int
    statement: ol.Statement | None = None


def hover(document: Document, offset: int) -> Hover | None:
    """What is known of the thing at a place, without machine code; None where there is nothing."""
    tokens = document.outline.tokens
    statement = document.mnemonic_at(offset)
    if statement is not None:
        text = describe(statement.mnemonic, document.module, _word_at(statement, offset))
        text = text or f"`{statement.mnemonic.partition('.')[0]}` is no instruction"
        return Hover(text, statement.at, statement.after, statement)
    index = token_at(tokens, offset)
    if index < 0:
        return None
    token = tokens[index]
    occurrence = document.outline.occurrence_at(offset)
    definition = occurrence.definition() if occurrence is not None else None
    if occurrence is not None and definition is not None:
        return Hover(_definition(document, definition, occurrence.name), occurrence.at, occurrence.after)
    special = _special(tokens, index)
    if special is not None:
        return special
    if token.kind == DOT_WORD:
        text = _dotted(token.text[1:])
    elif token.kind in (IDENT, MNEMONIC):
        text = _word(token.text)
        if not text and occurrence is not None:
            text = f"`{occurrence.name}` is not declared"
    else:
        return None
    return Hover(text, token.at, token.after) if text else None


def _word_at(statement: ol.Statement, offset: int) -> str:
    """The qualifier of a mnemonic that a place is in, "" in front of the first dot."""
    at = max(offset - statement.at, 0)
    begin = statement.mnemonic.rfind(".", 0, at + 1)
    if begin < 0:
        return ""
    end = statement.mnemonic.find(".", begin + 1)
    return statement.mnemonic[begin + 1 : end if end >= 0 else None]


def _definition(document: Document, definition: ol.Definition, name: str) -> str:
    kind = _NAMES.get(definition.kind, definition.kind)
    where = f" of `{definition.function}`" if definition.function and definition.function != definition.name else ""
    head = f"**{name}**: {kind}{where}"
    if definition.kind == ol.REGISTER and definition.count >= 0 and name == definition.name:
        head = f"**{name}0** to **{name}{max(definition.count - 1, 0)}**: registers{where}"
    lines = [head, ""]
    if definition.type:
        types = definition.type.split()
        told = [type_doc(word[1:]) for word in types if word[1:] in ix.TYPES]
        space = f"in `.{definition.space}`, " if definition.kind not in (ol.REGISTER, ol.PARAMETER) and definition.space else ""
        lines += [f"{space}`{' '.join(types)}`" + (f" ({told[-1]})" if told else ""), ""]
    lines += ["```ptx", definition.text, "```"]
    line = document.line_of(definition.at)
    lines += ["", f"line {line}"]
    return "\n".join(lines)


def _special(tokens: list[Token], index: int) -> Hover | None:
    """A special register, with the component behind its dot."""
    token = tokens[index]
    if token.kind == DOT_WORD and index and tokens[index - 1].after == token.at and tokens[index - 1].text[:1] == "%":
        index -= 1
        token = tokens[index]
    if token.text[:1] != "%":
        return None
    behind = tokens[index + 1] if index + 1 < len(tokens) else token
    name, after = token.text[1:], token.after
    if behind.at == token.after and behind.kind == DOT_WORD and name + behind.text in ix.SPECIAL:
        name, after = name + behind.text, behind.after
    if name not in ix.SPECIAL:
        return None
    type_, elements, ptx, sm, _ = ix.SPECIAL[name]
    vector = f".v{elements} " if elements > 1 else ""
    lines = [f"**%{name}**: {ptx_help.SPECIAL[name]}", "", f"special register, `{vector}.{type_}`"]
    lines += ["", f"Needs {gate_text((ptx, sm, ()))}"]
    return Hover("\n".join(lines), token.at, after)


def _dotted(word: str) -> str:
    """A directive, state space or type."""
    if word in ix.TYPES:
        ptx, sm = ix.TYPES[word][3:]
        return f"**.{word}**: {type_doc(word)}" + (f"\n\nNeeds {gate_text((ptx, sm, ()))}" if ptx or sm else "")
    doc = ptx_help.DIRECTIVES.get(word)
    if doc is None:
        return ""
    text = f"**.{word}**: {doc}"
    if word in ix.DIRECTIVES:
        ptx, sm = ix.DIRECTIVES[word][6:8]
        text += f"\n\nNeeds {gate_text((ptx, sm, ()))}"
    return text


def _word(word: str) -> str:
    """A target or an option of one."""
    if word in ix.TARGETS:
        ptx, code = ix.TARGETS[word][3:]
        made = "code can be made for it" if code else "modules for it can be checked"
        return f"**{word}**: target, from PTX {ptx // 10}.{ptx % 10} on; {made}"
    if word in ix.TARGET_OPTIONS:
        return f"**{word}**: option of the target"
    return ""


def machine_code(answer: dict[str, Any], lines: tuple[int, int], title: str) -> str:
    """Markdown of the machine code of some lines, or of why there is none; ``answer``: of :func:`oric.lsp.machine.code`."""
    if answer.get("failure"):
        return f"**{title}**: {answer['failure']}"
    found: dict[str, list[tuple[int, str]]] = {}
    for line in range(lines[0], lines[1] + 1):
        for function, offset, text in answer["lines"].get(str(line), ()):
            found.setdefault(function, []).append((offset, text))
    if not found:
        return f"**{title}**: no instruction of its own; it is part of others, or nothing needs it"
    out = [f"**{title}**"]
    for function, rows in found.items():
        rows.sort()
        out += [f"`{function}`"] if len(found) > 1 else []
        out += ["```sass", *(f"/*{offset:04x}*/ {text}" for offset, text in rows[:_SHOWN_LINES]), "```"]
        if len(rows) > _SHOWN_LINES:
            out.append(f"and {len(rows) - _SHOWN_LINES} more instructions")
    return "\n".join(out)
