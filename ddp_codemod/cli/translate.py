"""Commands and options whose help is a message key, shown in the reader's language; the context's ``obj`` is that language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ddp_codemod.messages import text

F = TypeVar("F", bound=Callable[..., Any])


def lang_of(context: click.Context) -> str:
    """The reader's language, which ``main`` put into the context."""
    return context.find_object(str) or "en"


class Option(click.Option):
    """An option whose help text is a message key."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option's column and its help, in the reader's language."""
        record = super().get_help_record(ctx)
        return record and (record[0], text(self.help or "", lang_of(ctx)))


class Command(click.Command):
    """A command whose help text is a message key."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, add_help_option=False, **kwargs)
        _with_help_option(self)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage line."""
        formatter.write_usage(ctx.command_path, " ".join(self.collect_usage_pieces(ctx)), text("help-usage", lang_of(ctx)) + " ")

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does."""
        _write_help(self, ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        _write_options(self, ctx, formatter)


class Group(click.Group):
    """A group of such commands, listed in the order in which they were added."""

    command_class = Command

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, add_help_option=False, **kwargs)
        _with_help_option(self)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in order of use, not of the alphabet."""
        return list(self.commands)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the usage line."""
        formatter.write_usage(ctx.command_path, " ".join(self.collect_usage_pieces(ctx)), text("help-usage", lang_of(ctx)) + " ")

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the commands are for."""
        _write_help(self, ctx, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and the commands with the first line of their help."""
        _write_options(self, ctx, formatter)
        with formatter.section(text("help-commands", lang_of(ctx))):
            formatter.write_dl([(name, _first_line(self.commands[name], lang_of(ctx))) for name in self.list_commands(ctx)])


def option(*names: str, help: str, **attributes: Any) -> Callable[[F], F]:
    """Like click.option, with a message key for its help."""
    return click.option(*names, cls=Option, help=help, **attributes)


def _with_help_option(command: click.Command) -> None:
    def show(context: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not context.resilient_parsing:
            click.echo(context.get_help(), color=context.color)
            context.exit()

    switch: dict[str, Any] = {"is_flag": True, "expose_value": False, "is_eager": True, "callback": show}
    command.params.append(Option(["-h", "--help"], help="help-help", **switch))


def _first_line(command: click.Command, lang: str) -> str:
    return text(command.help or "", lang).split("\n", 1)[0]


def _write_help(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    formatter.write_paragraph()
    with formatter.indentation():
        for line in text(command.help or "", lang_of(ctx)).splitlines():
            formatter.write(" " * formatter.current_indent + line + "\n" if line else "\n")


def _write_options(command: click.Command, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    options = (parameter for parameter in command.get_params(ctx) if isinstance(parameter, Option))
    records = [record for option in options if (record := option.get_help_record(ctx)) is not None]
    if records:
        with formatter.section(text("help-options", lang_of(ctx))):
            formatter.write_dl(records)
