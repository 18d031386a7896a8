"""What one run of a program did, and by what two runs differ more than they may."""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass, field
from typing import Any

BACKEND = {"rocm": "gloo", "windows": "gloo", "ascend": "hccl", "single-gpu": "gloo"}

GLOO_TIMEOUT = "datetime.timedelta(seconds=1800)"  # torch's own, if the backend is not nccl

_NAMES = re.compile(r"nccl|gloo|hccl", re.IGNORECASE)
_GROUP = re.compile(r"^torch\.distributed\.(init_process_group|new_group|new_subgroups)$")
_GONE = re.compile(r"^torch\.(distributed|nn\.parallel)\.")  # may vanish where there is one GPU
_WARNING = re.compile(r"warn|backend|instead|replac|not available|libuv", re.IGNORECASE)
_LIBUV = re.compile(r"[?&]use_libuv=(0|False)", re.IGNORECASE)
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")
_PID = re.compile(r"\bpid[ =:]+\d+")
_TRACE = re.compile(r"^  (File |  )")  # a line of a traceback, which shows the code itself
_TOOK = re.compile(r"\bin \d+\.\d+s$", re.MULTILINE)
_LINE = re.compile(r"(\.py):\d+:")


@dataclass
class Run:
    """What one run of a program did."""

    codes: list[int] = field(default_factory=list)
    out: str = ""
    err: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)


def _varying(text: str) -> str:
    """The text without what varies by run."""
    return _TOOK.sub("in N s", _LINE.sub(r"\1:N:", _PID.sub("pid N", _ADDRESS.sub("0xN", text))))


def level(text: str) -> str:
    """The text with one word for the name of any backend, and without what varies by run."""
    return _varying(_NAMES.sub("BACKEND", text))


def lines_apart(before: str, after: str, warnings: bool = False) -> list[str]:
    """The lines by which two texts differ; where told, warnings about the backend may be added."""
    old, new = level(before).splitlines(), level(after).splitlines()
    apart: list[str] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        added = [line for line in new[j1:j2] if not (warnings and _WARNING.search(line))]
        apart += [f"- {line}" for line in old[i1:i2]] + [f"+ {line}" for line in added]
    return apart


def call_apart(before: dict[str, Any], after: dict[str, Any], platform: str) -> str:
    """How the second call differs from the first more than it may, or nothing."""
    if before["call"] != after["call"]:
        return f"{before['call']} became {after['call']}"
    old, new = dict(before["args"]), dict(after["args"])
    windows = platform == "windows"
    if _GROUP.match(before["call"]):
        was, now = old.pop("backend", None), new.pop("backend", None)
        text = str(now).lower()
        fits = BACKEND[platform] in text and "nccl" not in text
        if was != now and not (fits and (was is None or "nccl" in str(was).lower())):
            return f"{before['call']}: backend was {was!r}, is {now!r}"
        if windows and new.get("init_method") != old.get("init_method"):
            method = str(new.get("init_method"))
            if _LIBUV.sub("", method) == old.get("init_method", "env://"):
                old.pop("init_method", None), new.pop("init_method")
        if old.get("device_id") is not None and new.get("device_id") is None and BACKEND[platform] == "gloo":
            old.pop("device_id"), new.pop("device_id", None)  # for which DeviceMesh would split the group, as gloo cannot
        if "timeout" not in old and new.get("timeout") == GLOO_TIMEOUT:  # which it would have without being told
            new.pop("timeout")
    if windows and before["call"] == "torch.distributed.TCPStore" and "use_libuv" not in old:
        if new.get("use_libuv") is False:
            new.pop("use_libuv")
    if old != new:
        keys = [key for key in {**old, **new} if old.get(key, "(none)") != new.get(key, "(none)")]
        return "; ".join(f"{before['call']}: {key} was {old.get(key)!r}, is {new.get(key)!r}" for key in keys)
    was_env, is_env = dict(before.get("env", {})), dict(after.get("env", {}))
    if windows and is_env.get("USE_LIBUV") == "0":
        was_env.pop("USE_LIBUV", None), is_env.pop("USE_LIBUV")
    if was_env != is_env:
        return f"{before['call']}: environment was {was_env}, is {is_env}"
    return ""


def calls_apart(before: list[dict[str, Any]], after: list[dict[str, Any]], platform: str) -> list[str]:
    """How the second calls differ from the first more than they may."""
    if platform == "single-gpu":
        before = [call for call in before if not _GONE.match(call["call"])]
        after = [call for call in after if not _GONE.match(call["call"])]
    if len(before) != len(after) or [call["call"] for call in before] != [call["call"] for call in after]:
        old = [level(json.dumps({"call": call["call"], "args": call["args"]})) for call in before]
        new = [level(json.dumps({"call": call["call"], "args": call["args"]})) for call in after]
        return [line for line in difflib.ndiff(old, new) if line[:1] in "+-"] or ["the order of calls"]
    return [why for old, new in zip(before, after, strict=True) if (why := call_apart(old, new, platform))]


def arriving(calls: list[dict[str, Any]]) -> bool:
    """Does nccl arrive in a call that makes a process group?"""
    return any(_GROUP.match(call["call"]) and "nccl" in str(call["args"].get("backend", "")).lower() for call in calls)


def compare(before: Run, after: Run, platform: str) -> list[str]:
    """Everything by which the second run differs from the first more than it may."""
    what = []
    if before.codes != after.codes:
        tail = [line for line in after.err.strip().splitlines() if line.strip()][-1:]
        what.append(f"exit codes {before.codes} became {after.codes}: {' '.join(tail)}")
    what += [f"call: {why}" for why in calls_apart(before.calls, after.calls, platform)]
    what += [f"stdout: {line}" for line in lines_apart(before.out, after.out)]
    if before.codes == after.codes:
        what += [f"stderr: {line}" for line in lines_apart(before.err, after.err, warnings=True)]
    if set(before.files) != set(after.files):
        what.append(
            f"files written: only before {sorted(set(before.files) - set(after.files))}, "
            f"only after {sorted(set(after.files) - set(before.files))}"
        )
    for name in sorted(set(before.files) & set(after.files)):
        what += [f"file {name}: {line}" for line in lines_apart(before.files[name], after.files[name])]
    if before.gone != after.gone:
        what.append(f"files removed: {before.gone} became {after.gone}")
    return what


def _level_store(call: dict[str, Any]) -> dict[str, Any]:
    """The call, with one word for the two ways in which a group's store goes without libuv."""
    method, variables = str(call["args"].get("init_method", "env://")), dict(call.get("env", {}))
    if call["call"] == "torch.distributed.init_process_group":
        if variables.pop("USE_LIBUV", None) == "0" or _LIBUV.search(method):
            plain = {**call["args"], "init_method": _LIBUV.sub("", method)}
            return {**call, "args": plain, "env": {**variables, "without": "libuv"}}
    return call


def same_calls(before: Run, after: Run) -> list[str]:
    """How the recorded calls of the second run, the group's own included, and its end differ from the first's."""
    what = [] if before.codes == after.codes else [f"exit codes {before.codes} became {after.codes}: {after.err.strip()[-200:]}"]
    shown = [[json.dumps(_level_store(call), sort_keys=True) for call in run.calls] for run in (before, after)]
    return what + [f"call: {line}" for line in difflib.ndiff(*shown) if line[:1] in "+-"]


def identical(before: Run, after: Run) -> list[str]:
    """Everything by which the second run differs from the first, the group included."""
    what = same_calls(before, after)
    texts = {"stdout": (before.out, after.out), "stderr": (before.err, after.err)}
    for name in sorted({*before.files, *after.files}):
        texts[f"file {name}"] = before.files.get(name, "(none)"), after.files.get(name, "(none)")
    for name, pair in texts.items():
        old, new = ([line for line in _varying(text).splitlines() if not _TRACE.match(line)] for text in pair)
        what += [f"{name}: {line}" for line in difflib.ndiff(old, new) if line[:1] in "+-"]
    if before.gone != after.gone:
        what.append(f"files removed: {before.gone} became {after.gone}")
    return what
