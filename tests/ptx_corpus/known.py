"""Stored modules that the parser refuses though ptxas takes them, and why: the rows of spec/ptx lack what each names."""

REFUSED: dict[str, str] = {}
