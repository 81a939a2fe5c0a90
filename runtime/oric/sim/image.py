"""A cubin placed in simulated memory: code and data addresses, relocations, constant banks."""

from __future__ import annotations

from typing import Any, Final

from oric_tables import cubin as tables
from oric_tables._native import ffi, lib
from oric_tables.numbers import EXTERNAL_BASE, EXTERNAL_COUNT, INSN_BYTES
from oric_tables.simulator import DEVICES, EXTERNALS, Device

from oric.support import elf, elf_format

from .errors import LoadError
from .objects import ObjectPlaces
from .source import Sources

CODE_BASE: Final = 0x7F0000000000
_CODE_GAP: Final = 4096
_BANKS: Final = 0x1F  # the field of a constant bank
_DATA_SECTIONS: Final = (".nv.global.init", ".nv.global", ".nv.constant3")
_MAX_DATA: Final = 1 << 33
USER_BANK: Final = 3
ADDRESS_BANK: Final = 4


class Image:
    """A cubin with an address for everything in it.

    Attributes:
        cubin: what the reader found in the file.
        target: the simulated device.
        sim: the engine (``oric_sim *``).
        code: text section of a function -> its address.
        sources: source lines of the code.
        data: section name -> (address, size) of initialised, zero and constant data.
    """

    def __init__(self, data: bytes) -> None:
        try:
            self.cubin = elf.read(bytes(data))
        except elf.CubinError as error:
            raise LoadError(str(error)) from error
        self.target = _device(self.cubin)
        self._object = ObjectPlaces(self.cubin, self.target) if self.cubin.type != elf_format.ET_EXEC else None
        self.sim: Any = ffi.gc(lib.oric_sim_new(self.target.isa), lib.oric_sim_delete)
        if self.sim == ffi.NULL:
            raise LoadError("no memory for the simulator")
        self.sources = Sources(self.cubin)
        self.code: dict[str, int] = {}
        self.data: dict[str, tuple[int, int]] = {}
        self._section_address: dict[int, int] = {}
        self._externals = list(EXTERNALS)  # functions of the driver by number, then those that it does not have
        self._place_code()
        self._place_data()
        self._write()
        self.banks: dict[int, bytes] = {b: self.patched(s) for b, s in self.cubin.constant_sections.items()}

    def _place_code(self) -> None:
        address = CODE_BASE
        for name, function in self.cubin.functions.items():
            self.code[name] = address
            self._section_address[function.section] = address
            address += (len(function.text) + 2 * _CODE_GAP) & -_CODE_GAP

    def _place_data(self) -> None:
        for name in _DATA_SECTIONS:
            section = self.cubin.section(name)
            if section is None:
                continue
            address = 0
            if section.size <= _MAX_DATA:
                address = lib.oric_sim_alloc(self.sim, section.size, name.startswith(".nv.constant"))
            if not address:
                raise LoadError(f"no memory for {section.size} bytes of {name}")
            self.data[name] = (address, section.size)
            self._section_address[section.index] = address

    def _write(self) -> None:
        """Code and data, whose relocations need the addresses of all of both."""
        for name, address in self.code.items():
            text = self.patched(self.cubin.functions[name].section)
            if lib.oric_sim_add_code(self.sim, address, text, len(text)) != 0:
                raise LoadError(f"no memory for the code of {name}")
        for name, (address, _) in self.data.items():
            section = self.cubin.section(name)
            if section is not None and section.data:
                self.write(address, self.patched(section.index))

    def patched(self, section: int) -> bytes:
        """The bytes of a section with its relocations applied."""
        out = bytearray(self.cubin.sections[section].data)
        for relocation in self.cubin.relocations_of(section):
            place = f"relocation at {self.cubin.sections[section].name}+{relocation.offset:#x}"
            if self._object is not None and self._object.is_base(relocation.symbol):
                continue  # addresses of functions count from 0
            known = tables.RELOCATIONS.get(relocation.type)
            if known is None or not known.bits:
                raise LoadError(f"{place}: type {known.name if known else relocation.type} is not supported")
            address = self._value(relocation.symbol, known.generic)
            value = (address + relocation.addend & (1 << 64) - 1) >> known.shift
            end = relocation.offset + known.size
            word = int.from_bytes(out[relocation.offset : end], "little")
            for first, count in known.bits:
                word &= ~((1 << count) - 1 << first)
                word |= (value & (1 << count) - 1) << first
                value >>= count
            if known.bank:
                word = word & ~(_BANKS << known.bank) | self._bank_of(relocation.symbol) << known.bank
            out[relocation.offset : end] = word.to_bytes(known.size, "little")
        return bytes(out)

    def _bank_of(self, number: int) -> int:
        """The constant bank that a symbol lies in."""
        found = [b for b, s in self.cubin.constant_sections.items() if s == self.cubin.symbols[number].section]
        if not found:
            raise LoadError(f"'{self.cubin.symbols[number].name}' does not lie in a constant bank")
        return found[0]

    def _value(self, number: int, generic: bool) -> int:
        """What a relocation takes for a symbol: its address, in an object also the place in a space of its own."""
        place = None if self._object is None or generic else self._object.places.get(number)
        return self.symbol_address(number) if place is None else place

    def symbol_address(self, number: int) -> int:
        """Address of a symbol, for a function that is not defined one of the driver's; 0 for other undefined symbols."""
        symbol = self.cubin.symbols[number]
        base = self._section_address.get(symbol.section)
        if base is not None:
            return base + symbol.value
        if symbol.section or not symbol.is_function or len(self._externals) == EXTERNAL_COUNT:
            return 0
        if symbol.name not in self._externals:
            self._externals.append(symbol.name)
        address: int = EXTERNAL_BASE + INSN_BYTES * self._externals.index(symbol.name)
        return address

    def external_name(self, address: int) -> str:
        """Name of the function of the driver at an address, "" when there is none."""
        number, rest = divmod(address - EXTERNAL_BASE, INSN_BYTES)
        return self._externals[number] if not rest and 0 <= number < len(self._externals) else ""

    def write(self, address: int, data: bytes) -> None:
        """Write simulated global memory, read-only or not."""
        if lib.oric_sim_write(self.sim, address, data, len(data)) != 0:
            raise LoadError(f"{len(data)} bytes at {address:#x} are not in simulated memory")

    def read(self, address: int, size: int) -> bytes:
        """Read simulated global memory."""
        out = ffi.new("uint8_t[]", max(size, 1))
        if lib.oric_sim_read(self.sim, address, out, size) != 0:
            raise LoadError(f"{size} bytes at {address:#x} are not in simulated memory")
        return bytes(ffi.buffer(out, size))

    def variable(self, name: str) -> tuple[int, int]:
        """Address and size of a module variable (``__device__`` or ``__constant__``).

        Raises:
            LoadError: there is none of that name.
        """
        for symbol in self.cubin.symbols:
            if symbol.name != name or symbol.is_function or symbol.section not in self._section_address:
                continue
            section = self.cubin.sections[symbol.section]
            if section.name not in self.data:
                continue
            if symbol.value > section.size or symbol.size > section.size - symbol.value:
                raise LoadError(f"variable {name} lies outside of its section")
            return self._section_address[symbol.section] + symbol.value, symbol.size
        raise LoadError(f"the module has no variable '{name}'")


def _device(cubin: elf.Cubin) -> Device:
    """The device that a cubin is for; code that is made for a family runs on its first member."""
    found = DEVICES.get(cubin.target) or DEVICES.get(f"sm_{cubin.sm}")
    if found is None:
        raise LoadError(f"code for {cubin.target} is not supported: its machine code is not known")
    return found
