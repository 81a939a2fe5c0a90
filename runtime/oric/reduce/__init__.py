"""``oric reduce``: a PTX module made small while a given failure stays (docs/reduce.md)."""
