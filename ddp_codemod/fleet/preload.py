"""Loaded by the workers of this machine's own cluster: an interrupt from the keyboard is for the client, who ends them."""

from __future__ import annotations

import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Begin on a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
