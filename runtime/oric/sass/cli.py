"""``oric disasm``: cubin in, SASS out."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, NoReturn

from oric.support.elf import CubinError, Function, read
from oric.support.targets import TargetError, find_target

from .listing import FunctionListing, Line, Listing, control_code, list_cubin, list_raw

ERROR_STATUS = 1
_TEXT_COLUMN = 35  # of the mnemonic in nvdisasm's lines; a guard stands to the left of it


class _UsageError(Exception):
    pass


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _UsageError(message)


def main(argv: list[str]) -> int:
    """Run ``oric disasm``; returns the exit status: 0, or 1 with one line on standard error for each problem."""
    try:
        args = _parser().parse_args(argv)
        listing, facts = _load(args)
    except (_UsageError, CubinError, TargetError) as error:
        print(f"oric: error: {error}", file=sys.stderr)
        return ERROR_STATUS
    if args.json:
        print(json.dumps(_as_json(listing, facts), indent=1))
    else:
        sys.stdout.writelines(f"{line}\n" for line in text_lines(listing, facts, plain=args.plain))
    for problem in listing.problems:
        print(f"oric: error: {args.file}: {problem}", file=sys.stderr)
    return ERROR_STATUS if listing.problems else 0


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="oric disasm", description="Print the machine code of a cubin.")
    parser.add_argument("file", metavar="FILE", help="a cubin, or machine words with --raw")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--plain", action="store_true", help="print what nvdisasm -c prints: no control codes, no facts")
    parser.add_argument("--raw", action="store_true", help="FILE holds nothing but instruction words (needs --arch)")
    parser.add_argument("--arch", metavar="SM", help="target of a --raw file")
    return parser


def _load(args: argparse.Namespace) -> tuple[Listing, dict[str, Any]]:
    try:
        data = sys.stdin.buffer.read() if args.file == "-" else Path(args.file).read_bytes()
    except OSError as error:
        raise CubinError(f"{args.file}: {error.strerror}") from error
    if args.raw != (args.arch is not None):
        raise _UsageError("--raw needs --arch" if args.raw else "--arch is for --raw files; a cubin names its target")
    try:
        if args.raw:
            return list_raw(data, find_target(args.arch, "arch").isa, args.arch), {}
        cubin = read(data)
        return list_cubin(cubin), {"constants": {bank: len(found) for bank, found in sorted(cubin.constants.items())}}
    except CubinError as error:
        raise CubinError(f"{args.file}: {error}") from error


def text_lines(listing: Listing, facts: dict[str, Any], plain: bool = False) -> list[str]:
    """The listing for people; ``plain`` leaves the lines that nvdisasm prints too."""
    out = [f"\t.target\t{listing.target}"]
    out += [f"\t// constant bank {bank}: {size} bytes" for bank, size in facts.get("constants", {}).items()] if not plain else []
    for function in listing.functions:
        if function.name:
            out += ["", f"//--------------------- .text.{function.name}"]
            if function.facts is not None and not plain:
                out += [f"// {line}" for line in _fact_lines(function.facts)]
        for line in function.lines:
            out += [f"{name}:" for name in function.labels.get(line.offset, ())]
            out.append(_instruction(line, plain))
        end = 16 * len(function.lines)
        out += [f"{name}:" for name in function.labels.get(end, ())]
    return out


def _instruction(line: Line, plain: bool) -> str:
    guard, _, rest = line.text.partition(" ") if line.text.startswith(("@P", "@!P")) else ("", "", line.text)
    end = " ;" if line.control & 0x1F or line.control >> 11 else ";"  # as nvdisasm: neither stall nor wait
    place = f"        /*{line.offset:04x}*/"
    left = f"{guard} ".rjust(_TEXT_COLUMN - len(place)) if guard else " " * (_TEXT_COLUMN - len(place))
    code = "" if plain else f"{control_code(line.control)} "
    note = f"    {line.note}" if line.note else ""
    if note.endswith("*)"):
        return f"{code}{place}{left}{rest}{note}{end.strip()}"
    return f"{code}{place}{left}{rest}{end}{note}"


def _fact_lines(facts: Function) -> list[str]:
    kind = "kernel" if facts.is_entry else "function"
    out = [
        f"{kind}: {facts.registers} registers, {facts.barriers} barriers",
        f"memory: {facts.shared_size} bytes shared, {facts.frame_size} bytes stack",
    ]
    if facts.params:
        listed = ", ".join(f"{p.size} at {facts.param_base + p.offset:#x}" for p in facts.params)
        out.append(f"parameters in bank 0: {listed}")
    if facts.max_threads or facts.required_threads:
        word, size = ("exactly", facts.required_threads) if facts.required_threads else ("at most", facts.max_threads)
        out.append(f"block size: {word} {size}")
    out += [f"constant bank {bank}: {len(data)} bytes" for bank, data in sorted(facts.constants.items()) if bank]
    return out


def _as_json(listing: Listing, facts: dict[str, Any]) -> dict[str, Any]:
    return {"target": listing.target, **facts, "functions": [_function_json(f) for f in listing.functions]}


def _function_json(function: FunctionListing) -> dict[str, Any]:
    out: dict[str, Any] = {"name": function.name}
    facts = function.facts
    if facts is not None:
        out |= {
            "entry": facts.is_entry,
            "registers": facts.registers,
            "shared": facts.shared_size,
            "stack": facts.frame_size,
            "barriers": facts.barriers,
            "params": [{"offset": facts.param_base + p.offset, "size": p.size} for p in facts.params],
        }
    out["instructions"] = [
        {
            "offset": line.offset,
            "labels": function.labels.get(line.offset, []),
            "text": line.text,
            "control": control_code(line.control),
            "words": [f"{word:#018x}" for word in line.words],
        }
        for line in function.lines
    ]
    return out
