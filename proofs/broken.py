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
    Guard(1, "the place of an edit", "edits/splice.py", "made.append((first, last, new))", "made.append((first, last + 1, new))"),
    Guard(1, "the line ends of a file", "edits/render.py", "texts[name].encode(source.encoding)", 'texts[name].encode(source.encoding).replace(b"\\r\\n", b"\\n")'),
    Guard(2, "what counts as set", "rules/match_environment.py", "        return context.facts.fold(module, value)\n    return None", "        continue\n    return None"),
    Guard(3, "what stands beside an edit", "edits/render.py", "texts[name].encode(source.encoding)", 'texts[name].replace("True", "False").encode(source.encoding)'),
    Guard(4, "putting back on recovery", "write/recover.py", "        if found == kept.after:\n            try:", "        if False:\n            try:"),
    Guard(4, "recovery of an undo", "write/undo.py", "begun = journal.reopen(entry)", "begun = entry"),
    Guard(4, "putting back after a failed rename", "write/replace.py", "            _put_back(done, journal)\n            raise", "            raise"),
    Guard(5, "the lock", "write/lock.py", "        _take(handle)\n    except", "        pass\n    except"),
    Guard(5, "every look at what is replaced", "write/atomic.py", "    if target.read_bytes() != expected:\n        return False\n    put(temporary, target)\n", "    put(temporary, target)\n    return True\n", (("write/replace.py", "if late := [", "if False and [") ,)),
    Guard(6, "the switches of git", "write/git.py", '"core.fsmonitor": "false",', ""),
    Guard(6, "hooks off", "write/git.py", '"core.hooksPath": os.devnull,', ""),
    Guard(6, "the git of an absolute path", "write/git.py", "    program = executable()\n    if program is None:", '    program = "git"\n    if program is None:'),
    Guard(6, "the empty folder for Python", "machine/interview.py", "cwd=folder", "cwd=None"),
    Guard(7, "links out of the root", "discover/files.py", "                if not _inside(real, home):\n                    continue\n", ""),
    Guard(7, "what a link leads to", "discover/bounds.py", "names = {name, self.links.get(name, name)}", "names = {name}"),
    Guard(8, "depth before LibCST", "edits/recipes/expression.py", "    guard_depth(text)\n    _guard_levels(_check(text))", "    _check(text)"),
    Guard(8, "plain files only", "discover/files.py", " and _is(entry, os.DirEntry.is_file)", ""),
    Guard(9, "the old lines of a hunk", "patch/gitdiff.py", "CONTEXT = 3", "CONTEXT = 0"),
    Guard(9, "names in quotes", "patch/quote.py", "    return f'\"{\"\".join(parts)}\"'.encode(\"ascii\")", "    return name"),
    Guard(10, "the label", "edits/render.py", "else {Applicability.SAFE}", "else {Applicability.SAFE, Applicability.UNSAFE}"),
    Guard(11, "escapes", "report/inert.py", '    return "".join(_shown(character) for character in text)', "    return text"),
    Guard(13, "what is not read", "entries/outside.py", "        if not self._speaks(module, node):", "        if True:"),
    Guard(13, "the default of a variable", "entries/samplers.py", "        if _given(seen, argument, own) is None:", "        if False:"),
    Guard(11, "line breaks in names", "messages/__init__.py", "value if value.isprintable() else value.translate(_BREAKS)", "value"),
    Guard(12, "the mode", "write/atomic.py", "    temporary.chmod(stat.S_IMODE(like.st_mode))", "    temporary.chmod(0o600)"),
    Guard(12, "the old bytes", "write/journal.py", "_write(folder / str(index), content)", "_write(folder / str(index), content[:-1])"),
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
    missed = 0
    for promise in sorted(wanted):
        kept = whole(promise)
        missed += not kept
        print(f"{promise:2}. with every guard: {'the proof passes' if kept else 'THE PROOF FAILS'}", flush=True)
    for guard in GUARDS:
        if guard.promise in wanted:
            found = seen(guard)
            missed += not found
            said = {True: "the proof fails", False: "NOT SEEN", None: "NOT THERE ANY MORE"}[found]
            print(f"{guard.promise:2}. without {guard.what} ({guard.file}): {said}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
