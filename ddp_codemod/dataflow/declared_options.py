"""Which calls of a project declare the options of command lines, by the names under which their values arrive."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from ddp_codemod.catalog.idioms import Flag
from ddp_codemod.dataflow import calls
from ddp_codemod.dataflow.parsers import is_unrelated_method
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.parse.python import Module
from ddp_codemod.sites.word_search import ANYTHING, has_word_in_context

_QUOTED, _UNQUOTED = re.compile(rb"""["']-*\Z"""), re.compile(rb"""\\?["']|/""")  # around an option that is declared
_GIVEN = re.compile(rb"\s*=")


def find_declarations(tracer: Tracer, name: str) -> dict[str, list[tuple[Module, ast.Call, Flag]]]:
    """The calls that declare an option of this name or set its default, by their files."""
    known = tracer.memory.setdefault("declared", {})
    if name not in known:
        project = tracer.resolver.project
        spelled = [word.encode() for word in {name, name.replace("_", "-")}]
        declare, default = _find_declaring_files(tracer)
        mentioning = sorted({file for word in {name, name.replace("_", "-")} for file in project.mentioning(word)})
        known[name] = {}
        for file in (file for file in mentioning if file in declare or file in default):
            data = project.data(file)
            may = project.is_parsed(file)  # its options are in a table: no need to look for each of thousands in its bytes
            may = may or (file in declare and any(has_word_in_context(data, word, _QUOTED, _UNQUOTED) for word in spelled))
            may = may or (file in default and has_word_in_context(data, name.encode(), ANYTHING, _GIVEN))
            other = project.module(file) if may else None
            if other is not None and (made := index_declarations(tracer, other).get(name)):
                known[name][file] = [(other, call, flag) for call, flag in made]
    return dict(known[name])


def _find_declaring_files(tracer: Tracer) -> tuple[set[str], set[str]]:
    """The files that may declare options, and those that may set defaults of some."""
    if "declaring" not in tracer.memory:
        project, flags = tracer.resolver.project, list_flags(tracer)
        defaults = (flag.defaults_method for flag in flags if flag.defaults_method)
        tracer.memory["declaring"] = project.naming(flag.method for flag in flags), project.naming(defaults)
    return tracer.memory["declaring"]  # type: ignore[no-any-return]


def index_declarations(tracer: Tracer, module: Module) -> dict[str, list[tuple[ast.Call, Flag]]]:
    """The calls of a file that declare an option or set its default, by the name under which its value arrives."""
    if "options" not in module.cache:
        table: dict[str, list[tuple[ast.Call, Flag]]] = {}
        for flag in list_flags(tracer):
            for call in calls.index_calls(module).get(flag.method, ()):
                if isinstance(call.func, ast.Attribute) and (name := find_destination(call, flag)) is not None:
                    if is_unrelated_method(tracer, module, call.func):
                        continue
                    table.setdefault(name, []).append((call, flag))
            for call in calls.index_calls(module).get(flag.defaults_method or "", ()):
                for given in dict.fromkeys(keyword.arg for keyword in call.keywords if keyword.arg is not None):
                    table.setdefault(given, []).append((call, flag))
        module.cache["options"] = table
    return module.cache["options"]  # type: ignore[return-value]


def list_flags(tracer: Tracer) -> list[Flag]:
    """The ways of declaring an option that the rules know."""
    return [flag for idioms in tracer.idioms for flag in idioms.flag]


def is_default(flag: Flag, position: int | None, keyword: str | None) -> bool:
    """Whether an argument of a declaration is what the option gives without a value: its default, or its ``const``."""
    if keyword is not None:
        return keyword in (flag.default, flag.const)
    return position is not None and position == flag.default_position


def list_texts(parts: Iterable[ast.expr]) -> list[str]:
    """The texts among the arguments of a call (``-b``, ``--dist-backend``), or in a list."""
    return [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def find_destination(call: ast.Call, flag: Flag) -> str | None:
    """The attribute or parameter name under which an option's value arrives."""
    texts = list_texts(call.args)
    if flag.dashed and not any(text.startswith("-") for text in texts):
        return None
    if flag.dest:
        dest = calls.find_argument(call, flag.dest, None)
        if isinstance(dest, ast.Constant) and isinstance(dest.value, str):
            return dest.value
    plain = [text for text in texts if not text.startswith("-") and text.isidentifier()]
    if plain and flag.dest is None:
        return plain[0]  # click: the name without dashes is the parameter's
    long = next((text for text in texts if text.startswith("--")), None)
    chosen = long or (texts[0] if texts else None)
    return chosen.lstrip("-").split("/")[0].replace("-", "_") if chosen else None
