"""Batch and PowerShell files: the options that their commands pass and the variables that they set.

They are read to be shown to a user and never edited, so that a line which is not understood costs a note and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ddp_codemod.model import Source
from ddp_codemod.parse import shell_commands
from ddp_codemod.parse.blanks import blank_out
from ddp_codemod.parse.shell import Launch, Option, Program, ScriptParts, Setting
from ddp_codemod.parse.shell_variables import Assignment, Variables
from ddp_codemod.parse.shell_words import Fragment, Word, get_known_text, split_word, to_literal

# A line with those that continue it, a comment, and what is inside a word: quotes, variables, plain text.
_LINES = {
    "batch": re.compile(r"[^\r\n]*?(?:\^(?:\r\n|\n|\r)[^\r\n]*?)*(?:\r\n|\n|\r|\Z)"),
    "powershell": re.compile(r"[^\r\n]*?(?:`[ \t]*(?:\r\n|\n|\r)[^\r\n]*?)*(?:\r\n|\n|\r|\Z)"),
}
_COMMENTS = {"batch": re.compile(r"(?i)[\s@]*(?:rem\b|::).*", re.DOTALL), "powershell": re.compile(r"(?:(?<=\s)|\A)#.*")}
_BLOCK_COMMENT = re.compile(r"<#.*?#>", re.DOTALL)
_GAPS = {"batch": re.compile(r"(?:[\s@,]|\^(?=[\r\n]))+"), "powershell": re.compile(r"(?:[\s,]|`(?=[ \t]*[\r\n])|@(?=[({]))+")}
_BREAKS = {"batch": re.compile(r"&&?|\|\|?|[()]"), "powershell": re.compile(r"&&|\|\|?|[;(){}]")}
_FRAGMENTS = {
    "batch": re.compile(r'"(?P<double>[^"\r\n]*)"?|%(?P<percent>[A-Za-z_]\w*)%|!(?P<mark>[A-Za-z_]\w*)!|(?P<other>%%?~?\w+)'),
    "powershell": re.compile(
        r"\"(?P<double>[^\"$`\r\n]*)\"|'(?P<single>[^'\r\n]*)'|\$\{?(?P<name>(?:env:|script:|global:)?\w+)\}?|(?P<other>\"[^\"\r\n]*\"?)",
        re.IGNORECASE,
    ),
}
_PLAIN = {"batch": re.compile(r"[^\s\"%!&|(),^@][^\s\"%!&|(),^]*"), "powershell": re.compile(r"[^\s\"'$;|(){},`]+")}
_ASSIGNED = {
    "batch": re.compile(r'(?i)[\s@(]*set[ \t]+(?:"(?P<quoted>\w+)=(?P<inside>[^"\r\n]*)"|(?P<name>\w+)=(?P<value>[^&|\r\n]*))'),
    "powershell": re.compile(r"(?i)\s*\$(?P<name>(?:env:|script:|global:)?\w+)\s*=(?!=)\s*"),
}


def read(source: Source, kind: str) -> ScriptParts:
    """Options, settings and launches of a file of a kind ("batch" or "powershell")."""
    reader = _WindowsReader(source, kind)
    for line in _LINES[kind].finditer(reader.text):
        if line[0].strip():
            reader.line(line.start(), line.end())
    return reader.parts()


class _WindowsReader:
    def __init__(self, source: Source, kind: str) -> None:
        self.source, self.kind = source, kind
        self.text = _BLOCK_COMMENT.sub(lambda found: blank_out(found[0]), source.text) if kind == "powershell" else source.text
        self.variables = Variables(self.text)
        self.settings: list[Setting] = []
        self.commands: list[tuple[int, int, list[Word]]] = []

    def line(self, start: int, end: int) -> None:
        """Take one line, with those that continue it."""
        if (comment := _COMMENTS[self.kind].search(self.text, start, end)) and (self.kind != "batch" or comment.start() == start):
            end = comment.start()
        given = _ASSIGNED[self.kind].match(self.text, start, end)
        if given is not None:
            self._read_assignment(given, end)
        if given is None or self.kind == "powershell":
            at = given.end() if given else start
            self.commands.append((start, end, list(self._read_words(at, end))))

    def _read_assignment(self, given: re.Match[str], end: int) -> None:
        if self.kind == "batch":
            part = "inside" if given["quoted"] else "value"
            name, word = given["quoted"] or given["name"], self._read_value(given.start(part), given.end(part))
        else:
            name, words = given["name"], list(self._read_words(given.end(), end))
            stops = [word for word in words if _BREAKS[self.kind].match(self.text, word[0].start)]
            word = words[0] if len(words) == 1 and not stops else ()
        inherited = self.kind == "batch" or name.lower().startswith("env:")
        if found := to_literal(word):
            line = self.source.position(found.start)[0]
            shown = name.rpartition(":")[2]
            kind = "export" if inherited else "variable"
            self.settings.append(Setting(shown, found.start, found.end, found.value, line, kind, found.quote))
        self.variables.add(Assignment(name.lower(), given.start(), word))

    def _read_value(self, start: int, end: int) -> Word:
        """A batch value, which runs to the end of its line: blanks at its end belong to it and mean nothing here."""
        text = self.text[start:end].rstrip()
        if re.search(r"[%!]", text):
            return (Fragment(None, start, start + len(text), start, start + len(text)),)
        return (Fragment(text, start, start + len(text), start, start + len(text)),) if text else ()

    def _read_words(self, at: int, end: int) -> Iterator[Word]:
        fragments: list[Fragment] = []
        while at < end:
            if gap := _GAPS[self.kind].match(self.text, at, end):
                yield from [tuple(fragments)] if fragments else []
                fragments, at = [], gap.end()
            elif stop := _BREAKS[self.kind].match(self.text, at, end):
                yield from [tuple(fragments)] if fragments else []
                yield (Fragment(";", stop.start(), stop.end(), stop.start(), stop.end()),)
                fragments, at = [], stop.end()
            else:
                fragments.append(self._read_fragment(at, end))
                at = fragments[-1].outer_end
        if fragments:
            yield tuple(fragments)

    def _read_fragment(self, at: int, end: int) -> Fragment:
        found = _FRAGMENTS[self.kind].match(self.text, at, end)
        if found is None:
            plain = _PLAIN[self.kind].match(self.text, at, end)
            until = plain.end() if plain else at + 1
            return Fragment(self.text[at:until], at, until, at, until)
        part = str(found.lastgroup)
        if part in ("double", "single"):
            quote = '"' if part == "double" else "'"
            text = found[part] if not re.search("[%!]", found[part]) or self.kind == "powershell" else None
            return Fragment(text, found.start(part), found.end(part), at, found.end(), quote)
        name = found[part].lower() if part != "other" else ""
        return Fragment(None, at, found.end(), at, found.end(), name=name)

    def parts(self) -> ScriptParts:
        """Work the commands out, now that every assignment is known."""
        options: dict[Option, None] = {}
        launches: list[Launch] = []
        programs: list[Program] = []
        for start, end, words in self.commands:
            for command in shell_commands.split_commands(self._expand_quoted_command(words)):
                program = command.program.replace("\\", "/")
                for name, word, taker, override in shell_commands.find_options(command):
                    for value in self.variables.values(word, start):
                        line, away = self.source.position(value.start)[0], not start <= value.start < end
                        program_of = taker.replace("\\", "/")
                        made = Option(
                            name, value.start, value.end, value.value, program_of, line, value.quote, start, away, override
                        )
                        options[made] = None
                if program:
                    word = command.words[command.index]
                    line = self.source.position(word[0].outer_start)[0]
                    programs.append(Program(program, word[0].outer_start, word[-1].outer_end, line, start))
                if command.launches:
                    first = command.words[0][0].outer_start
                    launches.append(Launch(program, first, end, self.source.position(first)[0], None, ""))
        in_order = sorted(options, key=lambda option: (option.start, option.used))
        return ScriptParts(tuple(in_order), tuple(self.settings), tuple(launches), (), (), tuple(programs))

    def _expand_quoted_command(self, words: list[Word]) -> list[Word]:
        """The words, with those of a quoted command line in its place."""
        found: list[Word] = []
        for word in words:
            text = get_known_text(word) or ""
            found += split_word(self.text, word) if re.search(r"\.py\s", text) else [word]
        return found
