"""Lets another Python answer the questions of ``probe``, under time limits."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

SECONDS = 180.0  # for all questions; torch alone can take a minute to import from a network drive
PROBE = Path(__file__).with_name("probe.py")


def default_python(folder: Path, environ: Mapping[str, str] = os.environ) -> str:
    """The Python of the project's environment: the active one, one in the folder, else the path's, else this one."""
    inside = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    homes = [environ.get("VIRTUAL_ENV"), environ.get("CONDA_PREFIX"), folder / ".venv", folder / "venv"]
    for home in homes:
        if home and (python := Path(home, *inside)).is_file():
            return str(python)
        if home and sys.platform == "win32" and (python := Path(home, "python.exe")).is_file():  # conda
            return str(python)
    return shutil.which("python") or shutil.which("python3") or sys.executable


def has_torch(python: str) -> bool:
    """Whether a Python finds a torch, without importing it."""
    ask = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"
    try:
        return subprocess.run([python, "-c", ask], capture_output=True, stdin=subprocess.DEVNULL, check=False).returncode == 0
    except OSError:
        return False


def interview(python: str, progress: Callable[[str], None] | None = None, seconds: float = SECONDS) -> dict[str, Any]:
    """What the environment says, by section. A section that failed or took too long has an ``error``.

    Raises OSError where the program cannot be started.
    """
    command = [python, "-X", "utf8", "-"]
    facts: dict[str, Any] = {}
    asked = ""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        late = threading.Event()
        errors: list[bytes] = []
        drain = threading.Thread(target=lambda: errors.append(process.stderr.read()), daemon=True)  # type: ignore[union-attr]

        def end() -> None:
            late.set()
            process.kill()

        watch = threading.Timer(seconds, end)
        drain.start()
        watch.start()
        try:
            process.stdin.write(PROBE.read_bytes())
            process.stdin.close()
            for line in process.stdout:
                asked = _note(line, facts, asked, progress)
        except BrokenPipeError:
            pass
        finally:
            watch.cancel()
            process.kill()
        drain.join()
    if asked:
        said = b"".join(errors).decode("utf-8", "replace").strip().splitlines()[-1:]
        facts[asked] = {"error": f"no answer within {seconds:.0f} s" if late.is_set() else " ".join(said) or "the process ended"}
    if not facts:
        raise OSError("".join(part.decode("utf-8", "replace") for part in errors).strip()[-300:] or "it gave no answer")
    return facts


def _note(line: bytes, facts: dict[str, Any], asked: str, progress: Callable[[str], None] | None) -> str:
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
