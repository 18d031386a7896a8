"""``guard-statements`` {test, base, unit, otherwise, wrap}: puts whole statements under an ``if``, as a user would indent them.

``base`` is the indentation of the statements, ``unit`` that of a block; ``otherwise`` is a statement for the ``else``, "" for none.
With ``wrap`` the one statement ``t = f(EXPRESSION, ...)`` becomes ``t = EXPRESSION`` and, under the ``if``, ``t = f(t, ...)``.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Mapping

from ddp_codemod.edits.recipes.errors import RecipeError
from ddp_codemod.parse.python import parse_tree

_NEWLINE = re.compile(r"\r\n|\r|\n")


def rewrite(text: str, args: Mapping[str, str]) -> str:
    """The statements under ``if test:``. Raises RecipeError where indenting would change a string, or the result does not parse."""
    base, unit, newline = args["base"], args["unit"], _find_newline(text, args)
    before, inner = ("", text) if not args.get("wrap") else _split_assignment(base, text, newline)
    result = f"{before}if {args['test']}:{newline}{base}{unit}{indent_statements(inner, base, unit)}"
    if args["otherwise"]:
        lines = f"{newline}{base}{unit}".join(args["otherwise"].split("\n"))
        result += f"{newline}{base}else:{newline}{base}{unit}{lines}"
    _check_result(base, text, result, unit)
    return result


def indent_statements(text: str, base: str, unit: str) -> str:
    """Statements that are at ``base`` with one more level of indentation on every line but the first."""
    if not can_indent(text, base):
        raise RecipeError("recipe-multiline-string")
    parts = re.split(r"(\r\n|\r|\n)", text)
    lines = [part if at == 0 or at % 2 or not part.strip() else _indent_line(part, base, unit) for at, part in enumerate(parts)]
    return "".join(lines)


def _indent_line(line: str, base: str, unit: str) -> str:
    """A line with the unit behind its indentation, so that tabs and blanks keep their order."""
    return base + unit + line[len(base) :] if line.startswith(base) else unit + line


def can_indent(text: str, base: str) -> bool:
    """Whether no string of the statements goes on over a line end, where indentation would become part of it."""
    if "\n" not in text and "\r" not in text:
        return True
    depth = 0
    whole = f"if 1:\n{base}{text}\n" if base else f"{text}\n"
    try:
        for token in tokenize.generate_tokens(io.StringIO(_NEWLINE.sub("\n", whole)).readline):
            name = tokenize.tok_name[token.type]
            if name.endswith("STRING_START"):
                depth += 1
            elif name.endswith("STRING_END"):
                depth -= 1
            elif name == "STRING" and token.start[0] != token.end[0]:
                return False
            if depth and (token.start[0] != token.end[0] or name == "NL"):
                return False
    except (tokenize.TokenError, SyntaxError):
        return False
    return True


def _find_newline(text: str, args: Mapping[str, str]) -> str:
    found = _NEWLINE.search(text)
    return found.group() if found else args.get("newline", "\n")


def _split_assignment(base: str, text: str, newline: str) -> tuple[str, str]:
    """``t = f(EXPRESSION, ...)`` as ``t = EXPRESSION`` and ``t = f(t, ...)``."""
    try:
        statement = parse_tree(f"if 1:\n {text}" if base else text).body[0]
    except SyntaxError as why:
        raise RecipeError("recipe-not-statements", why=why.msg) from None
    inner = statement.body[0] if isinstance(statement, ast.If) else statement
    if not isinstance(inner, ast.Assign) or not isinstance(inner.value, ast.Call) or not inner.value.args:
        raise RecipeError("recipe-not-a-wrap")
    target, model = inner.targets[0], inner.value.args[0]
    source = f"if 1:\n {text}" if base else text

    def at(line: int, column: int) -> int:
        starts = [0, *(found.end() for found in _NEWLINE.finditer(source))]
        row = source[starts[line - 1] :]
        return starts[line - 1] + len(row.encode("utf-8")[:column].decode("utf-8"))

    shift = len(source) - len(text)
    start, end = at(model.lineno, model.col_offset) - shift, at(model.end_lineno or 1, model.end_col_offset or 0) - shift
    first, last = at(target.lineno, target.col_offset) - shift, at(target.end_lineno or 1, target.end_col_offset or 0) - shift
    name, value = text[first:last], text[start:end]
    return f"{name} = {value}{newline}{base}", f"{text[:start]}{name}{text[end:]}"


def _check_result(base: str, old: str, new: str, unit: str) -> None:
    """The new text has to parse where it is."""
    try:
        parse_tree(f"if 1:\n{base}{new}" if base else new)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as why:
        raise RecipeError("recipe-not-statements", why=getattr(why, "msg", None) or type(why).__name__) from None
