"""JSON files, with comments and last commas where they have some, as readers of JSON5 take them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from ddp_codemod.parse.document import Content, Entry, EntryBudget, Path
from ddp_codemod.parse.grammar import Tree, is_broken

if TYPE_CHECKING:
    from tree_sitter import Node

_SCALARS = frozenset({"string", "number", "true", "false", "null"})


def read(text: str) -> Content:
    """The scalars of a JSON text; nothing of an object or list in which something is not valid."""
    tree = Tree("json", text)
    entries: list[Entry] = []
    room = EntryBudget()
    values = [node for node in tree.root.named_children if node.type != "comment"]
    todo: list[tuple[Node, Path]] = [(values[0], ())] if len(values) == 1 and not tree.root.is_error else []
    while todo:
        node, path = todo.pop()
        children = [child for child in node.named_children if child.type != "comment"]
        if node.type in _SCALARS:
            if (value := _read_value(tree.of(node))) is not None:
                entries.append(Entry(path, *tree.span(node), value, node.type == "string"))
        elif any(is_broken(child) and tree.of(child) != "," for child in node.children) or not room.reserve(
            path, len(children), tree.span(node)[0]
        ):
            continue
        elif node.type == "array":
            todo += [(child, (*path, str(index))) for index, child in reversed([*enumerate(children)])]
        elif node.type == "object":
            todo += [pair for child in reversed(children) if (pair := _read_pair(tree, child, path))]
    return Content(tuple(entries), errors=(*room.full, *(at for at in tree.errors() if text[at : at + 1] != ",")))


def _read_pair(tree: Tree, node: Node, path: Path) -> tuple[Node, Path] | None:
    key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
    if any(is_broken(child) for child in node.children) or key is None or value is None or key.has_error:
        return None
    name = _read_value(tree.of(key))
    return (value, (*path, name)) if name is not None else None


def _read_value(text: str) -> str | None:
    try:
        value = json.loads(text)
    except ValueError:  # the grammar is laxer than JSON: hexadecimal numbers, unknown escapes
        return None
    return value if isinstance(value, str) else text


def written(text: str, entry: Entry, value: str) -> str:
    """A string, or the value as it is where no string is and it is none either."""
    if not entry.is_text and re.fullmatch(r"-?[0-9][\w.+-]*|true|false|null", value) and _read_value(value) == value:
        return value
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value)
    return json.dumps(value, ensure_ascii=False)
