"""Imports that an edit leaves without a use: they go with it, and only where nothing else can need them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.cli import main

IMPORT = "from torch.cuda.amp import GradScaler"
TRAIN = f"""import torch
{IMPORT}

scaler = GradScaler()
torch.ones(1, requires_grad=True).cuda().sum().backward()
"""


def ported(root: Path, train: str, *options: str, **files: str) -> str:
    (root / "pyproject.toml").touch()
    for name, text in {"train.py": train, **{f"{name}.py": text for name, text in files.items()}}.items():
        (root / name).write_text(text, "utf-8")
    main(["apply", str(root), "--platform", "ascend", "--unsafe", "--no-cache", *options])
    text = (root / "train.py").read_text("utf-8")
    compile(text, "train.py", "exec")
    return text


@pytest.mark.parametrize("style", ["pin", "portable"])
def test_the_import_goes_with_its_last_use(tmp_path: Path, style: str) -> None:
    after = ported(tmp_path, TRAIN, "--style", style)
    assert "amp.GradScaler()" in after
    assert IMPORT not in after
    assert "import torch\n" in after


def test_of_several_names_the_others_stay(tmp_path: Path) -> None:
    after = ported(
        tmp_path, TRAIN.replace("GradScaler\n", "GradScaler, custom_fwd\n") + "\n@custom_fwd\ndef f(x):\n    return x\n"
    )
    assert "from torch.cuda.amp import custom_fwd\n" in after


@pytest.mark.parametrize(
    ("train", "files"),
    [
        (TRAIN + "\nkeep = GradScaler  # ddp-codemod: ignore\n", {}),  # another use
        (TRAIN + '\n\ndef use(scaler: "GradScaler"):\n    return scaler\n', {}),  # in a text
        (TRAIN + '\n__all__ = ["GradScaler"]\n', {}),
        (TRAIN.replace(IMPORT, f"{IMPORT}  # noqa: F401"), {}),
        (TRAIN, {"other": "from train import GradScaler\n"}),  # another file takes it from here
        (TRAIN + "\nprint(globals())\n", {}),
    ],
)
def test_it_stays_where_something_else_may_need_it(tmp_path: Path, train: str, files: dict[str, str]) -> None:
    assert IMPORT in ported(tmp_path, train, **files)


def test_an_import_of_the_project_stays(tmp_path: Path) -> None:
    """Its module may do something when it is imported."""
    train = TRAIN.replace(IMPORT, "from mine import GradScaler")
    assert "from mine import GradScaler" in ported(tmp_path, train, mine=f"{IMPORT}\n\nprint('set up')\n")
