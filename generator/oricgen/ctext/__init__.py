"""Checks texts in the small C-like language of meanings and values before the C compiler sees them.

:mod:`.headers` reads the project's C headers (functions, macros, constants, structs), :mod:`.types` says what a value is and what
may be put where, :mod:`.expressions` reads expressions, :mod:`.statements` a row's statements. What they refuse is a
:class:`~.types.TextError` with the place in the text; :mod:`oricgen.meaning` knows the row.
"""
