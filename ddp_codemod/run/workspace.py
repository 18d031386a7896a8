"""Surveys a folder of repositories: one after the other, which bounds the memory, or several at once where that pays."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from ddp_codemod.discover.listing import Listing
from ddp_codemod.model import Devices, Edit, Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.project import survey_project

WORTH = 8_000_000  # bytes of programs; starting processes costs as much as reading some 200 kB


def survey_parts(options: Options, parts: Sequence[Listing]) -> Survey:
    """The surveys of all parts as one."""
    options = replace(options, keep=None)  # of one part after the other
    surveys = _survey_in_parallel(options, parts) if _is_parallel_faster(parts) else None
    return join_surveys(list(_survey_in_turn(options, parts)) if surveys is None else surveys)


def _survey_in_turn(options: Options, parts: Sequence[Listing]) -> Iterator[Survey]:
    for part in parts:
        yield survey_project(options, part)
        gc.collect()  # the trees of a project refer to each other: nothing else frees them


def _is_parallel_faster(parts: Sequence[Listing]) -> bool:
    """Whether several processes are faster, and can be made as copies of this one: no other system does that safely."""
    if sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2 or threading.active_count() > 1:
        return False
    return sum(map(_size_of, parts)) > WORTH


def _size_of(part: Listing) -> int:
    return sum(path.stat().st_size for path in part.programs)


def _survey_in_parallel(options: Options, parts: Sequence[Listing]) -> list[Survey] | None:
    """The same from several processes; None where one of them could not be started or was killed."""
    from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
    from multiprocessing import get_context

    import ddp_codemod.run.pipeline  # noqa: F401 - once for all processes

    order = sorted(range(len(parts)), key=lambda index: -_size_of(parts[index]))  # the largest first, so that none is waited for
    cores = min(len(os.sched_getaffinity(0)), len(parts))
    pool = ProcessPoolExecutor(cores, get_context("fork"), _init_worker, (replace(options, progress=None), parts))
    done = False
    try:
        result = dict(zip(order, pool.map(_survey_part, order), strict=True))
        done = True
    except (BrokenExecutor, OSError):
        return None
    finally:
        pool.shutdown(wait=done, cancel_futures=True)
    return [result[index] for index in range(len(parts))]


_work: list[tuple[Options, Sequence[Listing]]] = []


def _init_worker(options: Options, parts: Sequence[Listing]) -> None:
    import signal

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # who interrupts the run wants no reports of its parts
    _work.append((options, parts))


def _survey_part(index: int) -> Survey:
    options, parts = _work[-1]
    found = survey_project(options, parts[index])
    gc.collect()
    return found


def join_surveys(surveys: Sequence[Survey]) -> Survey:
    """Several surveys of one root as one; the groups of their edits stay apart."""
    edits: list[Edit] = []
    for found in surveys:
        first = 1 + max((group for edit in edits for group in edit.groups), default=0)
        edits += (replace(edit, group=edit.group + first, also=tuple(also + first for also in edit.also)) for edit in found.edits)
    decisions = [decision for found in surveys for decision in found.decisions]
    if decisions:
        from ddp_codemod.policy.finding_decisions import build_sort_key

        decisions.sort(key=build_sort_key)
    return replace(
        surveys[0],
        decisions=tuple(decisions),
        edits=tuple(sorted(edits, key=lambda edit: (edit.name, edit.start, edit.end))),
        advisories=tuple(
            dict.fromkeys(note for found in surveys for note in found.advisories)
        ),  # what is about all is reported once
        skipped=tuple(sorted((one for found in surveys for one in found.skipped), key=lambda one: one.name)),
        sources={name: source for found in surveys for name, source in found.sources.items()},
        uncovered=tuple(
            sorted((one for found in surveys for one in found.uncovered), key=lambda one: (one.place.name, one.line))
        ),
        files_seen=sum(found.files_seen for found in surveys),
        partial=any(found.partial for found in surveys),
        ignored=sum(found.ignored for found in surveys),
        unreached=tuple(sorted({name for one in surveys for name in one.unreached})),
        unfollowed=tuple(place for one in surveys for place in one.unfollowed),
        without_entry_point=sum(one.without_entry_point for one in surveys),
        devices=_join_devices(surveys),
        excluded=sum(found.excluded for found in surveys),
        unstated=tuple(sorted({name for found in surveys for name in found.unstated})),
    )


def _join_devices(surveys: Sequence[Survey]) -> Devices | None:
    """The same for all roots, with the entries of each."""
    found = [one.devices for one in surveys if one.devices is not None]
    return replace(found[0], entries=sum(one.entries for one in found)) if found else None
