"""Make the corpus and its golden data, or compare it with this package.

python -m tests.corpus make [--model SM...] [--keep FOLDER]    needs nvcc, ptxas and nvdisasm ($NVDISASM)
python -m tests.corpus differences [--model SM...]             words of the golden data that print or encode otherwise
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.sass import nvdisasm
from tests.sass.compare_words import plain

from . import build, compare, golden, judge, targets
from .compile import ToolError, need


def main() -> int:
    """Exit status: 0; 1 for differences or a mistake in the sources; 2 when a tool is missing."""
    parser = argparse.ArgumentParser(
        prog="tests.corpus", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("make", "differences"))
    parser.add_argument("--model", nargs="+", choices=tuple(targets.MODELS), default=list(targets.MODELS))
    parser.add_argument("--keep", type=Path, help="write the cubins to this folder too, as TARGET/NAME.cubin")
    options = parser.parse_args()
    if options.command == "differences":
        return _differences(options.model)
    try:
        return _make(options.model, options.keep)
    except ToolError as error:
        print(f"tests.corpus: {error}", file=sys.stderr)
        return 2


def _make(models: list[str], keep: Path | None) -> int:
    tool = nvdisasm.find()
    if tool is None:
        raise ToolError("there is no nvdisasm ($NVDISASM, PATH, triton wheel)")
    tools = {"ptxas": _release("ptxas"), "nvcc": _release("nvcc"), "nvdisasm": nvdisasm.version(tool)}
    results = {}
    total = 0
    for model in models:
        made = []
        for target in targets.MODELS[model]:
            result = results[target] = build.make(target)
            made += [golden.Cubin(target, m.name, m.family, m.image) for m in result.made]
            print(f"{target}: {len(result.made)} cubins, {len(result.refused)} lines refused", flush=True)
        if keep:
            _keep(keep, made)
        size = golden.write_cubins(model, tools, made)
        words = _judged(tool, model, made)
        text = golden.write_words(model, words)
        total += size + text
        print(f"{model}: {len(words)} distinct instructions; {size} + {text} bytes", flush=True)
    print(f"{total} bytes in all")
    dead = build.dead_lines(results.values()) if set(models) == set(targets.MODELS) else []
    print("\n".join(f"no target takes it: {line}" for line in dead), end="\n" if dead else "")
    return 1 if dead else 0


def _judged(tool: str, model: str, made: list[golden.Cubin]) -> list[tuple[int, str, str]]:
    # Files whose code is the same are asked once.
    images = list({tuple(judge.code(c.image).items()): c.image for c in made}.values())
    facts = judge.accesses(tool, images)
    asked = sorted(
        {plain(w) for image in images for data in judge.code(image).values() for w in judge.words(data)},
        key=lambda w: (w & 0xFFF, w),
    )
    result = []
    for word, text in zip(asked, judge.texts(tool, model, asked), strict=True):
        if text is None:
            raise ToolError(f"{model}: nvdisasm refuses {word:032x}")
        seen = facts[word]
        result.append((word, text, next(iter(seen)) if len(seen) == 1 else golden.DIFFERS))
    return result


def _keep(folder: Path, made: list[golden.Cubin]) -> None:
    for cubin in made:
        path = folder / cubin.target / f"{cubin.name}.cubin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(cubin.image)


def _release(tool: str) -> str:
    said = subprocess.run([need(tool), "--version"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"V(\d+\.\d+\.\d+)", said)
    return match[1] if match else "unknown"


def _differences(models: list[str]) -> int:
    found = 0
    for model in models:
        wrong = compare.texts(model) + compare.round_trips(model)
        found += len(wrong)
        for word, expected, said in wrong:
            print(f"{model}\t{word:032x}\t{expected}\t{said}")
        by = Counter(compare.name(golden_text) for _, golden_text, _ in wrong)
        print(f"{model}: {len(wrong)} of {len(golden.words(model))} differ: {dict(by.most_common(10))}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
