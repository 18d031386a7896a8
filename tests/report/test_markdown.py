"""The text of a pull request, from real runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ddp_codemod.report.markdown import escape_code, escape_prose, fence_code
from tests.outside import FIXTURES

HEAD = "import torch.distributed as dist\n"
Output = Callable[..., bytes]


def text(output: Output, *words: str) -> str:
    return output("diff", *words, "--summary", "md").decode("utf-8")


def test_what_why_sites_and_tests(output: Output) -> None:
    said = text(output, str(FIXTURES / "tts-spawn/project"), "--platform", "rocm")
    assert [title for title in re.findall(r"^## (.*)", said, re.M) if title != "Notes"] == [
        "What",
        "Why",
        "Call sites",
        "What to test",
    ]
    assert "2 safe fixes in 2 files for `rocm`" in said
    assert "- `unsupported-backend`: Replace a backend" in said
    assert re.search(r"^- <https://\S+>$", said, re.M)
    assert "- [ ] Training starts with two processes" in said
    rows = [line for line in said.splitlines() if line.startswith("| ") and "s1_train.py" in line]
    assert len(rows) == 1
    assert '| `nccl` | `"gloo"` | safe |' in rows[0]


def test_every_row_has_as_many_cells(output: Output, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "a|b`c.py").write_text(HEAD + 'dist.init_process_group("nccl" if True | False else "gloo")  # | `\n')
    said = text(output, str(tmp_path), "--platform", "rocm")
    rows = [re.sub(r"\\\|", "", line) for line in said.splitlines() if line.startswith("|")]
    assert len(rows) >= 3
    assert {row.count("|") for row in rows} == {6}


def test_what_is_left_is_told(output: Output, odd: Path, unsure: str) -> None:
    said = text(output, str(odd), "--platform", "rocm")
    assert "## Needs review, not changed" in said
    assert "`why.py:2`" in said
    unsafe = text(output, unsure, "--platform", "mixed-gpu")
    assert "## What to test" not in unsafe
    assert "first.py:3" in unsafe


def test_the_command_names_no_folder_of_the_writer(output: Output, odd: Path) -> None:
    said = text(output, str(odd / "end.py"), "--platform", "rocm")
    assert "ddp-codemod apply end.py --platform rocm\n" in said
    assert str(odd) not in said


def test_chinese(output: Output) -> None:
    said = text(output, str(FIXTURES / "tts-spawn/project"), "--platform", "rocm", "--lang", "zh")
    assert "## 需要测试" in said
    assert "## What" not in said


def test_apply_writes_and_prints_it(output: Output, odd: Path) -> None:
    said = output("apply", str(odd / "end.py"), "--platform", "rocm", "--summary", "md").decode()
    assert said.startswith("## What")
    assert b"gloo" in (odd / "end.py").read_bytes()


@pytest.mark.parametrize(
    ("said", "expected"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`", "`` ` ``"), ("a|b", "`a\\|b`"), ("a\nb", "`a\\nb`"), (" a", "`  a `")],
)
def test_code_stays_code(said: str, expected: str) -> None:
    assert escape_code(said) == expected


def test_prose_has_no_links_that_live() -> None:
    said = "see https://a.b/c, www.a.b, mailto:a, GH-12, HTTP://X and a:b"
    assert escape_prose(said) == "see https\\://a.b/c, www\\.a.b, mailto\\:a, GH\\-12, HTTP\\://X and a:b"
    assert escape_prose("a\nb\x1b[1m\u202e") == "a\\\\nb\\\\x1b\\[1m\\\\u202e"


def test_prose_has_no_markup() -> None:
    assert escape_prose("<b> *x* [y](z) @me #1") == "\\<b\\> \\*x\\* \\[y\\](z) \\@me \\#1"


def test_a_fence_is_longer_than_what_is_in_it() -> None:
    assert fence_code("a ```` b", "sh") == ["`````sh", "a ```` b", "`````"]


DEVICES = """import apex
import torch
from torch.cuda.amp import GradScaler

scaler = GradScaler()
apex.fit(torch.ones(1, requires_grad=True).cuda().sum().backward())
torch.cuda.synchronize()
"""


def test_a_reason_is_told_once_and_each_row_has_the_code_from_before(output: Output, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "requirements.txt").write_text("gsplat\n", "utf-8")
    for name in ("train.py", "other.py"):
        (tmp_path / name).write_text(DEVICES, "utf-8")
    said = text(output, str(tmp_path), "--platform", "ascend", "--unsafe", "--style", "portable")
    assert "| `torch.cuda.synchronize` |" in said
    assert "| `GradScaler` |" in said
    assert "import torch_npu" not in said  # an import is no call site
    assert re.search(r"^- `other.py:1`, `train.py:1`: this package has CUDA kernels only", said, re.M)
    assert re.search(r"^- `requirements.txt:1`: this package works only with CUDA", said, re.M)
    why = said.split("## Why")[1].split("Sources:")[0]
    assert len(re.findall("^- ", why, re.M)) == len(set(re.findall(r"^- [^:]*: (.*)$", why, re.M)))
