"""What strangers' code can carry into reports: workflow commands, Markdown, mail, the log of a pipeline."""

from __future__ import annotations

import email
import re
import subprocess
from email.message import Message

from ddp_codemod.report import github, markdown
from ddp_codemod.report.escaping import escape_controls
from ddp_codemod.report.mbox import format_mail
from proofs.proof import Trial, environment, tool

EVIL = (
    "::error::forged", "\n::error::forged", "a\r\n::set-output name=x::y", "%0A::error::x", "file=a,line=1", "a:b,c=d", "\x1b[31m", "\u202e",
    "https://evil.example/x", "www.evil.example", "mailto:a@evil.example", "@everyone", "#1", "GH-12", "[x](https://evil.example)", "<img src=x>",
    "`code` | cell", "``two`` ```three```", "***", "|", "\\", "&lt;",
)  # fmt: skip
LINK = re.compile(r"(?<!\\)(?:https?:(?!\\)//|\bwww\.|\bmailto:|\bGH-\d)")
MARKUP = re.compile(r"(?<!\\)(?:\\\\)*[*_\[\]<>#|~&@`]")
CODE = "import torch.distributed as dist\n\nname = '''\n::error::forged\n'''; dist.init_process_group(  # ::error::forged\n  'nccl')\n ## [error]\n"


def prove(trial: Trial) -> int:
    """Give each text to what writes reports, and read what comes out as its readers do; how many were given."""
    for text in EVIL:
        _commands(trial, text)
        _markdown(trial, text)
        _mail(trial, text)
    _log(trial)
    return len(EVIL)


def _commands(trial: Trial, text: str) -> None:
    line = github._format_command("notice", {"file": text, "line": "1"}, text, text)
    parts = line.split("::", 2)
    given = dict(pair.partition("=")[::2] for pair in parts[1].removeprefix("notice ").split(","))
    if len(line.splitlines()) != 1 or set(given) != {"file", "line", "title"} or len(parts) != 3 or not line.isprintable():
        trial.fail(f"a workflow command is forged by {text!r}: {line!r}")
    elif unescaped(parts[2]) != escape_controls(text):
        trial.fail(f"a workflow command says something else than {text!r}: {line!r}")


def unescaped(said: str) -> str:
    """What a runner reads."""
    return said.replace("%0D", "\r").replace("%0A", "\n").replace("%3A", ":").replace("%2C", ",").replace("%25", "%")


def _markdown(trial: Trial, text: str) -> None:
    prose = markdown.escape_prose(text)
    if "\n" in prose or not prose.isprintable() or LINK.search(prose) or MARKUP.search(prose):
        trial.fail(f"prose in Markdown: {text!r} gives {prose!r}")
    code = markdown.escape_code(text)
    fence = re.match("`+", code)
    inside = code[len(fence[0]) : -len(fence[0])] if fence else ""
    if fence is None or fence[0] in re.findall("`+", inside) or not code.isprintable() or re.search(r"(?<!\\)\|", code):
        trial.fail(f"code in Markdown: {text!r} gives {code!r}")
    block = markdown.fence_code(text, "sh")
    if block[0].rstrip("sh") in re.findall("`+", block[1]) or re.search(r"[^\S\n\t ]|[\x1b\u202e]", block[1]):
        trial.fail(f"a block in Markdown: {text!r} gives {block!r}")


def _mail(trial: Trial, text: str) -> None:
    body = f"body\n{text}\n---\ndiff --git a/x b/x\nFrom x\n"
    made = format_mail(b"diff --git a/a b/a\n", f"{text}\n\n{body}", (f"A {text}", f"a@b{text}"), 0.0)
    message: Message = email.message_from_bytes(made.partition(b"\n")[2])
    known = {"From", "Date", "Subject", "MIME-Version", "Content-Type", "Content-Transfer-Encoding"}
    payload = message.get_payload(decode=True)
    assert isinstance(payload, bytes)
    if set(message) != known or len(message.keys()) != len(known):
        trial.fail(f"mail: {text!r} gives the headers {message.keys()}")
    if [line for line in payload.split(b"\n") if line.startswith((b"diff ", b"From "))] != [b"diff --git a/a b/a"]:
        trial.fail(f"mail: {text!r} forges the start of a patch or a mail")


def _log(trial: Trial) -> None:
    """What commands print into the log of a pipeline begins no command there."""
    folder = trial.folder / "log"
    project = folder / "project"
    project.mkdir(parents=True)
    (project / "train.py").write_text(CODE.replace(" ## [error]\n", "# ##[error]forged\n"))
    (project / "bad\n::error::forged.py").write_text("import torch.distributed as dist\ndist.init_process_group(\n")
    for words in (["check"], ["apply", "--dry-run"], ["scan"], ["apply"]):
        ended = subprocess.run(
            tool(*words, ".", "--platform", "rocm"),
            cwd=project,
            env=environment(folder, GITHUB_ACTIONS="true"),
            capture_output=True,
        )
        said = (ended.stdout + ended.stderr).decode("utf-8", "replace")
        forged = [line for line in said.splitlines() if line.lstrip().startswith("::") or "##[" in line]
        if forged or len(said) < 40:
            trial.fail(f"{' '.join(words)} in the log of a pipeline: {forged or said!r}")
