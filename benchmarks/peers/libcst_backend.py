"""The same as a command of LibCST's own tool, with qualified names: aliases and imports are seen, values are not."""

from __future__ import annotations

import libcst as cst
from libcst.codemod import VisitorBasedCodemodCommand
from libcst.metadata import QualifiedNameProvider

NAMES = {
    "torch.distributed.init_process_group",
    "torch.distributed.new_group",
    "deepspeed.init_distributed",
    "lightning.pytorch.strategies.DDPStrategy",
    "pytorch_lightning.strategies.DDPStrategy",
}


class Backend(VisitorBasedCodemodCommand):
    """``"nccl"`` to ``"gloo"`` where it is an argument of a call that makes a group."""

    DESCRIPTION = "nccl to gloo in the calls that make process groups"
    METADATA_DEPENDENCIES = (QualifiedNameProvider,)

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        found = {name.name for name in self.get_metadata(QualifiedNameProvider, original_node, set())}
        if not found & NAMES:
            return updated_node
        return updated_node.with_changes(args=[self._argument(index, part) for index, part in enumerate(updated_node.args)])

    @staticmethod
    def _argument(index: int, part: cst.Arg) -> cst.Arg:
        named = part.keyword is not None and part.keyword.value in ("backend", "process_group_backend", "dist_backend")
        value = part.value
        if (named or (part.keyword is None and index == 0)) and isinstance(value, cst.SimpleString):
            if value.evaluated_value == "nccl":
                return part.with_changes(value=value.with_changes(value='"gloo"'))
        return part
