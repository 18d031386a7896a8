"""``python -m proofs.broken [N...]``: takes each guard out, in a copy, and sees that the proof of its promise fails.

One line a guard: the number of the promise, what was taken out, and whether the proof saw it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from proofs.proof import REPOSITORY


class Guard(NamedTuple):
    """A guard of a promise, and the text that is without it."""

    promise: int
    what: str
    file: str
    old: str
    new: str
    also: tuple[tuple[str, str, str], ...] = ()  # other places, where several guards keep one promise


GUARDS = (
    Guard(1, "the place of an edit", "edits/splice.py", "replacements.append((first, last, new))", "replacements.append((first, last + 1, new))"),
    Guard(1, "the line ends of a file", "edits/render.py", "texts[name].encode(source.encoding)", 'texts[name].encode(source.encoding).replace(b"\\r\\n", b"\\n")'),
    Guard(2, "what counts as set", "policy/decide_environment.py", "        return context.facts.fold(module, value)\n    return None", "        continue\n    return None"),
    Guard(3, "what stands beside an edit", "edits/render.py", "texts[name].encode(source.encoding)", 'texts[name].replace("True", "False").encode(source.encoding)'),
    Guard(4, "putting back on recovery", "write/recover.py", "        if found == kept.after:\n            try:", "        if False:\n            try:"),
    Guard(4, "recovery of an undo", "write/undo.py", "begun = journal.reopen_entry(entry)", "begun = entry"),
    Guard(4, "putting back after a failed rename", "write/replace.py", "            _put_back(done, journal)\n            raise", "            raise"),
    Guard(5, "the lock", "write/lock.py", "        _take_lock(handle)\n    except", "        pass\n    except"),
    Guard(5, "every look at what is replaced", "write/atomic.py", "    if target.read_bytes() != expected:\n        return False\n    put(temporary, target)\n", "    put(temporary, target)\n    return True\n", (("write/replace.py", "if late := [", "if False and [") ,)),
    Guard(6, "the switches of git", "write/git.py", '"core.fsmonitor": "false",', ""),
    Guard(6, "hooks off", "write/git.py", '"core.hooksPath": os.devnull,', ""),
    Guard(6, "the git of an absolute path", "write/git.py", "    program = find_git()\n    if program is None:", '    program = "git"\n    if program is None:'),
    Guard(6, "the empty folder for Python", "machine/interview.py", "cwd=folder", "cwd=None"),
    Guard(7, "links out of the root", "discover/files.py", "                if not _inside(real, home):\n                    continue\n", ""),
    Guard(7, "what a link leads to", "discover/bounds.py", "names = {name, self.links.get(name, name)}", "names = {name}"),
    Guard(8, "depth before LibCST", "edits/recipes/expression.py", "    guard_depth(text)\n    _guard_levels(_check_syntax(text))", "    _check_syntax(text)"),
    Guard(8, "plain files only", "discover/files.py", " and _is(entry, os.DirEntry.is_file)", ""),
    Guard(9, "the old lines of a hunk", "patch/gitdiff.py", "CONTEXT = 3", "CONTEXT = 0"),
    Guard(9, "names in quotes", "patch/quote.py", "    return f'\"{\"\".join(parts)}\"'.encode(\"ascii\")", "    return name"),
    Guard(10, "the label", "edits/render.py", "else {Applicability.SAFE}", "else {Applicability.SAFE, Applicability.UNSAFE}"),
    Guard(11, "escapes", "report/escaping.py", '    return "".join(_escape_character(character) for character in text)', "    return text"),
    Guard(15, "the digests of what was read", "run/answer_cache.py", "if digest_of(data) != digest:", "if False:"),
    Guard(15, "the listing of the folders", "run/answer_cache.py", "if entry.listing != state:", "if False:"),
    Guard(14, "other uses of a value", "impact/call_site_fix.py", "    return uses.of(source, change.text) or", "    return False and uses.of(source, change.text) or"),
    Guard(13, "what is not read", "single_process/external_calls.py", "        if not self._may_speak_of_group(module, node):", "        if True:"),
    Guard(13, "the default of a variable", "single_process/samplers.py", "        if _find_argument(seen, argument, own) is None:", "        if False:"),
    Guard(11, "line breaks in names", "messages/__init__.py", "value if value.isprintable() else value.translate(_BREAKS)", "value"),
    Guard(4, "bytes on the disk before their names", "write/atomic.py", "            file.flush()\n            os.fsync(file.fileno())\n", "            file.flush()\n"),
    Guard(4, "old bytes on the disk before the new ones", "write/journal.py", "        file.flush()\n        os.fsync(file.fileno())\n", "        file.flush()\n"),
    Guard(4, "the record on the disk before the first step", "write/journal.py", "            atomic.sync_folder(folder)\n            atomic.sync_folder(journal)\n", ""),
    Guard(4, "names on the disk before the record is closed", "write/replace.py", "                atomic.sync_folder(folder)\n            commit()", "                pass\n            commit()"),
    Guard(5, "dirty files", "write/apply.py", "    if dirty:\n", "    if False:\n"),
    Guard(5, "read-only files", "write/apply.py", "        if not stat.S_IMODE(status.st_mode) & 0o222 or not os.access(target, os.W_OK):\n", "        if False:\n"),
    Guard(5, "an edit since the apply", "write/undo.py", "        if held == kept.after:\n", "        if True:\n"),
    Guard(6, "drivers and filters of a repository", "write/git.py", '{"clean", "smudge", "process", "command", "textconv", "driver", "uploadpack", "receivepack", "vcs", "proxy"}', '{"none"}'),
    Guard(7, "the real target before writing", "write/replace.py", "    if not inside or not plain:\n", "    if not plain:\n"),
    Guard(7, "plain targets only", "write/replace.py", "        plain = stat.S_ISREG(Path(target).stat().st_mode)\n", "        plain = True\n"),
    Guard(7, "links in git's folder", "write/commit.py", "    if (leading := find_link_outside(folder)) is not None:\n", "    if (leading := None) is not None:\n"),
    Guard(7, "a .git that points elsewhere", "write/commit.py", "    if not _is_git_folder_of(folder, git):\n", "    if False:\n"),
    Guard(8, "keys of too many parts", "toml.py", "    if len(text) > MOST or is_too_much(text):\n", "    if len(text) > MOST:\n"),
    Guard(10, "the label of a surface", "policy/decide.py", 'safe = fix.applicability == "safe" and surface.edit_applicability == "safe"\n', "safe = True\n"),
    Guard(11, "line ends in workflow commands", "report/github.py", '.replace("\\r", "%0D").replace("\\n", "%0A")', ""),
    Guard(11, "percent signs in workflow commands", "report/github.py", '.replace("%", "%25")', ""),
    Guard(11, "commas and colons in workflow commands", "report/github.py", '.replace(":", "%3A").replace(",", "%2C")', ""),
    Guard(11, "escapes in workflow commands", "report/github.py", "return escape_controls(value).replace", "return value.replace"),
    Guard(11, "markup in Markdown", "report/markdown.py", '_MARKUP.sub(r"\\\\\\1", escape_controls(one_line(text)))', "escape_controls(one_line(text))"),
    Guard(11, "links in Markdown", "report/markdown.py", 'return _LINK.sub(lambda found: "\\\\" + found[0], ', "return str("),
    Guard(11, "escapes in Markdown", "report/markdown.py", "escape_controls(one_line(text))", "one_line(text)"),
    Guard(11, "fences of code in Markdown", "report/markdown.py", '    fence = "`" * (longest + 1)\n', '    fence = "`"\n'),
    Guard(11, "fences of blocks in Markdown", "report/markdown.py", "max(longest + 1, 3)", "3"),
    Guard(11, "cells of tables in Markdown", "report/markdown.py", '.replace("|", "\\\\|")', ""),
    Guard(11, "the start of a patch in a mail", "report/mbox.py", '" " + line if line.startswith(starts) else line', "line"),
    Guard(11, "commands in the log of a pipeline", "cli/console.py", "escape_log_commands(shown) if any(name in os.environ for name in PIPELINES) else shown", "shown"),
    Guard(12, "the mode", "write/atomic.py", "    temporary.chmod(stat.S_IMODE(like.st_mode))", "    temporary.chmod(0o600)"),
    Guard(12, "the old bytes", "write/journal.py", "_write_file(folder / str(index), content)", "_write_file(folder / str(index), content[:-1])"),
)  # fmt: skip


def seen(guard: Guard, tries: int = 8) -> bool | None:
    """Whether the proof tells of a broken promise without the guard; None where the text is not there any more."""
    with tempfile.TemporaryDirectory(prefix="broken-", ignore_cleanup_errors=True) as folder:
        top = _copied(Path(folder))
        for file, old, new in ((guard.file, guard.old, guard.new), *guard.also):
            path = top / "ddp_codemod" / file
            text = path.read_text("utf-8")
            if old not in text:
                return None
            path.write_text(text.replace(old, new), "utf-8")
        return any(not _holds(top, guard.promise, seed) for seed in range(tries))


def _copied(top: Path) -> Path:
    for name in ("ddp_codemod", "rules", "proofs", "fixtures", "tests/ecosystem", "tests/traps"):
        shutil.copytree(REPOSITORY / name, top / name, ignore=shutil.ignore_patterns("__pycache__", "kept"))
    return top


def _holds(top: Path, promise: int, seed: int) -> bool:
    """Whether a proof finds nothing; raises where it does not come to an end of its own."""
    words = [sys.executable, "-m", "proofs", "--slice", "--only", str(promise), "--seed", str(seed)]
    try:
        ended = subprocess.run(words, cwd=top, env={**os.environ, "PYTHONPATH": str(top)}, capture_output=True, timeout=600)
    except subprocess.TimeoutExpired:
        return False
    if ended.returncode and b"BROKEN:" not in ended.stdout:
        raise RuntimeError(f"promise {promise}: {ended.stderr.decode(errors='replace')[-2000:]}")
    return not ended.returncode


def whole(promise: int) -> bool:
    """Whether the proof finds nothing in a copy that has all its guards."""
    with tempfile.TemporaryDirectory(prefix="broken-", ignore_cleanup_errors=True) as folder:
        return _holds(_copied(Path(folder)), promise, 0)


def main() -> int:
    """Try every guard, or those of the promises named."""
    wanted = {int(word) for word in sys.argv[1:]} or {guard.promise for guard in GUARDS}
    missed = taken = 0
    for promise in sorted(wanted):
        kept = whole(promise)
        missed += not kept
        print(f"{promise:2}. with every guard: {'the proof passes' if kept else 'THE PROOF FAILS'}", flush=True)
    for guard in GUARDS:
        if guard.promise in wanted:
            found = seen(guard)
            missed += not found
            taken += found is not None
            said = {True: "the proof fails", False: "NOT SEEN", None: "NOT THERE ANY MORE"}[found]
            print(f"{guard.promise:2}. without {guard.what} ({guard.file}): {said}", flush=True)
    print(f"{taken} of {sum(guard.promise in wanted for guard in GUARDS)} guards taken out, {missed} not seen")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
