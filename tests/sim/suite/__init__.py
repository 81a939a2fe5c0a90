"""Kernels that nvcc made for five targets, their launches, and what numpy says they must write (see case.py)."""
