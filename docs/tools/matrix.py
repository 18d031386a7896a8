"""The table of frameworks and platforms: what happens on each platform to code that asks for NVIDIA's backend.

It is made by running the tool: for each platform one project with the examples of all surfaces, as they stand in the rule data.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from ddp_codemod.catalog.load import load
from ddp_codemod.catalog.model import Surface
from ddp_codemod.messages import in_language
from ddp_codemod.model import Action, Applicability, Decision
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

# in this order the first that some call of a framework shows is its cell
CELLS = {
    "no": ("not possible", "无法实现"),
    "edit": ("edit", "修改"),
    "unsafe": ("unsafe edit", "不安全修改"),
    "hand": ("by hand", "手动"),
    "right": ("–", "–"),
}
HEADS = ("framework", "框架")


def samples(surface: Surface) -> list[str]:
    """Programs that choose through a surface: those that some platform changes, else those that no platform does."""
    plain = [example for example in surface.examples if not example.versions and example.style == "pin" and not example.rules]
    changing = [example.before for example in plain if example.after is not None]
    return (
        changing
        or [example.before for example in plain if "nccl" in example.before or "left out" in example.title]
        or [example.before for example in plain[:1]]
    )


@lru_cache(maxsize=1)
def cells() -> dict[tuple[str, str], tuple[str, str]]:
    """For each framework and platform what happens, and the surface that shows it where the reason is the surface's."""
    rules = load()
    made: dict[tuple[str, str], tuple[str, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for ident, surface in rules.surfaces.items():
            for number, text in enumerate(samples(surface) if not surface.variant_of else ()):  # the newest signature is shown
                (root / f"{re.sub(r'[^a-zA-Z]', '_', ident)}_{number}.py").write_text(text, encoding="utf-8")
        for platform in rules.platforms:
            found = survey(Options((root,), rules.platforms[platform], rules, root=root))
            for framework in dict.fromkeys(rules.frameworks.values()):
                mine = [one for one in found.decisions if rules.frameworks.get(one.surface) == framework]
                kinds = {kind(one, platform): one.surface for one in mine if is_backend(one)}
                chosen = next((name for name in CELLS if name in kinds), "right")
                made[framework, platform] = chosen, kinds.get(chosen, "")
    return made


def is_backend(decision: Decision) -> bool:
    """Whether the decision is about a backend, not about a URL or a variable."""
    roles = {parameter.name: parameter.role for parameter in load().surfaces[decision.surface].parameters}
    return roles.get(decision.parameter) == "backend"


def kind(decision: Decision, platform: str) -> str:
    """The cell that one decision stands for."""
    if decision.action is Action.EDIT:
        return "edit" if decision.applicability is Applicability.SAFE else "unsafe"
    if decision.action is Action.REVIEW:
        return "hand"
    for parameter in load().surfaces[decision.surface].parameters:
        if decision.reason.key == "keep-ignored" and parameter.instead and platform not in load().fitting(parameter.right_on):
            return "no"
    return "right"


def table(lang: str) -> Iterator[str]:
    """The table, and below it why something is not possible and what to do instead."""
    at, rules, found = ("en", "zh").index(lang), load(), cells()
    platforms = list(dict.fromkeys(platform for _, platform in found))
    notes: dict[str, int] = {}
    yield ""
    yield f"| {HEADS[at]} | " + " | ".join(f"`{platform}`" for platform in platforms) + " |"
    yield "|---" * (len(platforms) + 1) + "|"
    for framework in sorted({framework for framework, _ in found}, key=str.lower):
        row = []
        for platform in platforms:
            name, surface = found[framework, platform]
            text = CELLS[name][at]
            if name == "no":
                why = next(one for one in rules.surfaces[surface].parameters if one.instead)
                ignored = why.ignored_zh if lang == "zh" else why.ignored
                note = f"{ignored}{'；' if lang == 'zh' else '; '}{in_language(why, 'instead', lang)}"
                text += f" ({notes.setdefault(note, len(notes) + 1)})"
            row.append(text)
        yield f"| {framework} | " + " | ".join(row) + " |"
    yield ""
    yield from (f"({number}) {note}{'。' if lang == 'zh' else '.'}  " for note, number in notes.items())
    yield ""
