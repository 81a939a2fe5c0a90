"""Stored modules that the parser refuses though ptxas takes them, and why."""

REFUSED: dict[str, str] = {}
