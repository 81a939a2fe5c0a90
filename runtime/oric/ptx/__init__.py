"""PTX: scanner, parser and checker; drives a Builder (:mod:`oric.ptx.builder`)."""
