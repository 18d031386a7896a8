"""What stops a command: a sentence, an exit code, and what to type next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol

from ddp_codemod.messages import text
from ddp_codemod.model import Reason

DONE = 0
FOUND = 1  # something is left to do, or a candidate file could not be read
FAILED = 2  # the job could not be done
UNKNOWN = 3  # a log holds an error that is not known
INTERRUPTED = 130
BROKEN_PIPE = 141  # as a program ends whose reader went away


class Failure(Exception):
    """The job could not be done. ``lines`` follow the message as they are: commands to choose from, the text of a cause."""

    def __init__(self, reason: Reason, lines: tuple[str, ...] = (), code: int = FAILED) -> None:
        super().__init__(reason.key)
        self.reason, self.lines, self.code = reason, lines, code


def unknown_word(key: str, word: str, known: Iterable[str], meant: Mapping[str, str] = {}, /, **args: object) -> Failure:
    """A failure about a word that nothing is called; its message ends in a hint at the nearest known one, or what the word means."""
    from difflib import get_close_matches

    near = [meant[word]] if word in meant else get_close_matches(word, list(known), n=1)
    hint, hint_zh = (text("hint-near", lang, near=near[0]) if near else "" for lang in ("en", "zh"))
    return Failure(Reason.of(key, word=word, hint=hint, hint_zh=hint_zh, **args))


class Refusal(Protocol):
    """What ``write`` raises: ``names`` are files, relative to the root."""

    reason: Reason
    names: tuple[str, ...]


def refusal_failure(why: Refusal, root: Path) -> Failure:
    """A failure from a refusal to write, with the files as the reader would type them."""
    from ddp_codemod.report.view import format_typed_path

    return Failure(why.reason, tuple(format_typed_path(root.absolute() / name, Path.cwd()) for name in why.names))


def make_failure(key: str, /, *lines: str, **args: object) -> Failure:
    """A failure from a message key and its arguments."""
    return Failure(Reason.of(key, **args), lines)
