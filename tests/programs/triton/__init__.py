"""Kernels in Triton as Triton makes PTX of them: products, attention, norms, losses, scans, sorts ... held against numpy."""
