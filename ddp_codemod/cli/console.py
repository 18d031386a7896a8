"""Standard output and error: what a command gives goes to the first, what it says about its work to the second."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

from msgspec import Struct

from ddp_codemod.messages import text
from ddp_codemod.report.escaping import escape_controls, escape_log_commands
from ddp_codemod.report.ink import Ink, escape_for_terminal

PIPELINES = ("CI", "GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")  # variables that say so


def escape_unencodable(stream: TextIO) -> None:
    """Write a character that the console's code page lacks as an escape instead of an error."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def can_show(lang: str, stream: TextIO) -> bool:
    """Whether the console's code page has the characters of a language."""
    try:
        text("help-usage", lang).encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


class Console(Struct):
    """The two streams of one run."""

    lang: str
    color: str = "auto"
    quiet: bool = False
    _progress: bool = False
    _printed_lines: int = 0  # lines of the screen that are taken

    def ink(self, stream: TextIO) -> Ink:
        """Color for a stream: as asked, else only on a terminal (https://no-color.org)."""
        if self.color != "auto":
            return Ink(self.color == "always")
        return Ink(_can_take_escapes(stream) and not os.environ.get("NO_COLOR"))

    def width(self, stream: TextIO) -> int:
        """The cells of a line: those of the terminal, or of COLUMNS where that is set; 0, no limit, elsewhere."""
        if not stream.isatty() and not os.environ.get("COLUMNS", "").isdigit():
            return 0
        from shutil import get_terminal_size

        return get_terminal_size().columns

    def folded(self, line: str, stream: TextIO, rest: int = 2) -> str:
        """A line cut at words for a stream's width, what goes on indented."""
        if not (width := self.width(stream)):
            return line
        from ddp_codemod.report.table import wrap_text

        return "\n".join(wrap_text(line, max(width - 1, 40), "", " " * rest))

    def room(self, screen: int) -> int:
        """How many lines of a screen are left below what was reported."""
        return screen - self._printed_lines

    def out(self, line: str = "") -> None:
        """Write a line of the result, with nothing in it that changes a terminal but our own colors."""
        self._clear_progress()
        sys.stdout.write(escape_output(line) + "\n")

    def raw(self, data: bytes) -> None:
        """Write bytes of the result: to a file or a program as they are, to a terminal with control characters as escapes."""
        self._clear_progress()
        sys.stdout.flush()
        if sys.stdout.isatty():
            shown = data.replace(b"\r\n", b"\n").decode("utf-8", "surrogateescape")
            sys.stdout.write(escape_controls(shown))
            return
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def flush(self) -> None:
        """Hand all of the result over. Raises OSError where nothing takes it."""
        sys.stdout.flush()

    def say(self, line: str) -> None:
        """Talk, unless told to be quiet."""
        if not self.quiet:
            self.error(line)

    def error(self, line: str) -> None:
        """Say what the reader has to know, quiet or not."""
        self._clear_progress()
        self._printed_lines += line.count("\n") + 1
        sys.stdout.flush()  # so that the two streams come in order on a terminal
        sys.stderr.write(escape_output(line) + "\n")
        sys.stderr.flush()

    def text(self, key: str, /, **args: object) -> str:
        """A sentence in the reader's language."""
        return text(key, self.lang, **args)

    def progress(self, name: str, done: int, total: int) -> None:
        """Show how far long work has come, and the file it is at."""
        self.working(self.text("progress", name=name, done=done + 1, total=total))

    def working(self, line: str) -> None:
        """Show what takes long: one line on a terminal, nothing elsewhere."""
        if self.quiet or not _can_take_escapes(sys.stderr):
            return
        from shutil import get_terminal_size

        shown, room = escape_controls(line).replace("\n", "\\n"), get_terminal_size().columns - 1
        if shown.isascii():
            shown = shown[:room]
        else:
            from ddp_codemod.report.table import cut_to_width

            shown = cut_to_width(shown, room)
        sys.stderr.write("\r\x1b[K" + shown)
        sys.stderr.flush()
        self._progress = True

    def _clear_progress(self) -> None:
        if self._progress:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._progress = False


def escape_output(line: str) -> str:
    """What may go to a terminal, or into the log of a pipeline, which is read for commands."""
    shown = escape_for_terminal(line)
    return escape_log_commands(shown) if any(name in os.environ for name in PIPELINES) else shown


def _can_take_escapes(stream: TextIO) -> bool:
    """Whether a stream is a terminal that takes escape sequences; a Windows console has to be asked for it."""
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        return False
    if sys.platform != "win32":
        return True
    import ctypes

    kernel = ctypes.windll.kernel32
    for handle in (kernel.GetStdHandle(-11), kernel.GetStdHandle(-12)):  # standard output and error
        mode = ctypes.c_ulong()
        if kernel.GetConsoleMode(handle, ctypes.byref(mode)):
            return bool(kernel.SetConsoleMode(handle, mode.value | 0x0004))  # ENABLE_VIRTUAL_TERMINAL_PROCESSING
    return False
