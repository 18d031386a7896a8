"""Why a recipe does not rewrite a text."""

from __future__ import annotations

from ddp_codemod.model import Reason


class RecipeError(Exception):
    """A text that a recipe refuses; ``reason`` says why, for the reader."""

    def __init__(self, key: str, **args: object) -> None:
        super().__init__(key, args)
        self.reason = Reason.of(key, **args)
