"""``oric_tables/ptx_help.py``: a line about each word of PTX, for editors."""

from __future__ import annotations

from collections import Counter

from ..render import header
from ..spec import Spec
from ..tables import ptx_help, ptx_words


def render(spec: Spec) -> dict[str, str]:
    """Render the lines; of a qualifier that which most instructions have, and the others by instruction."""
    found = ptx_help.load(spec)
    text = header("#", "generator/oricgen/outputs/ptx_help.py", [f"spec/{ptx_help.FILES[0]}", f"spec/{ptx_words.FILES[0]}"])
    text += '"""Words of PTX explained in a line each."""\n\nfrom typing import Final\n\n'
    text += _table("INSTRUCTIONS", found.instructions)
    common, special = {}, {}
    for word, lines in found.qualifiers.items():
        common[word] = most = Counter(lines.values()).most_common(1)[0][0]
        special.update({(name, word): doc for name, doc in lines.items() if doc != most})
    text += "# what most instructions mean by a qualifier; (instruction, qualifier) -> what that one does\n"
    text += _table("QUALIFIERS", common)
    text += "QUALIFIERS_OF: Final[dict[tuple[str, str], str]] = {\n"
    text += "".join(f"    {key!r}: {doc!r},\n" for key, doc in sorted(special.items())) + "}\n"
    text += _table("DIRECTIVES", found.directives)
    text += _table("SPECIAL", found.special_registers)
    text += "# word of a directive -> what it is\n"
    text += _table("KINDS", {word: row["kind"] for word, row in ptx_words.load(spec).items()})
    return {"oric_tables/ptx_help.py": text}


def _table(name: str, rows: dict[str, str]) -> str:
    body = "".join(f"    {key!r}: {row!r},\n" for key, row in sorted(rows.items()))
    return f"{name}: Final[dict[str, str]] = {{\n{body}}}\n"
