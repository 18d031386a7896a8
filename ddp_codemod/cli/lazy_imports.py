"""The modules that a start puts off."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.machinery import PathFinder
from types import SimpleNamespace

from ddp_codemod import lazy_modules

# 11 ms, where all that runs before a project is read takes 50: click's, with ast, dis and tokenize behind it; urllib's
MODULES = ("inspect", "ipaddress", "textwrap")
# 1 ms: the parts of msgspec that we hardly use
PARTS = ("inspect", "json", "toml", "yaml")
# 5 ms: modules that msgspec and click ask for some things when they are imported, and never again by what we do with them. They
# get these in their place: types of which nothing of ours holds a value, and the words of click, which are ours to translate.
ASKED: dict[str, dict[str, object]] = {
    "uuid": {"UUID": type("UUID", (), {}), "SafeUUID": SimpleNamespace(unknown=None)},
    "decimal": {"Decimal": type("Decimal", (), {})},
    "gettext": {"gettext": lambda text: text, "ngettext": lambda one, many, number: one if number == 1 else many},
}


def defer_modules() -> None:
    """Put off each that is not there yet."""
    for name in MODULES:
        lazy_modules.defer_module(name)
    if "msgspec" not in sys.modules:
        spec = PathFinder.find_spec("msgspec")
        for name in PARTS:
            lazy_modules.defer_module(f"msgspec.{name}", spec.submodule_search_locations if spec is not None else None)
    with ExitStack() as around:
        for name, answers in ASKED.items():
            around.enter_context(lazy_modules.answer_during_import(name, answers))
        with _hide_typing_extensions():
            import_module("msgspec")
            import_module("click")


@contextmanager
def _hide_typing_extensions() -> Iterator[None]:
    """As if it were not installed: what is in typing msgspec takes from there; it would load inspect, too."""
    if sys.version_info < (3, 11) or "typing_extensions" in sys.modules:
        yield
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules["typing_extensions"]
