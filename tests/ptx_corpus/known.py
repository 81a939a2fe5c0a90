"""Stored modules that the parser refuses though ptxas takes them, and why: the rows of spec/ptx lack what each names."""

_HALF = "a floating-point constant for a variable of .b16"

REFUSED: dict[str, str] = {
    "globals.sm_50.O0.llc16.ptx": _HALF,
    "globals.sm_50.llc14.ptx": _HALF,
    "globals.sm_80.llc16.ptx": _HALF,
    "globals.sm_90.llc19.ptx": _HALF,
}
