"""A text that a call turns into another one on its way in: ``"gloo" if backend == "nccl" else backend``, ``{"nccl": "gloo"}.get(backend, backend)``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.dataflow.fold import UNKNOWN, Known
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import Meaning, OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module


class Translation(Struct, frozen=True, eq=False):
    """What goes in, and the expression that results for each text which is changed."""

    given: ast.expr
    texts: dict[str | None, ast.expr]
    under: tuple[ast.expr, ...] = ()  # what has to be true besides, for code that other machines run too


def find_translation(node: ast.expr) -> Translation | None:
    """What an expression of this form changes; None for any other expression."""
    if isinstance(node, ast.IfExp):
        further = find_translation(node.orelse)  # ``A() if text == "a" else B() if text == "b" else text``
        parts = node.test.values if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And) else [node.test]
        for test in parts:
            if isinstance(test, ast.Compare) and (old := _list_compared_texts(test)) and _is_same(test.left, node.orelse):
                under = tuple(part for part in parts if part is not test)
                return Translation(_unwrap_named(test.left), dict.fromkeys(old, node.body), under)
            if further is not None and isinstance(test, ast.Compare) and len(parts) == 1 and _is_same(test.left, further.given):
                if old := _list_compared_texts(test):
                    return replace(
                        further, given=_unwrap_named(test.left), texts={**further.texts, **dict.fromkeys(old, node.body)}
                    )
        made = find_translation(node.body)  # ``{"nccl": "gloo"}.get(value, value) if key == "backend" else value``
        if made is not None and ast.dump(made.given) == ast.dump(node.orelse):
            return replace(made, under=(node.test, *made.under))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and len(node.args) == 2:
        table = node.func.value
        if isinstance(table, ast.Dict) and (old := _list_texts(table.keys)) and _is_same(*node.args):
            return Translation(_unwrap_named(node.args[0]), dict(zip(old, table.values, strict=True)))
    return None


def find_part_translation(node: ast.expr) -> Translation | None:
    """The same for each part of what a call unpacks: ``{key: "gloo" if key == "backend" and value == "nccl" else value for key, value in table.items()}``."""
    if not isinstance(node, (ast.DictComp, ast.GeneratorExp)) or len(node.generators) != 1 or node.generators[0].ifs:
        return None
    source = node.generators[0].iter
    if isinstance(node, ast.DictComp):
        if not isinstance(source, ast.Call) or not isinstance(source.func, ast.Attribute) or source.func.attr != "items":
            return None
        source = source.func.value
    made = find_translation(node.value if isinstance(node, ast.DictComp) else node.elt)
    return replace(made, given=source) if made is not None else None


def is_translated(node: ast.expr, key: str = "") -> bool:
    """Whether an argument is of one of these forms already; ``key`` is the entry that counts where it is a mapping."""
    if isinstance(node, ast.Dict):
        written = {
            name.value: value for name, value in zip(node.keys, node.values, strict=True) if isinstance(name, ast.Constant)
        }
        return key in written and find_translation(written[key]) is not None
    return find_translation(node) is not None or find_part_translation(node) is not None


def trace_translated(tracer: Tracer, module: Module, node: ast.expr, made: Translation, trace: Trace) -> list[Value]:
    """What arrives: what goes in, but for the texts that become others, which start where the others are written."""
    return trace_translated_values(tracer, module, node, made, tracer.evaluate(module, made.given, trace), trace)


def trace_translated_values(
    tracer: Tracer, module: Module, node: ast.expr, made: Translation, given: Iterable[Value], trace: Trace
) -> list[Value]:
    """The sources that arrive where these go in."""
    if any(tracer.facts.truth(module, test, trace.frame) is False for test in made.under):
        return [*given]
    found, made_here = list[Value](), list[Value]()
    for source in given:
        value = source.value.value if isinstance(source.value, Known) else UNKNOWN
        new = made.texts.get(value) if value is None or isinstance(value, str) else None
        if new is None:
            found.append(source)
            continue
        step = source.trace.step(
            source.place, Reason.of("hop-translated", Meaning.TRANSLATED, old=source.text), OriginKind.LITERAL
        )
        made_here += (replace(one, decided=False) for one in tracer.evaluate(module, new, replace(step, doubt=None)))
    if not (found or made_here) or any(not isinstance(source.value, Known) for source in found):
        # who starts the program may give one of the texts; whatever it is, it is none of them any more
        said = Reason.of("hop-translated", Meaning.TRANSLATED, old=module.text(made.given))
        found = [source for source in found if source.kind != OriginKind.UNKNOWN]
        for new in made.texts.values():
            made_here += tracer.evaluate(module, new, trace.step(module.place(node), said, OriginKind.LITERAL))
    return [*found, *made_here]


def _list_compared_texts(test: ast.Compare) -> list[str | None]:
    """What a comparison asks for: a text, None, or one of several."""
    if len(test.ops) != 1:
        return []
    operator, right = test.ops[0], test.comparators[0]
    if isinstance(operator, ast.In) and isinstance(right, ast.Tuple):
        return _list_texts(right.elts)
    return _list_texts([right]) if isinstance(operator, (ast.Eq, ast.Is)) else []


def _list_texts(nodes: Sequence[ast.expr | None]) -> list[str | None]:
    """The texts that nodes write, None among them; nothing where one of them writes something else."""
    values = [node.value for node in nodes if isinstance(node, ast.Constant)]
    found = [value for value in values if value is None or isinstance(value, str)]
    return found if len(found) == len(nodes) else []


def _unwrap_named(given: ast.expr) -> ast.expr:
    return given.value if isinstance(given, ast.NamedExpr) else given


def _is_same(given: ast.expr, again: ast.expr) -> bool:
    """Whether two expressions give the same: the same names, or a name that the first one just got."""
    if isinstance(given, ast.NamedExpr):
        return isinstance(again, ast.Name) and again.id == given.target.id
    if isinstance(again, ast.Subscript) and isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute):
        asks = given.func.attr == "get" and len(given.args) == 1
        return asks and _dump_nodes(given.func.value, *given.args) == _dump_nodes(again.value, again.slice)
    return ast.dump(given) == ast.dump(again)


def _dump_nodes(*nodes: ast.expr) -> list[str]:
    return [ast.dump(node) for node in nodes]
