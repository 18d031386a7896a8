"""Ends the program without taking its objects apart one by one, which the system does at once."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from contextlib import suppress

_kept: list[object] | None = None


def expect_exit() -> None:
    """Told at the start of a process that ends with ``exit_now``."""
    global _kept
    _kept = []


def kept_objects() -> list[object] | None:
    """Holds what need not be taken apart before; None where the process does not end with ``exit_now``."""
    return _kept


def exit_now(code: int) -> None:
    """End with an exit code; returns where somebody watches (a debugger, ``python -i``) or works on in another thread.

    What is registered to be done at the end is done.
    """
    if sys.flags.interactive or sys.gettrace() is not None or threading.active_count() > 1:
        return
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
