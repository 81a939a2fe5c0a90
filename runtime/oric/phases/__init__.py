"""The phases: the manager that runs them in the order of the phase table, and the passes from Ori to Ori."""
