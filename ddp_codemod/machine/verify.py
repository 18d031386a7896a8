"""Runs a trial for real: ranks in processes of their own, started as mp.spawn does or by torchrun."""

from __future__ import annotations

import io
import json
import os
import re
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from msgspec import structs

from ddp_codemod.catalog.diagnostics import Diagnostics
from ddp_codemod.health import Diagnosis, Trial, TrialResult
from ddp_codemod.machine.diagnose import diagnose
from ddp_codemod.machine.processes import Crew, find_free_port
from ddp_codemod.machine.rendezvous import plan_rendezvous

WORKER = Path(__file__).with_name("worker.py")
MARK = b"@@ddp-codemod "
LAUNCHES = ("spawn", "torchrun")
IMPORT_SECONDS = 120.0  # beside a trial's own time: for starting Python and importing torch
SHOWN = 4000  # characters of the output's end that are kept
# The launcher's own words, which the ranks of a trial must not find in the environment.
_LAUNCHER = re.compile(r"(?:RANK|WORLD_SIZE|LOCAL_RANK|LOCAL_WORLD_SIZE|GROUP_RANK|ROLE_.*|MASTER_.*|TORCHELASTIC_.*)")


def attempt_trial(
    trial: Trial,
    launch: str,
    ranks: int,
    *,
    python: str,
    seconds: float,
    known: Diagnostics,
    device: str | None = None,
    hints: Collection[str] = (),
) -> TrialResult:
    """Form the group with this many ranks, and see; ``hints`` about the machine are known without its output. Raises OSError where Python cannot be started."""
    with tempfile.TemporaryDirectory(prefix="ddp-codemod-", ignore_cleanup_errors=True) as folder:
        environment = _make_environment(trial, folder)
        port = find_free_port()
        place = plan_rendezvous(trial.init_method, folder)
        if place.missing:
            error = f"{place.written}: there is no folder {place.missing} on this machine"
            return TrialResult(launch, ranks, "failed", error=error)
        told = {
            "backend": trial.backend,
            "init_method": place.url,
            "plugin": trial.plugin,
            "device": device,
            "seconds": seconds,
        }
        with Crew(environment, Path(folder)) as crew:
            _start_ranks(crew, launch, ranks, python, port, json.dumps(told))
            in_time = crew.wait(seconds + IMPORT_SECONDS)
            crew.end()
            tried = _judge_attempt(crew, launch, ranks, in_time, known, hints)
            if place.written and tried.state == "passed":
                return structs.replace(tried, state="elsewhere", error=place.written)
            return tried


def _start_ranks(crew: Crew, launch: str, ranks: int, python: str, port: int, told: str) -> None:
    if launch == "torchrun":
        run = ["-m", "torch.distributed.run", f"--nproc_per_node={ranks}", "--master_addr=127.0.0.1", f"--master_port={port}"]
        crew.start([python, *run, str(WORKER), told])
        return
    for rank in range(ranks):
        place = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks)}
        crew.start([python, str(WORKER), told], {**place, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)})


def _make_environment(trial: Trial, folder: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not _LAUNCHER.fullmatch(name)}
    places: Mapping[str, str] = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)  # nothing stays behind
    threads = {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}
    return {**kept, **places, **threads, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", **dict(trial.environment)}


def _judge_attempt(crew: Crew, launch: str, ranks: int, in_time: bool, known: Diagnostics, hints: Collection[str]) -> TrialResult:
    output = crew.output()
    events = [event for line in output.splitlines() if (event := _parse_event(line)) is not None]
    said = b"\n".join(line for line in output.splitlines() if MARK not in line)
    text = said.decode("utf-8", "replace").strip()[-SHOWN:]
    lacking = next((str(event["lacking"]) for event in events if event["step"] == "skipped"), None)
    if lacking is not None:
        return TrialResult(launch, ranks, "skipped", error=lacking)
    steps = _find_slowest(events)
    left = sum(event["step"] == "destroy" for event in events)
    if left == ranks and in_time and not any(crew.codes):
        return TrialResult(launch, ranks, "passed", steps)
    hung = not in_time or b"Timeout (" in said
    lead = _find_lead(said, known, hints)
    errors = [str(event["error"]) for event in events if event["step"] == "failed"]
    error = next(iter(errors), "") or (lead.first.text if lead else "")
    return TrialResult(
        launch, ranks, "hung" if hung and not errors else "failed", steps, error or f"exit codes {crew.codes}", text, lead
    )


def _find_lead(said: bytes, known: Diagnostics, hints: Collection[str]) -> Diagnosis | None:
    return next(iter(diagnose(io.BytesIO(said), known, hints=hints).diagnoses), None)


def _parse_event(line: bytes) -> dict[str, Any] | None:
    at = line.find(MARK)
    if at < 0:
        return None
    try:
        event: dict[str, Any] = json.loads(line[at + len(MARK) :])
    except ValueError:
        return None
    return event


def _find_slowest(events: list[dict[str, Any]]) -> tuple[tuple[str, float], ...]:
    slowest: dict[str, float] = {}
    for event in events:
        if "seconds" in event:
            slowest[event["step"]] = max(slowest.get(event["step"], 0.0), event["seconds"])
    return tuple(slowest.items())
