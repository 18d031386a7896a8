"""``fleet LIST``: many repositories, on this machine's cores or on a Dask cluster."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ddp_codemod.cli.console import Console
from ddp_codemod.cli.errors import DONE, FOUND, INTERRUPTED, Failure, make_failure
from ddp_codemod.cli.options import completed_by_files, fleet_options
from ddp_codemod.cli.run import check_rule_ids, load_rules, read_versions
from ddp_codemod.cli.settings import Settings
from ddp_codemod.cli.translate import Command, option
from ddp_codemod.messages import render
from ddp_codemod.model import Reason

if TYPE_CHECKING:
    from ddp_codemod.catalog.load import Rules
    from ddp_codemod.fleet.listing import Listing

_SHOWN = 10  # wrong lines that are shown at a time
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_LEAST_MEMORY = 256 << 20  # bytes; the engine itself fits in


class Size(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic in new versions of click
    """A number of bytes: 512M, 4G."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The bytes."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", str(value).strip().lower())
        if found is None:
            raise make_failure("fleet-size", option=param.opts[0] if param else "", value=value)
        return int(float(found[1]) * _UNITS[found[2]])


@click.command("fleet", cls=Command, help="help-fleet")
@click.argument("listing", metavar="LIST", shell_complete=completed_by_files)
@option("--out", type=click.Path(path_type=Path, file_okay=False), required=True, metavar="DIR", help="help-fleet-out")
@option("--scheduler", metavar="ADDRESS", help="help-fleet-scheduler")
@option("--workers", type=click.IntRange(min=1), metavar="N", help="help-fleet-workers")
@option("--sample", type=click.IntRange(min=1), metavar="N", help="help-fleet-sample")
@option("--retry-failed", is_flag=True, help="help-fleet-retry")
@option("--timeout", type=click.FloatRange(min=1), default=900.0, metavar="SECONDS", help="help-fleet-timeout")
@option("--cpu-limit", type=click.FloatRange(min=1), default=600.0, metavar="SECONDS", help="help-fleet-cpu")
@option("--memory-limit", type=Size(), default="4G", metavar="SIZE", help="help-fleet-memory")
@option("--size-limit", type=Size(), default="4G", metavar="SIZE", help="help-fleet-size")
@fleet_options
def command(
    settings: Settings,
    listing: str,
    out: Path,
    scheduler: str | None,
    workers: int | None,
    sample: int | None,
    retry_failed: bool,
    timeout: float,
    cpu_limit: float,
    memory_limit: int,
    size_limit: int,
) -> int:
    """Rewrite every repository of a list."""
    if sys.platform == "win32":
        raise make_failure("fleet-windows")
    if memory_limit < _LEAST_MEMORY:
        raise make_failure("fleet-memory-least", least="256M")
    from ddp_codemod.cli.fleet_run import FleetRequest, run_fleet
    from ddp_codemod.fleet.model import Limits

    console = Console(settings.lang, settings.color, settings.quiet)
    rules = load_rules(settings.folders)
    check_rule_ids(settings.rules, rules)
    read_versions(settings, rules)
    if settings.platform is not None:
        from ddp_codemod.cli.platform import known_platform

        known_platform(settings.platform, rules)
    asked = FleetRequest(
        settings=settings,
        console=console,
        listing=_read_list(settings, console, listing, rules),
        out=_open_folder(out),
        scheduler=scheduler,
        workers=workers,
        sample=sample,
        again=retry_failed,
        limits=Limits(timeout, cpu_limit, memory_limit, size_limit),
    )
    from ddp_codemod.write.errors import WriteError
    from ddp_codemod.write.lock import exclusive_lock

    try:
        with exclusive_lock(asked.out):
            failed, reviewed = run_fleet(asked)
    except WriteError as why:
        raise Failure(why.reason) from None
    except KeyboardInterrupt:
        console.error(console.text("fleet-interrupted"))
        return INTERRUPTED
    return FOUND if failed or (settings.strict and reviewed) else DONE


def _read_list(settings: Settings, console: Console, name: str, rules: Rules) -> Listing:
    """Read the list. Raises Failure that names each wrong line and what was expected there."""
    from ddp_codemod.fleet.listing import Reader
    from ddp_codemod.fleet.model import Entry

    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as why:
        line = why.object.count(b"\n", 0, why.start) + 1
        raise make_failure("fleet-list-encoding", path=name, line=line) from None
    except OSError as why:
        raise make_failure("fleet-list-unreadable", path=name, why=why.strerror or why) from None
    base = Path.cwd() if name == "-" else Path(name).absolute().parent
    default = Entry(
        repository="", platform=settings.platform or "", rules=settings.rules, style=settings.style, env_in=settings.env_in,
        torch_version=settings.torch_version, unsafe=settings.unsafe,
    )  # fmt: skip
    reader = Reader(base, default, rules.platforms, rules.fixes)
    listing = reader.read(lines)
    if listing.wrong:
        told = [f"{name}:{wrong.line}: {render(wrong.reason, settings.lang)}" for wrong in listing.wrong[:_SHOWN]]
        raise Failure(Reason.of("fleet-list-wrong", n=len(listing.wrong), path=name), tuple(told))
    if not listing.entries:
        raise make_failure("fleet-list-nothing", path=name)
    if listing.repeated:
        console.say(console.text("fleet-list-repeated", n=listing.repeated, path=name))
    return listing


def _open_folder(out: Path) -> Path:
    """The folder of results. Raises Failure for one that holds other things."""
    from ddp_codemod.fleet.store import MARK

    try:
        out.mkdir(parents=True, exist_ok=True)
        if not (out / MARK).exists() and any(out.iterdir()):
            raise make_failure("fleet-out-other", path=out)
    except OSError as why:
        raise make_failure("fleet-out-unwritable", path=out, why=why.strerror or why) from None
    return out.absolute()
