"""Lets another Python answer the questions of ``probe``, under time limits."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ddp_codemod.machine.orphans import spare

SECONDS = 30.0  # for a question
LONGER = {"torch": 180.0}  # which can take a minute and more to import from a network drive
PATIENCE = 5.0  # seconds after which it is reported what is waited for
_INSIDE = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
PROBE = Path(__file__).with_name("probe.py")


def default_python(environ: Mapping[str, str] = os.environ) -> str:
    """The Python that the user has chosen: the active environment's, else the path's, else this one.

    One that lies in the project counts only where it is active: it may have come with the project, and would run what it holds.
    """
    for home in (environ.get("VIRTUAL_ENV"), environ.get("CONDA_PREFIX")):
        if home and (python := Path(home, *_INSIDE)).is_file():
            return str(python)
        if home and sys.platform == "win32" and (python := Path(home, "python.exe")).is_file():  # conda
            return str(python)
    return _find_on_path("python") or _find_on_path("python3") or sys.executable


def find_environment_python(folder: Path) -> str | None:
    """The Python of an environment that lies in a folder."""
    found = (Path(folder, name, *_INSIDE) for name in (".venv", "venv"))
    return next((str(python) for python in found if python.is_file()), None)


def _find_on_path(name: str) -> str | None:
    """A program of the path, by an absolute entry: a relative one leads into whatever project one is in."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return shutil.which(name, path=os.pathsep.join(folder for folder in folders if Path(folder).is_absolute()))


def find_script_starter(python: str) -> str | None:
    """The program that a Python begins with where it is a script, such as pyenv's shims: that runs before any Python does."""
    try:
        with Path(python).open("rb") as file:
            first = file.readline(256)
    except OSError:
        return None
    return first[2:].decode("utf-8", "replace").strip() if first.startswith(b"#!") else None


def has_torch(python: str) -> bool:
    """Whether a Python finds a torch, without importing it."""
    ask = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
    try:
        with _make_empty_folder() as folder:
            ended = subprocess.run(
                [_make_absolute(python), "-c", ask], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, check=False
            )
            return ended.returncode == 0
    except OSError:
        return False


def _make_empty_folder() -> tempfile.TemporaryDirectory[str]:
    """An empty folder to start Python in, which takes modules from the folder that it is started in before all others."""
    return tempfile.TemporaryDirectory(prefix="ddp-codemod-", ignore_cleanup_errors=True)


def _make_absolute(python: str) -> str:
    """A program that is named by its place, from whatever folder it is started."""
    return os.path.abspath(python) if os.path.dirname(python) else python  # noqa: PTH100, PTH120 - links name environments


def interview_python(
    python: str,
    progress: Callable[[str], None] | None = None,
    seconds: float | None = None,
    waiting: Callable[[str], None] | None = None,
    words: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """What the environment says, by section. A section that failed has an ``error``, one that took too long is ``late`` as well.

    ``seconds``: the limit for each section, else the usual one. ``waiting`` hears of a section that has not ended after a while.
    ``words``: the "accelerators" and "packages" that are asked for beside torch's own. Raises OSError where the program cannot be started.
    """
    with _make_empty_folder() as folder:
        return _run_interview(
            [_make_absolute(python), "-X", "utf8", "-", json.dumps(words or {})], folder, progress, seconds, waiting
        )


def _run_interview(
    command: list[str],
    folder: str,
    progress: Callable[[str], None] | None,
    seconds: float | None,
    waiting: Callable[[str], None] | None,
) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    asked = ""
    pipe, own = subprocess.PIPE, sys.platform != "win32"
    with subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=own) as process:
        spare(process.pid)
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        late = threading.Event()
        clock = _Clock(seconds, late, process, waiting)
        errors: list[bytes] = []
        drain = threading.Thread(target=lambda: errors.append(process.stderr.read()), daemon=True)  # type: ignore[union-attr]
        drain.start()
        clock.start("")
        try:
            process.stdin.write(PROBE.read_bytes())
            process.stdin.close()
            for line in process.stdout:
                before, asked = asked, _note_answer(line, facts, asked, progress)
                if asked != before:
                    clock.start(asked)
        except BrokenPipeError:
            pass
        finally:
            clock.stop()
            end_process(process)
        drain.join()
    if asked:
        said = b"".join(errors).decode("utf-8", "replace").strip().splitlines()[-1:]
        if late.is_set():
            facts[asked] = {"error": f"no answer within {clock.limit:.0f} s", "late": clock.limit}
        else:
            facts[asked] = {"error": " ".join(said) or "the process ended"}
    if not facts:
        raise OSError("".join(part.decode("utf-8", "replace") for part in errors).strip()[-300:] or "it gave no answer")
    return facts


class _Clock:
    """Ends the process when a question takes too long, and tells of one that takes a while."""

    def __init__(
        self,
        seconds: float | None,
        late: threading.Event,
        process: subprocess.Popen[bytes],
        waiting: Callable[[str], None] | None,
    ) -> None:
        self._seconds, self._late, self._process, self._waiting = seconds, late, process, waiting
        self._timers: list[threading.Timer] = []
        self.limit = 0.0

    def start(self, section: str) -> None:
        """A question was put (none yet: Python itself is starting)."""
        self.stop()
        self.limit = self._seconds if self._seconds is not None else LONGER.get(section, SECONDS)
        self._timers = [threading.Timer(self.limit, self._end_process)]
        if self._waiting is not None and section:
            self._timers.append(threading.Timer(PATIENCE, self._waiting, (section,)))
        for timer in self._timers:
            timer.daemon = True
            timer.start()

    def stop(self) -> None:
        """No limit holds any more."""
        for timer in self._timers:
            timer.cancel()

    def _end_process(self) -> None:
        self._late.set()
        end_process(self._process)


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End the process, and what it has started."""
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        elif process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def _note_answer(line: bytes, facts: dict[str, Any], asked: str, progress: Callable[[str], None] | None) -> str:
    """Take down an answer; returns the question that is still open."""
    try:
        entry = json.loads(line)
    except ValueError:
        return asked  # something else that the environment prints
    if not isinstance(entry, dict) or "section" not in entry:
        return asked
    if "found" in entry:
        facts[entry["section"]] = entry["found"]
        return ""
    if progress is not None:
        progress(entry["section"])
    return str(entry["section"])
