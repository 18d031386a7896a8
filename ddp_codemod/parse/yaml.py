"""YAML files, with several documents, anchors and aliases.

A scalar that aliases repeat is one entry, where its anchor is; ``Document.at`` follows aliases and merge keys to it.
Block scalars are read where that is plain (no explicit indentation, no ``+``, no deeper lines in a folded one).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ddp_codemod.parse import yaml_scalar
from ddp_codemod.parse.document import Content, Entry, EntryBudget, Link, Path
from ddp_codemod.parse.grammar import Tree, is_broken

if TYPE_CHECKING:
    from tree_sitter import Node

# Words of YAML 1.1, which PyYAML reads, that are no strings.
_WORDS = frozenset({"", "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_PLAIN = re.compile(r"[A-Za-z_/][\w./:,+=?&%@-]*(?<!:)", re.ASCII)
_FLOW_PLAIN = re.compile(r"[A-Za-z_/][\w./+=%@-]*", re.ASCII)
_BLANKS = re.compile("[ \t]*")
_LEAD = re.compile(r"(?:^|(?<=\r)(?!\n))(?P<indent> *)(?:[-?:][ \t]+)*(?:[-?:]$|[^\s#])?", re.M)
_START = re.compile(r"[-?:](?=\s|$)|\S")
_OPENING = re.compile(r"^[^#'\"\r\n]*?(?::|-)[ ]+([{\[])(?=(?:[^\r\n]*[{\[,])?[ ]*(?:#[^\r\n]*)?$)", re.M)
# in a flow collection: its brackets, texts in quotes, comments, line breaks
_FLOW = re.compile(r"[{}\[\]]|\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|(?<=\s)#[^\r\n]*|[\r\n]+")
_DEEPEST = 200
_COLLECTIONS = frozenset({"block_mapping", "flow_mapping", "block_sequence", "flow_sequence"})
_PAIRS = frozenset({"block_mapping_pair", "flow_pair"})
_DECORATIONS = frozenset({"anchor", "tag", "comment"})


def read(text: str) -> Content:
    """The scalars of a YAML text; nothing of a mapping or list in which something is not valid."""
    if _is_too_deep(text):
        return Content((), errors=(0,))
    tree = Tree("yaml", text)
    if _is_unsure(tree) and (joined := _join_flow_lines(text)) != text:
        tree = Tree("yaml", joined)  # of the same length, so that every place is the same
    reader = _YamlReader(tree)
    documents = [node for node in tree.root.children if node.type == "document"]
    if _is_unsure(tree):
        documents = []  # where one document ends and the next begins is not sure
    for number, document in enumerate(documents):
        reader.document(number, document)
    return Content(tuple(reader.entries), tuple(reader.links), (*reader.room.full, *tree.errors()))


def _is_unsure(tree: Tree) -> bool:
    return tree.root.is_error or any(is_broken(child) for child in tree.root.children)


def _join_flow_lines(text: str) -> str:
    """The text with each ``{...}`` and ``[...]`` that runs over lines on one of them.

    PyYAML takes a bracket that closes in the column of its key, and the grammar does not.
    """
    fragments: list[str] = []
    at = 0
    for opening in _OPENING.finditer(text):
        if opening.start(1) < at:
            continue
        depth, end = 0, opening.start(1)
        for token in _FLOW.finditer(text, end):
            depth += (token[0] in "{[") - (token[0] in "}]")
            end = token.end()
            if not depth:
                break
        if depth:
            return text  # it does not end
        flow = _FLOW.sub(_blank_breaks, text[opening.start(1) : end])
        fragments += [text[at : opening.start(1)], flow]
        at = end
    return "".join([*fragments, text[at:]])


def _blank_breaks(token: re.Match[str]) -> str:
    return " " * len(token[0]) if token[0][0] in "#\r\n" else token[0]


def _is_too_deep(text: str) -> bool:
    """Whether blocks may nest deeper than the grammar bears.

    Its scanner keeps the columns of open blocks in 1,024 bytes, and a text with some 250 of them ends the process (seen with
    0.7.2). This counts the columns that can be open at most; a list may be in the column of its mapping's keys.
    """
    columns: list[int] = []
    for line in _LEAD.finditer(text):
        while columns and columns[-1] >= line.end("indent") - line.start():
            columns.pop()
        columns += [at.start() for at in _START.finditer(line[0], line.end("indent") - line.start())]
        if 2 * len(columns) > _DEEPEST:
            return True
    return False


class _YamlReader:
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.entries: list[Entry] = []
        self.links: list[Link] = []
        self.room = EntryBudget()
        self.anchors: dict[str, Path] = {}
        self.number = 0

    def document(self, number: int, document: Node) -> None:
        """Read one document; the walk is a stack of its own, for YAML nests without limit."""
        self.number, self.anchors = number, {}
        if any(is_broken(child) for child in document.children):
            return
        todo: list[tuple[Node, Path]] = [(node, ()) for node in document.children if node.type.endswith("_node")]
        while todo:
            node, path = todo.pop()
            if any(is_broken(child) for child in node.children):
                continue
            if node.type in _COLLECTIONS and not self.room.reserve(path, node.named_child_count, self.tree.span(node)[0]):
                continue
            if node.type in ("block_node", "flow_node"):
                todo += self._read_node(node, path)
            elif node.type in ("block_sequence", "flow_sequence"):
                items = [child for child in node.named_children if child.type not in _DECORATIONS]
                todo += [(child, (*path, str(index))) for index, child in reversed([*enumerate(items)])]
            elif node.type == "block_sequence_item":
                todo += [(child, path) for child in node.named_children if child.type not in _DECORATIONS]
            elif node.type in ("block_mapping", "flow_mapping"):
                # what is no pair is a key without a value
                todo += [(child, path) for child in reversed(node.named_children) if child.type in _PAIRS]
            elif node.type in _PAIRS:
                todo += self._read_pair(node, path)

    def _read_node(self, node: Node, path: Path) -> list[tuple[Node, Path]]:
        """Take a node's anchor and scalar; what is left to read of it."""
        content = [child for child in node.named_children if child.type not in _DECORATIONS]
        for child in node.named_children:
            if child.type == "anchor":
                self.anchors[self.tree.of(child)[1:]] = path
        if len(content) != 1:
            return []
        if content[0].type in _COLLECTIONS:
            return [(content[0], path)]
        if content[0].type == "alias":
            target = self.anchors.get(self.tree.of(content[0])[1:])
            if target is not None:
                self.links.append(Link(path, target, self.number))
            return []
        if not content[0].has_error:
            self._read_scalar(content[0], path)
        return []

    def _read_pair(self, node: Node, path: Path) -> list[tuple[Node, Path]]:
        key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
        name = self._read_key(key) if key is not None and not key.has_error else None
        if name is None or value is None:
            return []
        if name == "<<" and self._read_merge(value, path):
            return []
        return [(value, (*path, name))]

    def _read_key(self, node: Node) -> str | None:
        content = [child for child in node.named_children if child.type not in _DECORATIONS]
        if len(content) != 1 or content[0].type not in yaml_scalar.KINDS:
            return None
        return yaml_scalar.value(content[0].type, self.tree.of(content[0]))

    def _read_merge(self, value: Node, path: Path) -> bool:
        """Follow ``<<: *a`` and ``<<: [*a, *b]``; False where something else is there."""
        todo, names = [value], []
        while todo:
            node = todo.pop()
            if node.type in ("flow_node", "block_node", "flow_sequence", "block_sequence", "block_sequence_item"):
                todo += [child for child in reversed(node.named_children) if child.type not in _DECORATIONS]
            elif node.type == "alias":
                names.append(self.tree.of(node)[1:])
            else:
                return False
        self.links += [Link(path, self.anchors[name], self.number, merge=True) for name in names if name in self.anchors]
        return bool(names)

    def _read_scalar(self, node: Node, path: Path) -> None:
        text = self.tree.of(node)
        start, end = self.tree.span(node)
        if node.type == "block_scalar":  # at the end of a file the grammar takes the last line's end too
            text = yaml_scalar.LAST_BREAKS.sub("", text)
            text += _BLANKS.match(self.tree.text, start + len(text))[0]  # type: ignore[index]
            end = start + len(text)
        if (value := yaml_scalar.value(node.type, text)) is None:
            return
        if node.type == "block_scalar" and end == len(self.tree.text):
            value = value.removesuffix("\n")  # a last line that does not end gives none
        is_text = node.type != "plain_scalar" or (node.named_children[0].type == "string_scalar" and value.lower() not in _WORDS)
        self.entries.append(Entry(path, start, end, value, is_text, self.number))


def written(text: str, entry: Entry, value: str) -> str:
    """The value between the quotes that are there, plain where plain is and it is safe, else in double quotes."""
    there = text[entry.start : entry.end]
    if there.startswith("'") and not yaml_scalar.UNPRINTABLE.search(value):
        return "'" + value.replace("'", "''") + "'"
    if not there.startswith(('"', "'", "|", ">")) and value.lower() not in _WORDS and _PLAIN.fullmatch(value):
        # inside brackets older readers stop a plain scalar at a colon
        if _FLOW_PLAIN.fullmatch(value) or not _is_in_flow(text, entry):
            return value
    if not entry.is_text and _is_number(value):
        return value
    return yaml_scalar.quote_double(value)


def _is_in_flow(text: str, entry: Entry) -> bool:
    """Whether a plain scalar here would end at a comma."""
    probe = read(text[: entry.start] + "a,b" + text[entry.end :]).entries
    return not any(found.start == entry.start and found.value == "a,b" and found.path == entry.path for found in probe)


def _is_number(value: str) -> bool:
    return re.fullmatch(r"[-+]?(0|[1-9][0-9]*)(\.[0-9]+)?|true|false|null", value) is not None
