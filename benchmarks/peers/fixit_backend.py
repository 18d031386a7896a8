"""The same as a rule of Fixit."""

from __future__ import annotations

import libcst as cst
from fixit import LintRule
from libcst.metadata import QualifiedNameProvider

NAMES = {"torch.distributed.init_process_group", "torch.distributed.new_group", "deepspeed.init_distributed"}


class Backend(LintRule):
    """``"nccl"`` in a call that makes a group."""

    METADATA_DEPENDENCIES = (QualifiedNameProvider,)

    def visit_Call(self, node: cst.Call) -> None:
        if not {name.name for name in self.get_metadata(QualifiedNameProvider, node, set())} & NAMES:
            return
        for index, part in enumerate(node.args):
            named = part.keyword is not None and part.keyword.value == "backend"
            value = part.value
            if (named or (part.keyword is None and index == 0)) and isinstance(value, cst.SimpleString):
                if value.evaluated_value == "nccl":
                    self.report(value, "nccl", replacement=value.with_changes(value='"gloo"'))
