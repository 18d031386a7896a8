"""Puts off modules that are imported by what we import and that most runs never use."""

from __future__ import annotations

import sys
from _thread import RLock
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import SimpleNamespace

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


def put_off() -> None:
    """Put an empty module in the place of each, which becomes the module when something of it is asked for; what is there stays.

    The LazyLoader of importlib would load it at the next ``import``, which asks for its ``__spec__``.
    """
    for name in MODULES:
        _put_off(name)
    if "msgspec" not in sys.modules:
        spec = PathFinder.find_spec("msgspec")
        for name in PARTS:
            _put_off(f"msgspec.{name}", spec.submodule_search_locations if spec is not None else None)
    with _answered():
        import_module("msgspec")
        import_module("click")


def _put_off(name: str, path: Sequence[str] | None = None) -> bool:
    spec = PathFinder.find_spec(name, path) if name not in sys.modules else None
    if spec is None or spec.loader is None:
        return False
    loader, module = spec.loader, module_from_spec(spec)
    lock, begun = RLock(), False

    def load(attribute: str) -> object:
        nonlocal begun
        if attribute == "__path__":  # asked by ``from module import ...``; none of them is a package
            raise AttributeError(attribute)
        with lock:  # another thread waits until all of it is there
            if not begun:
                begun = True
                loader.exec_module(module)
                vars(module).pop("__getattr__")
        if attribute in vars(module):
            return vars(module)[attribute]
        raise AttributeError(f"module {name!r} has no attribute {attribute!r}")

    vars(module)["__getattr__"] = load
    sys.modules[name] = module
    return True


@contextmanager
def _answered() -> Iterator[None]:
    """Answer for modules that are put off, and hide typing_extensions."""
    given = {name: vars(sys.modules[name]) for name in ASKED if _put_off(name)}
    for name, module in given.items():
        module |= ASKED[name]
    # what is in typing msgspec takes from there, if it is installed; it would load inspect, too
    hidden = sys.version_info >= (3, 11) and "typing_extensions" not in sys.modules
    if hidden:
        sys.modules["typing_extensions"] = None  # type: ignore[assignment] # as if it were not installed
    try:
        yield
    finally:
        if hidden:
            del sys.modules["typing_extensions"]
        for name, module in given.items():
            if "__getattr__" in module:  # not loaded meanwhile
                for attribute in ASKED[name]:
                    del module[attribute]
