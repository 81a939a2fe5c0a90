"""The machine instructions that ptxas makes for the orders, scopes and spaces of atomics, and for fences.

    python -m tests.lower.vendor_orders

asks ptxas 13.0 about every form of :func:`forms` for every target of ``TARGETS``, at -O0 and -O3, and writes ``FILE``: a line for
what is the same on several targets, ``TARGETS | PTX | machine instructions``. Of the code only what orders memory and what is
atomic is kept, without operands (:func:`essence`); how a loop of compare-and-swap tries again is not compared.
"""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from oric.sass.listing import list_cubin
from oric.support.elf import read

FILE = Path(__file__).parents[1] / "data/orders.txt"
TARGETS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_110", "sm_120")
LEVELS = (0, 3)
CLUSTERS = 90  # from this SM on
_POLICIES = 80
_VERSION = "9.0"
_ORDERING = ("MEMBAR", "ERRBAR", "CGAERRBAR", "CCTL", "FENCE", "NOP", "ATOM", "ATOMG", "ATOMS", "RED", "REDG", "UTMACCTL")
_SIZES = {"16": "h", "32": "r", "64": "d", "128": "q"}
_FLOATS = {"f32": "f", "f64": "g"}
_RESTRICTED = "sync_restrict::shared::cta"
_PLACES = ("", ".global", ".shared::cta", ".shared::cluster")


def number(target: str) -> int:
    """75 for sm_75."""
    return int(re.sub(r"\D", "", target))


def _scopes(target: str) -> list[str]:
    return ["", ".cta", ".gpu", ".sys", *([".cluster"] if number(target) >= CLUSTERS else [])]


def _register(type_: str, name: str) -> str:
    bits = "32" if type_.endswith("x2") else re.sub(r"\D", "", type_)
    return f"%{_FLOATS.get(type_) or _SIZES[bits]}{name}"


def _atomic(form: str, order: str, space: str, op: str, type_: str, hint: bool = False, vec: int = 1) -> str:
    """An instruction on a place of the thread's own; what it gives is stored, unless ``form`` is sink."""
    noftz = ".noftz" if "f16" in type_ else ""
    hints, vector = ".L2::cache_hint" * hint, f".v{vec}" * (vec > 1)
    name = f"{'red' if form == 'red' else 'atom'}{order}{space}.{op}{noftz}{hints}{vector}.{type_}"

    def operand(of: str) -> str:
        registers = [f"{_register(type_, of)}{k}" for k in range(vec)]
        return registers[0] if vec == 1 else "{" + ", ".join(registers) + "}"

    found = {"atom": operand("o"), "sink": "_", "red": ""}[form]
    address = "[%s]" if space.startswith(".shared") else "[%a]"
    operands = [*filter(None, [found]), address, operand("x"), *([operand("y")] * (op == "cas")), *(["%policy"] * hint)]
    return f"{name} {', '.join(operands)};"


def forms(target: str) -> list[str]:
    """The instructions that are compared."""
    return list(dict.fromkeys([*_orders(target), *_operations(target), *_fences(target)]))


def _spaces(target: str) -> list[str]:
    return ["", ".global", ".shared", *([".shared::cluster"] if number(target) >= CLUSTERS else [])]


def _orders(target: str) -> Iterable[str]:
    """Every order at every scope in every space, of what each unit does itself, and of loops."""
    for order, scope, space in itertools.product(
        ("", ".relaxed", ".acquire", ".release", ".acq_rel"), _scopes(target), _spaces(target)
    ):
        yield _atomic("atom", order + scope, space, "add", "u32")
        yield _atomic("atom", order + scope, space, "add", "f32")
        yield _atomic("atom", order + scope, space, "cas", "b64")
        if order in ("", ".relaxed", ".release"):
            yield _atomic("red", order + scope, space, "min", "s32")
            yield _atomic("red", order + scope, space, "add", "f64")
        if space == ".global":
            yield _atomic("sink", order + scope, space, "max", "s64")


def _operations(target: str) -> Iterable[str]:
    """Every operation in every space, with and without a result; vectors, policies."""
    plain = [("add", t) for t in ("u32", "s32", "u64", "f32", "f64", "f16", "f16x2")]
    plain += [(op, t) for op in ("min", "max") for t in ("u32", "s32", "u64", "s64")]
    plain += [(op, t) for op in ("and", "or", "xor", "exch") for t in ("b32", "b64")]
    plain += [("inc", "u32"), ("dec", "u32"), ("cas", "b16"), ("cas", "b32"), ("cas", "b64")]
    vectors: list[tuple[str, str, int]] = []
    if number(target) >= CLUSTERS:
        plain += [("add", "bf16"), ("add", "bf16x2"), ("exch", "b128"), ("cas", "b128")]
        vectors += [("add", "f32", 2), ("add", "f32", 4)]
        vectors += [(op, t, n) for op in ("add", "min", "max") for t in ("f16", "bf16") for n in (2, 4, 8)]
        vectors += [(op, t, n) for op in ("add", "min", "max") for t in ("f16x2", "bf16x2") for n in (2, 4)]
    for (op, type_), space, form in itertools.product(plain, _spaces(target), ("atom", "sink", "red")):
        if form == "sink" and "bf16" in type_:
            continue  # ptxas dies of it
        if form != "red" or op not in ("exch", "cas"):
            yield _atomic(form, "", space, op, type_)
            if op != "cas" and space in ("", ".global") and number(target) >= _POLICIES:
                yield _atomic(form, "", space, op, type_, hint=True)
    for (op, type_, vec), space, form in itertools.product(vectors, ("", ".global"), ("atom", "red")):
        yield _atomic(form, "", space, op, type_, vec=vec)
        yield _atomic(form, "", space, op, type_, hint=True, vec=vec)


def _fences(target: str) -> Iterable[str]:
    yield from ("membar.cta;", "membar.gl;", "membar.sys;")
    for order, scope in itertools.product(("", ".sc", ".acq_rel", ".acquire", ".release"), _scopes(target)[1:]):
        yield f"fence{order}{scope};"
    if number(target) < CLUSTERS:
        return
    yield f"fence.release.{_RESTRICTED}.cluster;"
    yield "fence.acquire.sync_restrict::shared::cluster.cluster;"
    yield "fence.mbarrier_init.release.cluster;"
    for place in _PLACES:
        yield f"fence.proxy.async{place};"
        yield f"fence.proxy.async::generic.release.{_RESTRICTED}.cluster{place};"
        yield f"fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster{place};"
    for scope in _scopes(target)[1:]:
        yield f"fence.proxy.tensormap::generic.acquire{scope} [%a], 128;"
        yield from (f"fence.proxy.tensormap::generic.release{scope}{place};" for place in _PLACES)
        yield f"fence.proxy.tensormap::generic.release.{_RESTRICTED}{scope};"


# -- kernels -------------------------------------------------------------------------------------------------------


def module(instructions: Sequence[str], target: str) -> str:
    """A kernel ``k<n>`` for each instruction: places and operands differ among the threads, results are stored."""
    quads = number(target) >= CLUSTERS
    text = f".version {_VERSION}\n.target {target}\n.address_size 64\n"
    for n, instruction in enumerate(instructions):
        text += f".visible .entry k{n}(.param .u64 p0, .param .u64 p1)\n{{\n  .reg .b64 %a, %t, %policy; .reg .b32 %s, %i;\n"
        kinds = {"h": "b16", "r": "b32", "d": "b64", "f": "f32", "g": "f64", **({"q": "b128"} if quads else {})}
        text += "".join(f"  .reg .{t} %{c}x<8>, %{c}y<8>, %{c}o<8>;\n" for c, t in kinds.items() if f"%{c}" in instruction)
        text += "  mov.u32 %i, %tid.x; ld.param.u64 %a, [p0]; ld.param.u64 %t, [p1]; mad.wide.u32 %a, %i, 32, %a;\n"
        text += "  cvt.u64.u32 %policy, %i; mad.wide.u32 %t, %i, 32, %t; cvt.u32.u64 %s, %a;\n"
        used = dict.fromkeys(re.findall(r"%([hrdfgq])([xyo])(\d)", instruction))
        for kind, role, k in used:
            if role != "o":
                text += _load(kind, f"%{kind}{role}{k}", 16 * int(k) + (8 if role == "y" else 0))
        text += f"  {instruction}\n"
        for kind, role, k in used:
            if role == "o":
                text += _store(kind, f"%{kind}o{k}", 16 * int(k))
        text += "  ret;\n}\n"
    return text


def _load(kind: str, register: str, at: int) -> str:
    bits = {"h": 16, "r": 32, "d": 64, "f": 32, "g": 64, "q": 128}[kind]
    if bits == 128:
        return f"  {{ .reg .b64 l, h; ld.global.v2.b64 {{l, h}}, [%t+{at // 16 * 16}]; mov.b128 {register}, {{l, h}}; }}\n"
    return f"  ld.global.b{bits} {register}, [%t+{at}];\n"


def _store(kind: str, register: str, at: int) -> str:
    bits = {"h": 16, "r": 32, "d": 64, "f": 32, "g": 64, "q": 128}[kind]
    if bits == 128:
        return f"  {{ .reg .b64 l, h; mov.b128 {{l, h}}, {register}; st.global.v2.b64 [%t+{at}], {{l, h}}; }}\n"
    return f"  st.global.b{bits} [%t+{at}], {register};\n"


def essence(instruction: str, lines: Iterable[str]) -> str:
    """What orders memory, and what is atomic, of the text of a kernel."""
    name = instruction.partition(" ")[0]
    swaps = ".cas." in name or name.endswith(("16;", ".f16", ".bf16"))
    kept: list[str] = []
    code = list(lines)
    while code and not code[-1].startswith("EXIT"):  # what fills the section
        code.pop()
    for line in code:
        word = re.sub(r"^@\S+ ", "", line).split(" ")[0].rstrip(";")
        if word.split(".")[0] not in _ORDERING or "CAST" in word or (word.startswith("ATOMS.CAS") and not swaps):
            continue
        if word.startswith("ATOM.E.CAS") and not swaps:
            continue
        kept.append(word)
    return " ".join(kept)


def essences(instructions: Sequence[str], image: bytes) -> list[str]:
    """Of every kernel of :func:`module`."""
    found = {f.name: [line.text for line in f.lines] for f in list_cubin(read(image)).functions}
    return [essence(text, found[f"k{n}"]) for n, text in enumerate(instructions)]


# -- the file ------------------------------------------------------------------------------------------------------


def load() -> dict[str, dict[str, str]]:
    """Target -> instruction -> machine instructions."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for line in FILE.read_text(encoding="utf-8").splitlines():
        if line[0] != "#":
            targets, text, made = (part.strip() for part in line.split("|"))
            for target in targets.split():
                found[target][text] = made
    return found


def asked(target: str, level: int) -> list[str]:
    """What ptxas makes of the forms."""
    instructions = forms(target)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "in.ptx").write_text(module(instructions, target), encoding="utf-8")
        command = ["ptxas", f"-O{level}", "-arch", target, "in.ptx", "-o", "out.cubin"]
        done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{target}: {done.stderr or done.stdout}")
        return essences(instructions, (Path(folder) / "out.cubin").read_bytes())


def main() -> None:
    """Ask, and write the file."""
    if shutil.which("ptxas") is None:
        sys.exit("vendor_orders: there is no ptxas on PATH")
    same: dict[tuple[str, str], list[str]] = {}
    for target in TARGETS:
        slow, fast = (asked(target, level) for level in LEVELS)
        for text, one, other in zip(forms(target), slow, fast, strict=True):
            if one != other:
                sys.exit(f"{target}: {text} is {one} at -O0 and {other} at -O3")
            same.setdefault((text, one), []).append(target)
    head = (
        "# What ptxas 13.0.88 makes of orders, scopes and spaces, at -O0 and -O3: made by python -m tests.lower.vendor_orders\n"
    )
    FILE.write_text(head + "".join(f"{' '.join(t)} | {text} | {made}\n" for (text, made), t in same.items()), encoding="utf-8")
    print(f"{len(same)} lines")


if __name__ == "__main__":
    main()
