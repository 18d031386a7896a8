"""The entry point: runs a command and turns whatever stops it into a sentence and an exit code."""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ddp_codemod.cli.app import app
from ddp_codemod.cli.console import can_show, escape_output, escape_unencodable
from ddp_codemod.cli.errors import BROKEN_PIPE, DONE, FAILED, INTERRUPTED, Failure
from ddp_codemod.cli.fast_exit import exit_now, expect_exit
from ddp_codemod.cli.translate import NoWords, Reader, UnknownCommand
from ddp_codemod.messages import LANGUAGES, language, render, text

if TYPE_CHECKING:
    from typing import TextIO


COMPLETE = "_DDP_CODEMOD_COMPLETE"  # set by a shell that asks for completions, as click's documentation has it


def main(args: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit code; without one that of the process, which ends with it."""
    if args is not None:
        return _run_main(list(args))
    expect_exit()
    gc.set_threshold(100_000)  # hardly any of what a run makes is garbage before its end
    code = _run_main(sys.argv[1:])
    exit_now(code)
    return code


def _run_main(words: list[str]) -> int:
    _replace_closed_streams()
    asked = _find_lang_option(words)
    lang = language(asked, os.environ)
    if asked is None and not all(can_show(lang, stream) for stream in (sys.stdout, sys.stderr)):
        lang = LANGUAGES[0]
    for stream in (sys.stdout, sys.stderr):
        escape_unencodable(stream)
    try:
        if COMPLETE in os.environ:
            from ddp_codemod.cli.complete import answer_completion

            return answer_completion(COMPLETE, os.environ[COMPLETE], lang)
        code = _run_command(words, lang)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        _write_error(text("interrupted", lang))
        return INTERRUPTED
    except OSError as why:
        if isinstance(why, BrokenPipeError) or (sys.platform == "win32" and why.errno == errno.EINVAL and why.filename is None):
            _discard_stream(sys.stdout)
            return BROKEN_PIPE
        _write_error(text("error", lang, message=text("error-system", lang, why=why)))
        return FAILED


def _run_command(words: list[str], lang: str) -> int:
    try:
        with app.make_context("ddp-codemod", words, obj=Reader(lang, tuple(words))) as context:
            code = app.invoke(context)
            return code if isinstance(code, int) else DONE
    except NoWords as why:
        _write_error(why.ctx.get_help() if why.ctx else "")
        return FAILED
    except click.exceptions.Exit as why:
        return why.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.UsageError as why:
        _write_error(text("error", lang, message=_format_usage_error(why, lang)))
        _write_error(text("error-usage-next", lang, command=f"{why.ctx.command_path if why.ctx else 'ddp-codemod'} --help"))
    except Failure as why:
        _write_error(text("error", lang, message=render(why.reason, lang)))
        for line in why.lines:
            _write_error("  " + line.replace("\n", "\n  "))
        return why.code
    return FAILED


def _format_usage_error(why: click.UsageError, lang: str) -> str:
    if isinstance(why, click.NoSuchOption):
        near = text("usage-near", lang, near=why.possibilities[0]) if why.possibilities else ""
        return text("usage-option", lang, option=why.option_name, near=near)
    if isinstance(why, UnknownCommand):
        near = text("usage-near", lang, near=why.near) if why.near else ""
        return text("usage-command", lang, command=why.command_name, near=near)
    if isinstance(why, click.MissingParameter) and why.param is not None:
        return text("usage-missing", lang, parameter=why.param.metavar or why.param.name)
    if isinstance(why, click.BadParameter) and isinstance(why.param, click.Option) and isinstance(why.param.type, click.Choice):
        return text("usage-choice", lang, option=why.param.opts[-1], choices=", ".join(why.param.type.choices))
    return why.format_message()


def _replace_closed_streams() -> None:
    """Put the null device in the place of a standard stream that is closed."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123


def _find_lang_option(words: list[str]) -> str | None:
    for index, word in enumerate(words):
        if word == "--lang":
            return words[index + 1] if index + 1 < len(words) else None
        if word.startswith("--lang="):
            return word.removeprefix("--lang=")
    return None


def _write_error(line: str) -> None:
    sys.stdout.flush()
    sys.stderr.write(escape_output(line) + "\n")


def _discard_stream(stream: TextIO) -> None:
    # the interpreter flushes standard output once more at its end, into the pipe that is gone
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
