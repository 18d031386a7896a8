"""Questions that wait for each other: the answers are those of following every way, whichever is asked first."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.solver import MAX_ROUNDS, Solver
from ddp_codemod.dataflow.values import Trace, Value, ValueSet
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Place, Reason, Step
from ddp_codemod.parse.python import Module

Graph = dict[int, tuple[frozenset[int], bool]]  # of each node: where it leads, and whether a value stands there


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    count = draw(st.integers(1, 9))
    nodes = st.integers(0, count - 1)
    return {number: (draw(st.frozensets(nodes, max_size=4)), draw(st.booleans())) for number in range(count)}


def reached(graph: Graph, start: int) -> dict[int, int]:
    """Every node on a way from a node, with the steps of the shortest way there."""
    found, todo = {start: 0}, [start]
    for at in todo:
        for target in sorted(graph[at][0]):
            if target not in found:
                found[target] = found[at] + 1
                todo.append(target)
    return found


def naive(graph: Graph, start: int) -> set[tuple[str, int, int]]:
    """What is found on every way: values, and the nodes from which nothing but nodes that lead back to them is reached."""
    ways = reached(graph, start)
    values = {("value", node, steps) for node, steps in ways.items() if graph[node][1]}
    lost = {node for node in ways if not any(graph[at][1] for at in reached(graph, node))}
    outside = {node for node in lost if all(node in reached(graph, at) for at in reached(graph, node))}
    return values | {("outside", node, ways[node]) for node in outside}


class Asker:
    """Asks a solver what every node of a graph leads to."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.solver, self.followed = graph, Solver(), 0
        self.nodes = {number: ast.Name(f"n{number}") for number in graph}

    def ask(self, number: int) -> ValueSet:
        if self.solver.is_idle:
            self.solver.begin()
        found: ValueSet = self.solver.ask((number,), lambda: self.follow(number), ValueSet()).answer
        return found

    def follow(self, number: int) -> list[Value]:
        self.followed += 1
        targets, stands = self.graph[number]
        hop = Step(Place(f"{number}", 0, 0), Reason.of("hop-default"))
        found = [
            Value(leaf.module, leaf.node, leaf.kind, leaf.value, None, Trace(leaf.trace.kind, (hop, *leaf.trace.steps)))
            for target in sorted(targets) for leaf in self.ask(target)
        ]  # fmt: skip
        node = self.nodes[number]
        if stands:
            found.append(Value(MODULE, node, OriginKind.LITERAL, Known(number)))
        return found or [Value(MODULE, node, OriginKind.PARAMETER)]

    def told(self, number: int) -> set[tuple[str, int, int]]:
        names = {id(node): number for number, node in self.nodes.items()}
        kinds = {OriginKind.LITERAL: "value", OriginKind.PARAMETER: "outside"}
        return {(kinds[leaf.kind], names[id(leaf.node)], len(leaf.trace.steps)) for leaf in self.ask(number)}


MODULE: Module = None  # type: ignore[assignment]


@settings(max_examples=400, deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_answers_are_those_of_every_way_in_any_order(graph: Graph, random: object) -> None:
    asker = Asker(graph)
    order = sorted(graph)
    random.shuffle(order)  # type: ignore[attr-defined]
    for number in order:
        assert asker.told(number) == naive(graph, number)


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_a_second_question_follows_nothing(graph: Graph) -> None:
    asker = Asker(graph)
    for number in graph:
        asker.ask(number)
    before = asker.followed
    for number in graph:
        asker.ask(number)
    assert asker.followed == before


@pytest.mark.parametrize("count", [5, 20])
def test_a_circle_of_all_with_all_is_followed_a_few_times_each(count: int) -> None:
    graph = {number: (frozenset(range(count)) - {number}, number == 3) for number in range(count)}
    asker = Asker(graph)
    assert asker.told(0) == naive(graph, 0)
    assert asker.followed <= 6 * count


END = ValueSet((Value(MODULE, ast.Name("end"), OriginKind.UNKNOWN),))


def growing(solver: Solver, turns: list[int]) -> Callable[[], ValueSet]:
    def follow() -> ValueSet:
        turns.append(len(turns))
        before = solver.ask((0,), follow, ValueSet()).answer
        return ValueSet((*before, Value(MODULE, ast.Name(f"n{len(turns)}"), OriginKind.LITERAL, Known(len(turns)))))

    return follow


def test_what_grows_with_each_turn_ends_as_a_cut_and_is_not_kept() -> None:
    solver, turns = Solver(), list[int]()
    solver.begin()
    solver.ask((0,), growing(solver, turns), ValueSet())
    assert len(turns) == MAX_ROUNDS + 1
    assert solver.is_cut
    solver.end()
    solver.begin()
    assert not solver.is_cut
    assert solver.ask((0,), lambda: END, ValueSet()).answer.values == END.values


def test_what_breaks_off_is_forgotten() -> None:
    solver = Solver()
    solver.begin()

    def deep() -> ValueSet:
        solver.ask((1,), lambda: 1 / 0, ValueSet())
        return ValueSet()

    with pytest.raises(ZeroDivisionError):
        solver.ask((0,), deep, ValueSet())
    solver.end()
    assert solver.is_idle
    solver.begin()
    assert [solver.ask((number,), lambda: END, ValueSet()).answer.values for number in (0, 1)] == [END.values, END.values]
