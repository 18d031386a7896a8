"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# a machine that is busy with other things is no fault of the code
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
