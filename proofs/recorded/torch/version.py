# ruff: noqa
from torch._machine import MACHINE

cuda = "12.4" if MACHINE in ("nvidia", "windows") else None
hip = "6.2.41133" if MACHINE == "rocm" else None
