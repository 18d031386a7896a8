"""TOML files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ddp_codemod.parse.document import Content, Entry, EntryBudget, Path
from ddp_codemod.parse.grammar import Tree

if TYPE_CHECKING:
    from tree_sitter import Node

_SCALARS = frozenset({
    "string", "integer", "float", "boolean", "offset_date_time", "local_date_time", "local_date", "local_time",
})  # fmt: skip
_BARE = re.compile(r"[\w-]+", re.ASCII)  # a key that stands for itself
# values that a reader need not take apart
_PLAIN = re.compile(r"\"([^\"\\\x00-\x1f\x7f]*)\"|'([^'\x00-\x1f\x7f]*)'|true|false|0|[1-9][0-9]*")
_LONGEST_KEY = 2_000  # characters; a reader of dotted keys takes time with the square of their number
_ESCAPES = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def read(text: str) -> Content:
    """The scalars of a TOML text; none of one that is not valid anywhere, for nothing reads such a file."""
    tree = Tree("toml", text)
    if tree.root.has_error:
        return Content((), errors=tuple(tree.errors()))
    entries: list[Entry] = []
    room = EntryBudget()
    last: dict[Path, int] = {}  # arrays of tables: the position of the table that a header speaks of
    todo: list[tuple[Node, Path]] = []
    for top in tree.root.children:
        if top.type in ("table", "table_array_element"):
            if path := _read_header(tree, top, last):
                todo = [(child, path) for child in reversed(top.children) if child.type == "pair"]
        elif top.type == "pair":
            todo = [(top, ())]
        while todo:
            node, path = todo.pop()
            children = [child for child in node.named_children if child.type != "comment"]
            if node.type in _SCALARS:
                if (value := _read_value(tree.of(node))) is not None:
                    entries.append(Entry(path, *tree.span(node), value, node.type == "string"))
            elif not room.reserve(path, len(children), tree.span(node)[0]):
                continue
            elif node.type == "pair":
                if len(children) == 2 and (keys := _read_keys(tree, children[0])):
                    todo.append((children[1], path + keys))
            elif node.type == "array":
                todo += [(child, (*path, str(index))) for index, child in reversed([*enumerate(children)])]
            elif node.type == "inline_table":
                todo += [(child, path) for child in reversed(children)]
    return Content(tuple(entries), errors=tuple(room.full))


def _read_header(tree: Tree, node: Node, last: dict[Path, int]) -> Path:
    """The path of a ``[table]`` or ``[[table]]``, through the arrays of tables on its way; () if it cannot be told."""
    keys = next((_read_keys(tree, child) for child in node.named_children if child.type.endswith("_key")), ())
    path: Path = ()
    for number, key in enumerate(keys, 1):
        path = (*path, key)
        if number == len(keys) and node.type == "table_array_element":
            last[path] = last.get(path, -1) + 1
        if path in last:
            path = (*path, str(last[path]))
    return path


def _read_keys(tree: Tree, node: Node) -> Path:
    """The keys of a bare, quoted or dotted key; () if they cannot be told."""
    if node.end_byte - node.start_byte > _LONGEST_KEY:
        return ()
    if _BARE.fullmatch(tree.of(node)):
        return (tree.of(node),)
    try:
        # a TOML reader takes the key apart better than the grammar, which nests dotted keys
        table: Any = _load_toml(f"{tree.of(node)} = 1")
    except (ValueError, RecursionError):
        return ()
    keys: list[str] = []
    while isinstance(table, dict):
        ((key, table),) = table.items()
        keys.append(key)
    return tuple(keys)


def _read_value(text: str) -> str | None:
    if plain := _PLAIN.fullmatch(text):
        return text if plain.lastindex is None else plain[plain.lastindex]
    try:
        value = _load_toml(f"v = {text}")["v"]
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else text


def _load_toml(text: str) -> dict[str, Any]:
    from ddp_codemod.toml import tomllib

    return tomllib.loads(text)


def written(text: str, entry: Entry, value: str) -> str:
    """The value between the quotes that are there; literal quotes become basic ones where they cannot hold it.

    Raises ValueError for lone surrogates, which TOML cannot say.
    """
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as why:
        raise ValueError(f"not Unicode text: {value!r}") from why
    there = text[entry.start : entry.end]
    if not entry.is_text and re.fullmatch(r"[\w.+:-]+", value) and _read_value(value) == value:
        return value
    quotes = next((quotes for quotes in ("'''", '"""', "'") if there.startswith(quotes)), '"')
    if quotes[0] == "'":
        if "'" not in value and not re.search(r"[\x00-\x08\x0a-\x1f\x7f]", value):
            return quotes + value + quotes
        quotes = quotes.replace("'", '"')
    return quotes + re.sub(r'[\x00-\x1f"\\\x7f]', lambda found: _ESCAPES.get(found[0], f"\\u{ord(found[0]):04x}"), value) + quotes
