"""Whether the ranks of a run train one model: what their first optimizer steps worked with, held against each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ddp_codemod.health import Frame, StepAgreement

OTHER = 1e-3  # by how much gradients of other data differ at least, of their size; of the same data rounding stays far below


def compare_steps(entries: Iterable[Mapping[str, Any]]) -> StepAgreement | None:
    """What the last step that every rank took shows; None where it shows nothing.

    Ranks are apart where at each step the gradient of every parameter differs, and the parameters that a later step starts with do
    too: an optimizer may share gradients itself, and a program parameters. Where ranks hold other parts of a model, or other
    parameters, differences mean nothing.
    """
    steps: dict[int, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for entry in entries:
        steps[int(entry["number"])].setdefault(str(entry["rank"]), entry)
    whole = [sorted(one.items()) for _, one in sorted(steps.items()) if _is_complete(one)]
    if not whole:
        return None
    last = [entry for _, entry in whole[-1]]
    gradients = [_find_differing([entry["grads"] for _, entry in step], OTHER) for step in whole]
    compared = {differs for step in gradients for differs in step.values()}
    # the parameters that the last step starts with; of one step alone, those that it ends with
    marks = _find_differing([entry["held" if len(whole) > 1 else "params"] for entry in last], 0.0)
    taught = {index for step in gradients[:-1] or gradients for index in step}
    apart = compared == {True} and bool(taught) and all(marks.get(index) for index in taught)
    if compared != {False} and not apart:
        return None  # nothing was compared, or some are shared in another way, or later
    frames = (Frame(str(path), int(line)) for path, line in last[0]["frames"])
    sums = tuple(sum(value or 0.0 for value in entry["grads"]) for entry in last)
    return StepAgreement(int(last[0]["number"]), len(last), apart, tuple(frames), sums)


def _is_complete(step: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether every rank took a step, with the same parameters."""
    entries = list(step.values())
    alike = all((entry["sizes"], entry["optimizer"]) == (entries[0]["sizes"], entries[0]["optimizer"]) for entry in entries)
    return alike and len(entries) == entries[0]["ranks"] > 1 and not any(entry["shards"] for entry in entries)


def _find_differing(of_ranks: Sequence[Sequence[float | None]], by: float) -> dict[int, bool]:
    """By its number, whether a value is another one on some rank; without those that say nothing."""
    found: dict[int, bool] = {}
    for index, values in enumerate(zip(*of_ranks, strict=True)):
        known = [value for value in values if value is not None]
        if len(known) < len(values) or any(value != value for value in known):
            continue  # not every rank used this parameter, or it is not a number
        largest = max(map(abs, known))
        if largest > 0:
            found[index] = max(known) - min(known) > by * largest
    return found
