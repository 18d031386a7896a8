"""The definitions that the flow analysis finds include the one that really holds when a program runs."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from ddp_codemod.dataflow.reaching_definitions import ReachingDefinitions, ReachingSet
from ddp_codemod.model import Source
from ddp_codemod.parse.python import Module, parse
from ddp_codemod.sites.scopes import FUNCTIONS, bindings

BEFORE = 0  # what x holds when the function starts
STEPS = 40


def module_of(text: str) -> Module:
    made = parse(Source(Path("x.py"), "x.py", text.encode(), text, "utf-8"))
    assert isinstance(made, Module)
    return made


def decided(test: ast.expr) -> bool | None:
    """Constants decide a condition; every other condition is open."""
    return bool(test.value) if isinstance(test, ast.Constant) else None


def held(text: str, name: str = "x") -> tuple[list[int], bool]:
    """The constants that can hold where ``use`` is called in the function of a program, and whether the parameter can."""
    module = module_of(text)
    function = next(node for kind in FUNCTIONS for node in module.nodes.get(kind, ()))
    call = next(node for node in module.nodes[ast.Call] if getattr(node.func, "id", "") == "use")  # type: ignore[attr-defined]
    made = [binding for binding in bindings(module, function)[name] if binding.kind != "parameter"]
    reached = ReachingDefinitions(module, made, decided).before(call)
    return sorted({value_of(binding.value) for binding in reached.found}), reached.open


def value_of(node: ast.expr | None) -> int:
    assert isinstance(node, ast.Constant)
    assert isinstance(node.value, int)
    return node.value


def program(*lines: str) -> str:
    return "def f(x):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("lines", "values", "still_open"),
    [
        (["use(x)"], [], True),
        (["x = 1", "use(x)"], [1], False),
        (["x = 1", "x = 2", "use(x)"], [2], False),
        (["use(x)", "x = 1"], [], True),
        (["if c():", "    x = 1", "use(x)"], [1], True),
        (["if c():", "    x = 1", "else:", "    x = 2", "use(x)"], [1, 2], False),
        (["if True:", "    x = 1", "use(x)"], [1], False),
        (["if False:", "    x = 1", "use(x)"], [], True),
        (["if c():", "    x = 1", "    return", "use(x)"], [], True),
        (["x = 1", "if c():", "    x = 2", "    raise E", "use(x)"], [1], False),
        (["for _ in r():", "    use(x)", "    x = 1"], [1], True),
        (["while c():", "    x = 1", "use(x)"], [1], True),
        (["try:", "    x = 1", "except E:", "    x = 2", "use(x)"], [1, 2], False),
        (["try:", "    x = 1", "except E:", "    pass", "use(x)"], [1], True),
        (["try:", "    x = 1", "except E:", "    return", "use(x)"], [1], False),
        (["try:", "    pass", "finally:", "    x = 1", "use(x)"], [1], False),
        (["with n():", "    x = 1", "use(x)"], [1], False),
        (["x = 1", "sys.exit()", "x = 2", "use(x)"], [2], False),
    ],
)
def test_what_can_hold(lines: list[str], values: list[int], still_open: bool) -> None:
    assert held(program(*lines)) == (values, still_open)


@pytest.mark.parametrize(
    "lines",
    [
        ["if (x := 1):", "    use(x)"],
        ["if (x := 1):", "    pass", "use(x)"],
        ["while (x := 1):", "    use(x)"],
        ["with n(x := 1):", "    use(x)"],
        ["for _ in r(x := 1):", "    use(x)"],
        ["def g(y=(x := 1)):", "    pass", "use(x)"],
        ["(x := 1) and use(x)"],
        ["while use(x):", "    x = 1"],
        ["while False:", "    pass", "else:", "    x = 1", "use(x)"],
        ["try:", "    x = 1", "    boom()", "    x = 2", "finally:", "    use(x)"],
        ["try:", "    boom()", "except E:", "    x = 1", "    boom()", "    x = 2", "finally:", "    use(x)"],
        ["with suppress(E):", "    x = 1", "    boom()", "    x = 2", "use(x)"],
    ],
)
def test_a_definition_that_is_easily_missed(lines: list[str]) -> None:
    assert 1 in held(program(*lines))[0]


def test_a_captured_name_of_a_match_is_a_definition() -> None:
    module = module_of(program("match v():", "    case [x]:", "        use(x)"))
    made = [binding for binding in bindings(module, module.tree.body[0])["x"] if binding.kind != "parameter"]
    call = module.nodes[ast.Call][-1]
    assert [binding.kind for binding in ReachingDefinitions(module, made, decided).before(call).found] == ["other"]


def test_a_long_chain_of_branches_does_not_raise() -> None:
    lines = ["if c(): x = 1", *(f"elif c(): x = {number}" for number in range(2, 800)), "use(x)"]
    values, still_open = held(program(*lines))
    assert {1, 799} <= set(values)
    assert still_open


class Stop(BaseException):
    """Ends a program that runs too long."""


class Machine:
    """What the generated programs call: every answer comes from a list."""

    def __init__(self, answers: list[bool]) -> None:
        self.answers = iter(answers)
        self.steps = 0
        self.seen: list[tuple[int, int]] = []

    def condition(self) -> bool:
        self.steps += 1
        if self.steps > STEPS:
            raise Stop
        return next(self.answers, False)

    def boom(self) -> None:
        if self.condition():
            raise ValueError

    def use(self, number: int, value: int) -> bool:
        self.seen.append((number, value))
        return self.condition()

    def names(self) -> dict[str, Any]:
        return {
            "c": self.condition, "boom": self.boom, "use": self.use, "E": ValueError, "suppress": contextlib.suppress,
            "nothing": contextlib.nullcontext,
        }  # fmt: skip


class Writer:
    """Draws a program: ``x`` is assigned a new number at each place, and looked at in many."""

    def __init__(self, draw: Any) -> None:
        self.draw, self.number, self.uses = draw, 0, 0

    def new(self) -> int:
        self.number += 1
        return self.number

    def use(self) -> str:
        self.uses += 1
        return f"use({self.uses}, x)"

    def test(self) -> str:
        kind = self.draw(st.integers(0, 9))
        if kind < 6:
            return "c()"
        return [self.use(), f"(x := {self.new()}) and c()", "True", "False"][kind - 6]

    def block(self, depth: int, loop: bool) -> Iterator[str]:
        for _ in range(self.draw(st.integers(1, 3))):
            for line in self.statement(depth, loop):
                yield f"    {line}"

    def statement(self, depth: int, loop: bool) -> Iterator[str]:
        kinds = ["assign", "assign", "use", "use", "boom", "leave"]
        if depth:
            kinds += ["if", "if", "while", "for", "try", "try", "with", "match"]
        kind = self.draw(st.sampled_from(kinds))
        yield from getattr(self, f"write_{kind}")(depth - 1, loop)

    def write_assign(self, depth: int, loop: bool) -> Iterator[str]:
        yield f"x = {self.new()}"

    def write_use(self, depth: int, loop: bool) -> Iterator[str]:
        yield self.use()

    def write_boom(self, depth: int, loop: bool) -> Iterator[str]:
        yield "boom()"

    def write_leave(self, depth: int, loop: bool) -> Iterator[str]:
        yield self.draw(st.sampled_from(["return", "raise E", "pass", *(["break", "continue"] if loop else [])]))

    def write_if(self, depth: int, loop: bool) -> Iterator[str]:
        yield f"if {self.test()}:"
        yield from self.block(depth, loop)
        if self.draw(st.booleans()):
            yield f"elif {self.test()}:"
            yield from self.block(depth, loop)
        if self.draw(st.booleans()):
            yield "else:"
            yield from self.block(depth, loop)

    def write_while(self, depth: int, loop: bool) -> Iterator[str]:
        yield f"while {self.test()}:"
        yield "    c()"  # so that a loop without end meets its end
        yield from self.block(depth, True)
        if self.draw(st.booleans()):
            yield "else:"
            yield from self.block(depth, loop)

    def write_for(self, depth: int, loop: bool) -> Iterator[str]:
        target = self.draw(st.sampled_from(["_", "x"]))
        yield f"for {target} in ({self.new()}, {self.number}):" if target == "x" else "for _ in range(2):"
        yield from self.block(depth, True)
        if self.draw(st.booleans()):
            yield "else:"
            yield from self.block(depth, loop)

    def write_try(self, depth: int, loop: bool) -> Iterator[str]:
        yield "try:"
        yield from self.block(depth, loop)
        handled = self.draw(st.booleans())
        if handled:
            yield "except E:"
            yield from self.block(depth, loop)
            if self.draw(st.booleans()):
                yield "else:"
                yield from self.block(depth, loop)
        if not handled or self.draw(st.booleans()):
            yield "finally:"
            yield from self.block(depth, loop)

    def write_with(self, depth: int, loop: bool) -> Iterator[str]:
        yield self.draw(st.sampled_from(["with suppress(E):", "with nothing():", f"with nothing({self.new()}) as x:"]))
        yield from self.block(depth, loop)

    def write_match(self, depth: int, loop: bool) -> Iterator[str]:
        yield "match c():"
        yield "    case True:"
        for line in self.block(depth, loop):
            yield f"    {line}"
        if self.draw(st.booleans()):
            yield "    case _:"
            for line in self.block(depth, loop):
                yield f"    {line}"


@st.composite
def programs(draw: Any) -> str:
    writer = Writer(draw)
    lines = list(writer.block(3, False))
    return "\n".join(["def f(x):", *lines, f"    {writer.use()}"]) + "\n"


def numbers(module: Module, reached: ReachingSet) -> set[int]:
    """The numbers that the definitions give; a loop target and the name of a with give the one in their head."""
    found: set[int] = set()
    for binding in reached.found:
        node: ast.AST = binding.value if binding.value is not None else binding.node
        if isinstance(node, (ast.For, ast.With)):
            node = node.iter if isinstance(node, ast.For) else node.items[0].context_expr
        found |= {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, int)}
    return found


@settings(max_examples=300, deadline=None)
@given(programs(), st.lists(st.booleans(), max_size=30))
def test_what_holds_when_it_runs_is_among_the_definitions(text: str, answers: list[bool]) -> None:
    note(text)
    machine = Machine(answers)
    names = machine.names()
    exec(compile(text, "<program>", "exec"), names)
    with contextlib.suppress(Stop, ValueError):
        names["f"](BEFORE)

    module = module_of(text)
    function = module.tree.body[0]
    made = [binding for binding in bindings(module, function).get("x", ()) if binding.kind != "parameter"]
    flow = ReachingDefinitions(module, made, decided)
    calls = {node.args[0].value: node for node in module.nodes[ast.Call] if getattr(node.func, "id", "") == "use"}  # type: ignore[attr-defined]
    for number, value in machine.seen:
        reached = flow.before(calls[number])
        assert reached.open if value == BEFORE else value in numbers(module, reached), (number, value)


@settings(max_examples=60, deadline=None)
@given(programs(), st.lists(st.booleans(), max_size=30))
def test_what_is_left_at_the_end_is_among_the_definitions(text: str, answers: list[bool]) -> None:
    machine = Machine(answers)
    names = machine.names()
    lines = [line.removeprefix("    ") for line in text.splitlines()[1:]]
    body = "\n".join(line.replace("return", "raise E") for line in lines) + "\n"
    note(body)
    names["x"] = BEFORE
    try:
        exec(compile(body, "<program>", "exec"), names)
    except (Stop, ValueError):
        return
    module = module_of(body)
    reached = ReachingDefinitions(module, bindings(module, module.tree).get("x", []), decided).block(module.tree.body)
    assert reached.open if names["x"] == BEFORE else names["x"] in numbers(module, reached)
