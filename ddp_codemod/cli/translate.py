"""Commands and options whose help is a message key, shown in the reader's language; the context's ``obj`` is the reader."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct

from ddp_codemod.messages import text

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])


class Reader(Struct, frozen=True):
    """Who types: the language to answer in, and the words of the command line."""

    lang: str = "en"
    words: tuple[str, ...] = ()


def reader_of(context: click.Context) -> Reader:
    """The reader, whom ``main`` put into the context."""
    return context.find_object(Reader) or Reader()


def lang_of(context: click.Context) -> str:
    """The reader's language."""
    return reader_of(context).lang


class UnknownCommand(click.UsageError):
    """A name that no command has, and the nearest one."""

    def __init__(self, name: str, near: str, context: click.Context) -> None:
        super().__init__(name, context)
        self.command_name, self.near = name, near


class NoWords(click.UsageError):
    """A group was called without a command."""


class Option(click.Option):
    """An option whose help text is a message key."""

    def __init__(self, *names: Any, help: str, **attributes: Any) -> None:
        """As click does, which would load a module to tidy up the help."""
        super().__init__(*names, **attributes)
        self.help = help

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option's column and its help, in the reader's language."""
        record = super().get_help_record(ctx)
        return record and (record[0], text(self.help or "", lang_of(ctx)))


def option(*names: str, help: str, **attributes: Any) -> Callable[[F], F]:
    """Like click.option, with a message key for its help."""
    return click.option(*names, cls=Option, help=help, **attributes)


class Command(click.Command):
    """A command whose help text is a message key."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """As click does, with the help in the reader's language."""
        found = super().shell_complete(ctx, incomplete)
        for item in found:
            item.help = item.help and text(item.help, lang_of(ctx)).split("\n")[0]
        return found

    def get_help_option(self, ctx: click.Context) -> click.Option:
        """-h and --help, in the reader's language."""
        return Option(["-h", "--help"], is_flag=True, expose_value=False, is_eager=True, callback=_show_help, help="help-help")

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage line."""
        usage = " ".join(self.collect_usage_pieces(ctx))
        formatter.write_usage(ctx.command_path, usage, text("help-usage", lang_of(ctx)) + " ")

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does, in lines as they are."""
        formatter.write_paragraph()
        for line in text(self.help or "", lang_of(ctx)).splitlines():
            formatter.write(f"  {line}".rstrip() + "\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options; arguments are in the usage line."""
        options = (parameter for parameter in self.get_params(ctx) if isinstance(parameter, Option))
        with formatter.section(text("help-options", lang_of(ctx))):
            formatter.write_dl([record for option in options if (record := option.get_help_record(ctx)) is not None])


class Group(Command, click.Group):
    """A group of such commands, listed in the order in which they were added."""

    command_class = Command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does; without a word the same is raised with every release of it."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            raise NoWords("", ctx)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does; a name that is none raises the same with every release of it."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            from difflib import get_close_matches

            raise UnknownCommand(args[0], next(iter(get_close_matches(args[0], self.list_commands(ctx), 1)), ""), ctx)
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in order of use, not of the alphabet."""
        return list(self.commands)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and the commands with the first line of their help."""
        super().format_options(ctx, formatter)
        with formatter.section(text("help-commands", lang_of(ctx))):
            commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
            formatter.write_dl([(name, text(one.help or "", lang_of(ctx)).split("\n")[0]) for name, one in commands if one])


def _show_help(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        # click.echo would go round the encoding of an ASCII console
        sys.stdout.write(context.get_help() + "\n")
        context.exit()
