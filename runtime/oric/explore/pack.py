"""The document in little space, and the page around it: one file that needs nothing else."""

from __future__ import annotations

import base64
import json
import zlib
from importlib.resources import files
from typing import Any, Final

_FOLDER: Final = "page"
STYLE: Final = "style.css"
# In the order in which they need each other.
SCRIPTS: Final = (
    "dagre.min.js", "data.js", "difference.js", "list.js", "text.js", "panes.js", "compared.js", "graph.js",
    "chart.js", "controls.js", "app.js",
)  # fmt: skip
_LEVEL: Final = 9


def pack(document: dict[str, Any]) -> str:
    """A document as base64 of raw DEFLATE (RFC 1951) of its JSON text: ASCII without anything that HTML takes for its own."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    squeezed = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(squeezed.compress(text.encode("utf-8", "replace")) + squeezed.flush()).decode("ascii")


def unpack(packed: str) -> dict[str, Any]:
    """The document of :func:`pack`."""
    made: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(packed), -zlib.MAX_WBITS))
    return made


def page(packed: str, served: str = "") -> str:
    """The HTML page of a packed document; ``served``: what controls begin with (JSON), "" for a page without them."""
    served = served.replace("<", "\\u003c").replace("&", "\\u0026")
    parts = {
        "STYLE": _file(STYLE),
        "SCRIPT": "\n".join(_file(name) for name in SCRIPTS),
        "DATA": packed,
        "SERVED": served,
    }
    before, *pieces = _file("index.html").split("{{")
    out = [before]
    for piece in pieces:
        name, _, text = piece.partition("}}")
        out += [parts[name], text]
    return "".join(out)


def _file(name: str) -> str:
    return files(__package__).joinpath(_FOLDER, name).read_text(encoding="utf-8")
