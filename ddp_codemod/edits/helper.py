"""One function in place of the same portable condition at several places of a project."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import cast

from msgspec import Struct

from ddp_codemod.edits.spans import line_ending
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.findings import Change, Finding, NewText
from ddp_codemod.sites.imports import Imports

NAMES = ("default_backend", "process_group_backend")
SAYS = "Return the process-group backend for this machine."
Same = tuple[str, str, str]  # the condition, the new value and the old one: what is the same at several places
Place = tuple[Finding, NewText]
# names of files that hold what others share: about machines, or about nothing else; "rich_utils" is about something else
_OF_MACHINES = re.compile(
    r"(?i)(?:^|_)(?:accelerat\w*|comms?|cuda|ddp|devices?|dist|distributed|gpus?|launch\w*|parallel)(?:_|$)"
)
_OF_ALL = re.compile(r"(?i)_*(?:commons?|helpers?|misc|tools?|utils?|utilities|(?:common|misc)_utils?)")
_OF_SOME = ("util", "misc", "common", "helper")
_MODEL = b"def forward("  # what a file with a model has


class Helper(Struct, frozen=True, eq=False):
    """A function to be written at an offset of a file, behind its imports; ``before`` is the statement that follows there."""

    home: Module
    name: str
    offset: int
    before: ast.stmt
    dotted: Mapping[str, str]  # how the other files that it serves import the home already
    says: str = SAYS  # its docstring

    def serves(self, module: Module) -> bool:
        """Whether the function can be called there."""
        return module is self.home or module.name in self.dotted

    def text(self, choice: str) -> str:
        """The definition, with two free lines around it."""
        text, newline = self.home.source.text, line_ending(self.home.source, self.offset)
        behind = text[self.offset :]
        free = len(behind) - len(behind.lstrip("\r\n"))
        lines = [f"def {self.name}():", f'    """{self.says}"""', f"    return {choice}"]
        missing = max(0, 2 - free // len(newline))
        return newline * 2 + newline.join(lines) + newline * (1 + missing)


def build_helpers(
    findings: Iterable[Finding],
    same: Callable[[Finding, Change], Same | None],
    imports: Imports,
    barred: Callable[[str, str], bool],
) -> dict[Same, Helper]:
    """The functions that are worth writing: for what is the same at several places, where a file is known that they import anyway."""
    places: dict[Same, dict[tuple[str, int], Place]] = {}
    for finding in findings:
        for change in finding.changes:
            key = same(finding, change)
            if key is not None and isinstance(change, NewText):
                places.setdefault(key, {})[change.source.place.name, change.source.place.start] = (finding, change)
    found: dict[Same, Helper] = {}
    for key, known in places.items():
        sites = [cast("tuple[Module, ast.expr]", change.source.code) for _, change in known.values()]
        result = choose_helper(sites, imports) if len(known) > 1 else None
        rules = {finding.rule or "" for finding, _ in known.values()}
        # two functions of one name would be one too many
        if result is not None and not found and not any(barred(result.home.name, rule) for rule in rules):
            found[key] = result
    return found


def choose_helper(
    sites: list[tuple[Module, ast.expr]], imports: Imports, names: Sequence[str] = NAMES, says: str = SAYS
) -> Helper | None:
    """The function that serves the most of the sites; None where there is no file for it that serves two.

    A file about machines, or one that holds what all share, serves every file that imports something of the same package. A file
    with a model is no place for it where another one serves at least half as many.
    """
    modules = list(dict.fromkeys(module for module, _ in sites))
    reached = {module: _find_imported_files(module, [node for at, node in sites if at is module], imports) for module in modules}
    own = {module.name for module in modules}
    known: dict[str, str] = {}
    for found in reached.values():
        for name, dotted in found.items():
            known.setdefault(name, dotted)
    packages = {module: {dotted.partition(".")[0] for dotted in found.values()} for module, found in reached.items()}

    def written(module: Module, name: str) -> str | None:
        """How a file imports another, or can."""
        if name in reached[module]:
            return reached[module][name]
        can = name in known and _rate_name(name) < 2 and known[name].partition(".")[0] in packages[module]
        return known[name] if can else None

    def served(name: str) -> list[Module]:
        return [module for module in modules if module.name == name or written(module, name) is not None]

    counts = {
        name: sum(module in served(name) for module, _ in sites)
        for name in {name for module in modules for name in (module.name, *reached[module])}
    }

    def rank(name: str) -> tuple[bool, bool, bool, int, int, bool, str]:
        few, rating = counts[name] * 2 < max(counts.values()), _rate_name(name)
        model = _MODEL in imports.project.data(name)
        return few, model, rating > 1, -counts[name], rating, name not in own, name

    for name in sorted((name for name, n in counts.items() if n > 1), key=rank):
        users = served(name)
        home = next((module for module in modules if module.name == name), None) or imports.project.module(name)
        others = {module.name for module in users} - {name}
        if home is None or not _can_hold(home) or imports.below([name]) & others:  # an import in a circle finds half a module
            continue
        at = _locate_after_imports(home)
        called = next((one for one in names if not any(_is_mentioned(module, one) for module in {home, *users})), None)
        if at is None or called is None or any(node.lineno < at[1].lineno for module, node in sites if module is home):
            continue
        traces = {module.name: written(module, name) or "" for module in users if module is not home}
        return Helper(home, called, at[0], at[1], traces, says)
    return None


def _rate_name(name: str) -> int:
    """How good a place a file is by its name: 0 about machines, 1 for what all share, 2 for what some share, 3 any other."""
    stem = name.rpartition("/")[2].rpartition(".")[0]
    if _OF_MACHINES.search(stem):
        return 0
    if _OF_ALL.fullmatch(stem):
        return 1
    return 2 if any(word in stem.lower() for word in _OF_SOME) else 3


def _can_hold(module: Module) -> bool:
    name = module.name.rpartition("/")[2]
    return name.endswith(".py") and name != "__init__.py" and not name.startswith("test_")


def _find_imported_files(module: Module, sites: list[ast.expr], imports: Imports) -> dict[str, str]:
    """The project's files that the file imports at its top level in front of these places, whatever happens, and as what."""
    first = min(node.lineno for node in sites)
    folder = module.name.rpartition("/")[0] or "."
    found: dict[str, str] = {}
    for statement in module.tree.body:
        if (statement.end_lineno or statement.lineno) < first:
            for dotted in _list_dotted_names(statement):
                file = imports.project.file(dotted, folder)
                if file is not None and file != module.name:
                    found.setdefault(file, dotted)
    return found


def _list_dotted_names(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom) and not statement.level and statement.module:
        yield statement.module
        yield from (f"{statement.module}.{alias.name}" for alias in statement.names)


def _locate_after_imports(module: Module) -> tuple[int, ast.stmt] | None:
    """The line behind the imports that a file starts with, and the statement that follows; None where there is no such line."""
    last: ast.stmt | None = None
    for at, statement in enumerate(module.tree.body):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            last = statement
        elif not (at == 0 and isinstance(statement, ast.Expr)):
            if last is None:
                return None
            end = module.place(last).end
            _, line_end = module.source.line_span(end)
            rest = module.source.text[end:line_end].strip()
            alone = not rest or rest.startswith("#")
            return (line_end, statement) if alone and module.source.text[line_end - 1 : line_end] in ("\n", "\r") else None
    return None


def _is_mentioned(module: Module, name: str) -> bool:
    return name.encode() in module.source.data
