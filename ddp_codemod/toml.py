"""The TOML reader of the standard library, or the package that it was before it came there; imported when a file is read."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["tomllib"]
