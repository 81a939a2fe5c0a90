"""Proof of a page of ``oricgen diff``: every statement is computed again from both specifications and both built versions.

Written from ``docs/review.md`` and from pages, without the code that writes them. ``prove`` gives a list of false or missing
statements; an empty list is a proof.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from oricgen.rows import Row
from oricgen.spec import Spec
from oricgen.tables import all_tables

from . import page_reading, page_rows

ROOT = Path(__file__).resolve().parents[2]
VECTORS = ROOT / "tests/data/vectors"
WORKER = Path(__file__).with_name("page_worker.py")
UNREAD = "(no instruction has this word)"
CONTROL = (1 << 17) - 1  # scheduling bits, without those of operands
SHOWN = "flat/"  # the rows again, for people: not listed
_PLACE = re.compile(r"(\bspec/[\w/.]+\.yaml):\d+|^#line .*\n", re.MULTILINE)  # where in the specification something is from
_MARK = re.compile(r"\x1b")  # nothing of the kind belongs on a page


@dataclass
class Version:
    """A specification folder and what was built from it (``build/c``, ``build/oric_tables`` ...)."""

    folder: Path  # has spec/
    built: Path  # has build/
    outputs: Mapping[str, str]  # generated files, by their path below build/
    memory: dict[str, Any] = field(default_factory=dict)  # answers of the built version

    @cached_property
    def tables(self) -> dict[str, list[Row]]:
        """The resolved rows."""
        spec = Spec(self.folder / "spec")
        return {table.NAME: table.rows(spec) for table in all_tables()}

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """What the built version says, interpreted from its sources; asked once."""
        key = json.dumps(request, sort_keys=True)
        if key not in self.memory:
            path = os.pathsep.join(map(str, (ROOT / "runtime", self.built / "build", ROOT)))
            environment = {**os.environ, "PYTHONPATH": path, "ORIC_INTERPRET": "1"}
            command = [sys.executable, "-P", str(WORKER)]
            done = subprocess.run(command, input=key, capture_output=True, text=True, check=False, env=environment)
            if done.returncode:
                raise AssertionError(f"{self.built}: {done.stderr[-2000:]}")
            self.memory[key] = json.loads(done.stdout)
        return dict(self.memory[key])


def prove(old: Version, new: Version, text: str, kernels: Iterable[tuple[Path, str]] = ()) -> list[str]:
    """What is false or missing on a page; ``kernels`` are the sample files with the targets that they were compiled for."""
    page = page_reading.parse(text)
    wrong = ["control characters"] if _MARK.search(text) else []
    wrong += [f"{title}: not understood: {line}" for title, lines in page.prose.items() for line in lines if _strange(line)]
    wrong += page_rows.prove(old.tables, new.tables, page)
    wrong += _files(old, new, page)
    wrong += Words(old, new, page).wrong()
    wrong += Kernels(old, new, page, list(kernels)).wrong()
    return wrong


def _strange(line: str) -> bool:
    return not re.match(r"\.\.\. |and \d+ more|_?\d+ more", line.strip())


# --- generated files


def differing_files(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Generated files that differ in more than line numbers of the specification."""
    names = sorted({*old, *new})
    return [n for n in names if _PLACE.sub(r"\1", old.get(n, "")) != _PLACE.sub(r"\1", new.get(n, ""))]


def _files(old: Version, new: Version, page: page_reading.Page) -> list[str]:
    """Files that differ in more than line numbers of the specification are listed, with possible numbers of lines."""
    wrong = []
    differ = {n for n in differing_files(old.outputs, new.outputs) if not n.startswith(SHOWN)}
    if "Generated files" in page.cut:
        differ &= set(page.files)
    wrong += [f"generated file {name} is not listed" for name in sorted(differ - set(page.files))]
    wrong += [f"generated file {name} is listed, but does not differ" for name in sorted(set(page.files) - differ)]
    for name in sorted(differ & set(page.files)):
        one, two = (_PLACE.sub(r"\1", v.outputs.get(name, "")).splitlines() for v in (old, new))
        gone, come = page.files[name]
        least_gone, least_come = (sum((Counter(a) - Counter(b)).values()) for a, b in ((one, two), (two, one)))
        if come - gone != len(two) - len(one) or gone < least_gone or come < least_come or gone > len(one):
            wrong.append(f"generated file {name}: -{gone} +{come}, not -{least_gone} +{least_come} at least")
    return wrong


# --- machine words


class Words:
    """The section of machine words, compared with all golden vectors and with its own examples."""

    def __init__(self, old: Version, new: Version, page: page_reading.Page) -> None:
        self.old, self.new, self.page = old, new, page
        self.same = _same_machine(old, new)
        # A new frame moves scheduling bits: a text alone does not say them, so that words are compared without them.
        self.frame = any(k.startswith("frame ") for e in page.tables.get("formats", ()) for k in e.keys)

    def wrong(self) -> list[str]:
        """False or missing statements."""
        out = self._listed()
        if self.same:
            if re.search(r" (read|are encoded) differently", self.page.summary.replace("none reads", "")):
                pattern = r"machine words.*? (\d+) read|instructions (\d+) are"
                out += ["words differ although the tables of the machine are the same"] * bool(
                    re.search(pattern, self.page.summary)
                )
            return out
        read, made = self._golden()
        shown_read, shown_made = self._numbers()
        forms = self.frame or "forms" in self.page.tables
        for what, found, shown in (("read", read, shown_read), ("encoded", made, shown_made)):
            total = sum(found.values())
            said = sum(shown.values())
            if (said < total) if forms else (said != total):
                out.append(f"{total} golden vectors are {what} differently, the sections say {said}")
            for name, number in found.items():
                if number > shown.get(name, 0):
                    out.append(f"{number} golden vectors of {name} are {what} differently, the page says {shown.get(name, 0)}")
        return out + self._summary(sum(shown_read.values()), sum(shown_made.values()))

    def _summary(self, read: int, made: int) -> list[str]:
        """The sentence at the top has the sums of the sections."""
        said = re.search(r"machine words.*? (none|\d+) reads? differently; .*? (none|\d+) (?:is|are) encoded", self.page.summary)
        if "No machine word reads" in self.page.summary:
            numbers = (0, 0)
        elif said is None:
            return [f"the summary has no numbers of words: {self.page.summary}"]
        else:
            numbers = tuple(0 if n == "none" else int(n) for n in said.groups())
        return [] if numbers == (read, made) else [f"summary {numbers} words, sections {(read, made)}"]

    def _golden(self) -> tuple[Counter[str], Counter[str]]:
        """Golden vectors that read, and whose texts encode, differently: operation -> number."""
        before, after = (v.ask({"vectors": str(VECTORS)})["vectors"] for v in (self.old, self.new))
        models = {m for m, *_ in before} & {m for m, *_ in after}
        read: Counter[str] = Counter()
        texts = []
        there = {(m, w): t for m, w, t, _ in after}
        for model, word, text, made in before:
            if model not in models:
                continue
            if text != there[model, word]:
                read[_operation(there[model, word] or text)] += 1
            # Where no instruction has the word any more, that it reads differently says all.
            if text is not None and made == word and there[model, word] is not None:
                texts.append([model, text, int(word, 16) >> 105 & CONTROL, word])
        answer = self.new.ask({"assemble": [t[:3] for t in texts]})["assemble"]
        encoded: Counter[str] = Counter()
        for (_, text, _, word), now in zip(texts, answer, strict=True):
            if now is not None and now != word:
                encoded[_operation(text)] += 1
        return self._by_heading(read), self._by_heading(encoded)

    def _by_heading(self, found: Counter[str]) -> Counter[str]:
        """Mnemonics put under the headings of the page: ``ISETP.EX`` is a heading, its text begins with ``ISETP``."""
        heads = {h.split(" ", maxsplit=1)[0] for h in self.page.words}
        out: Counter[str] = Counter()
        for name, number in found.items():
            stem = name.split(".", maxsplit=1)[0]
            out[stem if any(h.split(".")[0] == stem for h in heads) else name] += number
        return out

    def _numbers(self) -> tuple[Counter[str], Counter[str]]:
        """What the headings of the tables say: stem of the operation -> number."""
        read: Counter[str] = Counter()
        made: Counter[str] = Counter()
        for heading, tables in self.page.words.items():
            stem = heading.split(" ", maxsplit=1)[0].split(".")[0]
            for rows in tables:
                head = rows[0][0]
                number = int(found[1]) if (found := re.search(r"of (\d+)\)", head)) else len(rows) - 1
                (made if "encoded" in head else read)[stem] += number
        return read, made

    def _listed(self) -> list[str]:
        """Each word and instruction that is listed, asked of both versions."""
        reads, makes = [], []
        for tables in self.page.words.values():
            for rows in tables:
                for cells in rows[1:]:
                    spans = [page_reading.codes(c)[0] if page_reading.codes(c) else c for c in cells[1:]]
                    (makes if "encoded" in rows[0][0] else reads).append((cells[0], *spans))
        return list(chain(self._reads(reads), self._makes(makes)))

    def _reads(self, rows: list[tuple[str, ...]]) -> Iterable[str]:
        asked = [[model, word] for model, word, *_ in rows]
        for number, version in enumerate((self.old, self.new) if asked else ()):
            for row, text in zip(rows, version.ask({"read": asked, "control": self.frame})["read"], strict=True):
                if (text or UNREAD) != row[2 + number]:
                    yield f"word {row[1]} of {row[0]} is {text or UNREAD}, the page says {row[2 + number]}"

    def _makes(self, rows: list[tuple[str, ...]]) -> Iterable[str]:
        asked = []
        for model, text, *made in rows:
            words = [m for m in made if re.fullmatch(r"[0-9a-f]{32}", m)]
            asked.append([model, text, int(words[0], 16) >> 105 & CONTROL if words else 0])
        for number, version in enumerate((self.old, self.new) if asked else ()):
            for row, word in zip(rows, version.ask({"assemble": asked})["assemble"], strict=True):
                said = row[2 + number]
                if self.frame and word is not None and re.fullmatch(r"[0-9a-f]{32}", said):
                    word, said = (f"{int(w, 16) & ~(CONTROL << 105):032x}" for w in (word, said))
                if word != said and (word is not None or re.fullmatch(r"[0-9a-f]{32}", said)):
                    yield f"instruction {row[1]} of {row[0]} is {word}, the page says {said}"


def _operation(text: str) -> str:
    """The mnemonic of a text, without guard and modifiers."""
    return re.sub(r"@!?U?P\w+ ", "", text).split(" ", maxsplit=1)[0].split(".", maxsplit=1)[0]


def _same_machine(old: Version, new: Version) -> bool:
    """Whether the files from which decoder and encoder are built are the same."""
    names = {n for n in {*old.outputs, *new.outputs} if n.startswith("c/tables/") or n in ("oric_tables/ops.py",)}
    return all(_PLACE.sub(r"\1", old.outputs.get(n, "")) == _PLACE.sub(r"\1", new.outputs.get(n, "")) for n in names)


# --- sample kernels


class Kernels:
    """The sample kernels, compiled again by both versions."""

    def __init__(self, old: Version, new: Version, page: page_reading.Page, samples: list[tuple[Path, str]]) -> None:
        self.page, self.samples = page, samples
        asked = [[str(path), target] for path, target in samples]
        self.old, self.new = (v.ask({"kernels": asked})["kernels"] if asked else [] for v in (old, new))

    def wrong(self) -> list[str]:
        """False or missing statements."""
        out: list[str] = []
        listed = [c for c in self.page.kernels[1:] if c[1]]
        seen = set()
        for (path, target), one, two in zip(self.samples, self.old, self.new, strict=True):
            name = path.relative_to(ROOT).as_posix()
            rows = [c for c in listed if c[1] == name and target in _targets(c[2])]
            for kernel in sorted({*one.get("kernels", {}), *two.get("kernels", {})}):
                row = next((c for c in rows if c[0] == kernel), None)
                seen |= {tuple(row)} if row else set()
                out += [f"{kernel} of {name} on {target}: {w}" for w in self._one(kernel, one, two, row)]
        out += [f"kernel {c[0]} of {c[1]} is listed, but was not compiled" for c in listed if tuple(c) not in seen]
        return out + self._listings()

    def _one(self, kernel: str, one: dict[str, Any], two: dict[str, Any], row: list[str] | None) -> Iterable[str]:
        before, after = (_lines(side, kernel) for side in (one, two))
        words = [side.get("kernels", {}).get(kernel, {}).get("words") for side in (one, two)]
        if words[0] == words[1] and before == after and _cycles(one, kernel) == _cycles(two, kernel):
            if row is not None and "section" not in row[-1]:
                yield f"is listed, but does not change: {row}"
            return
        if row is None:
            yield "changes, but is not listed"
            return
        yield from self._numbers(kernel, one, two, row)
        found = re.match(r"(\d+) of (\d+)(?:, (\d+) of them)?", row[6])
        a, b = ([x for x in lines if not x.endswith(":")] for lines in (before, after))
        least = max(sum((Counter(a) - Counter(b)).values()), sum((Counter(b) - Counter(a)).values()))
        if found and not least <= int(found[1]) <= max(len(a), len(b)):
            yield f"{row[6]} instructions changed, but {least} lines differ at least"
        if found and int(found[2]) != max(len(a), len(b)):
            yield f"{row[6]}: the kernel has {len(b)} instructions"

    def _numbers(self, kernel: str, one: dict[str, Any], two: dict[str, Any], row: list[str]) -> Iterable[str]:
        """Instructions, registers, cycles."""
        facts = [
            (_count(s, kernel), s.get("kernels", {}).get(kernel, {}).get("registers"), _cycles(s, kernel)) for s in (one, two)
        ]
        for number, what in enumerate(("instructions", "registers", "cycles")):
            said = [x.strip() for x in row[3 + number].split("→")]
            want = [facts[0][number], facts[1][number]]
            if what != "instructions" and ("error" in one or "error" in two):
                continue
            for text, value in zip((said[0], said[-1]), want, strict=True):
                if value is not None and text != str(value) and not (what == "cycles" and not text and want[0] == want[1]):
                    yield f"{what}: the page says {row[3 + number]}, not {want}"

    def _listings(self) -> list[str]:
        """Lines that are shown are lines of the listings, each as often as it can be."""
        out = []
        for heading, lines in self.page.listings:
            kernel = page_reading.codes(heading)[0]
            targets = _targets(heading.rpartition(" on ")[2])
            pairs = [
                (set(_lines(one, kernel)), set(_lines(two, kernel)))
                for (_, target), one, two in zip(self.samples, self.old, self.new, strict=True)
                if target in targets and (_lines(one, kernel) or _lines(two, kernel))
            ]
            if not any(_shown(lines, *pair) for pair in pairs):
                out.append(f"the listing of {heading} shows lines that neither version has")
        return out


def _shown(lines: list[str], old: set[str], new: set[str]) -> bool:
    for line in lines:
        mark, text = line[:1], re.sub(r"^[0-9a-f]{32} ", "", line[1:])  # words are shown where lines are alike
        if text.strip() == "..." or re.match(r"\d+ more|\.\.\.", text.strip()):
            continue
        if not {"-": text in old, "+": text in new, " ": text in old or text in new}.get(mark, False):
            return False
    return True


def _lines(side: dict[str, Any], kernel: str) -> list[str]:
    return list(side.get("kernels", {}).get(kernel, {}).get("lines", ()))


def _count(side: dict[str, Any], kernel: str) -> int | None:
    return None if "error" in side else len([x for x in _lines(side, kernel) if not x.endswith(":")])


def _cycles(side: dict[str, Any], kernel: str) -> Any:
    return side.get("cycles", {}).get(kernel)


def _targets(text: str) -> set[str]:
    return set(re.findall(r"sm_\w+", text))
