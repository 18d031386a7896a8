"""What the recorder tells: who makes a group, with what, at which line of the project, and where the value came in.

Python 3.8 and its standard library only.
"""

# ruff: noqa: UP006, UP035, UP045, PTH110, PTH113, PTH118, PTH120, PTH206
from __future__ import annotations

import itertools
import json
import linecache
import os
import re
import sys
from types import FrameType
from typing import Any, Dict, List, Optional, Tuple

MARK = "@@ddp-codemod "
LONGEST = 4000  # bytes of a line on a pipe, which takes 4096 at once: so lines of several ranks stay whole
MOST = 12  # frames
HERE = os.path.realpath(os.curdir)  # a program may go elsewhere
ROOT = os.environ.get("DDP_CODEMOD_ROOT", "")  # of the project; none is recorded where it is not told
RECORD = os.environ.get("DDP_CODEMOD_RECORD", "")  # the folder that takes the record
LIBRARY = os.path.realpath(os.path.dirname(os.__file__))
OWN = os.path.dirname(os.path.realpath(__file__)) + os.sep
CELL = re.compile(r"^<ipython-input-|ipykernel_\d+")  # how IPython and ipykernel name what they compile
VARIABLE_POSITIONAL, VARIABLE_KEYWORDS = 4, 8  # flags of a code object


def say(**entry: Any) -> None:
    """Put an entry on record: into a file of this process, or where there is no folder for it, as on another machine, on stderr."""
    line = _encode_entry(entry)
    try:
        out = os.open(os.path.join(RECORD, str(os.getpid())), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError:
        sys.stdout.flush()
        sys.stderr.flush()
        while len(line) > LONGEST and entry.get("frames"):
            entry["frames"].pop()
            line = _encode_entry(entry)
        os.write(2, line)
        return
    try:
        os.write(out, line)
    finally:
        os.close(out)


def _encode_entry(entry: Dict[str, Any]) -> bytes:
    return (MARK + json.dumps(entry, default=str) + "\n").encode("ascii")


def given(arguments: Dict[str, Any], name: str) -> Any:
    """A rank, or how many there are: of the arguments, else of the environment, which -1 leaves it to."""
    value = arguments.get(name)
    return os.environ.get(name.upper()) if value in (None, -1) else value


def made(positional: Tuple[Any, ...], named: Dict[str, Any], backend: Optional[str]) -> Dict[str, Any]:
    """Where the call is that makes a group, and how it came by its backend.

    ``frames``: the project's own, innermost first. ``cells``: the text of those that are cells of a notebook. ``through``: the packages that are between them and the call. ``span``: of the
    call in the innermost, as ``ast`` counts. ``passed``: how many arguments by position, and the names of the others. ``taken``:
    the parameters by which the library's function got the value, with their positions. ``text_line``: of code in a text.
    """
    frames: List[Tuple[str, int]] = []
    cells: Dict[str, str] = {}
    through: List[str] = []
    span: Optional[List[int]] = None
    taken: List[Tuple[str, Optional[int]]] = []
    text_line = 0
    inner: Optional[FrameType] = None
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None and len(frames) < MOST:
        name = frame.f_code.co_filename
        place = None if name.startswith("<") else _find_project_file(name)
        if place is None and (text := _find_cell_text(name)) is not None:
            place = name
            cells[name] = text
        if place is not None:
            if not frames:
                span = _span_of(frame)
                taken = _find_holding_parameters(inner, backend) if inner is not None and through else []
            frames.append((place, frame.f_lineno))
        elif not frames and not _is_ours(name) and not name.startswith("<frozen ") and not _is_standard(name):
            package = str(frame.f_globals.get("__name__") or name).partition(".")[0]
            text_line = frame.f_lineno if not through and name.startswith("<") else text_line
            through.append(name if name.startswith("<") else package)
        inner, frame = frame, frame.f_back
    return {
        "frames": frames,
        "cells": cells,
        "through": list(dict.fromkeys(through)),
        "span": span,
        "passed": [len(positional), sorted(named)],
        "taken": taken,
        "text_line": text_line,
        "typed": _is_typed(backend),
    }


def frames() -> List[Tuple[str, int]]:
    """The project's frames around a call, innermost first."""
    found: List[Tuple[str, int]] = made((), {}, None)["frames"]
    return found


def _span_of(frame: FrameType) -> Optional[List[int]]:
    """The stretch of the file that a frame is at: line, end line, and columns in bytes. Python 3.11 is the first to know it."""
    positions: Any = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return None
    here = next(itertools.islice(positions(), frame.f_lasti // 2, None), None)
    return list(here) if here is not None and None not in here else None


def _find_holding_parameters(frame: FrameType, backend: Optional[str]) -> List[Tuple[str, Optional[int]]]:
    """The parameters of a function that hold a value, each with its position; None for those that go by name alone."""
    if backend is None or _is_ours(frame.f_code.co_filename):
        return []
    code, held = frame.f_code, frame.f_locals
    names = code.co_varnames[: code.co_argcount]
    bound = 1 if names[:1] in (("self",), ("cls",)) else 0
    rest = list(code.co_varnames[code.co_argcount :])
    only = [rest.pop(0) for _ in range(code.co_kwonlyargcount)]
    found: List[Tuple[str, Optional[int]]] = [(name, at - bound) for at, name in enumerate(names)]
    found += [(name, None) for name in only]
    values = [(pair, held.get(pair[0])) for pair in found]
    if code.co_flags & VARIABLE_POSITIONAL:
        values += [
            ((name, len(names) - bound + at), one) for name in [rest.pop(0)] for at, one in enumerate(held.get(name) or ())
        ]
    if code.co_flags & VARIABLE_KEYWORDS:
        values += [((str(key), None), one) for key, one in (held.get(rest.pop(0)) or {}).items()]
    return [pair for pair, value in values if isinstance(value, str) and value == backend]


def _find_project_file(name: str) -> Optional[str]:
    """A file of the project, from its root; None for one of a library, and for what is no file."""
    path = os.path.realpath(os.path.join(HERE, name))
    if not ROOT or not path.startswith(ROOT + os.sep) or path.startswith(LIBRARY + os.sep) or not os.path.isfile(path):
        return None
    parts = path[len(ROOT) + 1 :].split(os.sep)
    return None if "site-packages" in parts or "dist-packages" in parts else "/".join(parts)


def _find_cell_text(name: str) -> Optional[str]:
    """The text of a notebook's cell, which IPython keeps for tracebacks under a name that is no file; None for anything else."""
    known = linecache.cache.get(name) if CELL.search(name) else None
    return "".join(known[2]) if known is not None and len(known) > 2 and not os.path.exists(name) else None


def _is_ours(name: str) -> bool:
    return os.path.realpath(name).startswith(OWN)


def _is_standard(name: str) -> bool:
    """Whether a file is of Python's own library, which only hands calls on."""
    path = os.path.realpath(name)
    return path.startswith(LIBRARY + os.sep) and "site-packages" not in path


def _is_typed(value: Optional[str]) -> bool:
    """Whether a word of the command line (after its ``=``), or a variable of the environment, is a value: paths hold names of backends too."""
    words = [str(word).rpartition("=")[2].strip("\"'") for word in getattr(sys, "argv", ())]
    return value is not None and value.lower() in {text.lower() for text in (*words, *os.environ.values())}
