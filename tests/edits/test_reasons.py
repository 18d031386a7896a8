"""Each edit says where its own value starts, however many there are for one site."""

from __future__ import annotations

from pathlib import Path

from ddp_codemod.catalog.load import load
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

FILES = {
    "train.py": (
        "import argparse\nimport torch.distributed as dist\n\nparser = argparse.ArgumentParser()\n"
        'parser.add_argument("--dist-backend", default="gloo")\ndist.init_process_group(parser.parse_args().dist_backend)\n'
    ),
    "Dockerfile": "FROM x\nCMD python train.py --dist-backend nccl\n",
    "Makefile": "all:\n\tpython train.py --dist-backend NCCL\n",
    "run.sh": "python train.py --dist-backend nccl\n",
}


def test_every_launch_file_is_named_for_its_own_value(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    rules = load()
    edits = survey(Options((tmp_path,), rules.platforms["rocm"], rules, root=tmp_path)).edits
    said = {edit.name: dict(edit.reason.args) for edit in edits}
    assert not any("origin" in args for args in said.values())  # each stands where its own value starts, and names no other place
    assert {name: args["value"] for name, args in said.items()} == {
        "Dockerfile": "nccl",
        "Makefile": "NCCL",
        "run.sh": "nccl",
        "train.py": "nccl",
    }
