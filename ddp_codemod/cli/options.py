"""The options that commands share, and the settings they give."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ddp_codemod.cli.settings import MACHINES, NARROWED, Settings
from ddp_codemod.cli.translate import option, reader_of
from ddp_codemod.messages import LANGUAGES

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])


def complete_ids(kind: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """What a shell offers for an option that takes the id of a platform or rule."""

    def found(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from ddp_codemod.cli.completions import complete_ids

        return complete_ids(kind, incomplete)

    return found


def completed_by_files(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What a shell offers for an argument that is a path."""
    from ddp_codemod.cli.completions import complete_files

    return complete_files(incomplete)


LANG = option("--lang", type=click.Choice(LANGUAGES), help="help-lang")
_COLOR = option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="help-color")
_QUIET = option("-q", "--quiet", is_flag=True, help="help-quiet")

_FOLDERS = option("--rules", "folders", multiple=True, type=Path, metavar="DIR", help="help-rules")


def verbose(help: str) -> Callable[[F], F]:
    """-v, with what it shows more of."""
    return option("-v", "--verbose", is_flag=True, help=help)


_VERBOSE = verbose("help-verbose")
_NO_CACHE = option("--no-cache", is_flag=True, help="help-no-cache")
_OUTPUT = option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="help-output")


def _format_option(*names: str, help: str = "help-format") -> Callable[[F], F]:
    return option("--format", type=click.Choice(names), default="text", help=help)


_SURVEY_FORMAT = _format_option("text", "json", *MACHINES)
_SURVEY = (
    option("--platform", metavar="ID", help="help-platform", shell_complete=complete_ids("platforms")),
    option("--rule", "rules", multiple=True, metavar="ID", help="help-rule", shell_complete=complete_ids("rules")),
    _FOLDERS,
    option("--torch-version", metavar="VERSION", help="help-torch-version"),
    option("--env-in", type=click.Choice(["python", "shell"]), default="python", help="help-env-in"),
    option("--style", type=click.Choice(["pin", "portable"]), default="pin", help="help-style"),
    option("--unsafe", is_flag=True, help="help-unsafe"),
    option("--strict", is_flag=True, help="help-strict"),
    _SURVEY_FORMAT,
    _OUTPUT,
    _NO_CACHE,
    _QUIET,
    _VERBOSE,
    _COLOR,
    LANG,
)
_TALK = (_FOLDERS, _OUTPUT, _COLOR, LANG)
_PLAIN_FORMAT = option("--format", type=click.Choice(["text", "json"]), default="text", help="help-plain-format")
_MACHINE = (_FOLDERS, _PLAIN_FORMAT, _OUTPUT, _QUIET, _COLOR, LANG)


def _run_command(function: Callable[..., Any], settings: Settings, args: tuple[Any, ...], values: dict[str, Any]) -> Any:
    if settings.command not in NARROWED:
        return function(*args, settings=settings, **values)
    from ddp_codemod.cli.projects import run_each

    return run_each(settings, lambda part: function(*args, settings=part, **values))


def _add_settings(function: F, options: tuple[Callable[[Any], Any], ...]) -> F:
    names = set(Settings.__struct_fields__) - {"command", "paths", "json_lang", "words", "apart", "others"}

    @functools.wraps(function)
    def call(*args: Any, **values: Any) -> Any:
        known = {name: values.pop(name) for name in names & values.keys()}
        context = click.get_current_context()
        reader = reader_of(context)
        known |= {"lang": reader.lang, "json_lang": known.get("lang") or "en", "words": reader.words}
        settings = Settings(command=context.info_name or "", paths=values.pop("paths", ()), **known)
        if settings.output is not None:
            from ddp_codemod.cli.output import write_to_file

            return write_to_file(settings.output, lambda: _run_command(function, settings, args, values))
        return _run_command(function, settings, args, values)

    wrapped: Any = call
    for decorate in reversed(options):
        wrapped = decorate(wrapped)
    result: F = wrapped
    return result


def survey_options(function: F) -> F:
    """Give a command the options of everything that reads a project."""
    return _add_settings(function, _SURVEY)


def patch_options(function: F) -> F:
    """The same for ``diff``, whose patch can come as a mail."""
    mail = _format_option("text", "json", *MACHINES, "mbox", help="help-format-diff")
    return _add_settings(function, tuple(mail if one is _SURVEY_FORMAT else one for one in _SURVEY))


def fleet_options(function: F) -> F:
    """Give ``fleet`` those options of what reads projects that mean something for many."""
    other = {_SURVEY_FORMAT: _PLAIN_FORMAT, _VERBOSE: None, _OUTPUT: None, _NO_CACHE: None}
    return _add_settings(function, tuple(one for each in _SURVEY if (one := other.get(each, each)) is not None))


def review_options(function: F) -> F:
    """Give ``review`` those that mean something where each change is asked about."""
    return _add_settings(function, tuple(one for one in _SURVEY if one not in (_OUTPUT, _SURVEY_FORMAT)))


def narrow_options(function: F) -> F:
    """Let a command be about a part of what is found: some rules, what a branch changed."""
    for one in (
        option("--diff-base", metavar="REF", help="help-diff-base"),
        option("--ignore", multiple=True, metavar="RULE", help="help-ignore", shell_complete=complete_ids("rules")),
        option("--select", multiple=True, metavar="RULE", help="help-select", shell_complete=complete_ids("rules")),
    ):
        function = one(function)
    return function


def from_run_option(function: F) -> F:
    """Let a command make what a run of the project shows to be needed."""
    kind = click.Path(path_type=Path, dir_okay=False)
    return option("--from-run", type=kind, metavar="FILE", help="help-from-run")(function)


def submodules_option(function: F) -> F:
    """Let a command go through the submodules and clones below its paths too."""
    return option("--submodules", is_flag=True, help="help-submodules")(function)


def talk_options(function: F) -> F:
    """Give a command the options of everything that only prints rule data."""
    return _add_settings(function, _TALK)


def server_options(function: F) -> F:
    """Give ``lsp`` and ``mcp`` theirs: standard output is a protocol, not a document."""
    return _add_settings(function, tuple(one for one in _TALK if one is not _OUTPUT))


def undo_options(function: F) -> F:
    """Give ``undo`` its options."""
    return _add_settings(function, (_QUIET, _COLOR, LANG))


def machine_options(function: F) -> F:
    """Give a command the options of everything that looks at a machine or a log."""
    return _add_settings(function, _MACHINE)


def paths_argument(function: F) -> F:
    """PATH...: the files and folders to work on."""
    return click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=completed_by_files)(function)
