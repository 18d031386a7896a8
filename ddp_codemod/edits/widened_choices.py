"""Lists that have to admit a new name: an option's choices, a ``Literal``, a validator's ``in [...]``."""

from __future__ import annotations

from msgspec.structs import replace

from ddp_codemod.catalog.load import Rules
from ddp_codemod.dataflow.values import Value
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Edit, Reason
from ddp_codemod.policy.choice_lists import find_narrow_lists
from ddp_codemod.policy.findings import Finding


def widen_choice_lists(finding: Finding, source: Value, text: str, edit: Edit, rules: Rules) -> list[Edit]:
    """The edits, of the group of ``edit``, that let the lists around a changed value take its new text."""
    found: dict[tuple[str, int], Edit] = {}
    for module, elements in find_narrow_lists(finding, source, text, rules):
        last = elements[-1]
        end, quote = module.place(last).end, module.text(last)[-1]
        reason = Reason.of("edit-choices", Meaning.CHOICES, value=text)
        result = replace(
            edit,
            name=module.name,
            start=end,
            end=end,
            after=f", {quote}{text}{quote}",
            recipe=None,
            anchor=None,
            reason=reason,
        )
        found[module.name, end] = result
    return list(found.values())
