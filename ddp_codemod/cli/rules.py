"""``rules list``, ``rules show ID``, ``rules schema [KIND]`` and ``rules test [DIR]``: read and test the rule data."""

from __future__ import annotations

import sys

import click
from msgspec.structs import replace

from ddp_codemod.cli.console import Console
from ddp_codemod.cli.errors import DONE, FOUND, make_failure, unknown_word
from ddp_codemod.cli.options import LANG, talk_options
from ddp_codemod.cli.run import existing_path, load_local_rules, load_rules
from ddp_codemod.cli.settings import Settings
from ddp_codemod.cli.translate import Group
from ddp_codemod.messages import in_language


@click.group("rules", cls=Group, help="help-rules-group")
@LANG
def command(lang: str | None) -> None:
    """Read and test the rule data."""


@command.command("list", help="help-rules-list")
@talk_options
def list_(settings: Settings) -> None:
    """Print a line for each rule and surface."""
    from ddp_codemod.report.table import format_table

    console = Console(settings.lang, settings.color)
    rules = load_local_rules(settings)
    rows = []
    for ident, fix in sorted(rules.fixes.items()):
        bringing = ", ".join(platform.id for platform in rules.platforms.values() if ident in platform.rules)
        rows.append((ident, in_language(fix, "title", settings.lang), bringing or console.text("rules-asked")))
    surfaces = [
        (ident, rules.frameworks[ident], ", ".join(one.name for one in surface.parameters))
        for ident, surface in sorted(rules.surfaces.items())
    ]
    advice = [(ident, in_language(one, "title", settings.lang)) for ident, one in sorted(rules.advice.items())]
    head, next_ = console.text("rules-head"), console.text("rules-next")
    for line in (
        head,
        *format_table(rows),
        "",
        console.text("surfaces-head"),
        *format_table(surfaces),
        "",
        console.text("advice-head"),
        *format_table(advice),
        "",
        console.text("rules-compared", releases=rules.compared),
        next_,
    ):
        console.out(line)


@command.command("show", help="help-rules-show")
@click.argument("ident", metavar="ID")
@talk_options
def show(settings: Settings, ident: str) -> None:
    """Print what a rule, platform or surface says, with its examples as diffs."""
    from ddp_codemod.report.rule import describe_rule

    console = Console(settings.lang, settings.color)
    rules = load_local_rules(settings)
    lines = describe_rule(ident, rules, settings.lang, console.ink(sys.stdout))
    if not lines:
        raise unknown_word("entry-unknown", ident, [*rules.fixes, *rules.platforms, *rules.surfaces, *rules.advice])
    for line in lines:
        console.out(line)


@command.command("schema", help="help-rules-schema")
@click.argument("kind", metavar="[KIND]", required=False)
@talk_options
def schema(settings: Settings, kind: str | None) -> None:
    """Print the JSON schema of rule files."""
    from ddp_codemod.catalog.schema import format_schema, kinds

    if kind is not None and kind not in kinds():
        raise unknown_word("rules-schema-unknown", kind, kinds(), known=", ".join(kinds()))
    Console(settings.lang, settings.color).raw(format_schema(kind).encode("utf-8"))


@command.command("test", help="help-rules-test")
@click.argument("folder", metavar="[DIR]", required=False)
@talk_options
def test(settings: Settings, folder: str | None) -> int:
    """Run the examples of the shipped rule data, or those of a folder alone."""
    from ddp_codemod.cli.diagnose import known_errors
    from ddp_codemod.run.examples import run_cases
    from ddp_codemod.run.log_examples import run_logs

    console = Console(settings.lang, settings.color)
    shipped = load_rules(settings.folders)
    rules = load_rules((*settings.folders, existing_path(folder))) if folder else shipped
    errors = known_errors(settings)
    own = known_errors(replace(settings, folders=(*settings.folders, existing_path(folder)))) if folder else errors
    try:
        results = [*run_cases(rules, shipped if folder else None), *run_logs(own, errors if folder else None)]
    except ValueError as why:
        raise make_failure("rules-bad", str(why)) from None
    wrong = [result for result in results if not result.ok]
    ink = console.ink(sys.stdout)
    for result in wrong:
        console.out(f"{ink(f'{result.id}: {result.fault}', 'bold', 'red')}: {result.title}")
        console.out(ink.diff(result.diff.rstrip("\n")))
    console.out(console.text("rules-tested", passed=len(results) - len(wrong), failed=len(wrong)))
    return FOUND if wrong else DONE
