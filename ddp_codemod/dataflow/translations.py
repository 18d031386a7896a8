"""A text that a call turns into another one on its way in: ``"gloo" if backend == "nccl" else backend``, ``{"nccl": "gloo"}.get(backend, backend)``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.dataflow.callee_guards import is_guard
from ddp_codemod.dataflow.conditionals import explain_condition
from ddp_codemod.dataflow.facts import Facts
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
    keys: tuple[str, ...] = ()  # the entries of a mapping whose values are changed; () for all of them
    inside: bool = False  # the texts are parts of what goes in, each of which is exchanged


def find_translation(node: ast.expr) -> Translation | None:
    """What an expression of this form changes; None for any other expression."""
    if isinstance(node, ast.IfExp):
        further = find_translation(node.orelse)  # ``A() if text == "a" else B() if text == "b" else text``
        parts = node.test.values if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And) else [node.test]
        for test in parts:
            if isinstance(test, ast.Compare) and (old := _list_compared_texts(test)) and _is_same(test.left, node.orelse):
                under = tuple(part for part in parts if part is not test)
                return Translation(_unwrap_named(test.left), dict.fromkeys(old, node.body), under)
            if further is not None and isinstance(test, ast.Compare) and (old := _list_compared_texts(test)):
                under = tuple(part for part in parts if part is not test)
                if _is_same(test.left, further.given) and _dump_nodes(*under) == _dump_nodes(*further.under):
                    texts = {**further.texts, **dict.fromkeys(old, node.body)}
                    return replace(further, given=_unwrap_named(test.left), texts=texts)
        made = find_translation(node.body)  # ``{"nccl": "gloo"}.get(value, value) if key == "backend" else value``
        if made is not None and ast.dump(made.given) == ast.dump(node.orelse):
            return replace(made, under=(node.test, *made.under))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and len(node.args) == 2:
        table = node.func.value
        if isinstance(table, ast.Dict) and (old := _list_texts(table.keys)) and _is_same(*node.args):
            return Translation(_unwrap_named(node.args[0]), dict(zip(old, table.values, strict=True)))
    return _find_exchange(node)


def _find_exchange(node: ast.expr) -> Translation | None:
    """``given.replace("nccl", "gloo")``, once or several times."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "replace":
        return None
    texts = _list_texts(node.args)
    if len(node.args) != 2 or len(texts) != 2 or node.keywords or not texts[0]:
        return None
    before = _find_exchange(node.func.value)
    given, known = (before.given, before.texts) if before is not None else (node.func.value, {})
    return Translation(given, {**known, texts[0]: node.args[1]}, inside=True)


def is_of_names(tracer: Tracer, made: Translation) -> bool:
    """Whether what is exchanged inside of a text is the name of a backend, not a sign; of a whole text it may be any."""
    return not made.inside or all(text is not None and text.rpartition(":")[2] in tracer.rules.backends for text in made.texts)


def find_part_translation(node: ast.expr) -> Translation | None:
    """The same for each part of what a call unpacks: ``{key: "gloo" if key == "backend" and value == "nccl" else value for key, value in table.items()}``."""
    if isinstance(node, ast.IfExp):
        return _find_entry_translation(node)
    if not isinstance(node, (ast.DictComp, ast.GeneratorExp)) or len(node.generators) != 1 or node.generators[0].ifs:
        return None
    source = node.generators[0].iter
    if isinstance(node, ast.DictComp):
        if not isinstance(source, ast.Call) or not isinstance(source.func, ast.Attribute) or source.func.attr != "items":
            return None
        source = source.func.value
    made = find_translation(node.value if isinstance(node, ast.DictComp) else node.elt)
    if made is None or made.inside:
        return None
    asked = {test: keys for test in made.under if (keys := _list_keys(node, test))}
    under = tuple(test for test in made.under if test not in asked)
    return replace(made, given=source, under=under, keys=tuple(key for keys in asked.values() for key in keys))


def _find_entry_translation(node: ast.IfExp) -> Translation | None:
    """The same of a copy with another entry: ``{**table, "backend": "gloo"} if ready and table.get("backend") == "nccl" else table``."""
    copy, tests = node.body, node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
    if (
        not isinstance(copy, ast.Dict)
        or len(copy.keys) != 2
        or copy.keys[0] is not None
        or not isinstance(copy.keys[1], ast.Constant)
    ):
        return None
    asked = ast.dump(ast.Call(ast.Attribute(node.orelse, "get", ast.Load()), [copy.keys[1]], []))
    found = {test: old for test in tests if isinstance(test, ast.Compare) and (old := _list_compared_texts(test))}
    test = next((one for one in found if ast.dump(one.left) == asked), None)
    if test is None or ast.dump(copy.values[0]) != ast.dump(node.orelse) or (len(tests) > 1 and not _is_and(node.test)):
        return None
    under = tuple(one for one in tests if one is not test)
    return Translation(node.orelse, dict.fromkeys(found[test], copy.values[1]), under, (str(copy.keys[1].value),))


def _is_and(node: ast.expr) -> bool:
    return isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And)


def is_translated(facts: Facts, module: Module, node: ast.expr, key: str = "", when: str = "") -> bool:
    """Whether an argument is of one of these forms already, on this platform too; ``key`` is the entry that counts where it is a mapping.

    ``when`` is a condition, source text, that is true of the call.
    """
    if isinstance(node, ast.Dict):
        written = {
            name.value: value for name, value in zip(node.keys, node.values, strict=True) if isinstance(name, ast.Constant)
        }
        made = find_translation(written[key]) if key in written else None
    elif isinstance(node, ast.IfExp) and when and module.text(node.test) == when:
        return True
    else:
        made = find_translation(node) or find_part_translation(node)
    return made is not None and all(module.text(test) == when or facts.truth(module, test) is True for test in made.under)


def trace_translated(tracer: Tracer, module: Module, node: ast.expr, made: Translation, trace: Trace) -> list[Value]:
    """What arrives: what goes in, but for the texts that become others, which start where the others are written."""
    return trace_translated_values(tracer, module, node, made, tracer.evaluate(module, made.given, trace), trace)


def trace_translated_values(
    tracer: Tracer, module: Module, node: ast.expr, made: Translation, given: Iterable[Value], trace: Trace
) -> list[Value]:
    """The sources that arrive where these go in."""
    under = [test for test in made.under if not is_guard(tracer, module, node, test)]  # true of the call that is looked at
    truths = [tracer.facts.truth(module, test, trace.frame) for test in under]
    if False in truths:
        return [*given]
    given = [*given]
    for test, known in zip(under, truths, strict=True):
        trace = trace.step(module.place(test), explain_condition(module, test, known))
    found, made_here = list[Value](), list[Value]()
    for source in given:
        value = source.value.value if isinstance(source.value, Known) else UNKNOWN
        if made.inside and isinstance(value, str):
            found.append(replace(source, value=Known(_exchange(value, made))))
            continue
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
    # where the machine that runs the code decides, what goes in may arrive as it is
    return [*dict.fromkeys([*given, *found, *made_here])] if None in truths else [*found, *made_here]


def _exchange(text: str, made: Translation) -> str:
    for old, new in made.texts.items():
        text = text.replace(old or "", str(new.value)) if isinstance(new, ast.Constant) else text
    return text


def _list_keys(node: ast.DictComp | ast.GeneratorExp, test: ast.expr) -> list[str]:
    """The keys that a test of the comprehension admits: ``key == "backend"``."""
    target = node.generators[0].target
    key = target.elts[0] if isinstance(node, ast.DictComp) and isinstance(target, ast.Tuple) and target.elts else None
    if not isinstance(test, ast.Compare) or not isinstance(key, ast.Name) or not isinstance(test.left, ast.Name):
        return []
    return [text for text in _list_compared_texts(test) if text is not None] if test.left.id == key.id else []


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
