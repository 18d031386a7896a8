"""Every patch applies to exactly the planned bytes, and back."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from ddp_codemod.patch.gitdiff import format_git_diff
from ddp_codemod.write.repository import find_blobs
from proofs import cases, projects
from proofs.packages import PLATFORMS, changes, unpacked
from proofs.proof import REPOSITORY, Trial, environment, git, tree
from proofs.surveyed import Changed, changed

PROMISE = "every patch applies to exactly the planned bytes, and back"
# settings of the user or of the repository, which the tool and git apply both run under
SETTINGS = (
    "diff.noprefix=true", "diff.mnemonicPrefix=true", "diff.orderFile=order", "color.ui=always", "color.diff=always",
    "diff.external=false", "core.quotePath=false", "diff.renames=copies", "diff.context=0", "diff.interHunkContext=9",
    "diff.algorithm=histogram", "diff.wsErrorHighlight=all", "core.abbrev=40", "apply.whitespace=nowarn", "apply.whitespace=warn",
    "diff.suppressBlankEmpty=true", "diff.relative=true", "diff.colorMoved=zebra", "core.fileMode=false", "core.ignoreCase=true",
    "core.safecrlf=true", "core.eol=crlf", "diff.submodule=log", "core.whitespace=cr-at-eol,tab-in-indent", "diff.srcPrefix=x/",
    "core.autocrlf=input", "apply.ignoreWhitespace=no", "core.precomposeUnicode=true",
)  # fmt: skip
ATTRIBUTES = (
    "*.py -diff",
    "*.py binary",
    "*.py diff=python",
    "* text=auto",
    "* -text",
    "*.py whitespace=-all",
    "*.py export-ignore",
)


def prove(trial: Trial) -> str:
    """Make each patch under a setting, let git apply it under the same, compare every byte, apply it in reverse."""
    fixtures = sorted(path for path in (REPOSITORY / "fixtures").glob("*/project") if path.is_dir())
    under = [("setting", one) for one in SETTINGS] + [("attribute", one) for one in ATTRIBUTES]
    for kind, said in under if trial.whole else trial.random.sample(under, 2):
        for number, source in enumerate(fixtures):
            folder = trial.folder / f"{kind}-{said}-{number}".replace(" ", "_").replace("/", "_").replace("*", "x")
            shutil.copytree(source, folder / "project")
            for name in ("extra é.py", 'qu"ote.py', "line\nend.py", "tab\t.py"):
                data = cases.encoded(cases.python(trial.random), trial.random)
                (folder / "project" / name).write_bytes(data)
            for number in range(3):
                for name, data in projects.project(trial.random).files.items():
                    (folder / "project" / f"more{number}" / name).parent.mkdir(parents=True, exist_ok=True)
                    (folder / "project" / f"more{number}" / name).write_bytes(data)
            _check(trial, folder / "project", (kind, said), trial.random.choice(["rocm", "windows", "ascend"]))
            shutil.rmtree(folder)
    for name, folder in unpacked(trial):
        for platform in PLATFORMS:
            _check(trial, folder, ("setting", trial.random.choice(SETTINGS)), platform, name, changes(name, folder, platform))
    return (
        f"{len(SETTINGS)} settings and {len(ATTRIBUTES)} attributes x {len(fixtures)} fixtures with files of many encodings and kinds, and "
        f"{trial.counts['packages']} published packages: {trial.counts['patches']} patches applied and taken back, "
        f"{len(trial.failures)} with another byte"
    )


def _check(
    trial: Trial, project: Path, under: tuple[str, str], platform: str, name: str = "", known: list[Changed] | None = None
) -> None:
    env = environment(project.parent)
    new = not (project / ".git").exists()
    if new:
        git(project, "init", "-q", env=env)
        (project / "order").write_text("*.md\n*.py\n")
    if under[0] == "setting":
        git(project, "config", *under[1].split("=", 1), env=env)
    elif new:
        (project / ".gitattributes").write_text(under[1] + "\n")
    if new:
        git(project, "-c", "core.safecrlf=false", "add", "-A", "-f", env=env)
        git(project, "commit", "-q", "-m", "x", env=env)
        # the work tree as git lays it out: line ends that it would not write itself it rewrites when it applies a patch
        git(project, "rm", "-q", "-r", "--cached", ".", env=env)
        git(project, "reset", "-q", "--hard", env=env)
    before = tree(project)
    found = list(changed(project, platform)) if known is None else known
    if not found:
        return
    patch = format_git_diff([one.change for one in found], find_blobs(project, [one.change.name for one in found]))
    planned = {**before, **{one.change.name: (one.change.after, before[one.change.name][1]) for one in found}}
    what = f"{name or project.parent.name} {platform}, {under[1]}"
    for words, wanted in ((["apply", "-"], planned), (["apply", "-R", "-"], before)):
        ended = subprocess.run(["git", *words], cwd=project, input=patch, capture_output=True, env=env)
        now = tree(project)
        if ended.returncode or now != wanted:
            other = sorted(key for key in {*now, *wanted} if now.get(key) != wanted.get(key))
            trial.fail(f"{what}: git {' '.join(words)}: {ended.stderr.decode(errors='replace').strip()[:200]} {other[:3]}")
            for one in found:
                (project / one.change.name).write_bytes(one.change.before)
            return
    trial.counts["patches"] += 1
    if under[0] == "setting":
        git(project, "config", "--unset-all", under[1].split("=", 1)[0], env=env)
