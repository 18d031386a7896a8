"""The survey of one project: over after a look at its bytes, or worked out."""

from __future__ import annotations

import gc
from contextlib import suppress

from msgspec.structs import replace

from ddp_codemod.discover.bounds import Bounds
from ddp_codemod.discover.config import ConfigError, read
from ddp_codemod.discover.listing import Listing
from ddp_codemod.discover.scope import Scope
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Action, Reason, Skipped, Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.prefilter import Prefilter

DEEPEST = (None, 250, 60, 30)  # levels of the trees that are looked into: fewer where a stage did not come to the end of one


def survey_project(options: Options, listing: Listing) -> Survey:
    """The survey of one project; submodules and clones in it are read for their values, and named where something would change there."""
    if options.cache:
        from ddp_codemod.run.answer_cache import answer_from_cache

        return answer_from_cache(options, listing, lambda: _survey_with_others(options, listing))
    return _survey_with_others(options, listing)


def _survey_with_others(options: Options, listing: Listing) -> Survey:
    found = _survey_files(options, listing)
    if not listing.apart and not options.others and not listing.linked_folders:
        return found
    named = [
        Skipped(at, Reason.of("skipped-platform", Meaning.APART, folder=at, platform=to)) for at, to in options.others.items()
    ]
    named += [one for folder in listing.apart if (one := _explain_exclusion(options, listing, folder)) is not None]
    links = {to: link for link, to in reversed(listing.linked_folders.items())}  # the first that leads to a folder
    named += [one for to, link in links.items() if (one := _explain_link(options, listing, link, to)) is not None]
    return replace(found, skipped=tuple(sorted((*found.skipped, *named), key=lambda one: one.name)))


def _explain_exclusion(options: Options, listing: Listing, folder: str) -> Skipped | None:
    """What to say of another work tree of git inside a project; None where a run of its own would find nothing to do there."""
    at = listing.root / folder
    bounds = Bounds(listing.under, listing.named, options.scope)
    inside = Listing([at], at)
    if not any(bounds.admits(path.relative_to(listing.root).as_posix()) for path in inside.programs):
        return None
    try:
        scope = read(at).scope
    except ConfigError:
        scope = Scope()  # a run there says what is wrong with it
    found = survey_project(replace(options, paths=(at,), root=at, scope=scope, others={}, keep=None, progress=None), inside)
    review = sum(one.action is Action.REVIEW for one in found.decisions) + len(found.uncovered)
    if not (found.edits or review or any(one.candidate for one in found.skipped)):
        return None
    reason = Reason.of("skipped-apart", Meaning.APART, folder=folder, edits=len(found.edits), review=review)
    return Skipped(folder, reason)


def _explain_link(options: Options, listing: Listing, link: str, folder: str) -> Skipped | None:
    """What to say of a folder of the project that a link under the paths leads to; None where a run there would find nothing to do."""
    at = listing.root / folder
    found = _survey_files(replace(options, paths=(at,), others={}, keep=None, progress=None), listing.narrow(folder))
    review = sum(one.action is Action.REVIEW for one in found.decisions) + len(found.uncovered)
    if not (found.edits or review):
        return None
    return Skipped(link, Reason.of("skipped-linked", Meaning.APART, folder=folder, edits=len(found.edits), review=review))


def _survey_files(options: Options, listing: Listing) -> Survey:
    collecting = gc.isenabled()
    gc.disable()  # a tree is millions of objects, none of them garbage before the end: looking for some takes twice the parser's time
    try:
        look = Prefilter(options, listing)
        if look.is_over:
            return look.make_empty_survey()
        for deepest in DEEPEST[:-1]:
            with suppress(RecursionError):
                return _run_pipeline(look, deepest)
        return _run_pipeline(look, DEEPEST[-1])
    finally:
        if options.keep is not None:
            gc.freeze()  # nor look through it for garbage
        if collecting:
            gc.enable()


def _run_pipeline(look: Prefilter, deepest: int | None) -> Survey:
    from ddp_codemod.run.pipeline import Run  # 20 ms

    run = Run(look, deepest)
    if look.options.keep is not None:
        look.options.keep(run)
    found = run.survey()
    if look.options.starts and found.edits:
        from ddp_codemod.single_process.start_commands import StartCommands

        finder = StartCommands(run.context, run.imports, alone=bool(look.options.guarding))
        found = replace(found, starts=finder.of(found.decisions))
    if look.options.keep is None:
        run.project.take_apart()
    return found
