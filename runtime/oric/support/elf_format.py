"""The ELF-64 records and codes that the reader and the writer of cubins share.

Source: ELF-64 object file format; machine and entry mark as observed in cubins.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

HEADER: Final = Struct("<16sHHIQQQIHHHHHH")
SECTION: Final = Struct("<IIQQQQIIQQ")
SYMBOL: Final = Struct("<IBBHQQ")
SEGMENT: Final = Struct("<IIQQQQQQ")
REL: Final = Struct("<QII")
RELA: Final = Struct("<QIIq")

ELF_MAGIC: Final = b"\x7fELF"
FATBIN_MAGIC: Final = b"\x50\xed\x55\xba"
EM_CUDA: Final = 190
ET_REL: Final = 1
ET_EXEC: Final = 2
ET_EWP: Final = 0xFF00  # a whole program to link with libraries (-ewp)
SHT_PROGBITS: Final = 1
SHT_SYMTAB: Final = 2
SHT_STRTAB: Final = 3
SHT_RELA: Final = 4
SHT_NOTE: Final = 7
SHT_NOBITS: Final = 8
SHT_REL: Final = 9
SHF_WRITE: Final = 1
SHF_ALLOC: Final = 2
SHF_EXECINSTR: Final = 4
SHF_MERCURY: Final = 0x10000000  # a section of the second form of the program (sm_100 and up)
STB_GLOBAL: Final = 1
STT_FUNC: Final = 2
STO_ENTRY: Final = 0x10  # st_other of a kernel
