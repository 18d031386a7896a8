"""A server looks into the folders that it was started with and that its client names, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from talking import TRAIN, Started, own_words, words

from ddp_codemod.servers.roots import OutsideRoots, Roots, path_of

ROCM = {"platform": "rocm"}


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A project that no server is told of."""
    root = tmp_path / "other"
    root.mkdir()
    (root / "pyproject.toml").write_text("")
    (root / "secret.py").write_text(TRAIN)
    (root / "secret.log").write_text("RuntimeError: Distributed package doesn't have NCCL built in\n")
    return root


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_folders_of_the_client_count(server: Started, project: Path, mode: str) -> None:
    answer = server.ask("scan", ROCM, roots=[project], mode=mode)
    assert [site["path"] for site in answer.structured_content["report"]["sites"]] == ["train.py"]


def test_folders_of_both_count(server: Started, project: Path, other: Path) -> None:
    for root, name in ((project, "train.py"), (other, "secret.py")):
        answer = server.ask("scan", {**ROCM, "paths": [str(root)]}, project, roots=[other])
        assert [site["path"] for site in answer.structured_content["report"]["sites"]] == [name]
    undecided = server.ask("scan", ROCM, project, roots=[other])
    assert undecided.is_error


@pytest.mark.parametrize("roots", [None, []])
def test_without_a_folder_nothing_is_read(server: Started, project: Path, roots: list[Path] | None) -> None:
    answer = server.ask("scan", {**ROCM, "paths": [str(project)]}, roots=roots)
    assert answer.is_error
    assert "no folder is open to this server" in own_words(answer)


@pytest.mark.parametrize("tool", ["scan", "explain", "diagnose", "verify", "undo"])
def test_what_lies_elsewhere_is_refused(server: Started, project: Path, other: Path, tool: str) -> None:
    (project / "link").symlink_to(other)
    names = ["../other", "../other/secret.py", "link", "link/secret.py", str(other), "/etc/passwd", "..", "a\0b", "~"]

    async def each(client: Client) -> list[types.CallToolResult]:
        answers = []
        for name in names:
            given: dict[str, Any] = {"paths": [name]} if tool in ("scan", "verify") else {"path": name}
            given |= {"line": 3} if tool == "explain" else {}
            given |= ROCM if tool not in ("diagnose", "undo") else {}
            answers.append(await client.call_tool(tool, given))
        return answers

    for answer in server.talk(each, project, "--allow-apply"):
        assert answer.is_error
        assert "outside the folders that this server may read" in words(answer)
        assert answer.structured_content is None


def test_a_root_above_the_folder_is_not_read(server: Started, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ddp-codemod]\nplatform = 'windows'\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "train.py").write_text("import torch.distributed as dist\nfrom above import NAME\ndist.init_process_group(NAME)\n")
    (tmp_path / "above.py").write_text('NAME = "nccl"\n')
    assert server.ask("scan", {}, inner).is_error  # no platform is named in there
    answer = server.ask("scan", ROCM, inner).structured_content
    assert answer["root"] == str(inner)
    assert "above.py" not in str(answer["report"]["sites"][0]["origins"])


def test_uris_of_other_kinds_and_machines_name_nothing(project: Path) -> None:
    assert Roots().with_uris(["https://example.com/a", "file://host/share", project.as_uri()]).folders == (project.resolve(),)
    assert path_of((project / "with space").as_uri()) == project / "with space"
    with pytest.raises(OutsideRoots):
        Roots().find(str(project))
