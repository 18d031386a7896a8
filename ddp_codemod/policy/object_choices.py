"""Objects that stand for texts on their way into a call: ``strategy=DDPStrategy(...) if args.strategy == "ddp" else args.strategy``."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from ddp_codemod.catalog.model import Parameter
from ddp_codemod.dataflow.facts import Facts
from ddp_codemod.dataflow.translations import is_translated
from ddp_codemod.policy.findings import NewObject, ObjectChoice
from ddp_codemod.sites.surface_calls import Use


def choose_objects(
    facts: Facts, use: Use, parameter: Parameter, argument: ast.expr | None, objects: Mapping[str | None, NewObject], closed: bool
) -> Iterator[ObjectChoice]:
    """The change of the argument, or of what the call unpacks; nothing where the project does not write it.

    ``closed``: nothing but these texts can arrive.
    """
    if not use.is_exact or is_chosen(facts, use, parameter, argument):
        return
    pairs = tuple(objects.items())
    if argument is not None:
        if not isinstance(argument, ast.Constant):
            yield ObjectChoice(use.module, argument, pairs, closed)
    elif len(use.spread) == 1 and not isinstance(use.module.parents.get(use.spread[0]), ast.Starred):
        yield ObjectChoice(use.module, use.spread[0], pairs, closed, parameter.name)


def is_chosen(facts: Facts, use: Use, parameter: Parameter, argument: ast.expr | None) -> bool:
    """Whether objects stand for texts in the argument, or in what the call unpacks, already."""
    if argument is not None:
        return is_translated(facts, use.module, argument)
    return any(is_translated(facts, use.module, one, parameter.name) for one in use.spread)
