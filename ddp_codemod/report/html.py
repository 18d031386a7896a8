"""The page of ``review --html``: one file without a network, which hands over a patch of what was chosen in it.

Whatever comes from the project gets into the page as data, never as markup (``selfcontained``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ddp_codemod import __version__
from ddp_codemod.catalog.load import Rules
from ddp_codemod.edits.blocks import build_blocks, build_edit_key
from ddp_codemod.edits.units import Unit
from ddp_codemod.messages import catalogue, in_language
from ddp_codemod.model import Applicability, Edit
from ddp_codemod.patch.blob import Blob
from ddp_codemod.patch.quote import raw_name
from ddp_codemod.report.edit_sites import TOLD
from ddp_codemod.report.fragments import MANY, file_fragments
from ddp_codemod.report.review_unit import sites_of_unit
from ddp_codemod.report.selfcontained import assemble_page
from ddp_codemod.report.view import View

MARK = b"<!doctype html>\n<!-- ddp-codemod review -->\n"  # how a page of ours begins
_FOLDER = Path(__file__).with_name("page")
_NO_BLOB = Blob(b"", "0" * 40, "100644")


class Choices(Struct, frozen=True):
    """What a page offers: ``units`` with new bytes of their files when all are made (``after``), and what git holds of them."""

    view: View
    rules: Rules
    units: Sequence[Unit]
    after: Mapping[str, bytes]
    blobs: Mapping[str, Blob]
    unsafe: bool = False  # whether unsafe units start as taken
    run: Mapping[str, Any] = {}  # a run of the project beside its code


def render_page(choices: Choices) -> bytes:
    """The page, as UTF-8."""
    style = (_FOLDER / "page.css").read_text("utf-8")
    script = (_FOLDER / "page.js").read_text("utf-8")
    lang = "zh-CN" if choices.view.lang == "zh" else "en"
    return assemble_page(
        MARK, "ddp-codemod review", style, script, _encode_page_data(choices), lang, choices.view.say("page-noscript")
    )


def _encode_page_data(choices: Choices) -> dict[str, Any]:
    view = choices.view
    edits: dict[str, list[Edit]] = {}
    for unit in choices.units:
        for edit in unit.edits:
            edits.setdefault(edit.name, []).append(edit)
    names = sorted(edits, key=lambda name: raw_name(choices.blobs.get(name, _NO_BLOB).name or name))  # as git sorts a patch
    found = {name: build_blocks(view.survey.sources[name], edits[name]) for name in names}
    files = [
        file_fragments(view.survey.sources[name], found[name], choices.after[name], choices.blobs.get(name, _NO_BLOB))
        for name in names
    ]
    bits = {
        build_edit_key(edit): (names.index(name), at, 1 << bit)
        for name, parts in found.items()
        for at, block in enumerate(parts)
        for bit, edit in enumerate(block.edits)
    }
    crowded = {
        (names.index(name), at) for name, parts in found.items() for at, block in enumerate(parts) if len(block.edits) > MANY
    }
    units = [_encode_unit(choices, unit, bits) for unit in _join_crowded_units(choices.units, bits, crowded)]
    rules = {ident: _encode_rule(choices, ident) for ident in dict.fromkeys(unit["rule"] for unit in units)}
    words = {key.removeprefix("page-"): text for key, text in catalogue(view.lang).items() if key.startswith("page-")}
    sure = {one.value: view.say(f"applicability-{one.value}") for one in Applicability}
    return {
        "version": __version__,
        "platform": view.survey.platform,
        "project": view.survey.root.absolute().name,
        "words": words,
        "sure": sure,
        "rules": rules,
        "files": files,
        "units": units,
        "run": choices.run,
    }


def _join_crowded_units(units: Iterable[Unit], bits: Mapping[Any, Any], crowded: set[tuple[int, int]]) -> list[Unit]:
    """The units; those that meet in a crowded block are one."""
    homes: dict[tuple[int, int], int] = {}
    made: list[Unit] = []
    for unit in units:
        meets = {bits[build_edit_key(edit)][:2] for edit in unit.edits} & crowded
        home = next((homes[at] for at in sorted(meets) if at in homes), None)
        if home is None:
            made.append(unit)
            home = len(made) - 1
        else:
            made[home] = replace(made[home], edits=(*made[home].edits, *unit.edits))
        homes.update(dict.fromkeys(meets, home))
    return [replace(unit, number=number) for number, unit in enumerate(made, 1)]


def _encode_unit(choices: Choices, unit: Unit, bits: Mapping[Any, tuple[int, int, int]]) -> dict[str, Any]:
    view, lead = choices.view, unit.lead
    parts: dict[tuple[int, int], int] = {}
    for edit in unit.edits:
        file, block, bit = bits[build_edit_key(edit)]
        parts[file, block] = parts.get((file, block), 0) | bit
    source = view.survey.sources[lead.name]
    return {
        "rule": lead.rule,
        "sure": unit.applicability.value,
        "reason": view.reason(lead.reason),
        "file": bits[build_edit_key(lead)][0],
        "line": source.position(lead.start if lead.anchor is None else lead.anchor)[0],
        "sites": [_encode_site(view, site) for site in sites_of_unit(view, unit)[:TOLD]],
        "with": [[_locate_edit(view, edit), view.reason(edit.reason)] for edit in dict.fromkeys(unit.edits) if edit is not lead],
        "parts": [[*at, mask] for at, mask in sorted(parts.items())],
        "taken": unit.applicability is Applicability.SAFE or choices.unsafe,
    }


def _encode_site(view: View, site: Any) -> dict[str, Any]:
    steps = [[_format_place(view, site.call), view.say("page-call"), view.source_text(site.call)]]
    steps += [[_format_place(view, step.place), view.reason(step.reason), ""] for step in site.steps[:TOLD]]
    for origin in site.origins[:TOLD]:
        kind = view.say(f"origin-{origin.kind}")
        why = f" ({view.reason(origin.why)})" if origin.why else ""
        steps.append(
            [_format_place(view, origin.place), view.say("page-starts", kind=kind) + why, view.source_text(origin.place)]
        )
    if (left := max(len(site.steps), len(site.origins)) - TOLD) > 0:
        steps.append(["", view.say("way-rest", n=left), ""])
    return {"steps": steps, "gives": view.outcome(site)}


def _format_place(view: View, place: Any) -> str:
    return f"{place.name}:{view.position(place)[0]}"


def _locate_edit(view: View, edit: Edit) -> str:
    return f"{edit.name}:{view.edit_line(edit)}"


def _encode_rule(choices: Choices, ident: str) -> dict[str, Any]:
    fix = choices.rules.rule(ident)
    if fix is None:
        return {"title": ident, "links": []}
    links = [source for source in fix.source if source.startswith(("https://", "http://"))]
    return {"title": in_language(fix, "title", choices.view.lang), "links": links}
