"""Puts off modules that are imported by what we import and that most runs never use."""

from __future__ import annotations

import sys
from _thread import RLock
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Any

_waiting: dict[str, dict[str, object]] = {}  # what is in the modules that are put off


def defer_module(name: str, path: Sequence[str] | None = None) -> None:
    """Put an empty module in the place of one that is not there yet, which becomes it when something is asked for.

    ``path`` is its package's, where that is not imported yet. The LazyLoader of importlib would load it at the next ``import``, which
    asks for its ``__spec__``.
    """
    package, _, last = name.rpartition(".")
    path = vars(sys.modules[package])["__path__"] if package in sys.modules else path
    spec = PathFinder.find_spec(name, path) if name not in sys.modules else None
    if spec is None or spec.loader is None:
        return
    loader, module = spec.loader, module_from_spec(spec)

    lock = RLock()

    def load(attribute: str) -> object:
        if attribute == "__path__":  # asked by ``from module import ...``; none of them is a package
            raise AttributeError(attribute)
        with lock:  # another thread waits until all of it is there
            if _waiting.pop(name, None) is not None:
                loader.exec_module(module)
                if vars(module)["__getattr__"] is load:
                    del vars(module)["__getattr__"]
        if attribute in vars(module):
            return vars(module)[attribute]
        raise AttributeError(f"module {name!r} has no attribute {attribute!r}")

    _waiting[name] = vars(module)
    vars(module)["__getattr__"] = load
    sys.modules[name] = module
    if package in sys.modules:
        setattr(sys.modules[package], last, module)  # as an import does


@contextmanager
def answer_during_import(name: str, answers: Mapping[str, object]) -> Iterator[None]:
    """Put a module off, and answer for it while something is imported that takes these things of it."""
    defer_module(name)
    if name in _waiting:
        _waiting[name].update(answers)
    try:
        yield
    finally:
        if name in _waiting:  # not loaded meanwhile
            for attribute in answers:
                del _waiting[name][attribute]


@contextmanager
def defer_function(name: str, function: str) -> Iterator[None]:
    """While something is imported that takes a function of a module for later, give it one that loads the module when it is called."""

    def call(*words: Any, **options: Any) -> Any:
        return getattr(import_module(name), function)(*words, **options)

    import_module(name.rpartition(".")[0])
    with answer_during_import(name, {function: call}):
        yield
