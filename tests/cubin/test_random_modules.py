"""Random modules: everything that is written is read back, and the file keeps the rules of its format."""

from __future__ import annotations

import random

import pytest
from oric.cubin import write
from oric.ir.encoded import FULL_MASK, EncodedFunction
from oric.ir.function import Function
from oric.ir.module import Module, Param, Relocation, Symbol
from oric.support.elf import Cubin, read
from oric_tables.targets import TARGETS

ALIGNS = (1, 2, 4, 8, 16)


def random_module(rng: random.Random, target: str) -> tuple[Module, list[EncodedFunction]]:
    module = Module(target)
    for number in range(rng.randrange(6)):
        space = rng.choice(["global", "const", "shared"])
        size = rng.randint(8, 60)
        init = rng.randbytes(size) if space != "shared" and rng.random() < 0.6 else b""
        binding = rng.choice(["local", "global", "weak"]) if space != "shared" else rng.choice(["local", "extern"])
        module.add_symbol(Symbol(f"v{number}", space, size, rng.choice(ALIGNS), init, binding=binding))
    data = [n for n, s in enumerate(module.symbols) if s.space == "global"]
    for symbol in data:
        if rng.random() < 0.4:
            module.symbols[symbol].relocations.append(Relocation(0, rng.choice(data), rng.randrange(8), generic=True))
        if rng.random() < 0.5:
            module.address_slot(symbol)
    encoded = []
    for number in range(rng.randrange(5)):
        code = Function(f"k{number}", target)
        facts = code.attributes
        for ordinal in range(rng.randrange(6)):
            size = rng.choice([1, 2, 4, 8, 24])
            offset = -(-facts.param_size // min(size, 8)) * min(size, 8)
            facts.params.append(
                Param(ordinal, f"p{ordinal}", offset, size, min(size, 8), rng.choice([0, 4]), rng.choice([0, 16]))
            )
            facts.param_size = offset + size
        facts.frame_size = 8 * rng.randrange(50)
        facts.num_barriers = rng.randrange(4)
        facts.static_shared, facts.shared_align = rng.choice([(0, 1), (13, 1), (100, 16)])
        facts.maxntid = rng.choice([None, (128, 1, 1), (16, 16, 2)])
        facts.binding = rng.choice(["global", "weak", "local"])
        module.add_function(code)
        words = rng.randbytes(128 * rng.randint(1, 4))
        function = EncodedFunction(f"k{number}", words, rng.randrange(256), [16 * rng.randrange(8)])
        function.coop_groups = [(16 * n, rng.choice([FULL_MASK, 7])) for n in range(rng.randrange(3))]
        function.constant2 = rng.randbytes(4 * rng.randrange(5))
        encoded.append(function)
    return module, encoded


def check_format(image: Cubin) -> None:
    """Rules of ELF: sections apart and aligned, local symbols in front of the index that the table names."""
    end = 64
    for section in image.sections[1:]:
        assert section.offset >= end or not section.data
        assert section.offset % max(section.align, 1) == 0
        end = max(end, section.offset + len(section.data))
    table = next(s for s in image.sections if s.type == 2)
    assert all(s.number < table.info for s in image.symbols if s.info >> 4 == 0)
    for segment in image.segments:
        assert segment.memsz >= segment.filesz


def contents(image: Cubin, name: str) -> bytes:
    """The initial bytes of a variable."""
    symbol = next(s for s in image.symbols if s.name == name)
    section = image.sections[symbol.section]
    return section.data[symbol.value : symbol.value + symbol.size] or bytes(symbol.size)


@pytest.mark.parametrize("target", list(TARGETS))
@pytest.mark.parametrize("seed", range(25))
def test_round_trip(seed: int, target: str) -> None:
    rng = random.Random(seed)
    module, encoded = random_module(rng, target)
    image = read(write(module, encoded, TARGETS[target]))
    check_format(image)
    assert list(image.kernels) == [f.name for f in reversed(encoded)]
    for function in encoded:
        code = module.function(function.name)
        assert code is not None
        facts, found = code.attributes, image.kernels[function.name]
        assert (found.text, found.registers, found.exits) == (function.words, function.num_regs, tuple(function.exits))
        assert [(p.offset, p.size, p.space) for p in found.params] == [(p.offset, p.size, p.pointee_space) for p in facts.params]
        assert (found.frame_size, found.barriers, found.max_threads) == (facts.frame_size, facts.num_barriers, facts.maxntid)
        assert found.constants.get(2, b"") == function.constant2
        reserved = TARGETS[target].shared_base if found.shared_section else 0
        assert found.shared_size - reserved >= facts.static_shared
    for symbol in module.symbols:
        if symbol.space in ("global", "const"):
            data = symbol.init.ljust(symbol.size, b"\0")
            assert contents(image, symbol.name) == data
            value = next(s.value for s in image.symbols if s.name == symbol.name)
            assert value % symbol.align == 0 and (symbol.space == "global" or value == symbol.offset)
    slots = {r.offset: image.symbols[r.symbol].name for r in image.relocations_of(image.constant_sections.get(4, 0))}
    assert slots == {at: module.symbols[n].name for n, at in module.address_slots.items()}
