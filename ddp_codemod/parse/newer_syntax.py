"""Syntax of Pythons newer than the one that runs: read as text of the same length that this one knows.

The replacement of a construct parses where the construct may be; its node is then exchanged for the one that the newer Python makes.
So places are those of the file, and decisions those of the newer Python.
"""

from __future__ import annotations

import ast
import keyword
import re
import sys
from importlib.util import decode_source
from typing import Any, Union

from ddp_codemod.parse.lowered_text import LoweredText, fill_up, span
from ddp_codemod.parse.newer_nodes import DEFINITIONS, UNKNOWN, TypeAlias
from ddp_codemod.parse.newer_strings import StringBuilder
from ddp_codemod.parse.python_tokens import String, Token, UnknownSyntax, read_tokens

KNOWS = sys.version_info[:2]  # the Python whose syntax needs none of this
NEWEST = (3, 14)  # the last one with syntax that is known here

MOST_NESTED = 1_000_000  # characters in the braces of f-strings, those of inner ones counted again
Any_Token = Union[Token, String]
_OPENS = Token("line", 0, 0, "", 0)


def parse_newer(text: str | bytes, mode: str = "exec") -> Any:
    """The tree of a text that ``ast.parse`` refused; None where it is no newer syntax, or none that is known."""
    if KNOWS >= NEWEST:
        return None
    try:
        return NewerSyntax(text if isinstance(text, str) else decode_source(text)).parse(mode)
    except (UnknownSyntax, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class NewerSyntax(LoweredText):
    """A text of newer syntax."""

    def __init__(self, text: str, around: NewerSyntax | None = None) -> None:
        super().__init__(text)
        self.outer: NewerSyntax = around.outer if around else self
        self.room = MOST_NESTED
        self.opened: list[int] = []
        self.tokens = read_tokens(text)
        self.strings = StringBuilder(text, self.locate, self.parse_stretch)
        self._lower()

    def parse_stretch(self, start: int, end: int) -> ast.expr:
        """The expression of a stretch, with its places in the whole text."""
        written = f"({self.text[start:end]})"
        self.outer.room -= len(written)
        if self.outer.room < 0:
            raise UnknownSyntax(start)
        try:
            body: ast.expr = ast.parse(written, mode="eval").body
        except SyntaxError:
            body = NewerSyntax(written, self).parse("eval").body
        line, column = self.locate(start)
        for node in ast.walk(body):
            if isinstance(node, (ast.expr, ast.keyword, ast.arg)):
                node.col_offset += column - 1 if node.lineno == 1 else 0
                node.end_col_offset = (node.end_col_offset or 0) + (column - 1 if node.end_lineno == 1 else 0)
                node.lineno, node.end_lineno = node.lineno + line - 1, (node.end_lineno or 1) + line - 1
        if isinstance(body, (ast.Tuple, ast.GeneratorExp)) and (body.lineno, body.col_offset) == (line, column - 1):
            if not isinstance(body, ast.Tuple) or not body.elts:  # has no parentheses of its own
                raise UnknownSyntax(start)
            span(body, body.elts)
        return body

    def _lower(self) -> None:
        at, last = 0, len(self.tokens)
        while at < last:
            token = self.tokens[at]
            if isinstance(token, String):
                end = at
                while end < last and isinstance(self.tokens[end], String):
                    end += 1
                self._lower_strings([one for one in self.tokens[at:end] if isinstance(one, String)])
                at = end
                continue
            at += 1
            if token.kind == "open":
                self.opened.append(at - 1)
            elif token.kind == "close":
                self.opened.pop()
            if token.text in ("def", "class") and KNOWS < (3, 13):
                at = self._lower_definition(at - 1)
            elif token.text == "type" and KNOWS < (3, 13):
                at = self._lower_alias(at - 1)
            elif token.text == "except":
                self._lower_handler(at - 1)
            elif token.text == "*" and KNOWS < (3, 11):
                self._lower_star(at - 1)

    def _token(self, at: int) -> Any_Token:
        return self.tokens[at] if 0 <= at < len(self.tokens) else _OPENS

    # Type parameters

    def _close(self, at: int) -> int:
        """The token that closes the bracket at this one."""
        depth = self.tokens[at].depth
        return next(end for end in range(at + 1, len(self.tokens)) if self._ends(end, "close", depth))

    def _ends(self, at: int, kind: str, depth: int) -> bool:
        return self.tokens[at].kind == kind and self.tokens[at].depth == depth

    def _list_stretches(self, first: int, last: int) -> list[tuple[int, int]]:
        """The bounds and defaults in type parameters, of which these are the brackets."""
        found: list[tuple[int, int]] = []
        depth, start, before = self.tokens[first].depth + 1, 0, -1
        for token in self.tokens[first + 1 : last + 1]:
            if token.depth == depth and token.text in (":", "="):
                found += [(start, token.start)] if start else []
                start = token.end
            elif token.depth == depth and token.text == "*" and start == before:
                start = token.end  # of ``*Ts = *tuple[int]``
            elif (token.depth == depth and token.text == ",") or token is self.tokens[last]:
                found += [(start, token.start)] if start else []
                start = 0
            before = token.end
        return found

    def _lower_definition(self, at: int) -> int:
        """``def f[T](x)`` as ``def f(   x)``, ``class A[T]`` as ``class A( )``; the number of the token to go on with."""
        if self._token(at + 2).text != "[":
            return at + 1
        first, last = at + 2, self._close(at + 2)
        start, end = self.tokens[first].start, self.tokens[last].end
        if self._token(last + 1).text == "(":
            self.replace(start, self.tokens[last + 1].end, "(")
        elif self.tokens[at].text == "def":
            raise UnknownSyntax(start)
        else:
            self.replace(start, end - 1, "(")
            self.replace(end - 1, end, ")")
        stretches = self._list_stretches(first, last)
        is_async = self._token(at - 1).text == "async"
        kind = ast.ClassDef if self.tokens[at].text == "class" else ast.AsyncFunctionDef if is_async else ast.FunctionDef

        def fix(node: Any, around: ast.AST) -> ast.AST:
            made: ast.AST = DEFINITIONS[kind]() if kind in DEFINITIONS else node
            made.__dict__.update(node.__dict__, type_params=[self.parse_stretch(*one) for one in stretches])
            return made

        self.fix(kind, self.tokens[at - is_async].start, fix)
        return last + 1

    def _lower_alias(self, at: int) -> int:
        """``type X[T] = v`` as ``type.X[0] = v``; the number of the token to go on with."""
        before, name, after = self._token(at - 1), self._token(at + 1), self._token(at + 2)
        begins = before.kind == "line" or (before.depth == 0 and before.text in (";", ":"))
        if not begins or name.kind != "word" or keyword.iskeyword(name.text):
            return at + 1
        stretches: list[tuple[int, int]] = []
        start, last = self.tokens[at].end, at + 1
        if after.text == "[":
            last = self._close(at + 2)
            stretches = self._list_stretches(at + 2, last)
        if self._token(last + 1).text != "=" or self.text[start] not in " \t":
            return at + 1
        self.replace(start, start + 1, ".")
        if last > at + 1:
            first = self.tokens[at + 3].start
            self.replace(after.end, first)
            self.replace(first, self.tokens[last].start, "0")

        def fix(node: Any, around: ast.AST) -> ast.AST:
            named = ast.Name(id=name.text, ctx=ast.Store())
            self.strings.place(named, name.start, name.end)
            made: ast.AST = TypeAlias(name=named, type_params=[self.parse_stretch(*one) for one in stretches], value=node.value)
            return ast.copy_location(made, node)

        self.fix(ast.Assign, self.tokens[at].start, fix)
        return last + 1

    # Handlers

    def _lower_handler(self, at: int) -> None:
        """``except A, B:`` as ``except A| B:``, and before Python 3.11 ``except* A:`` as ``except  A:``."""
        depth = self.tokens[at].depth
        head: list[Any_Token] = []
        for index in range(at + 1, len(self.tokens)):
            token = self.tokens[index]
            if token.kind == "line" or (token.depth == depth and token.text == ":"):
                break
            head.append(token)
        if KNOWS < (3, 11) and head and head[0].text == "*":
            self.replace(head[0].start, head[0].end)
        commas = [token.start for token in head if token.depth == depth and token.text == ","]
        if not commas or any(token.text == "as" for token in head) or head[-1].start == commas[-1]:
            return
        if len(commas) == 1 and head[-2].text == "," and head[-1].text[:1].islower():
            return  # ``except Error, why:`` of Python 2
        for comma in commas:
            self.replace(comma, comma + 1, "|")

        def fix(node: Any, around: ast.AST) -> ast.AST:
            parts: list[ast.expr] = []
            left = node.type
            for comma in reversed(commas):
                place = self.locate(comma)
                if not isinstance(left, ast.BinOp) or not isinstance(left.op, ast.BitOr):
                    raise UnknownSyntax(comma)
                if not (left.left.end_lineno, left.left.end_col_offset) <= place < (left.right.lineno, left.right.col_offset):
                    raise UnknownSyntax(comma)
                parts.append(left.right)
                left = left.left
            parts = [left, *reversed(parts)]
            node.type = span(ast.Tuple(elts=parts, ctx=ast.Load()), parts)
            return node  # type: ignore[no-any-return]

        self.fix(ast.ExceptHandler, self.tokens[at].start, fix)

    # Stars

    def _lower_star(self, at: int) -> None:
        """``x[*a]`` as ``x[+a]``, and ``*args: *Ts`` as ``*args: +Ts``."""
        before, star = self._token(at - 1), self.tokens[at]
        opened = self.opened[-1] if self.opened else -1
        subscripts = self._token(opened).text == "[" and self._is_operand(self._token(opened - 1)) and before.text in ("[", ",")
        if not subscripts and not (before.text == ":" and self._token(at - 3).text == "*" and self._token(opened).text == "("):
            return
        self.replace(star.start, star.end, "+")

        def fix(node: Any, around: ast.AST) -> ast.AST:
            made = ast.copy_location(ast.Starred(value=node.operand, ctx=ast.Load()), node)
            whole = isinstance(around, ast.Subscript)
            if not whole and not isinstance(around, (ast.Tuple, ast.arg)):
                raise UnknownSyntax(star.start)
            return ast.copy_location(ast.Tuple(elts=[made], ctx=ast.Load()), node) if whole else made

        self.fix(ast.UnaryOp, star.start, fix)

    def _is_operand(self, token: Any_Token) -> bool:
        return token.kind in ("close", "string") or (token.kind == "word" and not keyword.iskeyword(token.text))

    # Strings

    def _lower_strings(self, run: list[String]) -> None:
        """Those of a run that this Python cannot read, as strings without fields; the tree gets the fields of all."""
        newer = [one for one in run if one.parts is not None and not self._can_read(one)]
        for one in newer:
            start = one.start + len(one.prefix) + len(one.quote)
            body = self.text[start : one.end - len(one.quote)]
            filled = fill_up(body, "_")
            if len(one.quote) == 1:
                filled = re.sub(r"_(?=\r\n|\r|\n)", r"\\", filled)
            self.edits.append((start, one.end - len(one.quote), filled))
            if "t" in one.prefix:
                written = self.text[one.start : start]
                self.edits.append((one.start, start, written.replace("t", "f").replace("T", "f")))
        if not newer:
            return
        template = any("t" in one.prefix for one in run)

        def fix(node: Any, around: ast.AST) -> ast.AST:
            made = self.strings.build(run)
            if not template:
                return made
            call = ast.Call(func=ast.copy_location(ast.Name(id=UNKNOWN, ctx=ast.Load()), made), args=[made], keywords=[])
            return ast.copy_location(call, made)

        self.fix(ast.JoinedStr, run[0].start, fix)

    def _can_read(self, one: String) -> bool:
        try:
            ast.parse(f"({self.text[one.start : one.end]})", mode="eval")
        except SyntaxError:
            return False
        return True
