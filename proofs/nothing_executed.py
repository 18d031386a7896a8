"""Nothing of a repository is executed."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from ddp_codemod.write.git import Git
from proofs.proof import Trial, environment, git

PROMISE = "nothing of a repository is executed"
# commands of git that run a driver or filter of the repository: whichever the tool came to use, none is to
DRIVEN = (
    ["diff"], ["diff", "--ext-diff"], ["diff", "--textconv"], ["status"], ["hash-object", "--path", "train.py", "--", "train.py"], ["add", "train.py"],
    ["cat-file", "--textconv", "HEAD:train.py"], ["cat-file", "--filters", "HEAD:train.py"], ["checkout-index", "-f", "train.py"],
    ["merge-file", "train.py", "train.py", "train.py"], ["checkout", "-q", "-f", "HEAD", "--", "train.py"],
)  # fmt: skip
DRIVERS = ("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.command", "diff.evil.textconv")
CALL = "import torch.distributed as dist\n\ndist.init_process_group('nccl')\n"
SETTINGS = (
    "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.gitProxy", "core.alternateRefsCommand",
    "credential.helper", "diff.external", "diff.evil.command", "diff.evil.textconv", "merge.evil.driver", "filter.evil.clean",
    "filter.evil.smudge", "filter.evil.process", "gpg.program", "gpg.ssh.program", "interactive.diffFilter", "sequence.editor",
    "remote.origin.uploadpack", "remote.origin.vcs", "alias.ls-files", "alias.cat-file", "alias.commit", "pager.diff", "man.evil.cmd",
    "browser.evil.cmd", "difftool.evil.cmd", "mergetool.evil.cmd", "trailer.evil.command", "uploadpack.packObjectsHook",
)  # fmt: skip
HOOKS = (
    "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change", "fsmonitor-watchman", "reference-transaction",
    "pre-auto-gc", "post-checkout", "pre-applypatch", "post-rewrite",
)  # fmt: skip
PLANTED_FILES = ("torch.py", "json.py", "platform.py", "contextlib.py", "encodings.py", "sitecustomize.py", "usercustomize.py",
                 "conftest.py", "setup.py", "libcst.py", "git.py", "click.py", "msgspec.py", "yaml.py", "ddp_codemod_plugin.py")  # fmt: skip
COMMANDS = (
    ["apply", ".", "--platform", "rocm", "--allow-dirty"],
    ["undo", "."],
    ["apply", ".", "--platform", "rocm", "--commit"],
    ["apply", ".", "--platform", "rocm", "--branch", "new"],
    ["diff", ".", "--platform", "rocm"],
    ["diff", ".", "--platform", "rocm", "--format", "mbox"],
    ["diff", ".", "--platform", "windows", "--summary", "md"],
    ["check", ".", "--platform", "rocm"],
    ["check", ".", "--platform", "rocm", "--format", "sarif"],
    ["scan", ".", "--platform", "rocm"],
    ["explain", "train.py:3", "--platform", "rocm"],
    ["review", ".", "--platform", "rocm", "--answers"],
    ["review", ".", "--platform", "rocm", "--html", "page.html"],
    ["rules", "list"],
    ["platforms"],
    ["diagnose", "train.log"],
    ["doctor"],
)


def prove(trial: Trial) -> str:
    """Plant each setting, run every command; then all at once under a trace of the programs that are started."""
    control = _control(trial)
    settings = [*SETTINGS, "hooks", "files", "programs", "promisor"]
    every = COMMANDS if trial.whole else (COMMANDS[2], *trial.random.sample(COMMANDS[3:-1], 2), COMMANDS[-1])
    # all at once with every command; and each alone, lest one hide another, with those that ask git most
    for setting in ["all", *(settings if trial.whole else ["hooks"])]:
        for number, words in enumerate(every if setting == "all" else [COMMANDS[2], COMMANDS[0], COMMANDS[5]]):
            folder = trial.folder / f"{setting}-{number}"
            _plant(folder, [setting] if setting != "all" else settings)
            (folder / "was-run").unlink(missing_ok=True)  # plain git, which planted it, may have run it
            _run(trial, folder, words, f"{setting}, {words[0]}")
            shutil.rmtree(folder)
    _driven(trial)
    programs = _traced(trial, settings) if trial.whole and shutil.which("strace") else None
    fleet = _fleet(trial, settings) if trial.whole else 0
    more = f"; a fleet of {fleet} such repositories: 0 executions" if fleet else ""
    more += f"; programs started, by a trace of all commands: {', '.join(sorted(programs))}" if programs is not None else ""
    return (
        f"{len(SETTINGS)} settings, {len(HOOKS)} hooks, {len(PLANTED_FILES)} modules, programs on a relative path and a promisor remote, "
        f"{trial.counts['runs']} runs of {len(every)} commands and {trial.counts['commands of git']} commands of git that run drivers and filters: {trial.counts['executed']} executions "
        f"(plain git status ran {control} of the planted programs){more}"
    )


def _plant(folder: Path, what: list[str]) -> None:
    project, marker = folder / "project", folder / "was-run"
    project.mkdir(parents=True)
    env = environment(folder)
    (project / "train.py").write_text(CALL)
    (project / "train.log").write_text("RuntimeError: Distributed package doesn't have NCCL built in\n")
    (project / ".gitattributes").write_text("*.py diff=evil merge=evil\n")
    git(project, "init", "-q", "-b", "main", env=env)
    git(project, "add", "train.py", ".gitattributes", env=env)
    git(project, "commit", "-q", "-m", "x", env=env)
    trap = folder / "trap.sh"
    trap.write_text(f"#!/bin/sh\necho run >>{shlex.quote(str(marker))}\n")
    trap.chmod(0o755)
    for setting in what:
        if setting == "hooks":
            (project / "hooks").mkdir()
            for at in (project / "hooks", project / ".git" / "hooks"):
                at.mkdir(exist_ok=True)
                for hook in HOOKS:
                    shutil.copy(trap, at / hook)
            _configure(project, "core.hooksPath", "hooks")
        elif setting == "files":
            for name in PLANTED_FILES:
                (project / name).write_text(f"open({str(marker)!r}, 'a').write('{name}')\n")
        elif setting == "programs":
            (project / ".venv" / "bin").mkdir(parents=True)
            for name in ("git", "python", "python3", "nvidia-smi", "rocm-smi", "npu-smi", ".venv/bin/python"):
                shutil.copy(trap, project / name)
        elif setting == "promisor":
            for key, value in (
                ("remote.origin.url", f"ext::{trap} %S"), ("remote.origin.promisor", "true"), ("protocol.allow", "always"),
                ("protocol.ext.allow", "always"), ("extensions.partialClone", "origin"), ("core.repositoryFormatVersion", "1"),
            ):  # fmt: skip
                _configure(project, key, value)
            oid = git(project, "rev-parse", "HEAD:.gitattributes", env=env).decode().strip()
            (project / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
        else:
            _configure(project, setting, f"!{trap}" if setting.startswith("alias") else str(trap))
            if setting.startswith("filter."):
                with (project / ".git" / "info" / "attributes").open("a") as file:
                    file.write("*.py filter=evil\n")


def _configure(project: Path, key: str, value: str) -> None:
    with (project / ".git" / "config").open("a") as file:  # not by git, which could run what is planted already
        section, _, name = key.rpartition(".")
        head, _, sub = section.partition(".")
        file.write(f'[{head} "{sub}"]\n' if sub else f"[{head}]\n")
        file.write(f'\t{name} = "{value}"\n')


def _control(trial: Trial) -> int:
    """How many of a few planted programs plain git runs: the trap works."""
    ran = 0
    for setting in ("core.fsmonitor", "diff.external", "filter.evil.clean", "hooks"):
        folder = trial.folder / f"control-{setting}"
        _plant(folder, [setting])
        (folder / "project" / "train.py").write_text(CALL + "x = 1\n")
        words = ["commit", "-qam", "x"] if setting == "hooks" else ["diff"] if setting == "diff.external" else ["status"]
        subprocess.run(["git", *words], cwd=folder / "project", env=environment(folder), capture_output=True)
        ran += (folder / "was-run").exists()
    if ran < 3:
        trial.fail(f"the control is broken: plain git ran {ran} of 4 planted programs")
    return ran


def _driven(trial: Trial) -> None:
    """The one starter of git runs no driver and no filter, whatever command it is given; plain git does, which shows that these would."""
    for setting in DRIVERS:
        for starter in (_plainly, _as_the_tool):
            folder = trial.folder / f"{starter.__name__}-{setting}"
            _plant(folder, [setting])
            (folder / "was-run").unlink(missing_ok=True)
            ran = [words for words in DRIVEN if starter(folder, words)]
            trial.counts["commands of git"] += len(DRIVEN)
            if starter is _plainly and not ran:
                trial.fail(f"the control is broken: plain git ran {setting} in none of {len(DRIVEN)} commands")
            elif starter is _as_the_tool and ran:
                trial.counts["executed"] += len(ran)
                trial.fail(f"{setting}: git {' '.join(ran[0])} ran it")


def _plainly(folder: Path, words: list[str]) -> bool:
    _changed(folder)
    subprocess.run(["git", *words], cwd=folder / "project", env=environment(folder), capture_output=True)
    return (folder / "was-run").exists()


def _as_the_tool(folder: Path, words: list[str]) -> bool:
    _changed(folder)
    Git.at(folder / "project").run(*words)
    return (folder / "was-run").exists()


def _changed(folder: Path) -> None:
    """The file as no commit has it, whatever the last command made of it; and nothing run so far."""
    (folder / "project" / "train.py").write_text(CALL + "x = 1\n")
    (folder / "was-run").unlink(missing_ok=True)


def _environment(folder: Path) -> dict[str, str]:
    """A path with relative entries; this Python stands before the others, which may be scripts that start a shell to find one."""
    made = environment(folder)
    return {**made, "PATH": f".:{Path(sys.executable).parent}:{made['PATH']}:"}


def _run(trial: Trial, folder: Path, words: list[str], what: str) -> None:
    ended = subprocess.run(
        _tool(words), cwd=folder / "project", env=_environment(folder), input=b"yyyyq", capture_output=True, timeout=300
    )
    trial.counts["runs"] += 1
    if (folder / "was-run").exists():
        trial.counts["executed"] += 1
        trial.fail(f"{what}: {(folder / 'was-run').read_text().splitlines()[:1]} was run")
    if b"Traceback" in ended.stderr:
        trial.fail(f"{what}: {ended.stderr.decode(errors='replace').strip().splitlines()[-1]}")


def _fleet(trial: Trial, settings: list[str]) -> int:
    """A repository for each setting, all of them cloned and read by one fleet, by path and as of a server: how many there were."""
    top = trial.folder / "fleet"
    names = [setting for setting in settings if setting != "promisor"]  # its objects are not all there: nothing can be cloned
    for setting in names:
        _plant(top / setting, [setting])
        (top / setting / "was-run").unlink(missing_ok=True)
    places = [f"{prefix}{top / setting / 'project'}\n" for setting in names for prefix in ("", "file://")]
    (top / "list.txt").write_text("".join(places))
    words = ["fleet", "list.txt", "--platform", "rocm", "--out", "results", "--workers", "1", "--format", "json"]
    ended = subprocess.run(_tool(words), cwd=top, env=_environment(top), capture_output=True, timeout=900)
    patches = len(list((top / "results").rglob("*.patch")))
    if patches < len(places):
        trial.fail(
            f"fleet: exit {ended.returncode}, {patches} patches of {len(places)}: {ended.stderr.decode(errors='replace')[-300:]}"
        )
    for setting in names:
        if (top / setting / "was-run").exists():
            trial.counts["executed"] += 1
            trial.fail(f"fleet, {setting}: {(top / setting / 'was-run').read_text().splitlines()[:1]} was run")
    return len(names)


def _tool(words: list[str]) -> list[str]:
    """As the installed script runs it: the folder one stands in is not where Python looks for modules."""
    start = "import sys; sys.path[:] = [p for p in sys.path if p]; from ddp_codemod.cli import main; sys.exit(main())"
    return [sys.executable, "-c", start, *words]


def _traced(trial: Trial, settings: list[str]) -> set[str]:
    """The names of all programs that any command starts, with everything planted."""
    found: set[str] = set()
    for number, words in enumerate(COMMANDS):
        folder = trial.folder / f"traced-{number}"
        _plant(folder, settings)
        log = folder / "trace"
        subprocess.run(
            ["strace", "-f", "-qq", "-o", str(log), "-e", "trace=execve,execveat", *_tool(words)],
            cwd=folder / "project", env=_environment(folder), input=b"yyyyq", capture_output=True, timeout=300,
        )  # fmt: skip
        for line in log.read_text("utf-8", "replace").splitlines():
            hit = re.search(r'execve(?:at)?\((?:[^"]*)"([^"]+)".*\) = 0', line)
            if hit:
                path = hit.group(1)
                if not path.startswith("/") or str(folder) in path:
                    trial.fail(f"{words[0]}: {path} was started")
                found.add(Path(path).name)
    allowed = re.compile(r"git(-\w+)?|python[\d.]*|nvidia-smi|rocm-smi|npu-smi|lspci|uname|ldconfig|gcc|ld|sh|objdump|cc")
    for name in found:
        if not allowed.fullmatch(name):
            trial.fail(f"an unexpected program was started: {name}")
    return found
