"""How the program is started whose groups a run edits: as its README says, or as its own code asks for."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence

from ddp_codemod.discover.kinds import is_test
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Action, Decision, Place
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Context
from ddp_codemod.single_process.api import Api, passed_argument
from ddp_codemod.single_process.reachability import ProgramReach
from ddp_codemod.single_process.start_files import find_start_files, make_file_command
from ddp_codemod.sites.documented_commands import DocumentedCommand, Wanted, find_documented_commands, is_above, rank_guide
from ddp_codemod.sites.imports import Imports
from ddp_codemod.sites.outlines import MAIN
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.reachability import does_something, is_started
from ddp_codemod.sites.task_names import is_other_task_name, is_training_name
from ddp_codemod.start import Start

FEW = 2  # programs of which it is plain which one is meant
_LOOKED_AT, _FOLLOWED = 12, 4  # programs that may lead to an edited call: to look for commands, and to follow their code
_FILES = 20  # that one of them imports, where its code is followed
_RANKS = 2  # processes that show whether a group forms
_OWN_STARTS = re.compile(rb"\b(?:Process|Popen|ProcessPoolExecutor)\(")  # a program that starts others in a way of its own
_ENDS_IN_CALL = re.compile(rb"\w\(\)\s*\Z")  # a program that passes nothing to the function in which it does all
_STARTING = ("launch", "strategy")  # roles of calls by which a program starts its other processes: of a trainer, too
# arguments that have to be passed: declared so, with a name but no dashes, or read by the program itself
_ASKS = re.compile(rb"""required\s*=\s*True|\bsys\.argv\b|@click\b|add_argument\(\s*["'](?!-)""")


class StartCommands:
    """Finds the programs that run an edited call, and the command for each."""

    def __init__(self, context: Context, imports: Imports, alone: bool) -> None:
        """``alone``: one process makes no group on this platform."""
        self.context, self.imports = context, imports
        self.project: Project = context.tracer.resolver.project
        self.api = Api(context.rules.processes, context.tracer.resolver)
        self.processes = 1 if alone else _RANKS
        self.migrated = False  # the vendor's module maps the other device's name
        self.counting: list[tuple[Module, ast.Call]] = []  # calls that are edited, and count devices to start a process for each

    def of(self, decisions: Iterable[Decision]) -> tuple[Start, ...]:
        """The commands of the few programs that are meant, as somebody says them; else of what starts the edited code at all."""
        decisions = list(decisions)
        self.migrated = any(map(_is_migrated, decisions))
        edited = [one for one in decisions if one.action is Action.EDIT or _is_migrated(one)]
        return tuple(self._find_commands(edited)) or tuple(self._find_file_commands(edited))

    def _find_commands(self, edited: Sequence[Decision]) -> list[Start]:
        """The commands, where there are few programs and it is known how each is started; else none."""
        calls = self._calls_of({one.call for one in edited if self._is_fixed(one)})
        counted = {one.id for one in self.context.rules.advice.values() if one.rewrite and one.rewrite.recipe == "launched-count"}
        self.counting = self._calls_of({one.call for one in edited if one.rule in counted})
        calls = calls or self.counting
        names = self._find_programs(calls)
        if self._is_training_elsewhere(edited, names):
            return []
        if not calls or len(names) > _LOOKED_AT or any(name in self.project.commands for name in names):
            return []  # what is installed as a command is started by that, with words of its own
        names = [name for name in names if self._does_something(name)]
        found = {name: self._find_documented(name) for name in names}
        chosen = {name: self._choose_command(commands) for name, commands in found.items()}
        first = {name: one for name, one in chosen.items() if one is not None and self._runs_call(name, calls)}
        if first:  # what people are told to type is what is meant
            others = (name for name in names if name not in first and is_training_name(name))
            if any(not any(is_above(one.name, name) for one in first.values()) for name in others):
                return []  # guides of a folder of their own: they do not speak of the rest
            if any(map(is_training_name, names)) and not any(map(is_training_name, first)):
                return []  # what trains is meant, though no guide has a command for it
            order = sorted(first, key=lambda name: (not is_training_name(name), rank_guide(first[name].name), first[name].line))
            return [self._quote(name, first[name]) for name in order]
        if any(found.values()):
            return []  # nobody is to guess what a guide tells
        programs = [name for name in names if self._reaches_call(name, calls)] if len(names) <= _FOLLOWED else []
        guessed = [self._guess_command(name) for name in programs] if len(programs) <= FEW else []
        return [one for one in guessed if one is not None] if all(guessed) else []

    def _is_fixed(self, decision: Decision) -> bool:
        """Whether it is about a group whose backend an edit changes, or an import of the vendor's module."""
        return decision.rule in self.context.rules.fixes or _is_migrated(decision)

    def _find_documented(self, name: str, elsewhere: bool = False) -> list[DocumentedCommand]:
        wanted = Wanted(self.processes, self.context.platform.facts.get("os.name") != "nt", self.api.launchers)
        return list(find_documented_commands(self.project, name, wanted, elsewhere=elsewhere))

    def _quote(self, name: str, found: DocumentedCommand) -> Start:
        """A documented command as it is; for a platform of one process without its launcher."""
        single = self.processes == 1 and found.launched and bool(found.adapted)
        return Start(
            self._choose_devices(found.adapted if single else found.command),
            name,
            found.folder,
            not found.launched and self._counts_devices(name),
            found.placeholders,
            (found.name, found.line),
            found.count,
            single,
            trial=self._choose_devices(found.adapted),
        )

    def _choose_devices(self, command: str) -> str:
        """The command with the variable by which the platform's device is chosen, and its name, in place of the other device's."""
        device = self.context.platform.device
        for old, new in device.visible.items() if device is not None else ():
            command = re.sub(rf"(?<!\w){re.escape(old)}(?==)", new, command)
        if device is None or not device.module or self.migrated:
            return command
        return re.sub(rf"""(?<=[\s=,"']){re.escape(device.replaces)}(?=(?::\d+)?(?:[\s,"']|$))""", device.type, command)

    def _find_file_commands(self, edited: Sequence[Decision]) -> list[Start]:
        """The scripts, installed commands or programs that start what is edited, whatever else these need."""
        training = self._find_training({one.call for one in edited if self._is_fixed(one)})
        if not any(is_training_name(name) for name in training):  # the edited groups are of another task
            training = self._find_training({one.call for one in edited}) or training
        starts = {word for table in self.context.rules.processes for word in table.starts}
        edits = Counter(place.name for place in {one.call for one in edited})
        names = find_start_files(self.project, training, starts, edits) if training else ()
        return [self._start_file(name) for name in self._replace_modules(names)]

    def _replace_modules(self, names: Iterable[str]) -> Iterator[str]:
        """The files, with the programs that import it in place of one which does nothing by itself."""
        for name in names:
            useless = name.endswith(".py") and not self._does_something(name)
            yield from (self._find_importing_programs(name) if useless else []) or [name]

    def _find_importing_programs(self, name: str) -> list[str]:
        above = (one for one in sorted(self.imports.above([name])) if not is_test(one))
        return [one for one in above if is_started(self.project, self.imports, one) and self._does_something(one)]

    def _start_file(self, name: str) -> Start:
        """The command of a script, a program or an installed command: as it is documented, else one that has its name alone."""
        found = self._find_documented(name, elsewhere=True) if name.endswith(".py") else []
        if (first := self._choose_command(found)) is not None:
            return self._quote(name, first)
        command, folder = make_file_command(self.project, name)
        return Start(command, name, folder, source=(found[0].name, found[0].line) if found else ("", 0), whole=False)

    def _is_training_elsewhere(self, edited: Sequence[Decision], programs: Iterable[str]) -> bool:
        """Whether other edits are in a program that trains by its name, and none of these programs does."""
        if any(is_training_name(name) for name in programs):
            return False
        others = self._find_programs(self._calls_of({one.call for one in edited if not self._is_fixed(one)}))
        return any(is_training_name(name) for name in others)

    def _find_training(self, places: set[Place]) -> set[str]:
        """The programs that run edited calls and train, by what they are called; else those that are not called by another task.

        Many that nothing marks as programs are settings in Python.
        """
        names = {name for name in self._find_programs(self._calls_of(places)) if self._does_something(name)}
        if found := {name for name in names if is_training_name(name)}:
            return found
        marked = {name for name in names if MAIN.encode() in self.project.data(name)}
        return {name for name in marked or (names if len(names) <= _LOOKED_AT else ()) if not is_other_task_name(name)}

    def _find_programs(self, calls: Sequence[tuple[Module, ast.Call]]) -> list[str]:
        above = self.imports.above(module.name for module, _ in calls)
        return sorted(name for name in above if not is_test(name) and is_started(self.project, self.imports, name))

    def _choose_command(self, commands: Iterable[DocumentedCommand]) -> DocumentedCommand | None:
        """The first command that can be typed as it is; with several processes the first that a launcher starts.

        In no other process is the edited group made.
        """
        able = [one for one in commands if one.command]
        every = [one for one in able if not one.placeholders] or able
        return next((one for one in every if one.launched and self.processes > 1), every[0] if every else None)

    def _calls_of(self, places: set[Place]) -> list[tuple[Module, ast.Call]]:
        """The calls at these places."""
        modules = {name: self.project.module(name) for name in {place.name for place in places} & set(self.project.names)}
        return [
            (module, node)
            for module in modules.values()
            for node in (module.nodes.get(ast.Call, ()) if module is not None else ())
            if module is not None and isinstance(node, ast.Call) and module.place(node) in places
        ]

    def _does_something(self, name: str) -> bool:
        """Whether a file does something when it is started."""
        data = self.project.data(name)
        if MAIN.encode() in data and not _ENDS_IN_CALL.search(data):
            return True
        tree = self.project.parse_once(name)
        return tree is not None and does_something(name, tree.body)

    def _reaches_call(self, name: str, calls: Sequence[tuple[Module, ast.Call]]) -> bool:
        """Whether a program runs one of the calls; to follow one through many files takes longer than a line is worth."""
        if any(module.name == name for module, _ in calls):
            return True
        entry = self.project.module(name)
        if entry is None or len(self.imports.below([name])) > _FILES:
            return False
        reach = ProgramReach(self.project, entry, self.api.passing)
        return any(reach.holds(*call) for _ in reach.follow() for call in calls)

    def _runs_call(self, name: str, calls: Sequence[tuple[Module, ast.Call]]) -> bool:
        """Whether a documented program runs one of the calls: one that trains does, if its code is too long to follow."""
        return self._reaches_call(name, calls) or (is_training_name(name) and len(self.imports.below([name])) > _FILES)

    def _guess_command(self, name: str) -> Start | None:
        """The command for a program of which nobody says how it is started, where its code does; else None."""
        below = self.imports.below([name])
        if not is_training_name(name) or any(_ASKS.search(self.project.data(one)) for one in below):
            return None
        entry = self.project.module(name)
        assert entry is not None
        if not self.context.tracer.commands.functions.isdisjoint(entry.nodes.get(ast.FunctionDef, ())):
            return None
        if self.processes == 1 or any(self._find_role(*call) in _STARTING for call in self._find_calls(name)):
            return Start(f"python {name}", name, "", self._counts_devices(name), trial=f"python {name}")
        if any(_OWN_STARTS.search(self.project.data(one)) for one in below):
            return None
        ranked = any(_has_text(module, self.api.environment) for module in self._find_near_modules(name))
        command = f"torchrun --nproc_per_node={self.processes} {name}"
        return Start(command, name, trial=command) if ranked else None

    def _find_near_modules(self, name: str) -> list[Module]:
        """A program's own file, and those that it imports and that were read for their groups."""
        names = (one for one in sorted({name, *self.imports.below([name])}) if one == name or self.project.is_parsed(one))
        return [module for one in names if (module := self.project.module(one)) is not None]

    def _find_calls(self, name: str) -> Iterator[tuple[Module, ast.Call]]:
        for module in self._find_near_modules(name):
            yield from ((module, node) for node in module.nodes.get(ast.Call, ()) if isinstance(node, ast.Call))

    def _find_role(self, module: Module, node: ast.Call) -> str:
        known = self.api.call(module, node)[0]
        return known.role if known is not None else ""

    def _counts_devices(self, name: str) -> bool:
        """Whether a program starts a process for each device that it counts, and the platform has none."""
        near = {module.name for module in self._find_near_modules(name)}
        if any(module.name in near for module, _ in self.counting):
            return True
        device = self.context.platform.device
        return device is not None and not device.module and any(self._is_counted(*call) for call in self._find_calls(name))

    def _is_counted(self, module: Module, node: ast.Call) -> bool:
        call = self.api.call(module, node)[0]
        number = passed_argument(node, call.world_size) if call is not None and call.role in _STARTING else None
        counted = self.api.table.counted.rpartition(".")[2]
        named = number.id if isinstance(number, ast.Name) else ""
        result = [
            one.value for one in module.nodes.get(ast.Assign, ()) if isinstance(one, ast.Assign) and named in _target_names(one)
        ]
        there = (part for value in (number, *result) if value is not None for part in ast.walk(value))
        return any(getattr(part, "attr", "") == counted for part in there)


def _is_migrated(decision: Decision) -> bool:
    return decision.reason.means is Meaning.MIGRATED


def _target_names(assigned: ast.Assign) -> set[str]:
    return {target.id for target in assigned.targets if isinstance(target, ast.Name)}


def _has_text(module: Module, texts: Container[str]) -> bool:
    """Whether a file holds one of the texts as a whole, or an address of the environment."""
    found = (node.value for node in module.nodes.get(ast.Constant, ()) if isinstance(node, ast.Constant))
    return any(isinstance(text, str) and (text in texts or text.startswith("env://")) for text in found)
