"""What a program shows of what it worked out from the name of a group's backend: ``print({"nccl": "gpu"}.get(name, "other"))``."""

from __future__ import annotations

import ast

from ddp_codemod.dataflow.fold import FoldResult, Known
from ddp_codemod.dataflow.reads import Read
from ddp_codemod.impact.conditions import Swap
from ddp_codemod.policy.other_uses import OtherUses


def shows_another_answer(uses: OtherUses, read: Read, swap: Swap, before: FoldResult, after: FoldResult) -> bool:
    """Whether what is shown there is another text now, which names no backend: of a name a reader sees what became of it."""
    around = read.module.parents.get(read.node)
    call = read.module.parents.get(around) if isinstance(around, (ast.keyword, ast.Starred)) else around
    if not isinstance(call, ast.Call) or not uses.is_shown(read.module, call) or before == after:
        return False
    answers = ((before, swap.old), (after, swap.new))
    return all(isinstance(answer, Known) and name not in str(answer.value).lower() for answer, name in answers)
