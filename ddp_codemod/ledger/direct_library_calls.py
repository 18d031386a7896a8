"""Where a project makes groups with the library of a backend itself, past torch: no setting of torch reaches those."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from itertools import islice

from ddp_codemod.catalog.backend_model import Backend
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.discover.kinds import is_in_test_folder, is_test
from ddp_codemod.model import Place, Reason, Uncovered
from ddp_codemod.parse.native import find_native_calls
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.sites.entities import Definition
from ddp_codemod.sites.word_search import WordMatcher


def find_direct_library_calls(
    tracer: Tracer, backends: Mapping[str, Backend], wrong: Container[str], admits: Callable[[str], bool]
) -> Iterator[Uncovered]:
    """The first such place of each file, for the libraries that are wrong on the platform."""
    makers = {maker: name for name, backend in backends.items() if name in wrong for maker in backend.makers}
    project, search = tracer.resolver.project, WordMatcher(maker.rpartition(".")[2] for maker in makers)
    native = {maker for maker in makers if "." not in maker}
    for name in filter(admits, project.names if makers else ()):
        if not is_test(name) and search.some(project.data(name)):
            found = (node for module in project.programs(name) for node in _find_maker_calls(tracer, module, makers))
            for module, node, maker in islice(found, 1):
                yield _make_mention(module.place(node), module.source.position(module.place(node).start)[0], maker, makers)
    for name in filter(admits, project.natives if makers else ()):
        source = None if is_in_test_folder(name) else project.native(name)
        if source is not None and search.some(source.data):
            for maker, start, end in islice(find_native_calls(source, native), 1):
                yield _make_mention(Place(name, start, end), source.position(start)[0], maker, makers)


def _find_maker_calls(tracer: Tracer, module: Module, makers: Container[str]) -> Iterator[tuple[Module, ast.expr, str]]:
    """The calls of a maker that is none of the project's own, and the texts by which one is looked up."""
    nodes: Iterable[ast.AST] = (*module.nodes.get(ast.Call, ()), *module.nodes.get(ast.Constant, ()))
    for node in nodes:
        asked, maker = node, None
        if isinstance(node, ast.Call):
            asked, maker = node.func, _match_maker(tracer, module, node.func, makers)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in makers:
            maker = node.value if isinstance(module.parents[node], (ast.Call, ast.Subscript)) else None
        if maker is not None and isinstance(asked, ast.expr) and tracer.facts.unset.unreachable(module, asked) is None:
            yield module, asked, maker


def _match_maker(tracer: Tracer, module: Module, called: ast.expr, makers: Container[str]) -> str | None:
    own = any(isinstance(one, Definition) for one in tracer.resolver.resolve(module, called))
    names = (last_name(called), *tracer.resolver.names(module, called))
    return None if own else next((name for name in names if name in makers), None)


def _make_mention(place: Place, line: int, maker: str, makers: Mapping[str, str]) -> Uncovered:
    return Uncovered(place, line, maker, Reason.of("uncovered-past-torch", text=maker, name=makers[maker]))
