"""CUDA_VISIBLE_DEVICES in a program: renamed for one platform, set beside the device's own variable for several."""

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.edits.render import render
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
PROGRAM = "import os\n\nimport torch.distributed as dist\n\n\ndef choose(gpu):\n{body}\n\n\nchoose('0')\ndist.init_process_group('{backend}')\n"


def ported(folder: Path, body: str, style: str) -> tuple[str, int]:
    """What becomes of the function, and the places that need review."""
    text = PROGRAM.format(body="".join(f"    {line}\n" for line in body.splitlines()).rstrip(), backend="gloo")
    (folder / "train.py").write_text(text, "utf-8")
    found = survey(Options((folder,), RULES.platforms["ascend"], RULES, root=folder, style=style))
    changes = render(found, True).changes
    after = changes[0].after.decode() if changes else text
    lines = after[after.index("def choose") : after.index("\n\n\nchoose")].splitlines()[1:]
    return "\n".join(line[4:] for line in lines), sum(one.action.value == "review" for one in found.decisions)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "os.environ['CUDA_VISIBLE_DEVICES'] = gpu",
            "os.environ['ASCEND_RT_VISIBLE_DEVICES'] = os.environ['CUDA_VISIBLE_DEVICES'] = gpu",
        ),
        (
            'env = os.environ\nenv["CUDA_VISIBLE_DEVICES"] = chosen = gpu',
            'env = os.environ\nenv["ASCEND_RT_VISIBLE_DEVICES"] = env["CUDA_VISIBLE_DEVICES"] = chosen = gpu',
        ),
    ],
)
def test_portable_code_sets_both(tmp_path: Path, before: str, after: str) -> None:
    assert ported(tmp_path, before, "portable") == (after, 0)
    assert ported(tmp_path, after, "portable") == (after, 0)


@pytest.mark.parametrize("body", ["print(os.environ['CUDA_VISIBLE_DEVICES'])", "os.environ['CUDA_VISIBLE_DEVICES'] += gpu"])
def test_portable_code_that_reads_it_needs_review(tmp_path: Path, body: str) -> None:
    assert ported(tmp_path, body, "portable") == (body, 1)


def test_code_that_sets_both_stays(tmp_path: Path) -> None:
    body = "os.environ['ASCEND_RT_VISIBLE_DEVICES'] = gpu\nos.environ['CUDA_VISIBLE_DEVICES'] = gpu"
    assert ported(tmp_path, body, "pin") == (body, 0)
