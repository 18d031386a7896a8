"""The command line: one module a command, which parses flags, calls the pipeline and picks a report."""

import gc

from ddp_codemod.cli.lazy_imports import defer_modules

collecting = gc.isenabled()
gc.disable()  # what is imported stays
defer_modules()  # before click comes
try:
    from ddp_codemod.cli.main import main
finally:
    if collecting:
        gc.enable()

__all__ = ["main"]
