"""The stored modules: one archive a compiler in tests/data/ptx_corpus, the modules that show the most new things first."""

from __future__ import annotations

import io
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "data" / "ptx_corpus"
COMPILERS = ("nvcc", "triton", "llc")
_MNEMONIC = re.compile(r"^[\t ]*(?:@!?%\w+[\t ]+)?([a-z][\w.:]*|\.\w+)", re.M)


def path_of(compiler: str) -> Path:
    """The archive of a compiler's modules."""
    return FOLDER / f"{compiler}.tar.xz"


def modules(compiler: str, most: int = 0) -> Iterator[tuple[str, str]]:
    """Name and text of the stored modules; with ``most``, only as many as have that many characters together."""
    with tarfile.open(path_of(compiler), "r|xz") as archive:
        total = 0
        for member in archive:
            file = archive.extractfile(member)
            assert file is not None
            text = file.read().decode()
            total += len(text)
            if most and total > most:
                return
            yield member.name, text


def write(compiler: str, found: dict[str, str]) -> None:
    """Store modules; the same modules give the same bytes."""
    FOLDER.mkdir(exist_ok=True)
    with tarfile.open(path_of(compiler), "w:xz", preset=9) as archive:
        for name in in_order(found):
            content = found[name].encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def in_order(found: dict[str, str]) -> list[str]:
    """Names so that a beginning of the list shows as many mnemonics and directives as it can for its size."""
    words = {name: set(_MNEMONIC.findall(text)) for name, text in found.items()}
    left = dict(sorted(found.items(), key=lambda item: (len(item[1]), item[0])))
    seen: set[str] = set()
    out = []
    while left:
        best = max(left, key=lambda name: len(words[name] - seen) / (len(left[name]) + 2000))
        if words[best] <= seen:
            return [*out, *left]
        seen |= words[best]
        del left[best]
        out.append(best)
    return out
