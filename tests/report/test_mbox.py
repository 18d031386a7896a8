"""The patch as a mail, taken by a real ``git am``."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ddp_codemod.report.mbox import format_mail

HEAD = "import torch.distributed as dist\n"
CALL = 'dist.init_process_group("nccl")\n'
Output = Callable[..., bytes]


def git(*words: str, at: Path, stdin: bytes = b"") -> bytes:
    return subprocess.run(["git", *words], cwd=at, input=stdin, capture_output=True, check=True).stdout


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Jürgen 测试\n\temail = j@example.com\n[init]\n\tdefaultBranch = main\n", "utf-8"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    root = tmp_path / "repo"
    root.mkdir()
    git("init", "-q", at=root)
    return root


def commit(root: Path, **files: bytes) -> None:
    for name, data in files.items():
        (root / f"{name}.py").write_bytes(data)
    git("add", "-A", at=root)
    git("commit", "-q", "--allow-empty", "-m", "state", at=root)


FILES = {
    "plain": (HEAD + CALL).encode(),
    "crlf": (HEAD + CALL).replace("\n", "\r\n").encode(),
    "end": (HEAD + CALL.rstrip()).encode(),
    "gbk": b"# -*- coding: gbk -*-\n" + (HEAD + '名 = "nccl"\ndist.init_process_group(名)\n').encode("gbk"),
    "bom": b"\xef\xbb\xbf" + (HEAD + CALL).encode(),
    "odd": (HEAD + CALL + '"""\nFrom me Mon Sep 17 00:00:00 2001\n---\n-- \ndiff --git a b\n= =3D =\x0c\n"""\n').encode(),
    "名 \"x'": (HEAD + CALL).encode(),
}


@pytest.mark.parametrize("names", [list(FILES), *([name] for name in FILES)], ids="+".join)
def test_git_am_makes_what_apply_makes(repo: Path, output: Output, names: list[str]) -> None:
    commit(repo, **{name: FILES[name] for name in names})
    data = output("diff", str(repo), "--platform", "rocm", "--format", "mbox")
    output("apply", str(repo), "--platform", "rocm")
    expected = {path.name: path.read_bytes() for path in repo.glob("*.py")}
    git("checkout", "-q", ".", at=repo)
    git("am", "-q", at=repo, stdin=data)
    assert {path.name: path.read_bytes() for path in repo.glob("*.py")} == expected
    assert git("status", "--porcelain", at=repo) == b""


def test_author_subject_and_trailer(repo: Path, output: Output) -> None:
    commit(repo, a=FILES["plain"])
    git("am", "-q", at=repo, stdin=output("diff", str(repo), "--platform", "rocm", "--format", "mbox"))
    assert git("log", "-1", "--format=%an|%ae|%s|%(trailers:key=Ddp-Codemod-Command,valueonly)", at=repo).decode().strip() == (
        "Jürgen 测试|j@example.com|Use gloo instead of nccl on rocm|ddp-codemod apply . --platform rocm"
    )
    body = git("log", "-1", "--format=%b", at=repo).decode()
    assert "unsupported-backend: Replace a backend that does not work on the target platform" in " ".join(body.split())
    assert "- a.py:2" in body
    assert max(map(len, body.splitlines())) <= 100


def test_chinese(repo: Path, output: Output) -> None:
    commit(repo, a=FILES["plain"])
    git("am", "-q", at=repo, stdin=output("diff", str(repo), "--platform", "rocm", "--format", "mbox", "--lang", "zh"))
    assert git("log", "-1", "--format=%s", at=repo).decode().strip() == "在 rocm 上用 gloo 代替 nccl"


def test_nothing_to_change_is_no_mail(repo: Path, output: Output) -> None:
    commit(repo, a=(HEAD + CALL).replace("nccl", "gloo").encode())
    assert output("diff", str(repo), "--platform", "rocm", "--format", "mbox") == b""


def test_the_same_bytes_at_the_same_time(repo: Path, output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(repo, a=FILES["plain"])
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    words = ("diff", str(repo), "--platform", "rocm", "--format", "mbox")
    assert output(*words) == output(*words)
    assert b"Date: Tue, 14 Nov 2023 22:13:20 " in output(*words)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@given(
    body=st.lists(
        st.sampled_from(
            [
                "---",
                "diff --git a/a b/a",
                "From me Mon Sep 17 00:00:00 2001",
                "Index: x",
                ">From",
                "-- ",
                "scissors >8",
                "é",
                "plain",
            ]
        ),
        min_size=1,
        max_size=6,
    ),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_no_message_is_taken_for_a_patch(repo: Path, body: list[str], ending: str) -> None:
    if not (repo / "x.py").exists():
        commit(repo)
    before = git("rev-parse", "HEAD", at=repo).decode().strip()
    text = f"one{ending}two = 'x '{ending}".encode()
    (repo / "x.py").write_bytes(text)
    git("add", "-A", at=repo)
    patch = git("diff", "--cached", at=repo)
    git("reset", "-q", "--hard", at=repo)
    git(
        "am",
        "-q",
        at=repo,
        stdin=format_mail(patch, "subject\n\n" + "\n".join(["start", *body, "end"]), ("A B", "a@example.com"), 0),
    )
    assert (repo / "x.py").read_bytes() == text
    assert [line.strip() for line in git("log", "-1", "--format=%b", at=repo).decode().split("\n")[:-2]] == [
        line.strip() for line in ["start", *body, "end"]
    ]
    git("reset", "-q", "--hard", before, at=repo)
