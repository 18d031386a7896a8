"""Predicts the whole list from a sample of it, with intervals.

The sample is drawn without replacement, so the rest of the list is what remains uncertain. Time and review load are skewed: few
repositories take most of both, and a small sample seldom holds one of them. Two intervals are made and the wider end of each is
taken. One is that of a sample mean in a finite population (Cochran, Sampling Techniques, 1977, chapter 2) with Student's factor.
The other predicts each repository that was not drawn: with what chance it has anything, and then how much, on a logarithmic scale,
where such loads are about normal (Gelman et al., Bayesian Data Analysis, 2013, chapter 3). What a small sample cannot tell, the
spread of that scale, begins at what well-known projects had.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from ddp_codemod.fleet.model import Outcome

T = TypeVar("T")
LEVEL = 0.9
_SPREAD = (
    1.5  # standard deviation of the logarithms: 1.3 to 1.5 for edits, places to look at and seconds of 40 well-known projects
)
_WEIGHT = 12.0  # as many degrees of freedom as it counts for
_DRAWS = 200
_EACH = 32  # of a draw's repositories that are drawn one by one; more are as those
_MOST = 60.0  # logarithms beyond mean nothing


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


def draw_sample(entries: Sequence[T], size: int) -> list[T]:
    """The sample: the same one of the same list, so that its results are there when the whole list is run."""
    chosen = random.Random(len(entries)).sample(range(len(entries)), min(size, len(entries)))
    return [entries[at] for at in sorted(chosen)]


def estimate_run(outcomes: Sequence[Outcome], whole: int, workers: int) -> Estimate:
    """Predict from the outcomes of a sample."""

    def total(values: Sequence[float]) -> Interval:
        return predict_total(values, whole)

    return Estimate(
        sample=len(outcomes),
        whole=whole,
        workers=workers,
        seconds=total([one.seconds for one in outcomes]).over(workers),
        edits=total([one.edits for one in outcomes]),
        effort=total([one.effort for one in outcomes]),
        to_review=estimate_share(sum(one.effort > 0 for one in outcomes), len(outcomes), whole),
        failed=estimate_share(sum(one.trouble is not None for one in outcomes), len(outcomes), whole),
    )


def estimate_share(hits: int, size: int, whole: int) -> Interval:
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


def predict_total(values: Sequence[float], whole: int) -> Interval:
    """The total over ``whole`` things of which these were drawn; never less than what was seen."""
    seen, size = float(sum(values)), len(values)
    if size >= whole:
        return Interval(seen, seen, seen)
    rest = whole - size
    value = seen + rest * seen / size
    totals = sorted(_sample_totals(values, rest))
    tail = round((1 - LEVEL) / 2 * _DRAWS)
    low, high = seen + totals[tail], seen + totals[-1 - tail]
    if size > 1:
        error = student_factor(size - 1) * statistics.stdev(values) * math.sqrt(rest * whole / size)
        low, high = min(low, value - error), max(high, value + error)
    return Interval(value, max(min(low, value), seen), max(high, value))


def _sample_totals(values: Sequence[float], rest: int) -> Iterator[float]:
    """Totals that the rest may have, as likely as they are drawn; the same for the same sample."""
    chance = random.Random(rest)
    logs = [math.log(value) for value in values if value > 0]
    some, none = len(logs) + 0.5, len(values) - len(logs) + 0.5
    middle = statistics.fmean(logs) if logs else 0.0
    squares = sum((one - middle) ** 2 for one in logs) + _WEIGHT * _SPREAD**2
    freedom = _WEIGHT + max(len(logs) - 1, 0)
    each = min(rest, _EACH)
    for _ in range(_DRAWS):
        share = chance.betavariate(some, none)
        spread = math.sqrt(squares / chance.gammavariate(freedom / 2, 2))
        mean = chance.gauss(middle, spread / math.sqrt(max(len(logs), 1)))
        drawn = [math.exp(min(chance.gauss(mean, spread), _MOST)) for _ in range(each) if chance.random() < share]
        yield sum(drawn) * rest / each


def student_factor(freedom: int) -> float:
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
