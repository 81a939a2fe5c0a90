"""Calls of intrinsics: what ptxas makes of a great many of them, stored, and ours beside it."""
