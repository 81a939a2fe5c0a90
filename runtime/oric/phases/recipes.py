"""Phase 1: the recipes of NvOpt levels.

A recipe says for each level what becomes of one phase: it does not run, or how much it may do. The table (``recipes`` of
``spec/phases.yaml``) is in the order of the phases' indices; by hash it is found without a search. Source: PTX-to-Ori, "Phase 1".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from oric_tables.phases import NVOPT_LEVELS, RECIPES, Recipe

from oric.ir.function import Function
from oric.ir.passes import PassContext

_BY_PHASE: Final[dict[int, Recipe]] = {recipe.phase: recipe for recipe in RECIPES}
_NONE: Final[Mapping[int, int]] = {}


def recipe_of(phase: int) -> Recipe | None:
    """The recipe of a phase by its index; None when every level leaves the phase as it is."""
    return _BY_PHASE.get(phase)


def recipes_of(level: int | None) -> Mapping[int, int]:
    """Index of a phase -> 0 when an NvOpt level switches it off, else how much it may do; empty for None.

    Raises:
        ValueError: there is no such level.
    """
    if level is None:
        return _NONE
    if not 0 <= level < NVOPT_LEVELS:
        raise ValueError(f"Invalid nvopt level : {level}.")
    return {recipe.phase: recipe.levels[level] for recipe in RECIPES}


def apply_nvopt_recipes(f: Function, ctx: PassContext) -> bool:
    """Let the recipes of the level that is asked for decide about the phases behind; changes no code."""
    if ctx.nvopt is not None:
        ctx.recipes = recipes_of(ctx.nvopt)
    return False


def strength(ctx: PassContext, phase: int) -> int:
    """How much a phase may do by its recipe, 0 where no recipe counts."""
    if ctx.recipes is None:
        return 0
    return ctx.recipes.get(phase, 0)
