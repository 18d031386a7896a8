"""The keys of settings that name what is called: Hydra's ``_target_``, Lightning's ``class_path`` and others."""

from __future__ import annotations

# and where, beside it, the arguments are
TARGETS: dict[str, tuple[str, ...]] = {"_target_": (), "class_path": ("init_args",), "target": ("params",)}
