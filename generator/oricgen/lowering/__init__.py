"""Lowering rules: ``spec/lowering/*.yaml`` read, checked against the operation tables, compiled to compact tuples.

:mod:`.template` parses one line of a rule, :mod:`.patterns` the PTX side, :mod:`.compiler` puts both together.
The form of the tuples is described in :mod:`.compiler`; ``oric.lower.program`` reads them.
"""
