"""The last net: backend names that are where a value can be, and that no decision, edit or note accounts for."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from ddp_codemod.catalog.backends import assess
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.discover.kinds import is_in_test_folder
from ddp_codemod.kinds import Meaning
from ddp_codemod.ledger.backend_classes import find_backend_classes
from ddp_codemod.ledger.code_in_texts import find_code_in_texts
from ddp_codemod.ledger.commands_in_code import find_commands_in_code
from ddp_codemod.ledger.direct_library_calls import find_direct_library_calls
from ddp_codemod.ledger.explained_mentions import RuleWords, is_explained
from ddp_codemod.ledger.mentions import Mention, find_mentions
from ddp_codemod.ledger.passing_functions import list_passing_functions
from ddp_codemod.ledger.strategies import find_strategies
from ddp_codemod.ledger.unread_keys import is_unread_entry
from ddp_codemod.ledger.unread_options import is_unread_option
from ddp_codemod.model import Advisory, Decision, Edit, Place, Reason, Uncovered
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.parse.shell import GUIDE, Option, Script, Setting
from ddp_codemod.policy.findings import Context
from ddp_codemod.policy.limits import Limits, has_ignore_comment


def find_uncovered_mentions(
    context: Context,
    decisions: Iterable[Decision],
    edits: Iterable[Edit],
    notes: Iterable[Advisory],
    limits: Limits,
    asking: Sequence[str],
) -> Iterator[Uncovered]:
    """The names that would be wrong on the platform and are left over, in order; ``asking`` are the rules that would change them."""
    backends, choice = context.rules.backends, context.platform.backend
    decisions, edits = tuple(decisions), tuple(edits)
    names = [name for name, backend in backends.items() if not backend.specific and assess(name, choice, backends).wanted]
    devices = {device for backend in backends.values() for device in backend.devices} - {*context.platform.device_types}
    words, called = _collect_words(context, devices), _list_taker_names(context)
    project, covered = context.tracer.resolver.project, _CoveredPlaces(decisions, edits, notes)

    def is_wrong(text: str) -> bool:
        return (
            len(text) < 200 and any(name in text.lower() for name in names) and assess(text, choice, backends).wanted is not None
        )

    def admits(name: str) -> bool:
        return limits.admits(name) and not limits.scope.holds_rules(name)

    passing = list_passing_functions(context, decisions, edits)
    found: list[Uncovered] = []
    seen: set[Place] = set()
    for one in find_mentions(project, names, is_wrong, admits, called):
        line = one.tree.source.position(one.place.start)[0]
        if one.place in seen or covered.of(one.place, line):
            continue  # asked first, since it costs least
        if isinstance(one.tree, Module) and isinstance(one.node, ast.Constant):
            if is_explained(context.tracer, words, one.tree, one.node):
                continue
        elif is_in_test_folder(one.tree.name) or (
            not one.in_code and (_is_inventory_entry(one) or _is_unread(context.tracer, one, words))
        ):
            continue
        ignored = any(has_ignore_comment(one.tree, one.place.start, rule) for rule in asking)
        if not ignored and not limits.scope.ignores_in(one.place.name, set(asking)):
            seen.add(one.place)
            found.append(Uncovered(one.place, line, one.value, _explain_mention(one)))
    others = (
        *find_direct_library_calls(context.tracer, backends, names, admits),
        *find_backend_classes(context, admits),
        *find_commands_in_code(context.tracer, names, words.sayers, admits),
        *find_code_in_texts(context.tracer, names, called | passing, words.sayers, admits),
        *find_strategies(context, decisions, admits),
    )
    for result in others:
        name = result.place.name
        module = project.module(name) if name in project.names else None
        ignored = module is not None and any(has_ignore_comment(module, result.place.start, rule) for rule in asking)
        if result.place in seen or ignored or covered.of(result.place, result.line) or limits.scope.ignores_in(name, set(asking)):
            continue
        seen.add(result.place)
        found.append(result)
    yield from sorted(found, key=lambda one: (one.place.name, one.place.start))


def _list_taker_names(context: Context) -> set[str]:
    """The last names of what takes a backend."""
    surfaces = context.rules.surfaces.values()
    taking = (one for one in surfaces if any(part.role == "backend" and part.add == "keyword" for part in one.parameters))
    return {name.rpartition(".")[2] for surface in taking for name in surface.names} - {"*"}


class _CoveredPlaces:
    """What the other stages speak of: stretches of files, and lines."""

    def __init__(self, decisions: Iterable[Decision], edits: Iterable[Edit], notes: Iterable[Advisory]) -> None:
        self._places: dict[str, set[tuple[int, int]]] = {}
        for decision in decisions:
            steps = (
                step for step in decision.steps if step.reason.means is Meaning.TRANSLATED
            )  # of every way, not of the shortest
            places = [*(origin.place for origin in decision.origins), *(step.place for step in steps)]
            for place in [*places, decision.place] if decision.value is not None else places:
                self._add_place(place)
        for edit in edits:
            self._add_place(Place(edit.name, edit.start, edit.end))
        self._lines = {(note.name, note.line) for note in notes}
        self._stretches = {name: _merge_stretches(places) for name, places in self._places.items()}

    def _add_place(self, place: Place) -> None:
        self._places.setdefault(place.name, set()).add((place.start, place.end))

    def of(self, place: Place, line: int) -> bool:
        if (place.name, line) in self._lines:
            return True
        stretches = self._stretches.get(place.name, [])
        first = bisect_left(stretches, place.start, key=_get_end)
        return first < len(stretches) and stretches[first][0] <= place.end


def _merge_stretches(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches in order, those that touch as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _get_end(stretch: tuple[int, int]) -> int:
    return stretch[1]


def _is_inventory_entry(one: Mention) -> bool:
    """Whether an entry of a list says what there is, not what is chosen."""
    if not isinstance(one.node, Entry) or not isinstance(one.tree, Document) or not one.node.path:
        return False
    path = one.node.path
    return path[-1].isdigit() and len(one.tree.mapping(path[:-1], one.node.document)) > 1


def _collect_words(context: Context, devices: set[str]) -> RuleWords:
    idioms = context.rules.idioms
    return RuleWords(
        context.rules.backends,
        {word for one in idioms for word in one.sayers},
        {word for one in idioms for word in one.shows},
        devices,
        {word for one in idioms for word in one.getters},
        {name for one in idioms for name in one.enums},
        {name for one in idioms for name in one.registers},
        {name for one in idioms for name in one.blind},
        {name for one in idioms for name in one.built_with},
        {name for one in idioms for name in one.settings_bases},
        [name for one in idioms for name in one.frameworks],
        [name for one in idioms for name in one.other_frameworks],
    )


def _is_unread(tracer: Tracer, one: Mention, words: RuleWords) -> bool:
    """Whether nothing can read an entry or an option; or a variable says how a library is built, whose calls are sites.

    In a guide only what starts a program of the project counts: the rest is what it prints, or is about other programs.
    """
    if isinstance(one.tree, Script) and one.tree.kind == GUIDE:
        if not isinstance(one.node, Option) or not tracer.resolver.project.started(one.node.program):
            return True
    if isinstance(one.tree, Document) and isinstance(one.node, Entry):
        return (one.node.path[-1:] and one.node.path[-1] in words.built_with) or is_unread_entry(
            tracer, one.tree, one.node, words.sayers
        )
    if isinstance(one.node, Option) and is_unread_option(tracer, one.node.name, words.blind):
        return True
    return isinstance(one.node, (Option, Setting)) and one.node.name in words.built_with


def _explain_mention(one: Mention) -> Reason:
    """Where the name goes, as far as that can be seen."""
    if isinstance(one.node, Entry) and one.in_code:
        return Reason.of("uncovered-code", text=one.value, path=".".join(one.node.path))
    if isinstance(one.node, Entry):
        return Reason.of("uncovered-key", text=one.value, path=".".join(one.node.path))
    if isinstance(one.tree, Script):
        assert not isinstance(one.node, (ast.Constant, Entry))
        if isinstance(one.node, Option):
            return Reason.of("uncovered-option", text=one.value, name=one.node.name, program=one.node.program or "?")
        return Reason.of("uncovered-variable", text=one.value, name=one.node.name)
    assert isinstance(one.tree, Module)
    assert isinstance(one.node, ast.Constant)
    around = one.tree.parents[one.node]
    if isinstance(around, ast.keyword):
        call = one.tree.parents[around]
        if isinstance(call, ast.Call):
            return Reason.of(
                "uncovered-keyword", text=one.value, name=around.arg or "**", function=_name_function(one.tree, call)
            )
    if isinstance(around, ast.Call):
        return Reason.of("uncovered-argument", text=one.value, function=_name_function(one.tree, around))
    if isinstance(around, (ast.Assign, ast.AnnAssign)):
        target = around.targets[0] if isinstance(around, ast.Assign) else around.target
        return Reason.of("uncovered-assigned", text=one.value, name=one.tree.text(target))
    if isinstance(around, ast.Return):
        return Reason.of("uncovered-returned", text=one.value)
    return Reason.of("uncovered-value", text=one.value)


def _name_function(module: Module, call: ast.Call) -> str:
    """What is called: its name, or how it is written where it has none."""
    return last_name(call.func) or " ".join(module.text(call.func).split())
