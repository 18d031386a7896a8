"""What all tables of rule data are made of."""

from __future__ import annotations

from typing import Annotated

import msgspec

Name = Annotated[str, msgspec.Meta(min_length=1)]
When = dict[Name, Name]  # versions by package (rules/versions.toml): {torch = ">=2.8"}; see rules/versions.py


class RuleEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of rule data."""
