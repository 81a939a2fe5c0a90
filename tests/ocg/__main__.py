"""Ask ptxas again, compare ours with its stored answers, write the pages of docs/intrinsics.

python -m tests.ocg ask [WORD]       # asks ptxas about all calls, or those that begin with WORD and new ones; stores the answers
python -m tests.ocg compare [WORD]   # ours beside the stored answers: figures, and the calls with WORD that differ
python -m tests.ocg time             # how long a module of 1,000 calls takes, ptxas and ours
python -m tests.ocg docs             # writes docs/intrinsics
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

import oric
from oric.support.ocg_source import module
from oricgen.spec import Spec

from . import store
from .answer import CODE, of_ours, of_ptxas
from .comparison import SAME, verdict
from .docs import pages
from .enumeration import Item, broken, legal

_TIMED = 1000  # calls
_ROOT = Path(__file__).resolve().parents[2]


def _ask(ptxas: str, item: Item) -> str:
    return of_ptxas(ptxas, *item)


def _ours(item: Item) -> str:
    try:
        return of_ours(*item)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def ask(word: str) -> int:
    """Ask ptxas about all calls, or about those that begin with a word and those without an answer.

    A call that is in both lists counts once.
    """
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        print("there is no ptxas", file=sys.stderr)
        return 1
    spec = Spec(_ROOT / "spec")
    good = dict.fromkeys(legal(spec))
    items = list(dict.fromkeys((*good, *broken(spec))))
    known = dict(pair for name in store.FILES for pair in store.stored(name)) if word else {}
    asked = [item for item in items if item not in known or item.call.startswith(word)]
    with get_context("fork").Pool() as pool:
        known.update(zip(asked, pool.map(partial(_ask, ptxas), asked, chunksize=32), strict=True))
    answers = [(item, known[item]) for item in items]
    taken = [pair for pair in answers if pair[1].startswith(CODE)]
    store.write(store.LEGAL, [pair for pair in taken if pair[0] in good])
    store.write(store.BROKEN, [pair for pair in answers if not pair[1].startswith(CODE)])
    store.write(store.STRANGE, [pair for pair in taken if pair[0] not in good])
    print(f"{len(items)} calls: {len(good)} as they should be, {len(taken)} taken")
    return 0


def compare(word: str) -> int:
    """Print how many of ours are alike, by kind, and those that differ and have a word in their line."""
    spec = Spec(_ROOT / "spec")
    for name in store.FILES:
        answers = store.stored(name)
        with get_context("fork").Pool() as pool:
            ours = pool.map(_ours, [item for item, _ in answers], chunksize=32)
        found = [
            (verdict(spec, item.target, item.call, theirs, mine), item, theirs, mine)
            for (item, theirs), mine in zip(answers, ours, strict=True)
        ]
        print(name, len(found), dict(Counter(kind for kind, *_ in found)))
        for kind, item, theirs, mine in found:
            if kind != SAME and word and word in f"{kind} {item.target} {item.call} {item.params}":
                print(f"  {kind}: {item.target} {item.call} | {item.params}\n    ptxas {theirs}\n    ours  {mine}")
    return 0


def time() -> int:
    """Print seconds of both for a module of 1,000 calls, the least of five runs."""
    ptxas = shutil.which("ptxas")
    if ptxas is None:
        print("there is no ptxas", file=sys.stderr)
        return 1
    target = "sm_100a"
    calls = {item.call: (item.call, item.params) for item, _ in store.stored(store.LEGAL) if item.target == target}
    good = [pair for pair in calls.values() if of_ours(target, *pair).startswith(CODE)]
    text = module((good * (_TIMED // len(good) + 1))[:_TIMED], target)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "m.ptx")
        source.write_text(text)
        command = [ptxas, "-arch", target, str(source), "-o", f"{folder}/m.cubin"]
        theirs = min(_seconds(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(5))
    ours = min(_seconds(lambda: oric.compile(text, target)) for _ in range(5))
    print(f"{_TIMED} calls: ptxas {theirs:.3f} s, ours {ours:.3f} s")
    return 0


def _seconds(run: Callable[[], object]) -> float:
    begun = perf_counter()
    run()
    return perf_counter() - begun


def docs() -> int:
    """Write the page of each operation."""
    for name, text in pages().items():
        path = _ROOT / "docs" / "intrinsics" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return 0


if __name__ == "__main__":
    wanted = sys.argv[1:2]
    if wanted == ["ask"]:
        sys.exit(ask(" ".join(sys.argv[2:])))
    if wanted == ["time"]:
        sys.exit(time())
    if wanted == ["docs"]:
        sys.exit(docs())
    if wanted == ["compare"]:
        sys.exit(compare(" ".join(sys.argv[2:])))
    sys.exit(__doc__)
