# ruff: noqa
"""Stand-in: importing it is all that a program needs."""
