"""``oric_tables/cubin.py`` (what the reader needs) and ``oric_tables/cubin_layout.py`` (what the writer needs)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from ..errors import SpecError
from ..isa import rows as machine
from ..render import template
from ..spec import Spec
from ..strictyaml import Map, Seq
from ..tables import system_registers, targets

_FORMATS = {"flag": ("none",), "value": ("byte", "half")}
_SYMBOL_MODES = {"never": 0, "always": 1, "used": 2}


def render(spec: Spec) -> dict[str, str]:
    """Render the container's tables.

    Raises:
        SpecError: a code or name used twice, an unknown kind, attribute or target layout.
    """
    data = spec.load("cubin.yaml")
    path = spec.path("cubin.yaml")
    for name in ("attributes", "relocations", "compat_attributes"):
        _unique(data[name], path, name)
    _check_attributes(data["attributes"], path)
    known = {a["name"] for a in data["attributes"]}
    empty = data["empty_module_attribute"]
    if empty not in known:
        raise SpecError(path, data.line_of("empty_module_attribute"), f"empty_module_attribute: there is no attribute '{empty}'")
    for name in data["types_without_bytes"]:
        if name not in data["section_types"]:
            raise SpecError(path, data.line_of("types_without_bytes"), f"types_without_bytes: there is no section type '{name}'")
    _check_targets(spec, data)
    _check_code(spec, data)
    values = {"data": data, "kinds": list(data["sections"]), "symbol_modes": _SYMBOL_MODES}
    return {
        "oric_tables/cubin.py": template(
            "cubin.py.j2", data=data, fields=_fields(data["relocations"], path), banks=_banks(data["relocations"]), names=_names
        ),
        "oric_tables/cubin_layout.py": template(
            "cubin_layout.py.j2",
            registers={m.name: m.number for m in system_registers.meanings(spec)},
            layouts=_layouts(data, path),
            sections=_sections(data, path),
            codes=_headers(data, path),
            **values,
        ),
    }


def _headers(data: Map, path: PurePath) -> dict[str, int]:
    """The numbers of the relocations of headers."""
    codes = {row["name"]: row["code"] for row in data["relocations"]}
    for kind, row in data["objects_of_driver"].items():
        for column in ("header", "beside"):
            if row[column] not in codes:
                raise SpecError(path, row.line_of(column), f"{kind}: there is no relocation '{row[column]}'")
    return codes


def _fields(relocations: Seq, path: PurePath) -> dict[str, tuple[tuple[int, int], ...]]:
    """The runs of bits (first, count) that each relocation fills; they lie in the place that it patches."""
    out = {}
    for index, row in enumerate(relocations):
        runs = []
        for run in str(row["bits"]).split(",") if "bits" in row else ():
            first, _, last = run.partition("-")
            runs.append((int(first), int(last or first) - int(first) + 1))
        if any(count < 1 or first + count > 8 * row["size"] for first, count in runs):
            raise SpecError(path, relocations.line_of(index), f"{row['name']}: bits {row['bits']} are not in {row['size']} bytes")
        out[str(row["name"])] = tuple(runs)
    return out


def _banks(relocations: Seq) -> dict[str, int]:
    """The first of the bits that take the number of a constant bank, by relocation."""
    return {str(row["name"]): int(str(row["bank"]).partition("-")[0]) for row in relocations if "bank" in row}


def _names(row: Map, column: str) -> tuple[str, ...]:
    return tuple(str(name) for name in row.get(column, ()))


def _check_targets(spec: Spec, data: Map) -> None:
    """Every target names a layout and a header form of this file; the layout writes what the target's row says."""
    forms = {(f["osabi"], f["abiversion"]) for f in data["header_forms"]}
    path = spec.path("sm_targets.yaml")
    for target in targets.load(spec).by_name.values():
        if not target.elf:
            continue
        layout, war = target.elf["layout"], target.elf["sw_war"]
        if layout != targets.UNKNOWN:
            if layout not in data["layouts"]:
                raise SpecError(path, target.line, f"{target.name}: cubin.yaml has no layout '{layout}'")
            records = layout_columns(data, spec.path("cubin.yaml"), str(layout))["records"]
            if war and all(record["attribute"] != "SW_WAR" for record in records):
                raise SpecError(
                    path, target.line, f"{target.name}: elf.sw_war is {war}, layout {layout} of cubin.yaml has no record SW_WAR"
                )
        form = (target.elf["osabi"], target.elf["abiversion"])
        if targets.UNKNOWN not in form and form not in forms:
            raise SpecError(path, target.line, f"{target.name}: cubin.yaml has no header form with this osabi and abiversion")


def _check_code(spec: Spec, data: Map) -> None:
    """What follows from the code names attributes, kinds of sections, operations and special registers that there are."""
    path = spec.path("cubin.yaml")
    attributes = {a["name"] for a in data["attributes"]}
    operations = {o.name for o in machine.load(spec).operations}
    registers = system_registers.load(spec)
    for name, row in data["code_records"].items():
        line = data["code_records"].line_of(name)
        for attribute in (name, *([row["or"]] if "or" in row else [])):
            if attribute not in attributes:
                raise SpecError(path, line, f"code_records: {name}: there is no attribute '{attribute}'")
        for operation in (*row.get("every", ()), *row.get("also", ()), *row.get("written", ()), *row.get("with", ())):
            if operation not in operations:
                raise SpecError(path, line, f"code_records: {name}: there is no operation '{operation}' in spec/encoding")
        if "register" in row and row["register"] not in registers:
            raise SpecError(path, line, f"code_records: {name}: there is no special register '{row['register']}'")
    _check_mbarriers(data["mbarrier_records"], operations, path)
    for kind in data["code_sections"]:
        if kind not in data["sections"]:
            raise SpecError(path, data.line_of("code_sections"), f"code_sections: there is no kind of section '{kind}'")


def _check_mbarriers(data: Map, operations: set[str], path: PurePath) -> None:
    """What has a record of an mbarrier is there, and says where its address is; numbers are used once."""
    seen: dict[int, str] = {}
    for name, row in data["kinds"].items():
        line = data["kinds"].line_of(name)
        for operation in row.get("operations", ()):
            if operation not in operations:
                message = f"mbarrier_records: {name}: there is no operation '{operation}' in spec/encoding"
                raise SpecError(path, line, message)
        if ("number" in row) != ("operations" in row):
            raise SpecError(path, line, f"mbarrier_records: {name}: 'number' and 'operations' go together")
        if "number" in row and row["number"] in seen:
            raise SpecError(path, line, f"mbarrier_records: {name}: number {row['number']} is that of {seen[row['number']]}")
        if "number" in row:
            seen[row["number"]] = name
    for operation in data["generic"]:
        if operation not in operations:
            line = data["generic"].line_of(operation)
            message = f"mbarrier_records: generic: there is no operation '{operation}' in spec/encoding"
            raise SpecError(path, line, message)


def _unique(rows: Seq, path: PurePath, where: str) -> None:
    for key in ("code", "name"):
        seen: dict[object, int] = {}
        for index, row in enumerate(rows):
            line = rows.line_of(index)
            if row[key] in seen:
                first = seen[row[key]]
                raise SpecError(path, line, f"{row['name']}: {key} {row[key]} is used twice in {where} (first on line {first})")
            seen[row[key]] = line


def _check_attributes(rows: Seq, path: PurePath) -> None:
    for index, row in enumerate(rows):
        if "layout" in row and row["format"] not in _FORMATS.get(row["layout"], ("sized",)):
            raise SpecError(
                path, rows.line_of(index), f"{row['name']}: layout '{row['layout']}' does not go with format '{row['format']}'"
            )


def _sections(data: Map, path: PurePath) -> list[dict[str, Any]]:
    kinds = list(data["sections"])
    out = []
    for key, row in data["sections"].items():
        line = data["sections"].line_of(key)
        if row["type"] not in data["section_types"]:
            raise SpecError(path, line, f"{key}: there is no section type '{row['type']}'")
        if row.get("link", key) not in kinds:
            raise SpecError(path, line, f"{key}: column 'link': there is no kind of section '{row['link']}'")
        link = kinds.index(row["link"]) if "link" in row else -1
        symbol = _SYMBOL_MODES[row.get("symbol", "never")]
        kept = row.get("object_type", row["type"])
        if kept not in data["section_types"]:
            raise SpecError(path, line, f"{key}: there is no section type '{kept}'")
        types = {"type": data["section_types"][row["type"]], "object_type": data["section_types"][kept]}
        out.append({**row, "key": key, **types, "link": link, "symbol": symbol})
    return out


def _layouts(data: Map, path: PurePath) -> dict[str, dict[str, Any]]:
    return {name: _layout(data, path, name) for name in data["layouts"]}


def layout_columns(data: Map, path: PurePath, name: str, seen: tuple[str, ...] = ()) -> dict[str, Any]:
    """The columns of a layout with those that it inherits.

    Raises:
        SpecError: an unknown or circular parent, a replaced record that is not there.
    """
    row = data["layouts"][name]
    line = data["layouts"].line_of(name)
    parent = row.get("inherits")
    base: dict[str, Any] = {}
    if parent is not None:
        if parent not in data["layouts"] or parent in (*seen, name):
            raise SpecError(path, line, f"{name}: cannot inherit '{parent}': no other layout, or a circle")
        base = layout_columns(data, path, parent, (*seen, name))
    merged = {**base, **row}
    replaced = row.get("replace_records", {})
    names = {r["attribute"] for r in merged.get("records", ())}
    for old in replaced:
        if old not in names:
            raise SpecError(path, replaced.line_of(old), f"{name}: there is no record {old} to replace")
    merged["records"] = [new for old in merged.get("records", ()) for new in replaced.get(old["attribute"], [old])]
    return merged


def _layout(data: Map, path: PurePath, name: str) -> dict[str, Any]:
    columns = layout_columns(data, path, name)
    line = data["layouts"].line_of(name)
    missing = [c for c in _REQUIRED if c not in columns]
    if missing:
        raise SpecError(path, line, f"{name}: column '{missing[0]}' is missing")
    kinds = list(data["sections"])
    rank = {kind: place for place, group in enumerate(columns["order"]) for kind in group}
    for kind in [*rank, *columns["late"], *(k for s in columns["segments"] for k in s["sections"])]:
        if kind not in kinds:
            raise SpecError(path, line, f"{name}: there is no kind of section '{kind}'")
    codes = {a["name"]: a for a in data["attributes"]}
    records = []
    for record in columns["records"]:
        attribute = codes.get(record["attribute"])
        if attribute is None or "format" not in attribute:
            raise SpecError(path, line, f"{name}: record '{record['attribute']}' is no attribute with a format")
        records.append(
            (attribute["code"], data["record_formats"][attribute["format"]], record.get("fact", ""), record.get("value", 0))
        )
    segments = [(s["type"], s["flags"], tuple(kinds.index(k) for k in s["sections"])) for s in columns["segments"]]
    compat = [
        (data["record_formats"][c["format"]], c["code"], c.get("fact", ""), c.get("value", 0), tuple(c.get("words", ())))
        for c in columns["compat"]
    ]
    ranks = tuple(rank.get(k, -1) for k in kinds)
    late = tuple(kinds.index(k) for k in columns["late"])
    made = {"ranks": ranks, "late": late, "records": records, "segments": segments, "compat": compat}
    return {**columns, **made, **_reserved(columns), **_links(data, path, columns, line)}


def _links(data: Map, path: PurePath, columns: Mapping[str, Any], line: int) -> dict[str, Any]:
    """What objects leave to a linker, as numbers of relocations."""
    codes = {row["name"]: row["code"] for row in data["relocations"]}
    pointers = columns["function_pointers"]
    names = [f"{pointers['bytes']}_{8 * byte}" for byte in range(8)]
    links = {(part, space): name for space, parts in columns["links"].items() for part, name in parts.items()}
    for name in (pointers["whole"], *names, *links.values()):
        if name not in codes:
            raise SpecError(path, line, f"there is no relocation '{name}', which objects are to have")
    if columns["pointer_base"] and columns["pointer_base"] not in columns["object_symbols"]:
        raise SpecError(path, line, f"pointer_base: '{columns['pointer_base']}' is not among object_symbols")
    return {
        "link_codes": {key: codes[name] for key, name in links.items()},
        "function_pointer": codes[pointers["whole"]],
        "function_bytes": tuple(codes[name] for name in names),
    }


def _reserved(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Size and alignment of the reserved part of shared memory, and its variables, one behind the other: (name, place, size)."""
    end, align, places = columns["reserved_start"], 1, []
    for variable in columns["reserved_variables"]:
        place = -(-end // variable["align"]) * variable["align"]
        places.append((variable["name"], place, variable["size"]))
        end, align = place + variable["size"], max(align, variable["align"])
    return {"reserved_size": end, "reserved_align": align, "reserved_places": places}


_REQUIRED = (
    "section_info_has_registers", "implicit_addends", "const_pointee", "no_uniform", "empty_relocations", "cuinfo_flags",
    "compat", "rel_action", "reserved_shared", "reserved_start", "reserved_variables", "shared_end", "order", "late", "records",
    "segments", "object_symbols", "pointer_base", "function_pointers", "links", "driver_prototype",
)  # fmt: skip
