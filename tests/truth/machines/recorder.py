"""Runs programs up to the creation of their process group and writes down with which values they would create it.

    recorder.py JOBS RESULTS

JOBS is a JSON list of {"machine", "entry", "arguments", "environment"}; RESULTS gets a list of {"records", "error"}.
torch is imported once; each job runs in a fork of this process, as many at a time as there are processors.
"""

from __future__ import annotations

import inspect
import json
import os
import runpy
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

import imitate
import torch
import torch.distributed as dist
import torch.multiprocessing

WATCHED = ("USE_LIBUV", "NCCL_")
PLUGIN_FOLDER = Path(__file__).with_name("plugins")
PLUGINS = ["habana_frameworks.torch.distributed.hccl", *(path.stem for path in PLUGIN_FOLDER.glob("*.py"))]


class Recorded(BaseException):
    """The group would exist now; there is nothing more to see."""


def recorder(records: list[dict[str, Any]], name: str) -> Any:
    signature = inspect.signature(getattr(dist, name))

    def record(*positional: Any, **keywords: Any) -> None:
        given = signature.bind(*positional, **keywords).arguments
        environment = {key: value for key, value in os.environ.items() if key.startswith(WATCHED)}
        records.append(
            {
                "call": name,
                "backend": given.get("backend"),
                "init_method": given.get("init_method"),
                "environment": environment,
                "plugins": [plugin for plugin in PLUGINS if plugin in sys.modules],
            }
        )
        raise Recorded

    return record


def run(job: dict[str, Any], result: Path) -> None:
    """In the fork: become the machine, run the entry, write the result."""
    records: list[dict[str, Any]] = []
    error = None
    root = job["machine"]["root"]
    os.environ.update(job["environment"])
    imitate.install(job["machine"])
    for name in ("init_process_group", "new_group"):
        replacement = recorder(records, name)
        setattr(dist, name, replacement)
        setattr(dist.distributed_c10d, name, replacement)
    torch.multiprocessing.spawn = lambda function, args=(), nprocs=1, **_options: function(0, *args)
    os.chdir(root)
    entry = Path(root, job["entry"])
    sys.path[:0] = [str(entry.parent), *([str(PLUGIN_FOLDER)] if job["machine"].get("plugins", True) else [])]
    sys.argv = [str(entry), *job["arguments"]]
    try:
        runpy.run_path(str(entry), run_name="__main__")
    except Recorded:
        pass
    except BaseException:
        error = traceback.format_exc()
    result.write_text(json.dumps({"records": records, "error": error}), encoding="utf-8")


def main() -> None:
    jobs = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    results = Path(sys.argv[2])
    parts = [results.with_name(f"{results.name}.{number}") for number in range(len(jobs))]
    free = os.cpu_count() or 1
    for job, part in zip(jobs, parts, strict=True):
        if free == 0:
            os.wait()
            free += 1
        if os.fork() == 0:
            try:
                run(job, part)
            finally:
                sys.stdout.flush()
                os._exit(0)
        free -= 1
    with suppress(ChildProcessError):
        while True:
            os.wait()
    done = [json.loads(part.read_text(encoding="utf-8")) for part in parts]
    results.write_text(json.dumps(done), encoding="utf-8")


if __name__ == "__main__":
    main()
