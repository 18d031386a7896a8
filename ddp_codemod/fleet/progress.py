"""How far a run has come: a bar on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from ddp_codemod.fleet.totals import Totals
from ddp_codemod.messages import text

_WIDTH = 10
_EVERY = 30.0  # seconds between two plain lines
_RECENT = 200  # repositories that the rate is taken over


class Progress:
    """Counts outcomes against a total, by a clock."""

    def __init__(self, total: int, lang: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._lang, self._clock = total, lang, clock
        self._ends: deque[float] = deque([clock()], maxlen=_RECENT)
        self._reported_at = clock()

    def step(self) -> None:
        """One more repository is dealt with."""
        self._ends.append(self._clock())

    @property
    def rate(self) -> float:
        """Repositories a second, lately."""
        passed = self._ends[-1] - self._ends[0]
        return (len(self._ends) - 1) / passed if passed > 0 else 0.0

    def line(self, done: int, sums: Totals, bar: bool) -> str:
        """The line."""
        rate = self.rate
        counts = {"done": done, "total": self._total, "edited": sums.edited, "review": sums.review, "failed": sums.failed}
        left = format_duration((self._total - done) / rate, self._lang) if rate else "–"
        message = text("fleet-progress", self._lang, **counts, rate=f"{rate:.1f}", left=left)
        if not bar:
            return message
        full = _WIDTH * done // max(self._total, 1)
        return f"[{'#' * full}{'.' * (_WIDTH - full)}] {message}"

    def due(self) -> bool:
        """Whether it is time for a plain line."""
        now = self._clock()
        if now - self._reported_at < _EVERY:
            return False
        self._reported_at = now
        return True


def format_duration(seconds: float, lang: str) -> str:
    """A length of time, to two digits or so."""
    if seconds < 100:
        return text("fleet-seconds", lang, n=f"{seconds:.0f}")
    if seconds < 6000:
        return text("fleet-minutes", lang, n=f"{seconds / 60:.0f}")
    return text("fleet-hours", lang, n=f"{seconds / 3600:.1f}")
