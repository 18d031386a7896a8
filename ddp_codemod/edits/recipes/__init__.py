"""Named rewrites of a stretch of text, parametrised by rule data. LibCST is imported when the first one runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module

from ddp_codemod.edits.recipes.errors import RecipeError
from ddp_codemod.edits.recipes.sole_import import binds_only
from ddp_codemod.model import Recipe

__all__ = ["RECIPES", "RecipeError", "rewrite"]

Rewriter = Callable[[str, Mapping[str, str]], str]


def _load_recipe(module: str) -> Rewriter:
    def run(text: str, args: Mapping[str, str]) -> str:
        rewriter: Rewriter = import_module(f"ddp_codemod.edits.recipes.{module}").rewrite
        return rewriter(text, args)

    return run


def _remove_import_name(text: str, args: Mapping[str, str]) -> str:
    return "" if binds_only(text, args["name"]) else _load_recipe("remove_import_name")(text, args)


RECIPES: dict[str, Rewriter] = {
    "add-keyword": _load_recipe("add_keyword"),
    "drop-argument": _load_recipe("drop_argument"),
    "append-to-list-keyword": _load_recipe("append_to_list_keyword"),
    "guard-statements": _load_recipe("guard_statements"),
    "remove-import-name": _remove_import_name,
}


@lru_cache(maxsize=512)
def rewrite(recipe: Recipe, text: str) -> str:
    """The text that a recipe makes of ``text``.

    Raises RecipeError where it refuses or LibCST cannot read the text; KeyError for a recipe or an argument that is not there.
    """
    return RECIPES[recipe.name](text, dict(recipe.args))
