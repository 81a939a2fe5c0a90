"""Rewrite rules (``spec/rewrites``): read, checked, proved, made into matchers.

``model`` says what a rule is, ``parse`` reads its notation, ``resolve`` finds its operations, places and modifiers, ``checks``
refuses rules that cannot fire or do not end, ``orders`` has the orders of sources, ``emit`` prints the code, ``proof`` tries both
sides of a rule on random operands.
"""
