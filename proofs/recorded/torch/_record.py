# ruff: noqa
"""Writes down the calls that a program makes, one JSON line each.

The lines go to the file that the environment variable RECORD names.  A value
is bound to the parameter it is given for, and only given values are written.
"""

import functools
import inspect
import json
import os
import re

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def plain(value):
    """The value as JSON can hold it, without anything that varies by run."""
    if isinstance(value, str):
        return str.__str__(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if callable(value) and hasattr(value, "__qualname__"):
        return f"<{value.__qualname__}>"
    return _ADDRESS.sub("", repr(value))


def write(line):
    path = os.environ.get("RECORD")
    if path:
        with open(path, "a", encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")


def given(signature, args, kwargs):
    """The given arguments by parameter name."""
    found = {}
    bound = signature.bind(*args, **kwargs)
    for name, value in bound.arguments.items():
        kind = signature.parameters[name].kind
        if name == "self" or value is None:
            continue
        if kind is inspect.Parameter.VAR_KEYWORD:
            for key, one in value.items():
                found[key] = plain(one)
        else:
            found[name] = plain(value)
    return found


def recorded(call, env=()):
    """Decorator: note each call of the function under this name."""

    def decorate(function):
        signature = inspect.signature(function)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            line = {"call": call, "args": given(signature, args, kwargs)}
            if env:
                line["env"] = {name: os.environ[name] for name in env if name in os.environ}
            write(line)
            return function(*args, **kwargs)

        return wrapper

    return decorate
