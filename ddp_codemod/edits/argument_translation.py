"""The text of an argument that is changed on its way into a call."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from ddp_codemod.dataflow.translations import Translation as Choice
from ddp_codemod.dataflow.translations import find_translation
from ddp_codemod.edits.values import find_first_quote
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Translation
from ddp_codemod.sites.scopes import bindings, scope_of

Pairs = tuple[tuple["str | None", str], ...]
Purely = Callable[[Module, ast.expr], bool]
_NAMES = ("backend", "group_backend", "asked_backend", "given_backend")  # for a value that is worked out once


def translate_argument(change: Translation, purely: Purely, unless: str = "") -> tuple[int, int, str]:
    """The stretch of the argument and its new text; ``unless`` is a condition under which the old one stays."""
    module, node = change.module, change.argument
    place = module.place(node)
    if change.when:  # as under a condition of the machine
        unless = f"not ({change.when} and {negate_condition(unless)})" if unless else f"not ({change.when})"
    around, quote = module.parents.get(node), find_first_quote(module, node)
    if isinstance(around, ast.FormattedValue):  # before Python 3.12 quotes of the text around would end it
        quote = {"'": '"'}.get(find_first_quote(module, module.parents[around]), "'")
    if change.key:
        return place.start, place.end, _translate_unpacked(change, quote, unless)
    if (other := find_other_machines(change)) is not None:
        return place.start, place.end, _extend_condition(module, node, other, unless)
    if change.closed and not unless and purely(module, node):
        return place.start, place.end, f"{quote}{change.pairs[0][1]}{quote}"
    if change.inside:
        return place.start, place.end, _format_exchange(change, quote, unless)
    if change.when and isinstance(node, ast.Constant) and node.value in dict(change.pairs):
        return (
            place.start,
            place.end,
            f"{quote}{dict(change.pairs)[node.value]}{quote} if {negate_condition(unless)} else {module.text(node)}",
        )
    given = (change.name, change.name) if change.name else format_argument(module, node)
    text = _format_choice(change, given, quote, unless)
    binds = isinstance(around, ast.BinOp) or (isinstance(around, ast.FormattedValue) and text.startswith("{"))
    return place.start, place.end, f"({text})" if binds else text


def _format_exchange(change: Translation, quote: str, unless: str) -> str:
    """The text with its parts exchanged, ``given.replace("nccl", "gloo")``; of a condition one branch alone is worked out."""
    module, node = change.module, change.argument
    text = module.text(node)
    dotted = isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.JoinedStr))
    calls = "".join(f".replace({quote}{old}{quote}, {quote}{new}{quote})" for old, new in change.pairs)
    changed = f"{text if dotted else f'({text})'}{calls}"
    return f"{changed} if {negate_condition(unless)} else {text}" if unless else changed


def find_other_machines(change: Translation) -> Choice | None:
    """The same choice that an argument makes already, under a condition for other machines; None where it makes another or none."""
    node, pairs = change.argument, dict(change.pairs)
    made = None if change.key or change.name else find_translation(node)
    if made is None or not made.under or not isinstance(node, ast.IfExp) or not isinstance(node.test, ast.BoolOp):
        return None
    texts = {old: new.value if isinstance(new, ast.Constant) else None for old, new in made.texts.items()}
    return made if texts == pairs else None


def _extend_condition(module: Module, node: ast.expr, made: Choice, unless: str) -> str:
    """The choice, for this machine too; on every one where nothing keeps the old value."""
    assert isinstance(node, ast.IfExp)
    assert isinstance(node.test, ast.BoolOp)
    asked = [module.text(part) for part in node.test.values if part not in made.under]
    if unless:
        loose = (ast.BoolOp, ast.IfExp) if len(made.under) > 1 else ast.IfExp
        parts = [f"({module.text(part)})" if isinstance(part, loose) else module.text(part) for part in made.under]
        machines = f"({' and '.join(parts)} or {negate_condition(unless)})"
        asked.insert(0 if node.test.values[0] in made.under else len(asked), machines)
    return f"{module.text(node.body)} if {' and '.join(asked)} else {module.text(node.orelse)}"


def format_comparison(pairs: Pairs, quote: str) -> str:
    """The comparison that picks the texts to be changed."""
    olds = [_quote_value(old, quote) for old, _ in pairs]
    return f"in ({', '.join(olds)})" if len(olds) > 1 else f"is {olds[0]}" if olds == ["None"] else f"== {olds[0]}"


def _format_choice(change: Translation, given: tuple[str, str], quote: str, unless: str) -> str:
    """The choice by what is passed: ``given`` says how it is asked for first, and then again."""
    first, again = given
    olds = [_quote_value(old, quote) for old, _ in change.pairs]
    if len(news := {new for _, new in change.pairs}) == 1:
        asked, under = f"{first} {format_comparison(change.pairs, quote)}", negate_condition(unless) if unless else ""
        # the machine first: on others the argument is then worked out once, as it was; what names it has to come before
        parts = [under, asked] if first == again else [asked, under]
        return f"{quote}{news.pop()}{quote} if {' and '.join(filter(None, parts))} else {again}"
    table = ", ".join(f"{old}: {quote}{new}{quote}" for old, (_, new) in zip(olds, change.pairs, strict=True))
    found = f"{{{table}}}.get({first}, {again})"
    return f"{again} if {unless} else {found}" if unless else found


def _quote_value(value: str | None, quote: str) -> str:
    return "None" if value is None else f"{quote}{value}{quote}"


def negate_condition(condition: str) -> str:
    inner = condition.removeprefix("not (")
    if inner != condition:
        return inner.removesuffix(")")
    return f"not ({condition})" if re.search(r" (?:or|and|if) ", condition) else f"not {condition}"


def format_argument(module: Module, node: ast.expr, called: str = "") -> tuple[str, str]:
    """How to ask for an argument, and how to ask for it again: what a call gives is asked for once, and then ``called`` so."""
    text = module.text(node)
    if is_plain(node):
        return text, text
    if isinstance(node, ast.NamedExpr):
        return f"({text})", node.target.id
    name = find_free_name(module, node, called)
    return f"({name} := {text})", name


def is_plain(node: ast.expr) -> bool:
    """Whether asking twice is the same as asking once: a name, an attribute, an entry under a constant key."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return False
        node = node.value
    return isinstance(node, (ast.Name, ast.Constant))


def find_free_name(module: Module, node: ast.expr, called: str = "") -> str:
    """A name for an argument that the code around does not use."""
    return next(_iterate_free_names(module, node, (called, f"given_{called}") if called else _NAMES))


def _iterate_free_names(module: Module, node: ast.expr, names: tuple[str, ...]) -> Iterator[str]:
    """Names that the code around a node does not use."""
    scopes = {scope_of(module, node), module.tree}
    used = {name for scope in scopes for name in bindings(module, scope)}
    used |= {part.id for part in module.nodes.get(ast.Name, ()) if isinstance(part, ast.Name)}
    yield from (name for name in names if name not in used)
    yield from (f"{names[0]}_{number}" for number in range(2, 1_000) if f"{names[0]}_{number}" not in used)


def _translate_unpacked(change: Translation, quote: str, unless: str) -> str:
    """The text for what a call unpacks: a copy with the entry changed, which nothing else sees."""
    module, node, text = change.module, change.argument, change.module.text(change.argument)
    table = f"dict({text})" if change.copied else format_table(module, node)
    starred = isinstance(module.parents.get(node), ast.Starred)
    if (
        change.when
        and not starred
        and not change.copied
        and is_plain(node)
        and len(news := {new for _, new in change.pairs}) == 1
    ):
        entry, other = f"{quote}{change.key}{quote}", f"{quote}{news.pop()}{quote}"
        asked = f"{negate_condition(unless)} and {table}.get({entry}) {format_comparison(change.pairs, quote)}"
        return f"({{**{table}, {entry}: {other}}} if {asked} else {table})"
    value = _format_choice(change, ("value", "value"), quote, unless)
    if starred:
        return f"({value} for value in {table})"
    if None in dict(change.pairs):
        made = _fill_entry(change, quote, table)
        return f"({text} if {unless} else {made})" if unless else made
    if change.closed and not unless:
        return f"{{**{table}, {quote}{change.key}{quote}: {quote}{change.pairs[0][1]}{quote}}}"
    wanted = f"key == {quote}{change.key}{quote}"
    if len({new for _, new in change.pairs}) > 1:
        return f"{{key: {f'({value})' if unless else value} if {wanted} else value for key, value in {table}.items()}}"
    test = f"{wanted} and {negate_condition(unless)}" if unless else wanted
    return f"{{key: {_format_choice(change, ('value', 'value'), quote, f'not ({test})')} for key, value in {table}.items()}}"


def format_table(module: Module, node: ast.expr) -> str:
    """The text of a mapping before a dot, or behind two asterisks."""
    loose = not isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    return f"({module.text(node)})" if loose else module.text(node)


def _fill_entry(change: Translation, quote: str, table: str) -> str:
    """The text of a copy that has the entry, also where the mapping lacks it."""
    entry = f"{quote}{change.key}{quote}"
    if change.fills:
        return f"{{{entry}: {quote}{change.pairs[0][1]}{quote}, **{table}}}"
    given, again = format_argument(change.module, change.argument)
    if change.copied:
        again = find_free_name(change.module, change.argument)
        given = f"({again} := {table})"
    value = _format_choice(change, (f"{again}.get({entry})", f"{again}[{entry}]"), quote, "")
    return f"{{**{given}, {entry}: {value}}}"
