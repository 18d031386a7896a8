"""Predicts the whole list from a sample of it, with intervals.

The sample is drawn without replacement, so the rest of the list is what remains uncertain: the total is predicted with the error
of a sample mean in a finite population (Cochran, Sampling Techniques, 1977, chapter 2) and Student's factor. Time and review
load are skewed (few repositories take most of both), so below some hundred repositories the interval is somewhat too narrow.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from ddp_codemod.fleet.model import Outcome

T = TypeVar("T")
LEVEL = 0.9


@dataclass(frozen=True)
class Interval:
    """A prediction and where the truth lies in nine cases of ten."""

    value: float
    low: float
    high: float

    def over(self, divisor: float) -> Interval:
        """The same, divided."""
        return Interval(self.value / divisor, self.low / divisor, self.high / divisor)


@dataclass(frozen=True)
class Estimate:
    """What the whole list will take."""

    sample: int
    whole: int
    workers: int
    seconds: Interval  # of the wall clock, with these workers
    edits: Interval
    effort: Interval  # places to look at
    to_review: Interval  # repositories
    failed: Interval  # repositories

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {"level": LEVEL, **asdict(self)}


def draw(entries: Sequence[T], size: int) -> list[T]:
    """The sample: the same one of the same list, so that its results are there when the whole list is run."""
    chosen = random.Random(len(entries)).sample(range(len(entries)), min(size, len(entries)))
    return [entries[at] for at in sorted(chosen)]


def estimate(outcomes: Sequence[Outcome], whole: int, workers: int) -> Estimate:
    """Predict from the outcomes of a sample."""

    def total(values: Sequence[float]) -> Interval:
        return predicted(values, whole)

    return Estimate(
        sample=len(outcomes),
        whole=whole,
        workers=workers,
        seconds=total([one.seconds for one in outcomes]).over(workers),
        edits=total([one.edits for one in outcomes]),
        effort=total([one.effort for one in outcomes]),
        to_review=share(sum(one.effort > 0 for one in outcomes), len(outcomes), whole),
        failed=share(sum(one.trouble is not None for one in outcomes), len(outcomes), whole),
    )


def share(hits: int, size: int, whole: int) -> Interval:
    """How many of ``whole`` are hits, where so many of the drawn ones are; none seen does not mean that there are none.

    Wilson's interval for a proportion, of a sample that counts for more the more of the whole it is.
    """
    if size >= whole:
        return Interval(hits, hits, hits)
    z = statistics.NormalDist().inv_cdf((1 + LEVEL) / 2)
    n = size * (whole - 1) / (whole - size)
    part = hits / size
    middle = (part + z * z / (2 * n)) / (1 + z * z / n)
    error = z * math.sqrt(part * (1 - part) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low, high = max((middle - error) * whole, hits), min((middle + error) * whole, whole - (size - hits))
    return Interval(part * whole, min(low, part * whole), max(high, part * whole))


def predicted(values: Sequence[float], whole: int) -> Interval:
    """The total over ``whole`` things of which these were drawn; never less than what was seen."""
    seen, size = float(sum(values)), len(values)
    if size >= whole:
        return Interval(seen, seen, seen)
    if size < 2:
        guess = seen * whole
        return Interval(guess, seen, math.inf)
    rest = whole - size
    value = seen + rest * seen / size
    error = student(size - 1) * statistics.stdev(values) * math.sqrt(rest * whole / size)
    return Interval(value, max(value - error, seen), value + error)


def student(freedom: int) -> float:
    """The factor of the interval: the 95 % point of Student's distribution (Cornish and Fisher; within 1 % from 3 on)."""
    exact = {1: 6.314, 2: 2.920}
    if freedom in exact:
        return exact[freedom]
    z = statistics.NormalDist().inv_cdf((1 + LEVEL) / 2)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return z + math.fsum(term / freedom ** (power + 1) for power, term in enumerate(terms))
