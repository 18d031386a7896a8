"""Lists that have to admit a new name: an option's choices, a ``Literal``, a validator's ``in [...]``."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from ddp_codemod.catalog.load import Rules
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import Value
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Edit, Reason
from ddp_codemod.policy.choice_lists import find_choice_lists, list_elements
from ddp_codemod.policy.findings import Finding


def widen_choice_lists(finding: Finding, source: Value, text: str, edit: Edit, rules: Rules) -> list[Edit]:
    """The edits, of the group of ``edit``, that let the lists around a changed value take its new text.

    Only a list of nothing but backend names that holds the old one and lacks the new one is widened.
    """
    old = source.value.value if isinstance(source.value, Known) else None
    if not isinstance(old, str):
        return []
    found: dict[tuple[str, int], Edit] = {}
    for module, listed in find_choice_lists(finding, source, rules):
        elements = list_elements(module, listed)
        values = [part.value for part in elements if isinstance(part, ast.Constant)]
        names = [value.lower() for value in values if isinstance(value, str)]
        if len(names) != len(elements) or old.lower() not in names or text.lower() in names:
            continue
        if all(name in rules.backends for name in names):
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
