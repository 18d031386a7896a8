"""The guards that ``python -m proofs.broken`` takes out are where it looks for them, and every promise has one."""

from __future__ import annotations

import pytest

from proofs.__main__ import PROOFS
from proofs.broken import GUARDS, Guard
from proofs.proof import REPOSITORY


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: f"{guard.promise}-{guard.what}")
def test_the_text_of_a_guard_stands_there(guard: Guard) -> None:
    for file, old, new in ((guard.file, guard.old, guard.new), *guard.also):
        assert old in (REPOSITORY / "ddp_codemod" / file).read_text("utf-8")
        assert old != new


def test_every_promise_has_a_guard_to_take_out() -> None:
    assert {guard.promise for guard in GUARDS} == set(range(1, len(PROOFS) + 1))
