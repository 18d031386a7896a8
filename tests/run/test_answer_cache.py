"""Kept answers: taken only where nothing that was read has changed, equal to what a run finds, and never trusted more than that."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from ddp_codemod.catalog.load import load
from ddp_codemod.discover.unsaved import use_unsaved_texts
from ddp_codemod.model import Survey
from ddp_codemod.run import answer_cache, project
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

FIXTURES = Path(__file__).parents[2] / "fixtures"
OPTIONS = """import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--backend", default="nccl")
"""
TRAIN = """import torch.distributed as dist
from options import parser

dist.init_process_group(parser.parse_args().backend)
"""
FILES = {
    "train.py": TRAIN,
    "options.py": OPTIONS,
    "run.sh": "torchrun train.py --backend nccl\n",
    "conf/base.yaml": "backend: nccl\n",
    "requirements.txt": "torch==2.1.0\n",
    "README.md": "pip install torch==2.1.0\n\n    python train.py --backend nccl\n",
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "cache"))
    monkeypatch.setattr(answer_cache, "WORTH", 1)
    monkeypatch.setattr(sys, "platform", "linux" if sys.platform == "darwin" else sys.platform)  # its folder cannot be chosen
    return answer_cache.answers_folder()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "project" / name).write_text(text, "utf-8")
    return tmp_path / "project"


def asked(root: Path, platform: str = "rocm", **more: object) -> Options:
    rules = load()
    return Options((root,), rules.platforms[platform], rules, root=root, cache=True, **more)  # type: ignore[arg-type]


def anew(options: Options) -> Survey:
    return survey(replace(options, cache=False))


def is_kept(options: Options, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the answer comes without a look through the project."""
    ran = []
    work = project._survey_with_others
    with monkeypatch.context() as patch:
        patch.setattr(project, "_survey_with_others", lambda *args: ran.append(args) or work(*args))
        survey(options)
    return not ran


def test_the_second_answer_is_the_first(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = survey(asked(tree))
    assert first.edits
    assert is_kept(asked(tree), monkeypatch)
    assert survey(asked(tree)) == first == anew(asked(tree))


@pytest.mark.parametrize("name", ["tts-spawn", "speaker-torchrun", "vocoder-accelerate"])
@pytest.mark.parametrize("platform", ["rocm", "windows", "ascend", "single-gpu", "cpu"])
def test_of_real_projects_too(name: str, platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(shutil.copytree(FIXTURES / name / "project", tmp_path / "copy"))
    first = survey(asked(root, platform))
    assert is_kept(asked(root, platform), monkeypatch)
    assert survey(asked(root, platform)) == first == anew(asked(root, platform))


CHANGES: dict[str, Callable[[Path], object]] = {
    "a line": lambda root: (root / "options.py").write_text(OPTIONS.replace("nccl", "gloo")),
    "a line, with size and time as before": lambda root: _same_size_and_time(root / "options.py"),
    "a new program": lambda root: (root / "other.py").write_text(TRAIN),
    "a new launch script": lambda root: (root / "more.sh").write_text("torchrun train.py --backend nccl\n"),
    "a new file of requirements": lambda root: (root / "requirements-dev.txt").write_text("torch==1.8\n"),
    "another requirement": lambda root: (root / "requirements.txt").write_text("torch==2.4.0\n"),
    "another README": lambda root: (root / "README.md").write_text("nothing\n"),
    "a file less": lambda root: (root / "options.py").unlink(),
    "another name": lambda root: (root / "options.py").rename(root / "option.py"),
    "a folder moved": lambda root: (root / "conf").rename(root / "config"),
    "a link in the place of a file": lambda root: _linked(root),
    "a folder in the place of a file": lambda root: _folder(root / "run.sh"),
    "a virtual environment": lambda root: (root / "conf" / "pyvenv.cfg").write_text(""),
    "a submodule": lambda root: (root / ".gitmodules").write_text('[submodule "x"]\n\tpath = x\n\turl = y\n'),
}


def _same_size_and_time(path: Path) -> None:
    times = path.stat()
    path.write_text(OPTIONS.replace("nccl", "gloo"))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def _linked(root: Path) -> None:
    (root / "options.py").unlink()
    (root / "options.py").symlink_to(root / "train.py")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_after_a_change_it_is_worked_out_anew(change: str, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survey(asked(tree))
    assert is_kept(asked(tree), monkeypatch)
    CHANGES[change](tree)
    assert not is_kept(asked(tree), monkeypatch)
    assert survey(asked(tree)) == anew(asked(tree))


@pytest.mark.parametrize(
    "other",
    [
        {"platform": "windows"},
        {"fixes": ("nccl-debug",)},
        {"style": "portable"},
        {"env_in": "shell"},
        {"paths": ("train.py",)},
    ],
    ids=str,
)
def test_another_question_has_another_answer(other: dict[str, object], tree: Path) -> None:
    survey(asked(tree))
    paths = other.pop("paths", None)
    question = asked(tree, **other)  # type: ignore[arg-type]
    if paths is not None:
        question = replace(question, paths=(tree / "train.py",))
    assert survey(question) == anew(question)


def test_a_copy_of_the_project_has_an_answer_of_its_own(tree: Path, tmp_path: Path) -> None:
    survey(asked(tree))
    copy = Path(shutil.copytree(tree, tmp_path / "copy"))
    assert survey(asked(copy)) == anew(asked(copy))
    assert survey(asked(copy)).root == copy


def test_changed_rules_have_another_answer(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survey(asked(tree))
    rules = load()
    some = replace(rules, advice={})
    assert not is_kept(replace(asked(tree), rules=some), monkeypatch)


def test_another_release_of_the_tool_has_another_answer(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survey(asked(tree))
    monkeypatch.setattr(answer_cache, "version_stamp", lambda: b"the next one")
    assert not is_kept(asked(tree), monkeypatch)


def test_what_an_editor_holds_counts(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survey(asked(tree))
    with use_unsaved_texts({str(tree / "options.py"): OPTIONS.replace("nccl", "gloo").encode()}):
        assert not is_kept(asked(tree), monkeypatch)
        assert survey(asked(tree)) == anew(asked(tree))
    assert survey(asked(tree)) == anew(asked(tree))


def _entry(cache: Path) -> Path:
    (made,) = cache.glob("*.answer")
    return made


@pytest.mark.parametrize("keep", [0, 1, 31, 32, 33, 200, -1])
def test_a_truncated_answer_is_none(keep: int, tree: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survey(asked(tree))
    _entry(cache).write_bytes(_entry(cache).read_bytes()[:keep])
    assert not is_kept(asked(tree), monkeypatch)
    assert is_kept(asked(tree), monkeypatch)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_an_answer_with_a_wrong_bit_is_none(
    at: float, bit: int, tree: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey(asked(tree))
    data = bytearray(_entry(cache).read_bytes())
    data[int(at * len(data))] ^= 1 << bit
    _entry(cache).write_bytes(data)
    assert not is_kept(asked(tree), monkeypatch)


@pytest.mark.parametrize("content", [b"\xc0", b"\x94\xc4\x00\x80\x90\x01", b"\x80", b"not msgpack"])
def test_an_answer_of_other_types_is_none_whatever_its_checksum_says(
    content: bytes, tree: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey(asked(tree))
    _entry(cache).write_bytes(blake2b(content, digest_size=32).digest() + content)
    assert not is_kept(asked(tree), monkeypatch)


def test_an_answer_whose_survey_is_of_other_types_is_none(tree: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survey(asked(tree))
    entry = msgspec.msgpack.decode(_entry(cache).read_bytes()[32:], type=answer_cache.Entry)
    content = msgspec.msgpack.encode(replace(entry, answer=msgspec.Raw(msgspec.msgpack.encode({"root": 1}))))
    _entry(cache).write_bytes(blake2b(content, digest_size=32).digest() + content)
    assert not is_kept(asked(tree), monkeypatch)


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_an_answer_that_others_may_write_is_none(tree: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survey(asked(tree))
    assert _entry(cache).stat().st_mode & 0o077 == 0
    assert cache.stat().st_mode & 0o077 == 0
    _entry(cache).chmod(0o666)
    assert not is_kept(asked(tree), monkeypatch)


def test_nothing_is_kept_inside_the_project(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tree / "cache"))
    survey(asked(tree))
    assert not (tree / "cache").exists()
    assert not is_kept(asked(tree), monkeypatch)


def test_nothing_is_kept_where_it_is_not_wanted_or_not_worth_it(tree: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    anew(asked(tree))
    monkeypatch.setattr(answer_cache, "WORTH", 10**9)
    survey(asked(tree))
    assert not cache.exists()


def test_where_nothing_can_be_written_it_is_found_all_the_same(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "file"))
    assert survey(asked(tree)) == anew(asked(tree))


def test_a_file_that_changes_while_it_is_read_keeps_no_answer(tree: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = project._survey_with_others

    def changing(*args: object) -> Survey:
        found = work(*args)  # type: ignore[arg-type]
        answer_cache_note(tree / "options.py", b"other")
        return found

    from ddp_codemod.discover.file_digests import note as answer_cache_note

    monkeypatch.setattr(project, "_survey_with_others", changing)
    survey(asked(tree))
    assert not cache.exists()


def test_the_folder_keeps_its_bounds(tree: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_cache, "MOST", 3)
    cache.mkdir(parents=True)
    for number in range(6):
        (cache / f"{number}.answer").write_bytes(b"old")
        os.utime(cache / f"{number}.answer", ns=(number, number))
    left, new = cache / "x.answer.1.part", cache / "y.answer.2.part"
    for path in (left, new):
        path.write_bytes(b"half")
    os.utime(left, (time.time() - 7200,) * 2)
    survey(asked(tree))
    names = {path.name for path in cache.iterdir()}
    assert {"4.answer", "5.answer", new.name} < names
    assert len(names) == 4


def test_an_answer_that_is_used_stays_longest(tree: Path, cache: Path) -> None:
    survey(asked(tree))
    made = _entry(cache)
    os.utime(made, ns=(1, 1))
    survey(asked(tree))
    assert made.stat().st_mtime_ns > 1


RUN = """
import sys
from pathlib import Path
from ddp_codemod.run import answer_cache
answer_cache.WORTH = 1
from tests.run.test_answer_cache import asked, anew, survey
root = Path(sys.argv[1])
for _ in range(int(sys.argv[2])):
    survey(asked(root))
assert survey(asked(root)) == anew(asked(root))
"""


def _start(tree: Path, times: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", RUN, str(tree), str(times)], cwd=Path(__file__).parents[2])


def test_runs_at_the_same_time_do_not_disturb_each_other(tree: Path, cache: Path) -> None:
    started = [_start(tree, 1) for _ in range(4)]
    assert [one.wait() for one in started] == [0] * 4
    assert [path.suffix for path in cache.iterdir()] == [".answer"]


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_killed_run_leaves_nothing_that_is_taken_for_an_answer(tree: Path, cache: Path) -> None:
    for wait in (0.3, 0.5, 0.7):
        running = _start(tree, 10**6)
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(wait)
        running.send_signal(signal.SIGKILL)
        running.wait()
    assert survey(asked(tree)) == anew(asked(tree))


AUDITED = """
import os, sys
from pathlib import Path
from ddp_codemod.discover.file_digests import recording
from tests.run.test_answer_cache import anew, asked
root = Path(sys.argv[1])
anew(asked(root, sys.argv[2]))  # what is imported is imported now
opened = set()
sys.addaudithook(lambda event, args: opened.add(str(args[0])) if event == "open" else None)
with recording() as reads:
    anew(asked(root, sys.argv[2]))
inside = {os.path.normpath(path) for path in opened if path.startswith(str(root))}
print(len(inside), sorted(inside - {os.path.normpath(path) for path in reads.digests}))
"""


@pytest.mark.parametrize("platform", ["rocm", "windows", "ascend", "single-gpu", "cpu"])
def test_every_file_that_is_opened_is_noted(platform: str, tree: Path) -> None:
    command = [sys.executable, "-c", AUDITED, str(tree), platform]
    said = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True).stdout
    many, rest = said.split(" ", 1)
    assert int(many) >= 5
    assert rest.strip() == "[]"


CONTENTS = [
    "",
    TRAIN,
    OPTIONS,
    OPTIONS.replace("nccl", "gloo"),
    "torchrun train.py --backend nccl\n",
    "backend: nccl\n",
    "torch==2.1\n",
]
NAMES = [*FILES, "more.py", "conf/other.yaml", "setup.py", "conf/__init__.py", "start"]
STEPS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from(CONTENTS)),
    st.tuples(st.just("delete"), st.sampled_from(NAMES), st.just("")),
    st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, min_size=1, max_size=5), platform=st.sampled_from(["rocm", "windows", "ascend", "single-gpu"]))
def test_an_answer_is_that_of_a_run_without_one(
    steps: list[tuple[str, str, str]], platform: str, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for what, name, more in steps:
        path = tree / name
        if what == "write":
            path.parent.mkdir(exist_ok=True)
            path.write_text(more)
        elif path.is_file() and what == "delete":
            path.unlink()
        elif path.is_file():
            (tree / more).parent.mkdir(exist_ok=True)
            path.replace(tree / more)
        question = asked(tree, platform)
        assert survey(question) == anew(question)
        assert survey(question) == anew(question)
