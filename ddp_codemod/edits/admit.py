"""Lists that have to admit a new name: an option's choices, a ``Literal``, a validator's ``in [...]``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from ddp_codemod.model import Edit, Reason
from ddp_codemod.origins.calls import argument_of
from ddp_codemod.origins.fold import Known
from ddp_codemod.origins.leaf import Leaf
from ddp_codemod.origins.options import choices
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.rules.finding import Finding
from ddp_codemod.rules.load import Rules
from ddp_codemod.sites.scopes import bindings, owner, scope_of


def admitting_edits(finding: Finding, leaf: Leaf, text: str, edit: Edit, rules: Rules) -> list[Edit]:
    """The edits, of the group of ``edit``, that let the lists around a changed value take its new text.

    Only a list of nothing but backend names that holds the old one and lacks the new one is widened.
    """
    old = leaf.value.value if isinstance(leaf.value, Known) else None
    if not isinstance(leaf.module, Module) or not isinstance(leaf.node, ast.AST) or not isinstance(old, str):
        return []
    found: dict[tuple[str, int], Edit] = {}
    for module, listed in _lists(finding, leaf.module, leaf, rules):
        display = _display(module, listed)
        values = [part.value for part in display.elts if isinstance(part, ast.Constant)] if display else []
        names = [value.lower() for value in values if isinstance(value, str)]
        if display is None or len(names) != len(display.elts) or old.lower() not in names or text.lower() in names:
            continue
        if all(name in rules.backends for name in names):
            last = display.elts[-1]
            end, quote = module.place(last).end, module.text(last)[-1]
            reason = Reason.of("edit-choices", value=text)
            made = replace(
                edit, name=module.name, start=end, end=end, after=f", {quote}{text}{quote}", recipe=None, reason=reason
            )
            found[module.name, end] = made
    return list(found.values())


def _lists(finding: Finding, module: Module, leaf: Leaf, rules: Rules) -> Iterator[tuple[Module, ast.expr]]:
    """The expressions that may be such lists."""
    at = leaf.outer or leaf.node
    assert isinstance(at, ast.expr)
    parent = module.parents.get(at)
    call = module.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if isinstance(call, ast.Call):
        for flag in (flag for idioms in rules.idioms for flag in idioms.flag):
            if flag.method == last_name(call.func) and argument_of(call, flag.default, flag.default_position) is at:
                if (listed := choices(call, flag)) is not None:
                    yield module, listed
    if isinstance(parent, ast.AnnAssign) and isinstance(parent.annotation, ast.Subscript):
        if last_name(parent.annotation.value) == "Literal":
            yield module, parent.annotation.slice
    names = {dict(hop.reason.args).get("name", "").rpartition(".")[2] for hop in leaf.way.hops} - {""}
    for tree in {module, finding.use.module}:
        for test in tree.nodes.get(ast.Compare, ()) if isinstance(tree, Module) else ():
            assert isinstance(test, ast.Compare)
            assert isinstance(tree, Module)
            if len(test.ops) == 1 and isinstance(test.ops[0], (ast.In, ast.NotIn)) and last_name(test.left) in names:
                yield tree, test.comparators[0]


def _display(module: Module, node: ast.expr) -> ast.List | ast.Tuple | ast.Set | None:
    """The list itself, or the one that a constant of the file holds."""
    if isinstance(node, ast.Name):
        home = owner(module, scope_of(module, node), node.id)
        made = bindings(module, home).get(node.id, []) if home is not None else []
        if len(made) != 1 or made[0].value is None or made[0].kind != "value":
            return None
        node = made[0].value
    return node if isinstance(node, (ast.List, ast.Tuple, ast.Set)) and node.elts else None
