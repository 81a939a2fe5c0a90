"""Stored modules that the parser refuses though ptxas takes them, and why: the rows of spec/ptx lack what each names."""

_CAS = "an immediate as the new value of atom.cas.b16"
_VOTE = "vote with .sync behind the mode and the type"
_HALF = "a floating-point constant for a variable of .b16"

REFUSED: dict[str, str] = {
    "sources.small_types.sm_80.lineinfo.ptx": _CAS,
    "sources.small_types.sm_90a.ptx": _CAS,
    "sources.small_types.sm_100a.ptx": _CAS,
    "cub_device.sm_90.2.ptx": _VOTE,
    "thrust_algorithms.sm_80.0.ptx": _VOTE,
    "thrust_algorithms.sm_80.4.ptx": _VOTE,
    "globals.sm_50.O0.llc16.ptx": _HALF,
    "globals.sm_50.llc14.ptx": _HALF,
    "globals.sm_80.llc16.ptx": _HALF,
    "globals.sm_90.llc19.ptx": _HALF,
}
