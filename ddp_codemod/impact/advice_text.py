"""What an advice says, with the places that it is about."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ddp_codemod.catalog.advisory import Advice
from ddp_codemod.catalog.model import Platform
from ddp_codemod.model import Reason

SOURCES = 3  # pages that a reason names; `rules show` lists all
LISTED = 20  # places that one note names


def format_advice(advice: Advice, more: Sequence[str] = ()) -> Reason:
    """What an advice says; ``more`` are further places."""
    lines = ", ".join((*more[:LISTED], *(["..."] if len(more) > LISTED else ())))
    args = {"text": advice.text, "text_zh": advice.text_zh, "source": ", ".join(advice.source[:SOURCES])}
    return Reason.of("advice-lines", lines=lines, **args) if lines else Reason.of("advice", **args)


def name_install_page(advice: Advice, platform: Platform) -> Advice:
    """The advice with what its platform needs in place of PACKAGES, and the page that says how in place of INSTALL."""
    install = platform.install
    if not advice.vendor or install is None:
        return advice
    said = {
        key: getattr(advice, key).replace("PACKAGES", " + ".join(install.packages)).replace("INSTALL", install.source)
        for key in ("text", "text_zh")
    }
    return replace(advice, source=(*advice.source, install.source), **said)


def format_left(advice: Advice) -> Reason:
    """What an advice says where its recipe does not fit."""
    own = advice.own if advice.rewrite is not None else None  # without an edit to try, nothing is known to lack
    return format_advice(replace(advice, text=own.left, text_zh=own.left_zh) if own and own.left else advice)


def split_places(reason: Reason) -> tuple[Reason, str]:
    """What an advice says without its further places, and these."""
    args = dict(reason.args)
    lines = args.pop("lines", "")
    return (Reason.of("advice", reason.means, **args), lines) if lines else (reason, "")
