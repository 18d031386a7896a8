"""With a torch that was built without libuv: what asks for it dies, and trains once ``--platform windows`` has patched it.

The project's files are told that they are on Windows, where their ternaries give gloo; torch is the real one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

WINDOWS = {"gpus": 2, "os.name": "nt", "platform.system": "Windows", "sys.platform": "win32"}
NO_LIBUV = "use_libuv was requested but PyTorch was built without libuv support"
LONG = pytest.mark.long
ENTRIES = [pytest.param("s1_train.py", marks=LONG), "s2_train.py", pytest.param("prosody_train.py", marks=LONG)]


@pytest.mark.parametrize("entry", ENTRIES)
def test_dies_unpatched_and_trains_patched(project: Callable[..., Any], without_libuv: dict[str, Any], entry: str) -> None:
    case = "tts-spawn-before-libuv"
    unpatched = project(case).on(**WINDOWS, **without_libuv).python(entry)
    assert unpatched.status != 0
    assert NO_LIBUV in unpatched.output

    patched = project(case, "windows").on(**WINDOWS, **without_libuv).python(entry)
    assert patched.status == 0, patched.output
    assert "saved" in patched.output
    assert patched.losses[-1] < patched.losses[0]


@LONG
def test_todays_version_needs_no_patch(project: Callable[..., Any], without_libuv: dict[str, Any]) -> None:
    unpatched = project("tts-spawn").on(**WINDOWS, **without_libuv)
    for entry in ("s1_train.py", "s2_train.py"):
        ran = unpatched.python(entry)
        assert ran.status == 0, ran.output
