"""Stored modules that the parser refuses though ptxas takes them, and why: the rows of spec/ptx lack what each names."""

_DOWN = "conversion of .f32 to .bf16 that rounds down or up"
_CAS = "an immediate as the new value of atom.cas.b16"
_VOTE = "vote.ballot.sync behind setp in one block of inline assembly"
_PARTS = "mbarrier.arrive_drop.noComplete"
_MAPS = "prefetch of tensor maps"
_HALF = "a floating-point constant for a variable of .b16"
_GRID = "%gridid as .u32"

REFUSED: dict[str, str] = {
    "suite.conversions.sm_90a.ptx": _DOWN,
    "suite.conversions.sm_100a.ptx": _DOWN,
    "small_floats.sm_90.G.ptx": _DOWN,
    "small_floats.sm_90.lineinfo.ptx": _DOWN,
    "small_floats.sm_100.ptx": _DOWN,
    "small_floats.sm_120.ptx": _DOWN,
    "sources.small_types.sm_80.lineinfo.ptx": _CAS,
    "sources.small_types.sm_90a.ptx": _CAS,
    "sources.small_types.sm_100a.ptx": _CAS,
    "cuda_ptx.0.sm_90.ptx": "fences with .sync_restrict",
    "cub_device.sm_90.2.ptx": _VOTE,
    "thrust_algorithms.sm_80.0.ptx": _VOTE,
    "thrust_algorithms.sm_80.4.ptx": _VOTE,
    "vendor.async.sm_90a.ptx": _PARTS,
    "vendor.async.sm_100a.ptx": _PARTS,
    "vendor.tma.sm_90a.ptx": _MAPS,
    "vendor.tma.sm_100a.ptx": _MAPS,
    "layer_norm.sm_100.ptx": "sub of .f32 and .f16",
    "scaled_e4m3.sm_90.ptx": "cvt.bf16.f16 without rounding",
    "globals.sm_50.O0.llc16.ptx": _HALF,
    "globals.sm_50.llc14.ptx": _HALF,
    "globals.sm_80.llc16.ptx": _HALF,
    "globals.sm_90.llc19.ptx": _HALF,
    "special.sm_70.O0.llc16.ptx": _GRID,
    "special.sm_70.llc14.ptx": _GRID,
    "special.sm_80.llc16.ptx": _GRID,
    "special.sm_90.llc19.ptx": _GRID,
}
