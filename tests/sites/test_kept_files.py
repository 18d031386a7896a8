"""A process that keeps parsed files answers as one that has kept none, whatever has happened to the files meanwhile."""

from __future__ import annotations

import ast
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from ddp_codemod.catalog.load import load
from ddp_codemod.discover.unsaved import use_unsaved_texts
from ddp_codemod.model import Survey
from ddp_codemod.parse.python import Module
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey
from ddp_codemod.sites.kept_files import KeptFiles, Parsed, keeping_files

FIXTURES = Path(__file__).parents[2] / "fixtures"
PLATFORMS = ["rocm", "ascend", "windows", "single-gpu", "cpu", "ascend", "rocm"]
MORE = {
    "hydra.py": 'import hydra\nimport torch.distributed as dist\n\n\n@hydra.main(config_path="conf", config_name="base")\n'
    "def main(cfg):\n    dist.init_process_group(cfg.dist.backend)\n\n\nmain()\n",
    "conf/base.yaml": "dist:\n  backend: nccl\ntrainer:\n  device: cuda\n",
    "run.sh": "python hydra.py dist.backend=nccl\nNCCL_DEBUG=INFO torchrun train.py --backend nccl\n",
    "common/options.py": 'import argparse\n\nDEVICE = "cuda"\n\n\ndef options():\n    parser = argparse.ArgumentParser()\n'
    '    parser.add_argument("--backend", default="nccl")\n    return parser.parse_args()\n',
    "common/__init__.py": "from .options import DEVICE, options\n",
    "train.py": "import torch\nimport torch.distributed as dist\nfrom common import DEVICE, options\n\n\ndef set_up(backend):\n"
    "    dist.init_process_group(backend)\n\n\ndef fit(model):\n    return model.to(DEVICE).cuda()\n\n\n"
    'if __name__ == "__main__":\n    set_up(options().backend)\n    fit(torch.nn.Linear(1, 1))\n',
    "latin.py": "# coding: latin-1\nimport torch.distributed as dist\n\n\ndef caf\xe9():\n    dist.init_process_group('nccl')\n",
    "wrong.py": "import torch.distributed as dist\ndist.init_process_group('nccl'\n",
    "book.ipynb": json.dumps({
        "cells": [
            {"cell_type": "code", "source": ["%%writefile part.py\n", "import torch.distributed as dist\n", 'dist.init_process_group("nccl")']},
            {"cell_type": "code", "source": ["!torchrun part.py --backend nccl\n", "x = 1"]},
        ],
        "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5,
    }, indent=1),
}  # fmt: skip
LINES = [
    "",
    "# a comment",
    "x = 1",
    'backend = "nccl"',
    "import torch.distributed as dist",
    'dist.init_process_group("nccl")',
    "def f():",
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    shutil.copytree(FIXTURES / "tts-spawn" / "project", root / "speech")
    shutil.copytree(FIXTURES / "vocoder-accelerate" / "project", root / "vocoder")
    for name, text in MORE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "latin-1" if name == "latin.py" else "utf-8")
    (root / ".git").mkdir()
    return root


def ask(root: Path, platform: str, paths: tuple[Path, ...] = ()) -> Options:
    rules = load()
    return Options(paths or (root,), rules.platforms[platform], rules, root=root)


def kept_trees(files: KeptFiles) -> Iterator[tuple[str, Module]]:
    for (_, _, name), kept in files._files.items():
        if isinstance(kept.value, Parsed):
            yield from ((name, one) for one in kept.value.trees if isinstance(one, Module))


def change(root: Path, chance: random.Random) -> None:
    """What people and their tools do to files."""
    every = sorted(path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    path, other = chance.choice(every), chance.choice(every)
    what = chance.choice(["line", "line", "line", "line", "word", "remove", "rename", "copy", "swap", "new"])
    if what == "line":
        lines = path.read_bytes().split(b"\n")
        at = chance.randrange(len(lines))
        lines[at : at + chance.randrange(2)] = chance.choice(
            [[], [chance.choice(LINES).encode()], [lines[chance.randrange(len(lines))]]]
        )
        path.write_bytes(b"\n".join(lines))
    elif what == "word":
        old, new = chance.sample([b"nccl", b"gloo", b"cuda", b"backend", b"main", b"dist"], 2)
        path.write_bytes(path.read_bytes().replace(old, new))
    elif what == "remove":
        path.unlink()
    elif what == "rename":
        path.rename(path.with_name(f"other_{chance.randrange(3)}{path.suffix}"))
    elif what == "copy":
        shutil.copy(path, other)
    elif what == "swap":
        held = other.read_bytes()
        other.write_bytes(path.read_bytes())
        path.write_bytes(held)
    else:
        (root / f"new_{chance.randrange(3)}.py").write_text(
            chance.choice([MORE["train.py"], MORE["hydra.py"], "", "def options(): ...\n"])
        )


@pytest.mark.parametrize("seed", range(4))
def test_answers_are_those_of_a_process_that_has_kept_nothing(seed: int, tree: Path) -> None:
    chance, files = random.Random(seed), KeptFiles(chance_of_room(seed))
    for number in range(14):
        asked = ask(tree, PLATFORMS[(seed + number // 2) % len(PLATFORMS)])
        if number % 5 == 4:
            asked = replace(asked, paths=(tree / "speech",), style="portable")
        texts = {str(tree / "train.py"): b"import torch.distributed as dist\ndist.init_process_group('nccl')\n"}
        with use_unsaved_texts(texts if number % 4 == 3 else {}):
            with keeping_files(files):
                found = survey(asked)
            assert found == survey(asked), (seed, number)
        for _ in range(chance.randrange(3)):
            change(tree, chance)


def chance_of_room(seed: int) -> int:
    """Room for all files, and for some."""
    return (16_000_000, 10_000)[seed % 2]


def test_nothing_is_parsed_again(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = KeptFiles()
    with keeping_files(files):
        first = survey(ask(tree, "ascend"))
    before = {name: describe(module) for name, module in kept_trees(files)}
    assert {"train.py", "book.ipynb", "latin.py"} <= before.keys()
    parsed = []
    parse = ast.parse
    monkeypatch.setattr(ast, "parse", lambda text, *more, **how: parsed.append(text) or parse(text, *more, **how))
    with keeping_files(files):
        assert survey(ask(tree, "ascend")) == first
    again = [text for text in parsed if len(text) > 60]  # the patterns of rules are parsed, too
    assert all("init_process_group('nccl'\n" in str(text) for text in again)  # what is no program is tried each time
    assert {name: describe(module) for name, module in kept_trees(files)} == before


def describe(module: Module) -> str:
    """A tree with its places, and that each node knows the one around it."""
    for node in ast.walk(module.tree):
        for child in ast.iter_child_nodes(node):
            assert getattr(child, "parent", node) is node
    assert not module.cache
    return ast.dump(module.tree, include_attributes=True)


def test_it_keeps_within_its_bounds(tree: Path) -> None:
    files = KeptFiles(3_000)
    for _ in range(2):
        with keeping_files(files):
            survey(ask(tree, "rocm"))
        assert sum(len(kept.data) for kept in files._files.values()) <= 3_000
        assert files._files


def test_what_is_no_longer_asked_for_makes_room(tmp_path: Path) -> None:
    files, answers = KeptFiles(600), list[Survey]()
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text(
            'import torch.distributed as dist\ndist.init_process_group("nccl")\n' + "#" * 400
        )
        with keeping_files(files):
            answers.append(survey(ask(tmp_path / name, "rocm")))
    assert {root for _, root, _ in files._files} == {str(tmp_path / "second")}
    assert all(found.edits for found in answers)


def test_a_round_that_is_stopped_leaves_what_it_had(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, asked = KeptFiles(), ask(tree, "ascend")
    seen = 0

    def stop(name: str, number: int, total: int) -> None:
        nonlocal seen
        seen += 1
        if seen == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), keeping_files(files):
        survey(replace(asked, progress=stop))
    with keeping_files(files):
        found = survey(asked)
    assert found.edits
    assert found == survey(asked)
