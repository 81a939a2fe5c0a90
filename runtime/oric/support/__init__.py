"""Foundations without knowledge of the compiler: diagnostics, ELF reading, bit vectors, knobs."""
