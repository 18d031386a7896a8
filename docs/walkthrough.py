"""Writes walkthrough.md and walkthrough.zh-CN.md: from a traceback to a pull request and back, with the real output of each step.

Run it after a change of what ddp-codemod prints:  python docs/walkthrough.py  (``make docs`` does, too)
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "tools"))
from session import environment  # noqa: E402

PROJECT = HERE.parent / "fixtures/tts-spawn/project"
FILES = {"en": HERE / "walkthrough.md", "zh": HERE / "walkthrough.zh-CN.md"}
LOG = """\
-- Process 0 terminated with the following error:
Traceback (most recent call last):
  File "s2_train.py", line 44, in run
    model = DDP(model, device_ids=[rank])
torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:275, internal error, NCCL version 2.20.5
ncclInternalError: Internal check failed.
"""
# the text before each step in both languages, and the command
STEPS = (
    (
        "Training on an AMD card dies. The end of its log:",
        "在 AMD 显卡上训练失败。日志末尾：",
        "cat train.log",
    ),
    ("What does it mean, and what is the fix?", "这是什么意思？怎么办？", "ddp-codemod diagnose train.log"),
    (
        "The advice names a platform. Review its changes one by one: accept the first, quit at the second.",
        "建议中给出了平台。逐项查看修改：接受第一项，在第二项退出。",
        "printf 'y q' | ddp-codemod review . --platform rocm --answers",
    ),
    ("Only the accepted change is in the files.", "只写入了已接受的修改。", "git diff --stat"),
    ("Undo it.", "回到最初状态。", "ddp-codemod undo"),
    (
        "All changes, committed on a new branch.",
        "全部修改，提交到单独的分支。",
        "ddp-codemod apply . --platform rocm --branch port-rocm{lang}",
    ),
    ("The commit message says what and why.", "提交说明写明了内容与原因。", "git log -1 --format=%B"),
    (
        "The text of the pull request, from the base branch.",
        "从起始分支生成合并请求的说明。",
        "git checkout -q main",
    ),
    (None, None, "ddp-codemod diff . --platform rocm --summary md{lang}"),
    (
        "And back: delete the branch; nothing else changed.",
        "最后还原：删除分支，其余内容从未改动。",
        "git branch -q -D port-rocm",
    ),
    (None, None, "git status --short --branch"),
)
TITLES = {
    "en": (
        "From a traceback to a pull request, and back",
        "docs/walkthrough.py writes this page, and a test runs it again. The project is fixtures/tts-spawn.",
    ),
    "zh": ("从报错到合并请求，再到还原", "由 docs/walkthrough.py 生成，并由测试重新运行。所用项目是 fixtures/tts-spawn。"),
}


def walk(lang: str) -> str:
    """Take every step in a copy of the project, and write down each command with its output."""
    with tempfile.TemporaryDirectory() as folder:
        home, root = Path(folder, "home"), Path(folder, "tts")
        shutil.copytree(PROJECT, root, ignore=shutil.ignore_patterns("__pycache__"))
        environ = environment(home, lang)
        (root / "train.log").write_text(LOG, "utf-8")
        for words in ("init -q", "add -A", "commit -q -m start"):
            subprocess.run(["git", *words.split()], cwd=root, env=environ, check=True)
        title, note = TITLES[lang]
        lines = [f"# {title}", "", note, ""]
        for english, chinese, typed in STEPS:
            said = english if lang == "en" else chinese
            typed = typed.replace(
                "{lang}", "" if lang == "en" else f" --lang {lang}"
            )  # what others read is English unless asked for
            if said:
                lines += [said, ""]
            lines += [f"    $ {typed}", *(f"    {line}".rstrip() for line in _run(typed, root, environ)), ""]
    return "\n".join(lines)


def _run(typed: str, root: Path, environ: dict[str, str]) -> list[str]:
    """The lines of both streams, the one about the work first, with an id that stays the same."""
    done = subprocess.run(["sh", "-c", typed], cwd=root, env=environ, capture_output=True, encoding="utf-8", check=False)
    text = done.stderr + done.stdout
    return re.sub(r"\b[0-9a-f]{10}\b", "1f2e3d4c5b", text).rstrip("\n").split("\n") if text else []


def write() -> None:
    """Write both files again."""
    for language, file in FILES.items():
        file.write_text(walk(language), "utf-8")


if __name__ == "__main__":
    write()
