"""``getattr(FILE, name)`` with a name that only the run knows: what the file defines is followed, or the fix is unsafe."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.edits.render import render
from ddp_codemod.model import Applicability
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
TRAIN = """
import torch
import torch.distributed as dist
{imports}

def main(rank, n_gpus):
    dist.init_process_group("gloo", rank=rank, world_size=n_gpus)
    for step in ("lower", "strip"):
        {call}
    torch.nn.Linear(4, 1)(torch.ones(1, 4)).sum().backward()


main(0, torch.cuda.device_count())
"""
CLEANERS = 'def lower(text):\n    return text.lower()\n\n\ndef strip(text):\n    return text.strip("-")\n'
HELPERS = "import torch.distributed as dist\n\n\ndef share(text):\n    dist.barrier()\n    return text\n"


def outcome(root: Path, files: dict[str, str], imports: str, call: str) -> tuple[set[Applicability], dict[str, str]]:
    """How safe the fix of train.py is, and the new texts of files that change."""
    for name, text in {**files, "train.py": TRAIN.format(imports=imports, call=call)}.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    found = survey(Options((root,), RULES.platforms["single-gpu"], RULES, root=root))
    changed = {change.name: change.after.decode() for change in render(found, True).changes}
    return {edit.applicability for edit in found.edits if edit.name == "train.py"}, changed


@pytest.mark.parametrize(
    ("files", "imports", "call"),
    [
        ({"cleaners.py": CLEANERS}, "import cleaners", "getattr(cleaners, step)('A')"),
        ({"cleaners.py": CLEANERS}, "import cleaners as c", "getattr(c, step)('A')"),
        ({"text/__init__.py": "", "text/cleaners.py": CLEANERS}, "from text import cleaners", "getattr(cleaners, step)('A')"),
        (
            {"cleaners.py": f"from words import cut\n\n\n{CLEANERS}", "words.py": "def cut(text):\n    return text\n"},
            "import cleaners",
            "getattr(cleaners, step)('A')",
        ),
    ],
)
def test_a_file_that_does_not_speak_of_the_group_is_no_doubt(
    tmp_path: Path, files: dict[str, str], imports: str, call: str
) -> None:
    safe, changed = outcome(tmp_path, files, imports, call)
    assert safe == {Applicability.SAFE}
    assert set(changed) == {"train.py"}


@pytest.mark.parametrize(
    ("files", "imports", "call"),
    [
        ({"cleaners.py": f"{CLEANERS}\n\n{HELPERS}"}, "import cleaners", "getattr(cleaners, step)('A')"),
        (
            {"cleaners.py": f"from helpers import share\n\n\n{CLEANERS}", "helpers.py": HELPERS},
            "import cleaners",
            "getattr(cleaners, step)('A')",
        ),
        (
            {"cleaners.py": "from again import share\n", "again.py": "from helpers import share\n", "helpers.py": HELPERS},
            "import cleaners",
            "getattr(cleaners, step)('A')",
        ),
        (
            {"cleaners.py": f"from words import *\n\n\n{CLEANERS}", "words.py": ""},
            "import cleaners",
            "getattr(cleaners, step)('A')",
        ),
        ({"cleaners.py": CLEANERS}, "import sys\nimport cleaners", "getattr(sys.modules['cleaners'], step)('A')"),
    ],
)
def test_what_may_hold_the_api_stays_a_doubt(tmp_path: Path, files: dict[str, str], imports: str, call: str) -> None:
    safe, _ = outcome(tmp_path, files, imports, call)
    assert safe == {Applicability.UNSAFE}


def test_what_it_may_give_is_run(tmp_path: Path) -> None:
    """A function that only getattr names uses another file's, which the group has to be asked for in."""
    files = {
        "cleaners.py": "def lower(text):\n    import helpers\n\n    return helpers.share(text)\n",
        "helpers.py": HELPERS,
    }
    _, changed = outcome(tmp_path, files, "import cleaners", "getattr(cleaners, step)('A')")
    assert "if dist.is_initialized():\n        dist.barrier()" in changed["helpers.py"]


def test_a_guard_around_the_named_uses_says_nothing(tmp_path: Path) -> None:
    """``strip`` is called under a test for the group and, by its name, without one."""
    files = {
        "cleaners.py": "def strip(text):\n    from helpers import share\n\n    return share(text)\n",
        "helpers.py": HELPERS,
    }
    call = "cleaners.strip('A') if dist.is_initialized() else getattr(cleaners, step)('A')"
    _, changed = outcome(tmp_path, files, "import cleaners", call)
    assert "dist.is_initialized():\n        dist.barrier()" in changed.get("helpers.py", "")
