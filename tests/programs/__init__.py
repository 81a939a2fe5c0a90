"""Whole programs: the kernels of the simulator's suite, made into code by this compiler."""
