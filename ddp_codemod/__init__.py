"""ddp-codemod: port PyTorch distributed code between platforms.

``from ddp_codemod import plan`` is the Python interface; see ``ddp_codemod.api``.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing would be the most expensive thing that this file does
if TYPE_CHECKING:
    from ddp_codemod.api import Edit, Note, Origin, Plan, PlanError, Site, Skipped, plan, undo

__version__ = "0.1.0"
__all__ = ["Edit", "Note", "Origin", "Plan", "PlanError", "Site", "Skipped", "__version__", "plan", "undo"]


def __getattr__(name: str) -> object:
    # the command line starts here too, and most of its runs need no part of the interface
    if name in __all__:
        from ddp_codemod import api

        found: object = getattr(api, name)
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
