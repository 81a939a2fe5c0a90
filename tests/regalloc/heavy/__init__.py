"""Kernels that need many registers, as generators of PTX.

Each module has ``ptx(arch)``, the text of a kernel ``heavy``, and ``data(threads)``: its arguments, of which the last one
gets the result, and the result by another way.
"""
