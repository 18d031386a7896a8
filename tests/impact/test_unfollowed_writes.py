"""A name that is written where nothing follows it: the call that would take it gets a translation, and other calls stay."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from ddp_codemod import plan

CALL = "import torch.distributed as dist\n\n"


def edited(folder: Path, text: str, **others: str) -> list[str]:
    """The lines after the edits of a program, and of the files beside it."""
    (folder / "pyproject.toml").touch()
    for name, content in {"train": CALL + textwrap.dedent(text), **others}.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(content), "utf-8")
    return [one.after.strip() for one in plan(folder, platform="rocm").edits if one.after]


OBJECT = "class Options:\n    def __getattribute__(self, name):\n        return 'nccl'\n    backend = 'gloo'\n"


@pytest.mark.parametrize(
    ("text", "after"),
    [
        (
            f"{OBJECT}options = Options()\ndist.init_process_group(options.backend)\n",
            'dist.init_process_group("gloo" if options.backend == "nccl" else options.backend)',
        ),
        (
            f"{OBJECT}options = Options()\nname = options.backend\ndist.init_process_group(name)\n",
            'dist.init_process_group("gloo" if name == "nccl" else name)',
        ),
        (
            "def fix(cls):\n    setattr(cls, *('backend', 'nccl'))\n    return cls\n@fix\nclass Options:\n    backend = 'gloo'\n"
            "dist.init_process_group(Options.backend)\n",
            'dist.init_process_group("gloo" if Options.backend == "nccl" else Options.backend)',
        ),
        (
            "import os\nfor key, value in [('COMM', 'nccl')]:\n    os.environ.setdefault(key, value)\n"
            "dist.init_process_group(os.environ.pop('COMM', None) or 'gloo')\n",
            "dist.init_process_group('gloo' if (backend := os.environ.pop('COMM', None) or 'gloo') == 'nccl' else backend)",
        ),
    ],
)
def test_a_call_that_may_take_the_name_translates_it(tmp_path: Path, text: str, after: str) -> None:
    assert edited(tmp_path, text) == [after]


@pytest.mark.parametrize(
    "text",
    [
        "class Options:\n    backend = 'gloo'\ndist.init_process_group(Options.backend)\n",  # nothing else is written
        "NAMES = {'fast': 'nccl'}.items()\ndist.init_process_group('gloo')\n",  # the call names its backend
        "NAMES = {'fast': 'nccl'}.items()\nname = 'gloo'\ndist.init_process_group(name)\n",
        "NAMES = {'fast': 'nccl'}.items()\ndist.init_process_group('gloo')\nname = dist.get_backend()\ndist.new_group(backend=name)\n",
        "class Options:\n    backend = 'gloo'\nassert Options.backend != 'nccl'\ndist.init_process_group(Options.backend)\n",
    ],
)
def test_a_call_whose_backend_is_written_or_asked_there_stays(tmp_path: Path, text: str) -> None:
    assert edited(tmp_path, text) == []


def test_a_name_that_only_tests_write_changes_no_call(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text("import fancy\n\nfancy.start('nccl')\n")
    assert edited(tmp_path, "class Options:\n    backend = 'gloo'\ndist.init_process_group(Options.backend)\n") == []
