"""Code that reads a value beside the way on which it was found: keywords passed along, a parser that others use, the whole command."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ddp_codemod.dataflow.callers import callers_of
from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.dataflow.declared_options import list_flags
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Step
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.parse.shell import Option, Script, Setting
from ddp_codemod.sites.option_receivers import find_option_receivers
from ddp_codemod.sites.scopes import owner_scope, scope_of

_WORDS = "sys.argv"  # the words of the command that started the program
INHERITED = frozenset({"export", "command", "image"})  # kinds of settings that a program which is started sees
_PAIRS = ("items", "values")  # methods that give what a table holds
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def find_settings_beside(script: Script, node: Option | Setting) -> Iterator[Option | Setting]:
    """The options and settings of a launch file that one variable gives: they start where the node does."""
    every: tuple[Option | Setting, ...] = (*script.options, *script.settings)
    return (one for one in every if one.start == node.start)


def find_forwarded_keywords(tracer: Tracer, steps: Iterable[Step]) -> Iterator[tuple[Module, ast.AST, str, str]]:
    """The functions that hand the value on among their keywords, ``def worker(**settings): setup(**settings)``.

    Each with the name that it takes them under, and the keyword. They may be called by a name that is not followed.
    """
    for step in steps:
        module = tracer.resolver.project.module(step.place.name) if step.reason.means is Meaning.ARGUMENT else None
        key = dict(step.reason.args)["name"] if module is not None else ""
        for call in module.nodes.get(ast.Call, ()) if module is not None else ():
            spreads = [keyword.value for keyword in call.keywords if keyword.arg is None] if isinstance(call, ast.Call) else []
            if not spreads or module is None or module.place(call) != step.place:
                continue
            for spread in spreads:
                home = owner_scope(module, scope_of(module, spread), spread.id) if isinstance(spread, ast.Name) else None
                if isinstance(home, _FUNCTIONS) and home.args.kwarg is not None and home.args.kwarg.arg == spread.id:  # type: ignore[attr-defined]
                    yield module, home, home.args.kwarg.arg, key


def find_shared_parses(tracer: Tracer, module: Module, declaration: ast.Call) -> Iterator[tuple[Module, ast.Call]]:
    """The calls that parse a command line where the options of a function are added: ``add_options(parser)``, ``parser.parse_args()``."""
    function = scope_of(module, declaration)
    methods = {method for flag in list_flags(tracer) for method in flag.parse_methods}
    for given in callers_of(tracer, module, function) if isinstance(function, _FUNCTIONS) and function.args.args else ():
        home = scope_of(given.module, given.call)
        for call in (call for method in methods for call in index_calls(given.module).get(method, ())):
            if scope_of(given.module, call) is home:
                yield given.module, call


def find_command_texts(tracer: Tracer, script: Script, option: Option | Setting) -> Iterator[tuple[Module, ast.expr]]:
    """What puts the words of a command together to one text, in the programs that take an option: ``" ".join(sys.argv)``."""
    project = tracer.resolver.project
    if not isinstance(option, Option):
        return
    for module in filter(None, map(project.module, find_option_receivers(project, script, option))):
        for call in index_calls(module).get("join", ()):
            inner = (part for argument in call.args for part in ast.walk(argument) if isinstance(part, ast.Attribute))
            if any(_WORDS in tracer.resolver.names(module, part) for part in inner):
                yield module, call


def find_environment_tables(tracer: Tracer, script: Script, setting: Option | Setting) -> Iterator[tuple[Module, ast.expr]]:
    """Where the programs that a script starts go over all variables of the environment, one that it exports among them."""
    project = tracer.resolver.project
    if not isinstance(setting, Setting) or setting.kind not in INHERITED:
        return
    started = {name for launch in script.launches for name in project.started(launch.program)}
    together = tracer.imports.together(sorted(started)) | started if started else set()
    for module in filter(None, map(project.module, sorted(together))):
        if b"environ" not in project.data(module.name):
            continue
        for call in (call for method in _PAIRS for call in index_calls(module).get(method, ())):
            if isinstance(call.func, ast.Attribute) and "os.environ" in tracer.resolver.names(module, call.func.value):
                if not _is_left_out(module, call, setting.name):
                    yield module, call.func.value


def _is_left_out(module: Module, call: ast.Call, name: str) -> bool:
    """Whether a comprehension over all variables takes only those that begin in another way: ``if key.startswith("SLURM_")``."""
    around = module.parents.get(call)
    tests = around.ifs if isinstance(around, ast.comprehension) else []
    asked = [test.args[0] for test in tests if isinstance(test, ast.Call) and last_name(test.func) == "startswith" and test.args]
    return any(isinstance(one, ast.Constant) and not name.startswith(str(one.value)) for one in asked)
