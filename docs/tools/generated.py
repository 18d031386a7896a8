"""The parts of pages that are made from the program itself: options, lists of commands, keys of pyproject.toml."""

from __future__ import annotations

from collections.abc import Iterator

import click
import matrix

from ddp_codemod.catalog.load import load
from ddp_codemod.cli.app import app
from ddp_codemod.cli.translate import Option, Reader
from ddp_codemod.discover.config import KEYS
from ddp_codemod.messages import in_language, text
from ddp_codemod.report.platform_table import column_titles, table_rows


def make(kind: str, argument: str, lang: str) -> list[str]:
    """The lines of one generated part."""
    return {
        "options": lambda: list(options(argument, lang)),
        "commands": lambda: list(commands(lang)),
        "platforms": lambda: list(platforms(lang)),
        "machines": lambda: list(machines(lang)),
        "matrix": lambda: list(matrix.table(lang)),
        "keys": lambda: ["", "| key | written as |", "|---|---|", *keys(), ""],
    }[kind]()


def known() -> dict[str, click.Command]:
    """Every command by its name, in order of use."""
    context = click.Context(app)
    return {name: command for name in app.list_commands(context) if (command := app.get_command(context, name)) is not None}


def keys() -> Iterator[str]:
    """A row for each key of pyproject.toml."""
    yield from (f"| `{name}` | `{key.written}` |" for name, key in KEYS.items())


def options(name: str, lang: str) -> Iterator[str]:
    """The usage line of a command, what its help says, and a table of its options."""
    first, *rest = name.split()
    command = known()[first]
    for word in rest:
        assert isinstance(command, click.Group)
        command = command.commands[word]
    context = click.Context(command, info_name=f"ddp-codemod {name}", obj=Reader(lang))
    yield ""
    yield f"    {' '.join(['ddp-codemod', name, *command.collect_usage_pieces(context)])}"
    yield ""
    yield from text(command.help or "", lang).strip().splitlines()
    yield ""
    yield from ("| 选项 | 作用 |", "|---|---|") if lang == "zh" else ("| option | does |", "|---|---|")
    for parameter in command.get_params(context):
        if isinstance(parameter, Option) and (record := parameter.get_help_record(context)) is not None:
            yield "| {} | {} |".format(*(_cell(part) for part in (f"`{record[0]}`", record[1])))
    yield ""


def commands(lang: str) -> Iterator[str]:
    """A line for each command, with a link to its page."""
    yield ""
    for name, command in known().items():
        yield f"- [`{name}`](commands/{name}.md): {text(command.help or '', lang).splitlines()[0]}"
    yield ""


def platforms(lang: str) -> Iterator[str]:
    """A table of the platforms."""
    yield from ("| id | 平台 |", "|---|---|") if lang == "zh" else ("| id | platform |", "|---|---|")
    for ident, platform in sorted(load().platforms.items()):
        yield f"| `{ident}` | {_cell(in_language(platform, 'title', lang))} |"


def machines(lang: str) -> Iterator[str]:
    """The table by which people find their platform."""
    first = column_titles(lang)
    yield f"| {' | '.join(first)} |"
    yield "|---" * len(first) + "|"
    for *told, ident in table_rows(load().platforms, lang):
        yield f"| {' | '.join(map(_cell, told))} | `{ident}` |"


def page_of(name: str) -> str:
    """The page of a command that has none yet: its options, and room for examples."""
    command = known()[name]
    parts = [f"{name} {sub}" for sub in command.commands] if isinstance(command, click.Group) else [name]
    blocks = [f"<!-- begin options {part} -->\n<!-- end -->" for part in parts]
    return "\n\n".join([f"# ddp-codemod {name}", *blocks]) + "\n"


def _cell(said: str) -> str:
    return " ".join(said.replace("|", "\\|").split())
