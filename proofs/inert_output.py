"""What comes out is inert: on a terminal, on the page, in a patch."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

from proofs import reports
from proofs.proof import REPOSITORY, Trial, environment, git, tool

PROMISE = "output is inert: terminal, page, patch"
OURS = re.compile(rb"\x1b\[(?:0|1|2|31|32|33|36)m|\r\x1b\[K")
ATTACKS = (
    "\x1b[2J", "\x1b]0;owned\x07", "\x9b31m", "\x1b[8m", "\x1bc", "\u202e", "\u2066", "\u200b", "\x08\x08", "\r", "\x7f", "\x1b]52;c;aGk=\x07",
    "\u2028", "\x90", "\x1b[31m", "\ufeff", "\U000e0041",
)  # fmt: skip
MARKUP = ("<script>x=1</script>", "</pre><img src=x onerror=alert(1)>", "]]>", "--><b>", "{{7*7}}", "javascript:alert(1)", "&lt;")
FORGED = (
    "--- a/../../etc/passwd",
    "+++ b/other.py",
    "diff --git a/x b/y",
    "@@ -1 +1 @@",
    "rename from a",
    "new file mode 100755",
    "GIT binary patch",
    "From 0123 Mon",
    "-- ",
)
COMMANDS = (["diff"], ["apply", "--dry-run"], ["check"], ["scan"], ["check", "-v"], ["apply"], ["undo"])
HEAD = "import torch.distributed as dist\n"


def prove(trial: Trial) -> str:
    """Show hostile code and names on a terminal, apply patches that are full of headers, open the page in a browser."""
    for number, words in enumerate(COMMANDS if trial.whole else COMMANDS[:2]):
        folder = trial.folder / f"t{number}"
        project = _project(folder)
        more = [] if words == ["undo"] else ["--platform", "rocm", "--unsafe"]
        if words == ["undo"]:
            subprocess.run(tool("apply", ".", "--platform", "rocm"), cwd=project, env=environment(folder), capture_output=True)
        for colour in ([], ["--color", "always"], ["--color", "never"]) if trial.whole else ([],):
            if words[0] == "undo" and trial.counts["undo seen"]:
                continue
            trial.counts["undo seen"] += words[0] == "undo"
            seen = _on_a_terminal(
                [words[0], ".", *words[1:], *more, *colour], project, environment(folder, TERM="xterm-256color")
            )
            _look(trial, seen, f"{' '.join(words)} {' '.join(colour)}")
    patches = sum(_patch(trial, number) for number in range(trial.sized(3, 60)))
    page, texts = _page(trial), reports.prove(trial)
    return (
        f"{len(ATTACKS)} control sequences in code and names, {trial.counts['screens']} screens: {trial.counts['acting']} that act; "
        f"{patches} patches with forged headers touch the planned files only; "
        f"{texts} texts in workflow commands, Markdown, mail and the log of a pipeline forge nothing there; page: {page}"
    )


def _project(folder: Path) -> Path:
    project = folder / "project"
    project.mkdir(parents=True)
    (project / "pyproject.toml").write_text("")
    for number, attack in enumerate(ATTACKS):
        text = f"{HEAD}x = '{attack}'  # {attack} nccl\n" if attack not in ("\r", "\u2028") else HEAD
        text += f"def f(backend='{attack.strip()}' or 'x'):  # {attack}\n    pass\n" if attack != "\r" else ""
        text += f"dist.init_process_group('nccl')  # {attack if attack != chr(13) else ''}\n"
        name = f"a{attack}{number}.py"
        (project / name).write_bytes(text.encode("utf-8"))
    (project / "bad\x1b[2J.py").write_text("dist.init_process_group(\x1b[2J")
    (project / "line\nerror: forged.py").write_text(HEAD + "dist.init_process_group('nccl')\n")
    return project


def _on_a_terminal(words: list[str], project: Path, env: dict[str, str]) -> bytes:
    child, handle = pty.fork()
    if child == 0:
        os.chdir(project)
        os.execve(sys.executable, tool(*words), env)
    seen = b""
    while True:
        try:
            part = os.read(handle, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    os.close(handle)
    os.waitpid(child, 0)
    return seen


def _look(trial: Trial, seen: bytes, what: str) -> None:
    trial.counts["screens"] += 1
    text = OURS.sub(b"", seen).replace(b"\r\n", b"\n").decode("utf-8", "replace")
    acting = {
        hex(ord(character))
        for character in text
        if not (character.isprintable() or character in "\n\t") and character not in "\u200c\u200d"
    }
    if (
        acting
        or "error: forged" in [line.strip() for line in text.split("\n")]
        or any(line.startswith("error: forged") for line in text.split("\n"))
    ):
        trial.counts["acting"] += 1
        trial.fail(f"{what}: {sorted(acting)}, forged line: {'error: forged' in text}")
    if len(text) < 30:
        trial.fail(f"{what}: nothing was shown: {text!r}")


def _patch(trial: Trial, number: int) -> int:
    """A project whose code looks like a patch; git reads from ours exactly the files that were planned."""
    from ddp_codemod.patch.gitdiff import format_git_diff
    from proofs.surveyed import changed

    folder = trial.folder / f"p{number}"
    project = folder / "project"
    project.mkdir(parents=True)
    rng = trial.random
    names = ["train.py", *rng.sample(["a b.py", "x\n+++ b.py", "--- a.py", 'q".py', "tab\t.py", "\x1b[31m.py"], 2)]
    for name in names:
        lines = [HEAD.strip(), 'text = """']
        lines += [rng.choice(FORGED) for _ in range(rng.randrange(1, 6))]
        lines += ['"""', "dist.init_process_group('nccl')  # " + rng.choice(FORGED), 'more = """', *rng.sample(FORGED, 3), '"""']
        (project / name).write_text("\n".join(lines) + "\n")
    found = list(changed(project, "rocm"))
    patch = format_git_diff([one.change for one in found])
    env = environment(folder)
    git(project, "init", "-q", env=env)
    listed = git(project, "apply", "--numstat", "-z", "-", stdin=patch, env=env).split(b"\0")[:-1]
    touched = {entry.split(b"\t", 2)[2] for entry in listed}
    if touched != {os.fsencode(one.change.name) for one in found} or len(found) != len(names):
        trial.fail(f"patch {number}: touches {touched}")
    git(project, "apply", "-", stdin=patch, env=env)
    if any((project / one.change.name).read_bytes() != one.change.after for one in found):
        trial.fail(f"patch {number}: gives other bytes")
    return 1


def _page(trial: Trial) -> str:
    """The page of a hostile project: its own text says that nothing runs, and a browser finds that nothing does."""
    folder = trial.folder / "page"
    project = folder / "project"
    project.mkdir(parents=True)
    for number, markup in enumerate(MARKUP):
        (project / f"a{number}{markup.replace('/', '_')}.py").write_text(
            f'{HEAD}x = """{markup}"""; dist.init_process_group("nccl")  # {markup}\n'
        )
    subprocess.run(
        tool("review", ".", "--platform", "rocm", "--html", str(folder / "page.html")),
        cwd=project,
        env=environment(folder),
        capture_output=True,
    )
    text = (folder / "page.html").read_text("utf-8")
    scripts = len(re.findall(r"<script", text))
    policy = "Content-Security-Policy" in text
    if (
        not policy
        or any(f">{markup}" in text for markup in MARKUP[:2])
        or "onerror=alert" in re.sub(r"<script[^>]*>.*?</script>", "", text, flags=re.S)
    ):
        trial.fail("page: markup of the project is in it, or it has no policy")
    if not trial.whole or not shutil.which("chromedriver"):
        return f"{scripts} scripts, all its own, under a policy; no browser here" if trial.whole else "its markup looked at"
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/review/test_page.py", "-k", "hostile or policy or network"],
        cwd=REPOSITORY, capture_output=True, text=True, env={**os.environ},
    )  # fmt: skip
    said = (ended.stdout.strip().splitlines() or [""])[-1]
    if ended.returncode:
        trial.fail(f"page in a browser: {said}")
    return "in Chromium a hostile project runs nothing and asks the network for nothing"
