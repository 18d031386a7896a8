"""Words of a shell command: what is literal in them and where, and which variables they name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.parse.grammar import Tree

if TYPE_CHECKING:
    from tree_sitter import Node

_NAME = re.compile(r"[A-Za-z_]\w*")
_FOUND = re.compile(r"(?:\$\(|`)\s*(?:which|command -v|type -[pP])\s+([\w.+-]+)\s*(?:\)|`)")
_TOKEN = re.compile(r"(?:[^\s\\]|\\(?!\r?\n).)+")
_DEFAULTS = frozenset({":-", "-", ":=", "="})
IN_BRACES = "}"


class Fragment(Struct, frozen=True):
    """A stretch of a word: literal text, or a variable, or (no text, no name) something that only a shell can tell."""

    text: str | None
    start: int  # of the text itself
    end: int
    outer_start: int  # with the quotes around it
    outer_end: int
    quote: str = ""  # the quotes that it is in; IN_BRACES for the default in ``${x:-default}``
    name: str = ""
    default: tuple[Fragment, ...] = ()
    escaped: bool = False  # literal text with backslashes in it, which nothing here takes off
    found: str = ""  # the command that the shell is asked to find: ``$(which fairseq-train)``
    many: bool = False  # the variable may give several words: ``$x``, ``"${x[@]}"``


Word = tuple[Fragment, ...]


class Literal(Struct, frozen=True):
    """A value that is in the text; ``quote``: the quotes around the span, when they are not part of it."""

    value: str
    start: int
    end: int
    quote: str = ""


def to_literal(word: Word) -> Literal | None:
    """A word as one literal; None where anything in it is not."""
    text = get_known_text(word)
    if text is None or not word:
        return None
    first, last = word[0], word[-1]
    inside = first is last and first.quote and first.outer_start == first.start
    return Literal(text, first.outer_start, last.outer_end, first.quote if inside else "")


def strip_quotes(found: Literal) -> Literal:
    """A literal without the quotes that are inside the shell's own, which the program takes off: ``"a='x'"``."""
    value = found.value
    if found.quote and len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return Literal(value[1:-1], found.start + 1, found.end - 1, found.quote)
    return found


def get_known_text(word: Word) -> str | None:
    """The text of a word of which all is known."""
    texts = [fragment.text for fragment in word]
    return "".join(text for text in texts if text is not None) if None not in texts else None


def get_literal_head(word: Word) -> str:
    """The literal text that a word begins with."""
    found = ""
    for fragment in word:
        if fragment.text is None:
            break
        found += fragment.text
    return found


def drop_characters(word: Word, count: int) -> Word:
    """A word without its first characters, which are literal."""
    for number, fragment in enumerate(word):
        length = len(fragment.text or "")
        if not count:
            return word[number:]
        if count < length and fragment.text is not None:
            start = fragment.start + count
            cut = replace(fragment, text=fragment.text[count:], start=start, outer_start=start, outer_end=fragment.end)
            return (cut, *word[number + 1 :])
        count -= length
    return ()


def read(tree: Tree, node: Node, quote: str = "", make: bool = False) -> Word:
    """The fragments of a node that stands for a word; ``make``: ``$(x)`` is a variable of make's."""
    start, end = tree.span(node)
    text = tree.text[start:end]
    if node.type in ("word", "number", "command_name", "concatenation") and node.named_children:
        return tuple(fragment for child in node.children for fragment in read(tree, child, quote, make))
    if node.type in ("word", "number", "variable_name"):
        return (_make_fragment(text, start, end, start, end, quote),)
    if node.type == "raw_string":
        return (Fragment(text[1:-1], start + 1, end - 1, start, end, "'"),)
    if node.type == "string":
        return tuple(_read_string(tree, node, make))
    if node.type in ("simple_expansion", "expansion"):
        return (_read_variable(tree, node, quote),)
    if make and node.type == "command_substitution" and _NAME.fullmatch(text[2:-1]):
        return (Fragment(None, start, end, start, end, quote, name=text[2:-1], many=True),)
    found = _FOUND.fullmatch(text)
    return (Fragment(None, start, end, start, end, quote, found=found[1] if found else ""),)


def _make_fragment(text: str, start: int, end: int, outer_start: int, outer_end: int, quote: str) -> Fragment:
    escaped = "\\" in text
    return Fragment(None if escaped else text, start, end, outer_start, outer_end, quote, escaped=escaped)


def _read_string(tree: Tree, node: Node, make: bool) -> Iterator[Fragment]:
    """What is between double quotes: the text around its expansions, and these."""
    start, end = tree.span(node)
    inner = [child for child in node.named_children if child.type != "string_content"]
    at = start + 1
    for child in inner:
        child_start, child_end = tree.span(child)
        # of two expansions, the grammar gives the second the blanks between them
        child_start += len(tree.text[child_start:child_end]) - len(tree.text[child_start:child_end].lstrip())
        if child_start > at:
            yield _make_fragment(tree.text[at:child_start], at, child_start, at, child_start, '"')
        yield from read(tree, child, '"', make)
        at = child_end
    if at < end - 1 or not inner:
        alone = not inner
        yield _make_fragment(tree.text[at : end - 1], at, end - 1, start if alone else at, end if alone else end - 1, '"')


def _read_variable(tree: Tree, node: Node, quote: str) -> Fragment:
    start, end = tree.span(node)
    fragment = Fragment(None, start, end, start, end, quote, many=not quote)
    named, signs = node.named_children, [child.type for child in node.children if not child.is_named]
    if not named or named[0].type not in ("variable_name", "subscript", "special_variable_name"):
        return fragment
    text = tree.of(named[0])
    if named[0].type == "subscript":
        name, _, index = text.partition("[")
        return replace(fragment, name=name, many=True) if index in ("@]", "*]") and len(named) == 1 else fragment
    operators = [sign for sign in signs if sign not in ("$", "${", "}")]
    if not operators and len(named) == 1:
        return replace(fragment, name=text)
    if len(operators) == 1 and operators[0] in _DEFAULTS and len(named) == 2:
        return replace(fragment, name=text, default=read(tree, named[1], IN_BRACES))
    return fragment


def split_word(text: str, word: Word) -> list[Word]:
    """The words that an unquoted use of a variable with this value gives: cut at white space and continued lines."""
    words: list[list[Fragment]] = []
    joined = False  # the last word ends where this fragment begins
    for fragment in word:
        if fragment.text is None and not fragment.escaped:
            words = words if joined and words else [*words, []]
            words[-1].append(replace(fragment, many=True) if fragment.name else fragment)  # its words are cut with the others
            joined = True
            continue
        raw, end = text[fragment.start : fragment.end], 0
        for token in _TOKEN.finditer(raw):
            start, end = fragment.start + token.start(), fragment.start + token.end()
            found = _make_fragment(token[0], start, end, start, end, fragment.quote)
            if not (joined and token.start() == 0 and words):
                words.append([])
            words[-1].append(found)
            joined = False
        joined = bool(raw) and end == fragment.end
    return [tuple(found) for found in words]
