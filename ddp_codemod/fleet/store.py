"""The folder of results: what is finished, and how something becomes so."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec

from ddp_codemod.fleet.keys import result_name
from ddp_codemod.fleet.model import Entry, Limits, Outcome, Reply, Trouble, Work
from ddp_codemod.write.results import append_line, publish

RECORD = "result.json"
LOG = "log.jsonl"
MARK = ".fleet"


class Store:
    """The results below ``out``."""

    def __init__(self, out: Path) -> None:
        self.out = out

    @classmethod
    def shared(cls, work: Work) -> Store | None:
        """The store, where this machine sees the folder that the run was started for."""
        try:
            seen = (Path(work.out) / MARK).read_text("utf-8") == work.token
        except OSError:
            return None
        return cls(Path(work.out)) if seen else None

    def finished(self, name: str, limits: Limits, again: bool = False) -> Outcome | None:
        """A result that need not be made again: a failure counts while its limits are the same, unless ``again`` is asked for."""
        try:
            outcome = msgspec.json.decode((self.out / name / RECORD).read_bytes(), type=Outcome)
        except (OSError, msgspec.DecodeError):
            return None
        if outcome.trouble is not None and (again or outcome.limits != limits):
            return None
        return replace(outcome, folder=name)

    def put(self, name: str, outcome: Outcome, files: Mapping[str, bytes]) -> None:
        """Keep a result; once it is there it is whole."""
        record = json.dumps(msgspec.to_builtins(replace(outcome, folder=name)), indent=1) + "\n"
        publish(self.out, name, {**files, RECORD: record.encode("utf-8")})
        self.log("stored", name)

    def keep(self, entry: Entry, work: Work, reply: Reply) -> Outcome:
        """Keep what became of an entry, unless git could not get it: the next run may have better luck."""
        # without a commit there is no name that it could be found under again
        if reply.outcome.commit is None or reply.outcome.trouble is Trouble.CLONE_FAILED:
            return reply.outcome
        name = result_name(entry, work, reply.outcome.commit)
        self.put(name, reply.outcome, reply.files)
        return replace(reply.outcome, folder=name)

    def log(self, event: str, name: str) -> None:
        """Note in the log what was begun or kept, when and where."""
        entry = {"time": round(time.time(), 3), "event": event, "what": name, "host": socket.gethostname(), "pid": os.getpid()}
        append_line(self.out / LOG, (json.dumps(entry) + "\n").encode("utf-8"))
