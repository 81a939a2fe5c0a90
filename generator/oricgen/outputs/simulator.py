"""``oric_tables/simulator.py``: the devices that can be simulated, and what a launch puts where."""

from __future__ import annotations

from ..isa import rows
from ..render import header, template
from ..spec import Spec
from ..tables import simulator, targets

LIMITS = (
    "max_regs",
    "regs_per_block",
    "max_threads",
    "max_shared",
    "warps_per_sm",
    "regs_per_sm",
    "shared_per_sm",
    "blocks_per_sm",
    "reserved_shared",
)


def _by_offset(words: dict[str, list[simulator.LaunchValue]]) -> dict[str, list[simulator.LaunchValue]]:
    return {isa: sorted(found, key=lambda word: word.offset) for isa, found in words.items()}


def render(spec: Spec) -> dict[str, str]:
    """Render the tables of a launch."""
    isas = rows.load(spec).isas
    values, words = (_by_offset(simulator.load(spec, group)) for group in ("launch_values", "system_words"))
    known = [t for t in targets.load(spec).by_name.values() if t.isa]
    devices = [(t, simulator.bank_values(t) + values[t.isa], words[t.isa]) for t in known]
    operations = {o.name: o.number for o in rows.load(spec).operations}
    families = {path.split("/")[1].removesuffix(".yaml"): data["operations"] for path, data in spec.family("encoding").items()}
    classes = {family: sorted(operations[name] for name in members) for family, members in families.items()}
    externals = simulator.externals(spec)
    sources = {
        "isas": isas,
        "devices": devices,
        "limits": LIMITS,
        "unknown": targets.UNKNOWN,
        "externals": externals,
        "machines": dict(sorted(spec.load("simulator.yaml")["machines"].items())),
        "classes": classes,
    }
    head = header("//", "generator/oricgen/outputs/simulator.py", ["spec/simulator.yaml"])
    calls = spec.load("simulator.yaml")["external_calls"]
    return {
        "oric_tables/simulator.py": template("simulator.py.j2", **sources),
        "c/sim/externals.c": head + template("sim_externals.c.j2", externals=externals, calls=calls),
    }
