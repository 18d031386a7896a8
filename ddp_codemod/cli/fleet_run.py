"""Carries a fleet run out and tells about it: progress, failures, and the summary at its end."""

from __future__ import annotations

import contextlib
import secrets
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct, field

from ddp_codemod import __version__
from ddp_codemod.cli.console import Console
from ddp_codemod.cli.errors import make_failure
from ddp_codemod.cli.settings import Settings
from ddp_codemod.fleet.cluster import Machines, NoCluster, count_cores, open_cluster
from ddp_codemod.fleet.estimate import Estimate, Interval, draw_sample, estimate_run
from ddp_codemod.fleet.keys import digest_rules, read_rule_files
from ddp_codemod.fleet.listing import Listing
from ddp_codemod.fleet.model import Entry, Limits, Outcome, Work
from ddp_codemod.fleet.overview import render_overview
from ddp_codemod.fleet.progress import Progress, format_duration
from ddp_codemod.fleet.run import FEW, Done, Kept, LostScheduler, find_finished, run_entries, run_locally
from ddp_codemod.fleet.store import MARK, Store
from ddp_codemod.fleet.summary import encode_summary, encode_table
from ddp_codemod.fleet.totals import Totals
from ddp_codemod.write.clone import strip_credentials
from ddp_codemod.write.results import STAGING, remove_folder, write_file

PAGE = "index.html"


class FleetRequest(Struct, frozen=True):
    """A checked request."""

    settings: Settings
    console: Console
    listing: Listing
    out: Path
    scheduler: str | None
    workers: int | None
    sample: int | None
    again: bool
    limits: Limits


class _Tally(Struct):
    """What has come in so far."""

    asked: FleetRequest
    progress: Progress
    total: int
    outcomes: list[Outcome] = field(default_factory=list)
    sums: Totals = field(default_factory=Totals)

    def take(self, done: Done) -> None:
        """One more repository."""
        console = self.asked.console
        self.outcomes.append(done.outcome)
        self.sums.add(done.outcome, done.kept)
        self.progress.step()
        if done.outcome.trouble is not None:
            place, trouble = strip_credentials(done.entry.repository), done.outcome.trouble.value
            text = console.text(f"fleet-page-state-{trouble}")
            console.say(console.text("fleet-failed", place=place, trouble=text, detail=done.outcome.detail))
        console.working(self.progress.line(len(self.outcomes), self.sums, bar=True))
        if not sys.stderr.isatty() and self.progress.due():
            console.say(self.progress.line(len(self.outcomes), self.sums, bar=False))


def run_fleet(asked: FleetRequest) -> tuple[int, int]:
    """Run, keep, tell; how many repositories failed, and how many a user has to look at."""
    console = asked.console
    entries: Sequence[Entry] = asked.listing.entries
    if asked.sample is not None:
        entries = draw_sample(entries, asked.sample)
    work = _make_work(asked)
    remove_folder(asked.out / STAGING)  # what was half-made when an earlier run was ended
    write_file(asked.out / MARK, work.token.encode("utf-8"))
    kept = Kept(Store(asked.out), work)
    console.say(console.text("fleet-begin", n=len(entries), out=asked.out))
    tally = _Tally(asked, Progress(len(entries), asked.settings.lang), len(entries))
    started = time.monotonic()
    workers = asked.workers or count_cores()
    try:
        left: list[Entry] = []
        with contextlib.closing(find_finished(entries, kept)) as ones:  # an interrupt is not to wait for all servers
            for one in ones:
                tally.take(one) if isinstance(one, Done) else left.append(one)
        if left:
            workers = _run_remaining(asked, work, kept, left, tally)
    finally:  # an interrupted run has its summary too
        guess = _make_estimate(asked, tally, workers)
        told = _format_estimate(asked, guess) if guess else []
        _save_summary(asked, tally, guess, told)
    _report_end(asked, tally, told, time.monotonic() - started)
    return tally.sums.failed, tally.sums.review


def _make_work(asked: FleetRequest) -> Work:
    settings = asked.settings
    folders = tuple(read_rule_files(folder) for folder in settings.folders)
    return Work(
        out=str(asked.out), token=secrets.token_hex(8), version=__version__, rules=digest_rules(folders), folders=folders,
        lang=settings.json_lang, page_lang=settings.lang, limits=asked.limits, again=asked.again,
    )  # fmt: skip


def _run_remaining(asked: FleetRequest, work: Work, kept: Kept, left: Sequence[Entry], tally: _Tally) -> int:
    """Give the rest to the machines; how many there were."""
    console = asked.console
    if asked.scheduler is None and len(left) <= FEW:
        workers = asked.workers or count_cores()
        with contextlib.closing(run_locally(left, kept, workers)) as few:
            for done in few:
                tally.take(done)
        return workers
    with _start_machines(asked, work) as machines:
        workers = machines.workers
        console.say(console.text("fleet-machines", n=workers, dashboard=machines.dashboard))
        if not workers:
            console.say(console.text("fleet-no-workers", address=asked.scheduler))
        try:
            for done in run_entries(left, kept, machines):
                tally.take(done)
        except LostScheduler:
            raise make_failure("fleet-lost", done=len(tally.outcomes), total=tally.total) from None
        return workers or machines.workers


@contextlib.contextmanager
def _start_machines(asked: FleetRequest, work: Work) -> Iterator[Machines]:
    with contextlib.ExitStack() as stack:
        try:
            machines = stack.enter_context(open_cluster(asked.scheduler, asked.workers, work))
        except NoCluster as why:
            if why.missing:
                raise make_failure("fleet-no-dask", why=why) from None
            raise make_failure("fleet-no-scheduler", address=asked.scheduler, why=why) from None
        yield machines


def _make_estimate(asked: FleetRequest, tally: _Tally, workers: int) -> Estimate | None:
    if asked.sample is None or not tally.outcomes:
        return None
    return estimate_run(tally.outcomes, len(asked.listing.entries), max(workers, 1))


def _format_estimate(asked: FleetRequest, guess: Estimate) -> list[str]:
    console, lang = asked.console, asked.settings.lang

    def between(interval: Interval) -> dict[str, str]:
        return {"value": f"{interval.value:.0f}", "low": f"{interval.low:.0f}", "high": f"{interval.high:.0f}"}

    times = {name: format_duration(getattr(guess.seconds, name), lang) for name in ("value", "low", "high")}
    return [
        console.text("fleet-sample", sample=guess.sample, whole=guess.whole),
        console.text("fleet-sample-time", workers=guess.workers, **times),
        console.text("fleet-sample-effort", **between(guess.effort)),
        console.text("fleet-sample-review", **between(guess.to_review)),
        console.text("fleet-sample-edits", **between(guess.edits)),
        console.text("fleet-sample-failed", **between(guess.failed)),
    ]


def _save_summary(asked: FleetRequest, tally: _Tally, guess: Estimate | None, told: Sequence[str]) -> None:
    outcomes = tally.outcomes
    write_file(asked.out / "summary.json", encode_summary(outcomes, guess, len(asked.listing.entries)))
    write_file(asked.out / "summary.csv", encode_table(outcomes))
    write_file(asked.out / PAGE, render_overview(outcomes, asked.settings.lang, told, guess))
    remove_folder(asked.out / STAGING)  # what workers that were killed left half-made


def _report_end(asked: FleetRequest, tally: _Tally, told: Sequence[str], seconds: float) -> None:
    console, sums = asked.console, tally.sums
    if asked.settings.format == "json":
        console.raw((asked.out / "summary.json").read_bytes())
        return
    took = format_duration(seconds, asked.settings.lang)
    ink = console.ink(sys.stdout)
    console.out(ink(console.text("fleet-done", n=sums.repositories, kept=sums.kept, took=took), "bold"))
    console.out(console.text("fleet-sums", edits=sums.edits, files=sums.files, edited=sums.edited))
    console.out(console.text("fleet-effort", places=sums.review_sites + sums.not_applied + sums.skipped, review=sums.review))
    if sums.failed:
        types = console.text("list-comma").join(
            f"{n} {console.text(f'fleet-page-state-{trouble}')}" for trouble, n in sums.troubles.most_common()
        )
        console.out(ink(console.text("fleet-failures", n=sums.failed, types=types), "yellow"))
    for line in told:
        console.out(line)
    console.out(console.text("fleet-page", path=asked.out / PAGE))
