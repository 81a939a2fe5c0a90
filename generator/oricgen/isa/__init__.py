"""The model of the machine instructions: rows of ``spec/encoding`` parsed, resolved per ISA and checked."""
