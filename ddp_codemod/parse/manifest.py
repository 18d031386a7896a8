"""Commands in configuration files: those of containers, clusters, pipelines and editors.

``command`` and ``args`` of a Kubernetes or Compose manifest, ``run`` of a workflow, ``program`` and ``args`` of an editor's launch
configuration, and the variables that they set. They are read to be shown to a user and never edited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ddp_codemod.parse import shell_commands
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.shell import MANIFEST, Launch, Option, Program, Script, ScriptParts, Setting
from ddp_codemod.parse.shell_words import Fragment, Word, to_literal

# The keys whose values make up one command, in the order in which they are in it.
COMMAND = ("program", "module", "entrypoint", "command", "run", "script", "args")
VARIABLES = ("env", "environment")
MAY_HOLD = re.compile(
    rb"(?:program|module|entrypoint|command|run|script|args|env|environment)[\"']?\s*:|\.py\b[^\n]* -|\b-m [\w.]+ -"
)

# a value that is a command whatever its key is called, as in the tasks of a pyproject.toml: a program, and options behind it
_WHOLE = re.compile(r"(?:[\w./-]+=\S+\s+)*[\w./-]+\s(?:[^\n]*\s)?(?:[\w./-]+\.py|-m\s+[\w.]+)\s(?:[^\n]*\s)?--?\w")
_PROSE = ("comment", "description", "documentation", "help", "summary", "title")
_TOKEN = re.compile(r"""\\\n|\n|&&|\|\||[;|]|(?:"[^"\n]*"|'[^'\n]*'|[^\s"';|&])+|&""")
_VARIABLE = re.compile(r"(\$\{\{?[^}]*\}\}?|\$\([^)]*\)?|\$\w+|\$)")  # of a shell, a workflow, an editor
_BREAKS = frozenset({"\n", "&&", "||", ";", "|", "&"})


def read(document: Document) -> Script:
    """The options and variables that the commands of a configuration file give."""
    options: dict[Option, None] = {}
    launches: list[Launch] = []
    programs: list[Program] = []
    for entries in _find_commands(document):
        for command in shell_commands.split_commands(list(_split_words(document, entries))):
            at = command.words[0][0].start
            for name, word, program, override in shell_commands.find_options(command):
                if (found := to_literal(word)) is not None and found.value:
                    line = document.source.position(found.start)[0]
                    options[Option(name, found.start, found.end, found.value, program, line, used=at, override=override)] = None
            if command.program:
                word = command.words[command.index]
                line = document.source.position(word[0].start)[0]
                programs.append(Program(command.program, word[0].outer_start, word[-1].outer_end, line, at))
            if command.launches:
                launches.append(Launch(command.program, at, at, document.source.position(at)[0], None, ""))
    parts = ScriptParts(tuple(options), tuple(_find_settings(document)), tuple(launches), document.errors, (), tuple(programs))
    return Script(document.source, MANIFEST, parts)


def _find_commands(document: Document) -> Iterator[list[Entry]]:
    """The entries of each command: those of the keys that are beside each other in one mapping."""
    found: dict[tuple[int, tuple[str, ...]], dict[str, list[Entry]]] = {}
    for entry in document.entries:
        if not entry.path:
            continue  # the whole document is one text
        path = entry.path[:-1] if entry.path[-1].isdigit() else entry.path
        if path and path[-1] not in (*COMMAND, *_PROSE) and entry.is_text and _WHOLE.match(entry.value):
            yield [entry]
        elif path and path[-1] in COMMAND:
            found.setdefault((entry.document, path[:-1]), {}).setdefault(path[-1], []).append(entry)
    for keys in found.values():
        alone = [keys.pop(key) for key in ("run", "script") if key in keys]  # each a command of its own
        yield from alone
        if together := [entry for key in COMMAND for entry in keys.get(key, ())]:
            yield together


def _split_words(document: Document, entries: Sequence[Entry]) -> Iterator[Word]:
    for index, entry in enumerate(entries):
        if entry.path[-1] == "module":  # as after ``-m``
            yield (Fragment("-m", entry.start, entry.start, entry.start, entry.start),)
        at = entry.start
        if index and entry.path[-2:-1] == ("script",):
            yield (Fragment(";", at, at, at, at),)  # a list of commands
        for token in _TOKEN.finditer(entry.value):
            text = token[0]
            if text == "\\\n":
                continue
            if text in _BREAKS:
                yield (Fragment(";", at, at, at, at),)
                continue
            start = document.source.text.find(text, at, entry.end)
            start, end = (at, entry.end) if start < 0 else (start, start + len(text))
            at = end if start >= 0 else at
            bare = text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
            parts = [part for part in _VARIABLE.split(bare) if part]
            yield tuple(Fragment(None if part.startswith("$") else part, start, end, start, end) for part in parts)


def _find_settings(document: Document) -> Iterator[Setting]:
    """``env: {A: x}``, ``environment: ["A=x"]``, ``env: [{name: A, value: x}]``."""
    named: dict[tuple[int, tuple[str, ...]], str] = {}
    for entry in document.entries:
        path, name = entry.path, ""
        if len(path) > 1 and path[-2] in VARIABLES:
            name, mark, value = entry.value.partition("=") if path[-1].isdigit() else (path[-1], "=", entry.value)
            if not mark:
                continue
        elif len(path) > 2 and path[-3] in VARIABLES and path[-2].isdigit():
            where = entry.document, path[:-1]
            if path[-1] == "name":
                named[where] = entry.value
            name, value = (named.get(where, ""), entry.value) if path[-1] == "value" else ("", "")
        if name:
            line = document.source.position(entry.start)[0]
            yield Setting(name, entry.start, entry.end, value, line, "export")
