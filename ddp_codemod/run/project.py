"""The survey of one project: over after a look at its bytes, or worked out."""

from __future__ import annotations

import gc
from contextlib import suppress

from ddp_codemod.discover.listing import Listing
from ddp_codemod.model import Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.prefilter import Prefilter

DEEPEST = (None, 250, 60, 30)  # levels of the trees that are looked into: fewer where a stage did not come to the end of one


def survey_of(options: Options, listing: Listing) -> Survey:
    """The survey of one project."""
    collecting = gc.isenabled()
    gc.disable()  # a tree is millions of objects, none of them garbage before the end: looking for some takes twice the parser's time
    try:
        look = Prefilter(options, listing)
        if look.is_over:
            return look.nothing()
        for deepest in DEEPEST[:-1]:
            with suppress(RecursionError):
                return _run(look, deepest)
        return _run(look, DEEPEST[-1])
    finally:
        if options.keep is not None:
            gc.freeze()  # nor look through it for garbage
        if collecting:
            gc.enable()


def _run(look: Prefilter, deepest: int | None) -> Survey:
    from ddp_codemod.run.pipeline import Run  # 20 ms

    run = Run(look, deepest)
    if look.options.keep is not None:
        look.options.keep(run)
        return run.survey()
    found = run.survey()
    run.project.take_apart()
    return found
