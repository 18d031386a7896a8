"""From the words of one shell command: the program that it runs, that program's options, variables set for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod.parse.shell_words import Word, drop_characters, get_known_text, get_literal_head

_OPTION = re.compile(r"--?([A-Za-z_][\w.-]*)(=)?")
_OVERRIDE = re.compile(r"\+{0,2}([A-Za-z_][\w./@-]*)=")
_SETTING = re.compile(r"([A-Za-z_]\w*)=")
_SCRIPT = re.compile(r"[^=]*\.(?:py|sh|bash)")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.\w+)*")
_ENDS = frozenset({"&&", "||", "|", ";", "&"})
# A module of such a name starts the script or module that is named after it.
_LAUNCHERS = frozenset({"launch", "run", "launcher", "runner"})
# Words that are before a command and run it.
_CARRIERS = frozenset({"env", "nohup", "time", "sudo", "exec", "eval", "srun", "mpirun", "mpiexec", "xargs", "numactl", "nice"})
_SPEAKERS = frozenset({"echo", "printf"})  # what these are passed is reported, not run
_SETTERS = frozenset({"-e", "-x", "--env"})  # containers and MPI set a variable for the processes that they start


class Command(Struct, frozen=True):
    """One command: which of its words is the program, and whether that is a script or module."""

    words: list[Word]
    program: str
    index: int  # of the program's word
    launches: bool


def split_commands(words: list[Word]) -> Iterator[Command]:
    """The commands in a list of words, which may hold operators where a string was split."""
    part: list[Word] = []
    for word in [*words, None]:
        text = get_known_text(word) if word else ";"
        if word is None or text in _ENDS or (text or "").endswith(";"):
            if word and text not in _ENDS:
                part.append(_strip_semicolon(word))
            if part:
                yield _classify_command(part)
            part = []
        else:
            part.append(word)


def _strip_semicolon(word: Word) -> Word:
    """A word without the semicolon that ends it."""
    last = word[-1]
    cut = replace(last, text=(last.text or "")[:-1], end=last.end - 1, outer_start=last.start, outer_end=last.end - 1)
    return (*word[:-1], cut)


def _classify_command(words: list[Word]) -> Command:
    if get_known_text(words[0]) in _SPEAKERS:
        return Command(words[:1], str(get_known_text(words[0])), 0, False)
    for index, word in enumerate(words):
        text = _find_known_tail(word)
        if _SCRIPT.fullmatch(text) and not text.startswith("-"):
            return Command(words, text, index, True)
        if text == "-m" and index and index + 1 < len(words):
            module = get_known_text(words[index + 1]) or ""
            if _MODULE.fullmatch(module) and module.rpartition(".")[2] not in _LAUNCHERS:
                return Command(words, module, index + 1, True)
        if word and word[-1].found:
            return Command(words, word[-1].found, index, True)
    if get_literal_head(words[0]).startswith("-"):
        return Command(words, "", -1, False)  # options that some other command is passed
    for index, word in enumerate(words):
        text = get_known_text(word) or ""
        if text and text not in _CARRIERS and not _SETTING.match(text) and not text.startswith("-") and not text.isdigit():
            return Command(words, text.rpartition("/")[2], index, False)
        if not text:
            break
    return Command(words, "", 0, False)


def _find_known_tail(word: Word) -> str:
    """What is known of a word's end: ``train.py`` of ``$HERE/train.py``."""
    text = ""
    for fragment in reversed(word):
        if fragment.text is None:
            return text.lstrip("/")
        text = fragment.text + text
    return text


def find_settings(command: Command) -> Iterator[tuple[str, Word]]:
    """Variables that the words before the program set for it, or a container's options for what runs in it."""
    end = command.index if command.launches else len(command.words)
    for index, word in enumerate(command.words[:end]):
        before = get_known_text(command.words[index - 1]) if index else ""
        found = _SETTING.match(get_literal_head(word))
        if found and (before in _SETTERS or (index < command.index and _is_carried_by_env(command.words[:index]))):
            yield found[1], drop_characters(word, found.end())


def _is_carried_by_env(words: list[Word]) -> bool:
    return any(get_known_text(word) == "env" for word in words)


def find_options(command: Command) -> Iterator[tuple[str, Word, str, bool]]:
    """(name, value, program, whether it is an override) of every option; those before the program belong to what starts it."""
    words = command.words
    for index, word in enumerate(words):
        text = get_literal_head(word)
        if text == "-m" and index < command.index:
            continue
        program = command.program if index >= command.index else _find_launcher(words[: command.index])
        if found := _OPTION.match(text):
            if found[2]:
                yield found[1], drop_characters(word, found.end()), program, False
            elif found.end() == len(text) == len(get_known_text(word) or "") and index + 1 < len(words):
                value = words[index + 1]
                # after a flag without a value an override may be, which is then no value
                if (
                    not _OPTION.match(get_literal_head(value))
                    and not _OVERRIDE.match(get_literal_head(value))
                    and index + 1 != command.index
                ):
                    yield found[1], value, program, False
        elif index > command.index and (found := _OVERRIDE.match(text)):
            yield found[1], drop_characters(word, found.end()), program, True


def _find_launcher(words: list[Word]) -> str:
    """What starts the program: the module after ``-m``, else the first word."""
    texts = [get_known_text(word) or "" for word in words]
    for index, text in enumerate(texts[:-1]):
        if text == "-m" and _MODULE.fullmatch(texts[index + 1]):
            return texts[index + 1]
    return next((text.rpartition("/")[2] for text in texts if text and text not in _CARRIERS and not text.startswith("-")), "")
