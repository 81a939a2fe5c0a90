"""Everything generated from the encoding rows: the Python operation table, the C form tables, the flat listing."""

from __future__ import annotations

from ..isa import rows, spellings
from ..spec import Spec
from ..tables import macros
from . import _encoding_c, _encoding_flat, _encoding_ops


def render(spec: Spec) -> dict[str, str]:
    """Generated files below build/: oric_tables/op.py, op_tables.py and ops.py, c/tables/forms.{h,c}, flat/<isa>.txt.

    Raises:
        SpecError: a mistake in spec/encoding, spec/formats.yaml or spec/opcodes.yaml.
    """
    if not (spec.root / "encoding").is_dir():
        return {}
    machine = rows.load(spec)
    words = rows.opcode_words(spec, machine)
    return {
        **_encoding_ops.render(machine, words, macros.load(spec)),
        **_encoding_c.render(machine, spec.load("formats.yaml")["names"], spellings.load(spec, machine)),
        **_encoding_flat.render(machine, words),
    }
