"""Answers that fit: a part of the findings at a time, and where the next part begins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ddp_codemod.servers.mcp.requests import Kind, Paged

ROOM = 30_000  # characters of entries in one answer, some 8,000 tokens
PATCH_LINES, PATCH_ROOM = 400, 20_000
KINDS: tuple[Kind, ...] = ("sites", "skipped", "advisories", "edits")  # what is for review comes first


def select_page(report: dict[str, Any], asked: Paged, usual: Sequence[Kind]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The report with a part of its entries, and which part that is; entries that are next need another call with ``offset``."""
    kinds = asked.show or usual
    wanted = [(kind, one) for kind in KINDS if kind in kinds for one in report[kind] if _is_wanted(kind, one, asked)]
    taken: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    at, room = asked.offset, ROOM
    for kind, one in wanted[at : at + asked.limit]:
        room -= len(json.dumps(one))
        if room < 0 and at > asked.offset:
            break
        taken[kind].append(one)
        at += 1
    part = {
        "offset": asked.offset,
        "returned": max(0, at - asked.offset),
        "total": len(wanted),
        "next": at if at < len(wanted) else None,
    }
    return {**report, **taken}, part


def _is_wanted(kind: Kind, one: dict[str, Any], asked: Paged) -> bool:
    return asked.action is None or kind != "sites" or one["action"] == asked.action


def select_patch_lines(lines: Sequence[str], offset: int) -> dict[str, Any]:
    """Some lines of a patch, by their number."""
    taken: list[str] = []
    room = PATCH_ROOM
    for line in lines[offset : offset + PATCH_LINES]:
        room -= len(line) + 1
        if room < 0 and taken:
            break
        taken.append(line)
    end = offset + len(taken)
    return {"offset": offset, "total": len(lines), "next": end if end < len(lines) else None, "lines": taken}


def limit_report(report: dict[str, Any], *keys: str) -> tuple[dict[str, Any], int]:
    """The report with as many entries of some of its lists as there is room for, and how many are omitted."""
    room, left = ROOM, 0
    taken: dict[str, list[Any]] = {}
    for key in keys:
        taken[key] = []
        for one in report[key]:
            room -= len(json.dumps(one))
            if room >= 0 or not taken[key]:
                taken[key].append(one)
            else:
                left += 1
    return {**report, **taken}, left
