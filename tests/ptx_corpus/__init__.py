"""PTX that other compilers make: the sources, what makes the modules of them, and the stored modules (tests/data/ptx_corpus)."""
