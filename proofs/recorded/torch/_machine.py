# ruff: noqa
"""The machine that this torch is of: nvidia, or what MACHINE says (rocm, windows, ascend)."""

import os

MACHINE = os.environ.get("MACHINE", "nvidia")
