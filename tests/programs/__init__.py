"""Whole programs: the kernels of the simulator's suite and those of ``sources``, made into code by this compiler."""
