"""Pins across the files of a project: all together or none, and what only other tools can do is said."""

from __future__ import annotations

from pathlib import Path

from ddp_codemod.catalog.load import load
from ddp_codemod.edits.render import Rendered, render
from ddp_codemod.model import Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
RULE = "torch-before-libuv"


def pinned(root: Path, files: dict[str, str], unsafe: bool = True) -> tuple[Survey, Rendered]:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode("utf-8"))
    found = survey(Options((root,), RULES.platforms["windows"], RULES, fixes=(RULE,), root=root))
    return found, render(found, unsafe)


def test_all_files_together_and_bytes_around_stay(tmp_path: Path) -> None:
    files = {
        "requirements.txt": "torch==2.4.1\r\nnumpy\r\n",
        "sub/requirements-gpu.txt": "torchaudio >= 2.4 ;  os_name == 'nt'\n",
    }
    found, rendered = pinned(tmp_path, files)
    assert {change.name: change.after for change in rendered.changes} == {
        "requirements.txt": b"torch==2.3.1\r\nnumpy\r\n",
        "sub/requirements-gpu.txt": b"torchaudio ==2.3.1 ;  os_name == 'nt'\n",
    }
    assert len({edit.group for edit in found.edits}) == 1


def test_nothing_without_unsafe(tmp_path: Path) -> None:
    _, rendered = pinned(tmp_path, {"requirements.txt": "torch==2.4.1\n"}, unsafe=False)
    assert rendered.changes == ()
    assert len(rendered.left) == 1


def test_locks_and_hashes_are_left_to_their_tools(tmp_path: Path) -> None:
    lock = '[[package]]\nname = "torch"\nversion = "2.5.1"\n'
    found, rendered = pinned(tmp_path, {"uv.lock": lock, "requirements.txt": "torch==2.5.1 --hash=sha256:00\n"})
    assert rendered.changes == ()
    assert [(note.name, note.line) for note in found.advisories if note.rule == RULE] == [("requirements.txt", 1), ("uv.lock", 3)]


def test_a_project_that_states_nothing_is_told_what_to_type(tmp_path: Path) -> None:
    found, _ = pinned(tmp_path, {"train.py": "import torch\n"})
    (note,) = [note for note in found.advisories if note.rule == RULE]
    assert '"torch==2.3.1"' in dict(note.message.args)["command"]


def test_other_rules_leave_pins_alone(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.4.1\n", encoding="utf-8")
    assert survey(Options((tmp_path,), RULES.platforms["windows"], RULES, root=tmp_path)).edits == ()


def test_files_for_other_machines_are_left_alone(tmp_path: Path) -> None:
    files = {"requirements.txt": "torch==2.4.1\n", "requirements/npu.txt": "torch==2.10.0\ntorch-npu==2.10.0\n"}
    _, rendered = pinned(tmp_path, files)
    assert [change.name for change in rendered.changes] == ["requirements.txt"]
