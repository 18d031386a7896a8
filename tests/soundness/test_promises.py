"""A patched program runs as before, asks for nothing but backends that work where the tool said nothing, and keeps all else.

``SOUNDNESS_EXAMPLES=5000 pytest tests/soundness`` tries more programs, other ones each time; ``python -m tests.soundness.hunt`` lists
every kind of fault.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings

from tests.soundness.hunt import shapes
from tests.soundness.programs import Recipe, build, recipes, single_shapes
from tests.soundness.promises import Trial

MORE = os.environ.get("SOUNDNESS_EXAMPLES")


@pytest.mark.parametrize("recipe", [pytest.param(one, id="-".join(shapes(one)) or "plain") for one in single_shapes()])
def test_each_shape(recipe: Recipe) -> None:
    trial = Trial(build(recipe))
    assert not trial.faults, str(trial)


@settings(max_examples=int(MORE or 150), derandomize=not MORE, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(recipe=recipes())
def test_any_program(recipe: Recipe) -> None:
    trial = Trial(build(recipe))
    assert not trial.faults, str(trial)
