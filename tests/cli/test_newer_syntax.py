"""Files for a Python newer than the one that runs: read, edited, kept elsewhere byte for byte, undone."""

from __future__ import annotations

import sys

import pytest

TRAIN = """import functools
import os
import torch.distributed as dist


def main(backend: str = "nccl") -> None:
    dist.init_process_group(backend, init_method="env://")


if __name__ == "__main__":
    main()
"""
NEWER = [
    "class Trainer[ConfigT: functools.partial, *Ts](Base[ConfigT],\n        metaclass=Meta):\n    '''é'''\n",
    "async def keep[**P](value: P) -> P:\n    return value\n",
    "class Data[\n    T: int = bool,  # [é\n]:\n    x: T\n",
    "type Backend[T] = dict[str, T]\n",
    'PATH = f"{os.environ["HOME"]}/é/{"/".join(["a", "b"])}"\n',
    "PATH = f'{'\\n'.join(['a'])}' f'{os.environ['HOME']!r:>{len('x')}}'\n",
    'PATH = f"{\n    os.environ["HOME"]  # it\'s there\n}"\n',
    "try:\n    pass\nexcept* ValueError:\n    pass\n",
    "PAIR: tuple[int, *Ts] = make[*Ts]\n",
    "try:\n    pass\nexcept ValueError, os.error:\n    pass\n",
    "PATH = t'{os.environ['HOME']}'\n",
]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("newer", NEWER)
def test_a_file_with_newer_syntax_is_read_and_edited(project, run, newer: str, ending: str) -> None:  # type: ignore[no-untyped-def]
    text = TRAIN.replace("\n\n\ndef", f"\n\n\n{newer}\n\ndef").replace("\n", ending)
    root = project(train=text)
    done = run("apply", ".", "--platform", "rocm")
    assert done.code == 0, done.said
    assert "not fully read" not in done.said
    assert (root / "train.py").read_bytes() == text.replace('"nccl"', '"gloo"').encode()
    assert run("check", ".", "--platform", "rocm").code == 0
    assert run("undo", ".").code == 0
    assert (root / "train.py").read_bytes() == text.encode()


CALLS = [
    'dist.init_process_group(f"{"nccl"}")',
    "dist.init_process_group('nccl', init_method=f'{'tcp'}://{os.environ['HOST']}:1')",
    'dist.init_process_group("nccl" if f"{os.environ["A"]}" else "gloo")',
]


@pytest.mark.parametrize("call", CALLS)
def test_what_stands_in_newer_syntax_itself_is_decided(project, run, call: str) -> None:  # type: ignore[no-untyped-def]
    text = f"import os\nimport torch.distributed as dist\n\n{call}\n"
    root = project(train=text)
    done = run("apply", ".", "--platform", "rocm")
    assert "not fully read" not in done.said
    new = (root / "train.py").read_text("utf-8")
    assert "gloo" in new or "Needs review" in done.out
    assert "nccl" not in new or new == text


def test_an_import_that_only_a_type_parameter_uses_stays(project, run) -> None:  # type: ignore[no-untyped-def]
    """The edit drops the last other use of it."""
    text = (
        "import sys\nimport torch.distributed as dist\n\n\nclass Data[T: sys.flags]:\n    pass\n\n\n"
        'dist.init_process_group("nccl" if sys.platform != "win32" else "gloo")\n'
    )
    root = project(train=text)
    assert run("apply", ".", "--platform", "rocm").code == 0
    new = (root / "train.py").read_text("utf-8")
    assert 'dist.init_process_group("gloo")' in new
    assert "import sys\n" in new


@pytest.mark.parametrize("broken", ["def f[T](x:\n", 'x = f"{d["a"}"\n', "type X =\n"])
def test_wrong_syntax_is_named_as_before(project, run, broken: str) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TRAIN, other=f"{TRAIN}{broken}")
    done = run("apply", ".", "--platform", "rocm")
    assert done.code == 1
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"not valid in Python {version}. If it is newer syntax, run ddp-codemod with that Python" in " ".join(done.out.split())
    assert (root / "other.py").read_text("utf-8") == f"{TRAIN}{broken}"
