"""The vendor's own imports at the training entries: unconditional for one platform, guarded where other machines run the code."""

from pathlib import Path

from ddp_codemod.catalog.load import load
from ddp_codemod.edits.render import render
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
PROGRAM = """import torch
import torch.distributed as dist

torch.cuda.set_device(0)
dist.init_process_group("nccl")
"""
IMPORTS = "import torch_npu\nfrom torch_npu.contrib import transfer_to_npu\n"
GUARDED = "try:\n    import torch_npu\n    from torch_npu.contrib import transfer_to_npu\nexcept ImportError:\n    pass\n"


def ported(folder: Path, text: str, style: str) -> str:
    (folder / "train.py").write_text(text, "utf-8")
    asked = Options((folder,), RULES.platforms["ascend"], RULES, fixes=("transfer-to-npu",), root=folder, style=style)
    changes = render(survey(asked), True).changes
    return changes[0].after.decode() if changes else text


def test_pinned_imports_are_plain(tmp_path: Path) -> None:
    assert ported(tmp_path, PROGRAM, "pin") == IMPORTS + PROGRAM


def test_portable_imports_go_on_without_the_package(tmp_path: Path) -> None:
    once = ported(tmp_path, PROGRAM, "portable")
    assert once == GUARDED + PROGRAM
    assert ported(tmp_path, once, "portable") == once
