"""What is reported where code goes by the name of a group's backend, once an edit gives the group another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.model import TIED
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

MADE = 'import torch\nimport torch.distributed as dist\n\ndist.init_process_group("{backend}")\n'


def find(root: Path, code: str, platform: str = "rocm", backend: str = "nccl") -> list[tuple[int, str, dict[str, str]]]:
    (root / "train.py").write_text(MADE.replace("{backend}", backend) + code)
    rules = load()
    found = survey(Options((root,), rules.platforms[platform], rules, root=root))
    return [
        (note.line, note.message.key, {key: str(value) for key, value in note.message.args})
        for note in found.advisories
        if note.rule == TIED
    ]


@pytest.mark.parametrize(
    ("code", "key", "text", "before", "after"),
    [
        ('x = 8 if dist.get_backend() == "nccl" else 2', "tied-group-name", 'dist.get_backend() == "nccl"', "True", "False"),
        ('x = 2 if dist.get_backend() != "nccl" else 8', "tied-group-name", 'dist.get_backend() != "nccl"', "False", "True"),
        ('x = [0] * {"nccl": 8, "gloo": 2}[dist.get_backend()]', "tied-group-value", None, "8", "2"),
        ('x = open("log_" + dist.get_backend())', "tied-group-value", '"log_" + dist.get_backend()', "'log_nccl'", "'log_gloo'"),
    ],
)
def test_the_note_says_what_was_and_what_is(
    tmp_path: Path, code: str, key: str, text: str | None, before: str, after: str
) -> None:
    ((line, found, values),) = find(tmp_path, code + "\nopen(str(x))\n")
    assert (line, found, values["before"], values["after"]) == (5, key, before, after)
    assert (values["old"], values["new"]) == ("nccl", "gloo")
    assert text is None or values["text"] == text


def test_a_text_with_more_in_it_and_the_name_itself(tmp_path: Path) -> None:
    code = 'def save(step):\n    torch.save({}, f"{dist.get_backend()}_{step}.pt")\n    torch.ops.load(dist.get_backend())\n'
    assert [(line, key) for line, key, _ in find(tmp_path, code)] == [(6, "tied-group-text"), (7, "tied-group-passed")]


@pytest.mark.parametrize("platform", ["windows", "ascend"])
def test_it_is_the_name_of_the_platform(tmp_path: Path, platform: str) -> None:
    ((_, key, values),) = find(
        tmp_path, 'fast = dist.get_backend().startswith("nccl")\ntorch.set_num_threads(1 + fast)\n', platform
    )
    assert (key, values["new"]) == ("tied-group-name", load().platforms[platform].backend.wanted)


@pytest.mark.parametrize(("platform", "backend"), [("cuda", "nccl"), ("rocm", "gloo")])
def test_nothing_is_said_of_a_group_that_keeps_its_name(tmp_path: Path, platform: str, backend: str) -> None:
    code = 'if dist.get_backend().startswith("nccl"):\n    torch.cuda.set_device(0)\nx = {"nccl": 8, "gloo": 2}[dist.get_backend()]\nopen(str(x))\n'
    assert find(tmp_path, code, platform, backend) == []


def test_a_chain_is_reported_once_and_with_the_test_that_changes(tmp_path: Path) -> None:
    code = 'if dist.get_backend() == "mpi":\n    n = 1\nelif dist.get_backend() == "nccl":\n    n = 8\nelse:\n    n = 2\nopen(str(n))\n'
    ((line, key, values),) = find(tmp_path, code)
    assert (line, key, values["text"]) == (5, "tied-group-name", 'dist.get_backend() == "nccl"')


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ('print({"nccl": "gpu"}.get(dist.get_backend(), "other"))', [5]),
        ('print(dist.get_backend() == "nccl")', [5]),
        ('sizes = {"nccl": 8, "gloo": 2}\nname = dist.get_backend()\nprint(sizes[name])', [7]),
        ('def ask(lib, name):\n    return lib.get_backend() == name\n\n\nprint(ask(dist, "nccl"))', [6]),
        ("print(dist.get_backend())", []),
        ('print(f"on {dist.get_backend()}")', []),
        ("print(dist.get_backend().upper())", []),
        ('print({"nccl": "NCCL", "gloo": "Gloo"}[dist.get_backend()])', []),
        ('print({"nccl": "gpu", "gloo": "gpu"}[dist.get_backend()])', []),
        ('print(dist.get_backend() == "mpi")', []),
    ],
)
def test_what_is_shown_of_an_answer_is_reported_and_a_name_is_not(tmp_path: Path, code: str, lines: list[int]) -> None:
    assert [line for line, _, _ in find(tmp_path, code + "\n")] == lines
