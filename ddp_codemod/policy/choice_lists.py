"""Where a program lists the names that a value may have: choices of options and fields, ``Literal`` types, ``x in [...]``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ddp_codemod.catalog.load import Rules
from ddp_codemod.dataflow.calls import find_argument, find_names, is_read
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.options import find_choices
from ddp_codemod.dataflow.values import Value
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.policy.findings import Finding
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of

ChoiceList = tuple[
    Module, ast.expr
]  # an expression that may be such a list: a display, a name of one, or the inside of a Literal


def find_choice_lists(finding: Finding, source: Value, rules: Rules) -> Iterator[ChoiceList]:
    """The lists around a value, around the other values that come to the same place, and those that are named on the way."""
    listed, trees, seen, naming = _collect_all_lists(finding, rules)
    node = source.outer or source.node
    if isinstance(source.module, Module) and isinstance(node, ast.expr) and id(node) not in seen:
        yield from _find_lists_around(source.module, node, rules)
    yield from listed
    names = {dict(step.reason.args).get("name", "").rpartition(".")[2] for step in source.trace.passed} - {""}
    for number in sorted({number for name in names for number in naming.get(name, ())}):
        yield from _find_named_checks(trees[number], names)
    if isinstance(source.module, Module) and id(source.module) not in seen:
        yield from _find_named_checks(source.module, names)


def _collect_all_lists(finding: Finding, rules: Rules) -> tuple[list[ChoiceList], list[Module], set[int], dict[str, list[int]]]:
    """Worked out once for all values of a finding, for they may be thousands.

    The lists around them; the files that they are in; the ids of both; and which of the files check or type a name.
    """
    key = ("listed-around", id(finding.possible))
    cache = finding.use.module.cache
    if key not in cache:
        # a value that is come to on many ways is a source for each of them
        around = {
            id(node): (source.module, node)
            for source in finding.possible
            if isinstance(source.module, Module) and isinstance(node := source.outer or source.node, ast.expr)
        }
        listed = [found for module, node in around.values() for found in _find_lists_around(module, node, rules)]
        trees = {source.module for source in finding.possible} | {finding.use.module}
        modules = sorted((tree for tree in trees if isinstance(tree, Module)), key=lambda tree: tree.name)
        naming: dict[str, list[int]] = {}
        for number, module in enumerate(modules):
            for name in _index_by_name(module):
                naming.setdefault(name, []).append(number)
        seen = {*around, *map(id, modules)}
        cache[key] = (finding.possible, (listed, modules, seen, naming))  # the sources are kept, and with them their id
    return cache[key][1]  # type: ignore[index, no-any-return]


def find_other_list_reader(finding: Finding, source: Value, text: str, rules: Rules) -> tuple[Module, ast.expr] | None:
    """What reads a list that would have to admit a new text, besides the choices that it is passed as and what shows it."""
    old = source.value.value if isinstance(source.value, Known) else None
    for module, listed in find_choice_lists(finding, source, rules):
        texts = [part.value for part in list_elements(module, listed) if isinstance(part, ast.Constant)]
        if not isinstance(listed, ast.Name) or old not in texts or text in texts:
            continue
        home = owner_scope(module, scope_of(module, listed), listed.id)
        for node in find_names(module, listed.id):
            shown = isinstance(module.parents.get(node), (ast.keyword, ast.FormattedValue))
            if is_read(module, node) and not shown and owner_scope(module, scope_of(module, node), listed.id) is home:
                return module, node
    return None


def find_narrow_lists(finding: Finding, source: Value, text: str, rules: Rules) -> Iterator[tuple[Module, Sequence[ast.expr]]]:
    """The elements of each list of nothing but backend names around a source that holds its old name and lacks the new one."""
    old = source.value.value if isinstance(source.value, Known) else None
    if not isinstance(old, str):
        return
    for module, listed in find_choice_lists(finding, source, rules):
        elements = list_elements(module, listed)
        values = [part.value for part in elements if isinstance(part, ast.Constant)]
        names = [value.lower() for value in values if isinstance(value, str)]
        if len(names) == len(elements) and old.lower() in names and text.lower() not in names:
            if all(name in rules.backends for name in names):
                yield module, elements


def list_elements(module: Module, node: ast.expr) -> Sequence[ast.expr]:
    """The elements of the list itself, or of the one that a constant of the file holds; [] where there is none."""
    if isinstance(node, ast.Constant):
        return [node]  # Literal["x"]
    if isinstance(node, ast.Name):
        home = owner_scope(module, scope_of(module, node), node.id)
        result = bindings(module, home).get(node.id, []) if home is not None else []
        if len(result) != 1 or result[0].value is None or result[0].kind != "value":
            return []
        node = result[0].value
    return node.elts if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else []


def _find_lists_around(module: Module, node: ast.expr, rules: Rules) -> Iterator[ChoiceList]:
    """The choices of the call that declares the value, and the types of what it is the default of."""
    parent = module.parents.get(node)
    call = node if isinstance(node, ast.Call) else module.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    top: ast.AST = node
    if isinstance(call, ast.Call):
        yield from ((module, listed) for listed in _find_declared_choices(call, rules))
        top = call
    holder = module.parents.get(top)
    if isinstance(holder, ast.AnnAssign) and holder.value is top:
        yield from _find_literal_types(module, holder.annotation)
    elif isinstance(holder, ast.arguments):
        argument = next((argument for argument, default in _pair_defaults(holder) if default is top), None)
        if argument is not None and argument.annotation is not None:
            yield from _find_literal_types(module, argument.annotation)


def _find_declared_choices(call: ast.Call, rules: Rules) -> Iterator[ast.expr]:
    last = last_name(call.func)
    for idioms in rules.idioms:
        for flag in idioms.flag:
            if flag.method == last and (listed := find_choices(call, flag)) is not None:
                yield listed
        for declared in idioms.default:
            if declared.choices and any(name.rpartition(".")[2] == last for name in declared.names):
                found = find_argument(call, declared.choices[0], None)
                for key in declared.choices[1:]:
                    found = _find_entry_value(found, key)
                if found is not None:
                    yield found


def _find_entry_value(mapping: ast.expr | None, key: str) -> ast.expr | None:
    if isinstance(mapping, ast.Dict):
        for name, value in zip(mapping.keys, mapping.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key:
                return value
    if isinstance(mapping, ast.Call):
        return find_argument(mapping, key, None)
    return None


def _pair_defaults(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """The parameters that have defaults, with them."""
    plain = [*arguments.posonlyargs, *arguments.args]
    yield from zip(reversed(plain), reversed(arguments.defaults), strict=False)
    yield from zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)


def _find_literal_types(module: Module, annotation: ast.expr) -> Iterator[ChoiceList]:
    """What the ``Literal`` types in an annotation admit, also in one that has a name of its own in the file."""
    for part in walk(annotation):
        if isinstance(part, ast.Subscript) and last_name(part.value) == "Literal":
            yield module, part.slice
        elif isinstance(part, ast.Name) and (home := owner_scope(module, scope_of(module, annotation), part.id)) is not None:
            for result in bindings(module, home).get(part.id, []):
                if isinstance(result.value, ast.Subscript) and last_name(result.value.value) == "Literal":
                    yield module, result.value.slice


def _find_named_checks(module: Module, names: set[str]) -> Iterator[ChoiceList]:
    """The checks and the types of what has one of the names."""
    table = _index_by_name(module)
    for is_type, listed in (entry for name in sorted(names & table.keys()) for entry in table[name]):
        yield from _find_literal_types(module, listed) if is_type else [(module, listed)]


def _index_by_name(module: Module) -> dict[str, list[tuple[bool, ast.expr]]]:
    """By the names of what is checked or typed in a file: what it is checked against, and (True) its types."""
    if "listed-by-name" not in module.cache:
        table: dict[str, list[tuple[bool, ast.expr]]] = {}
        for test in module.nodes.get(ast.Compare, ()):
            assert isinstance(test, ast.Compare)
            if len(test.ops) == 1 and isinstance(test.ops[0], (ast.In, ast.NotIn)):
                table.setdefault(last_name(test.left), []).append((False, test.comparators[0]))
        for field in module.nodes.get(ast.AnnAssign, ()):
            assert isinstance(field, ast.AnnAssign)
            table.setdefault(last_name(field.target), []).append((True, field.annotation))
        for argument in module.nodes.get(ast.arg, ()):
            assert isinstance(argument, ast.arg)
            if argument.annotation is not None:
                table.setdefault(argument.arg, []).append((True, argument.annotation))
        module.cache["listed-by-name"] = table
    return module.cache["listed-by-name"]  # type: ignore[return-value]
