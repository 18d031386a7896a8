"""Collects what the code of a program does with the distributed API."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from msgspec import Struct, field

from ddp_codemod.model import Reason
from ddp_codemod.parse.python import Module, last_name, walk
from ddp_codemod.single_process.api import Api, passed_argument
from ddp_codemod.single_process.enclosing_tests import is_for_type_checker
from ddp_codemod.single_process.external_calls import ExternalCalls, GroupQuery
from ddp_codemod.single_process.model import ApiCall, Problem
from ddp_codemod.single_process.reachability import DEFS, imported_files, imports_of, looked_up_in
from ddp_codemod.sites.entities import ModuleRef

_NEEDS = ("start", "wrap", "skip", "gather", "answer", "launch")
_TESTS = ("isinstance", "issubclass", "hasattr", "type")


class Collected(Struct, eq=False):
    """``calls`` of the API that are known; ``unknown`` lines that use more of it than that; ``unseen`` code loaded by name.

    ``outside`` imports of code from elsewhere that asks for the group itself; ``asking`` calls of such code.
    """

    calls: list[ApiCall] = field(default_factory=list)
    unknown: list[Problem] = field(default_factory=list)
    unseen: list[Problem] = field(default_factory=list)
    outside: list[Problem] = field(default_factory=list)
    asking: list[GroupQuery] = field(default_factory=list)
    trains: bool = False

    def role(self, *roles: str) -> list[ApiCall]:
        """The calls with one of these roles."""
        return [seen for seen in self.calls if seen.call.role in roles]


def collect_calls(outside: ExternalCalls, parts: Iterable[tuple[Module, ast.AST]]) -> Collected:
    """Look through all parts; each is looked through once for all programs that run it."""
    found = Collected()
    for module, part in parts:
        one = collect_from_part(outside, module, part)
        found.calls += one.calls
        found.unknown += one.unknown
        found.unseen += one.unseen
        found.outside += one.outside
        found.asking += one.asking
        found.trains |= one.trains
    found.calls.sort(key=lambda seen: (seen.module.name, seen.module.place(seen.node).start))
    return found


def collect_from_part(outside: ExternalCalls, module: Module, part: ast.AST) -> Collected:
    """What one part does."""
    key = ("collected", part)
    result = module.cache.get(key)
    if not isinstance(result, Collected):
        result = module.cache[key] = Collected()
        _collect_into(outside, module, part, result)
    return result


def _collect_into(outside: ExternalCalls, module: Module, part: ast.AST, found: Collected) -> None:
    api = outside.api
    known: set[ast.AST] = set()
    words = api.words_in(module)
    for node in walk(part):
        if isinstance(node, ast.Attribute) and node.attr in api.trains:
            found.trains = True
        if isinstance(node, (ast.Import, ast.ImportFrom)) and (asking := _find_group_module(api, module, node)):
            found.outside.append(Problem(module, node, Reason.of("single-outside", text=asking)))
        if isinstance(node, ast.ClassDef) and (derived := outside.derives(module, node)) is not None:
            found.asking.append(derived)
        if isinstance(node, (ast.Dict, ast.Assign)):
            found.asking += outside.switches(module, node)
        if not isinstance(node, ast.Call):
            continue
        call, name = api.call(module, node)
        if call is not None:
            known.add(node.func)
            found.calls.append(ApiCall(module, node, call, name))
        elif name:
            known.add(node.func)
            found.unknown.append(Problem(module, node, Reason.of("single-unknown", name=name)))
        elif _loads_by_name(api, module, node):
            found.unseen.append(Problem(module, node, Reason.of("single-by-name", text=module.text(node.func))))
        elif (asked := outside.asks(module, node)) is not None:
            found.asking.append(asked)
    for node in walk(part):
        if isinstance(node, (ast.Name, ast.Attribute)) and last_name(node) in words and node not in known:
            handed = _find_passed_function(api, module, node)
            if handed:
                found.unknown.append(Problem(module, node, Reason.of("single-handed-on", name=handed)))


def _find_group_module(api: Api, module: Module, node: ast.Import | ast.ImportFrom) -> str:
    """The module that an import takes from elsewhere and that uses the group by itself, as far as its name tells; else ""."""
    if next(imported_files(api.resolver.project, module, node), None) is not None or (
        isinstance(node, ast.ImportFrom) and node.level
    ):
        return ""
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    if isinstance(node, ast.ImportFrom):
        names += [f"{node.module}.{alias.name}" for alias in node.names]
    else:
        names += [alias.name for alias in node.names]
    watched = (name for name in names if name.partition(".")[0] not in api.watched_tops)
    return next((name for name in watched if any(word in name.lower() for word in api.outside)), "")


def _loads_by_name(api: Api, module: Module, node: ast.Call) -> bool:
    last = last_name(node.func)
    if last not in api.loaders and not (isinstance(node.func, ast.Name) and last in imports_of(module)) and last != "getattr":
        return False
    names = api.resolver.names(module, node.func)
    if isinstance(node.func, ast.Name) and not names:
        names = [f"builtins.{node.func.id}"]
    if any(name in api.by_name for name in names):
        return True
    if last_name(node.func) == "getattr" and len(node.args) > 1 and not isinstance(node.args[1], ast.Constant):
        if isinstance(node.args[0], ast.Subscript) and "sys.modules" in api.resolver.names(module, node.args[0].value):
            return True
        if any(isinstance(entity, ModuleRef) for entity in api.resolver.resolve(module, node.args[0])):
            other = looked_up_in(api.resolver.project, module, node)
            return other is None or not _is_apart(api, other)
    return False


def _is_apart(api: Api, module: Module) -> bool:
    """Whether nothing that a file holds is the API: neither it nor what it imports speaks of it. What they define was followed."""
    project, files = api.resolver.project, {module.name: module}
    for one in (todo := [module]):  # grows
        statements = (node for kind in (ast.Import, ast.ImportFrom) for node in one.nodes.get(kind, ()))
        known = (node for node in statements if isinstance(node, (ast.Import, ast.ImportFrom)))
        more = {other.name: other for node in known for other in imported_files(project, one, node) if other.name not in files}
        files |= more
        todo += more.values()
    return "*" not in imports_of(module) and not any(api.candidate(project.data(name)) for name in files)


def _find_passed_function(api: Api, module: Module, node: ast.Name | ast.Attribute) -> str:
    """The API's name where a function of it is not called but passed around; "" where that is harmless."""
    parent = module.parents.get(node)
    if isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Call) and parent.func is node):
        return ""
    if is_for_type_checker(module, node):
        return ""
    names = api.resolver.names(module, node)
    name = next((name for name in names if (call := api.named(name)) is not None and call.role in _NEEDS), "")
    if not name or isinstance(parent, (ast.Compare, ast.ClassDef, ast.arg)):
        return ""
    for around in module.ancestors(node):
        if isinstance(around, ast.Compare) or (isinstance(around, ast.Call) and last_name(around.func) in _TESTS):
            return ""
        if isinstance(around, (ast.AnnAssign, ast.arg)) and node in ast.walk(around.annotation or ast.Pass()):
            return ""
        if isinstance(around, DEFS):
            returns = getattr(around, "returns", None)
            return "" if returns is not None and node in ast.walk(returns) else name
        if isinstance(around, ast.stmt) and not isinstance(around, DEFS):
            # an alias, ``DDP = torch.nn.parallel.DistributedDataParallel``, is followed where it is called
            plain = isinstance(around, ast.Assign) and around.value is node
            return "" if plain or isinstance(around, ast.Assert) else name
    return name


def find_unreached(collected: Collected, parts: list[tuple[Module, ast.AST]]) -> list[tuple[Module, ast.AST]]:
    """The other functions and classes of the files that hand a model to the group."""
    reached = {id(part) for _, part in parts}
    modules = {seen.module.name: seen.module for seen in collected.role("wrap")}
    return [
        (module, part)
        for module in modules.values()
        for part in module.tree.body
        if isinstance(part, DEFS) and id(part) not in reached
    ]


def find_count_names(collected: Collected) -> frozenset[str]:
    """Last names of what the starts and launches are passed as the number of processes."""
    found: set[str] = set()
    for seen in collected.role("start", "launch"):
        value = passed_argument(seen.node, seen.call.world_size)
        value = value.body if isinstance(value, ast.IfExp) else value
        if isinstance(value, (ast.Name, ast.Attribute)):
            found.add(last_name(value))
    return frozenset(found)
