"""The nodes of trees as objects with slots: the parser's own hold a dictionary each, of three times the size.

They stay instances of the same classes in ``ast``, and print alike. What makes them is written out for each kind when its first node
is met, as ``dataclasses`` does it: one function for all kinds takes twice as long.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

Make = Callable[[Mapping[str, Any], Any], Any]  # from the dictionary of a node and the node around it; None where the node stays

MANY = 4096
LINES = tuple(range(MANY))  # one object for each line, which the parser makes for each node
NOTHING: list[Any] = []  # in place of every empty list; trees are never changed
_PLACE = ("lineno", "end_lineno", "col_offset", "end_col_offset")
_MOSTLY_GIVEN = frozenset({"arg", "value", "module", "level"})  # of the fields that may be None


def make_slotted_class(first: ast.AST) -> tuple[type[ast.AST], Make]:
    """The class with slots for a kind of nodes, of which one is passed, and what remakes them: a list in one is a list in all.

    A field that may be None has no slot, since the class itself gives None for it; another value of it goes into a dictionary. Where
    None is rare it has one, and a node with None stays the parser's.
    """
    kind = type(first)
    held = [name for name in kind._fields if name in first.__dict__]
    optional = {name for name in held if getattr(kind, name, ...) is None}
    slotted = [name for name in held if name not in optional or name in _MOSTLY_GIVEN]
    made = type(
        kind.__name__,
        (kind,),
        {"__slots__": (*slotted, *kind._attributes, "parent"), "__module__": "ast", "__init__": object.__init__},
    )
    lists = {name for name in slotted if isinstance(first.__dict__[name], list)}
    body = [f"if held[{name!r}] is None: return None" for name in slotted if name in optional]
    body += ["node = made()", "node.parent = parent"]
    body += [f"node.{name} = held[{name!r}]" + (" or nothing" if name in lists else "") for name in slotted]
    body += [f"if held[{name!r}] is not None: node.{name} = held[{name!r}]" for name in held if name not in slotted]
    if set(_PLACE) <= set(kind._attributes):
        body += ["line, end = held['lineno'], held['end_lineno']"]
        body += ["node.lineno = shared = lines[line] if line < many else line"]
        body += ["node.end_lineno = shared if line == end else lines[end] if end < many else end"]
        body += ["node.col_offset, node.end_col_offset = held['col_offset'], held['end_col_offset']"]
    found: dict[str, Any] = {"made": made, "nothing": NOTHING, "lines": LINES, "many": MANY}
    exec("def make(held, parent):" + "".join(f"\n    {line}" for line in (*body, "return node")), found)
    return made, found["make"]
