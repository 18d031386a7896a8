"""How many devices a framework is told to take, which decides whether it makes a process group at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum

from ddp_codemod.catalog.objects import Objects
from ddp_codemod.dataflow.fold import UNKNOWN, Known, Value
from ddp_codemod.dataflow.leaves import Current, Default, Way
from ddp_codemod.dataflow.mappings import look_up
from ddp_codemod.kinds import OriginKind
from ddp_codemod.policy.findings import Context
from ddp_codemod.sites.find import Use

_DEFAULTS = (OriginKind.OPTION_DEFAULT, OriginKind.PARAMETER_DEFAULT, OriginKind.FIELD_DEFAULT)  # the user gives another number


class Count(Enum):
    """What the keywords of a call that count devices say."""

    SEVERAL = "several"
    OPEN = "open"  # it is decided elsewhere, or by the machine
    ONE = "one"
    UNSAID = "unsaid"


def devices_of(context: Context, use: Use, objects: Objects) -> Count:
    """How many devices the call asks for; one keyword that says several decides."""
    said = _said(context, use, objects)
    found = {counted(value.value if isinstance(value, Known) else "auto") for value in said}
    return next((count for count in Count if count in found), Count.UNSAID)


def _said(context: Context, use: Use, objects: Objects) -> Iterator[Value | Default | Current]:
    for keyword in use.call.keywords:
        if keyword.arg in objects.several:
            yield context.facts.fold(use.module, keyword.value)
    for mapping in use.spread:
        for name in objects.several:
            for leaf in look_up(context.tracer, use.module, mapping, ast.Constant(name), Way()) or ():
                yield UNKNOWN if leaf.kind in _DEFAULTS else leaf.value


def counted(many: object) -> Count:
    """What a number of devices says, or a list of them, or a text for either; of a text that is neither nothing is known."""
    if isinstance(many, str):
        many = int(many) if many.isdigit() else many.split(",") if "," in many else -1
    if isinstance(many, (tuple, list)):
        many = len(many)
    if many is None or many is False:
        return Count.UNSAID
    if not isinstance(many, int) or many < 0:
        return Count.OPEN
    return Count.SEVERAL if many > 1 else Count.ONE
