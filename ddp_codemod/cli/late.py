"""Puts off modules that are imported by what we import and that most runs never use."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec

# 11 ms, where all that runs before a project is read takes 60: click's, with ast, dis and tokenize behind it; urllib's; msgspec's
MODULES = ("inspect", "ipaddress", "textwrap")


def put_off() -> None:
    """Put an empty module in the place of each, which becomes the module when something of it is asked for; what is there stays.

    The LazyLoader of importlib would load it at the next ``import``, which asks for its ``__spec__``.
    """
    for name in MODULES:
        if name not in sys.modules:
            _put_off(name)
    # msgspec takes what is in typing from there, if it is installed; it would load inspect, too
    if sys.version_info >= (3, 11) and not {"msgspec", "typing_extensions"} & sys.modules.keys():
        sys.modules["typing_extensions"] = None  # type: ignore[assignment] # as if it were not installed
        try:
            import_module("msgspec")
        finally:
            del sys.modules["typing_extensions"]


def _put_off(name: str) -> None:
    spec = find_spec(name)
    if spec is None or spec.loader is None:
        return
    loader, module = spec.loader, module_from_spec(spec)

    def load(attribute: str) -> object:
        vars(module).pop("__getattr__", None)
        loader.exec_module(module)
        return getattr(module, attribute)

    vars(module)["__getattr__"] = load
    sys.modules[name] = module
