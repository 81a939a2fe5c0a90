"""What a change of the specification means, as one page: ``oricgen diff``.

:mod:`revisions` gets both sides, :mod:`side` reads their tables and builds what runs, :mod:`compare` finds the rows that
differ, :mod:`effects` the machine words and sample kernels that do, :mod:`page` writes it down.
"""
