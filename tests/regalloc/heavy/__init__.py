"""Kernels that need many registers, as generators of PTX."""
