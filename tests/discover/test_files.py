"""Which files are read, and that what is read comes back byte for byte."""

from __future__ import annotations

import io
import tokenize
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ddp_codemod.discover import files
from ddp_codemod.discover.files import _detect_encoding, read, walk_files
from ddp_codemod.model import Skipped, Source


def found(root: Path, *paths: str) -> list[str]:
    return [path.relative_to(root).as_posix() for path in walk_files(root, [root / path for path in paths or ("",)], (".py",))]


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


def test_sorted_each_once_and_by_suffix(tmp_path: Path) -> None:
    make(tmp_path, "b.py", "a.py", "a.txt", "c/d.py", "c/py", "notes.pyc")
    assert found(tmp_path) == ["a.py", "b.py", "c/d.py"]
    assert found(tmp_path, "c", "", "a.py") == ["c/d.py", "a.py", "b.py"]


def test_a_named_file_is_taken_as_it_is(tmp_path: Path) -> None:
    make(tmp_path, "script", "venv/pyvenv.cfg", "venv/x.py")
    assert found(tmp_path, "script", "venv/x.py") == ["script", "venv/x.py"]


@pytest.mark.parametrize(
    "folder", [".git", ".venv", "__pycache__", "node_modules", ".tox", ".ipynb_checkpoints", "a/site-packages"]
)
def test_folders_that_are_not_the_project(tmp_path: Path, folder: str) -> None:
    make(tmp_path, "a.py", f"{folder}/b.py")
    assert found(tmp_path) == ["a.py"]


@pytest.mark.parametrize("name", ["venv", "my-env", "deep/er/env"])
def test_a_virtual_environment_by_any_name(tmp_path: Path, name: str) -> None:
    make(tmp_path, "a.py", f"{name}/pyvenv.cfg", f"{name}/lib/b.py", f"{name}/c.py")
    assert found(tmp_path) == ["a.py"]


def test_a_named_folder_that_an_environment_was_made_in(tmp_path: Path) -> None:
    make(tmp_path, "pyvenv.cfg", "a.py", "lib/python3.12/site-packages/b.py", "lib/own.py", "other/pyvenv.cfg", "other/c.py")
    assert found(tmp_path) == ["a.py", "lib/own.py"]
    assert found(tmp_path, "other") == ["other/c.py"]


def test_folders_that_only_sound_like_one(tmp_path: Path) -> None:
    make(tmp_path, "venv/a.py", "env/b.py", "build/c.py", "git/d.py", ".hidden/e.py")
    assert found(tmp_path) == [".hidden/e.py", "build/c.py", "env/b.py", "git/d.py", "venv/a.py"]


def test_linked_folders_and_dead_links_are_left_out(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    make(root, "a.py")
    make(outside, "b.py")
    (root / "link").symlink_to(outside, target_is_directory=True)
    (root / "loop").symlink_to(root, target_is_directory=True)
    (root / "dead.py").symlink_to(root / "missing.py")
    assert found(root) == ["a.py"]


def test_a_folder_named_like_a_file(tmp_path: Path) -> None:
    make(tmp_path, "pkg.py/inner.py")
    assert found(tmp_path) == ["pkg.py/inner.py"]


def read_bytes(tmp_path: Path, data: bytes) -> Source | Skipped:
    (tmp_path / "x.py").write_bytes(data)
    return read(tmp_path / "x.py", tmp_path)


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"x = 1\n", "x = 1\n", "utf-8"),
        ("x = '后'\r\n".encode(), "x = '后'\r\n", "utf-8"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n", "utf-8-sig"),
        (b"\xef\xbb\xbf# coding: utf-8\nx = 1\n", "# coding: utf-8\nx = 1\n", "utf-8-sig"),
        ("# -*- coding: gbk -*-\nx = '后端'\n".encode("gbk"), "# -*- coding: gbk -*-\nx = '后端'\n", "gbk"),
        (
            "#!/usr/bin/python\n# coding=gb2312\nx = '后'".encode("gb2312"),
            "#!/usr/bin/python\n# coding=gb2312\nx = '后'",
            "gb2312",
        ),
        ("# coding: latin-1\nx = 'é'\n".encode("latin-1"), "# coding: latin-1\nx = 'é'\n", "iso-8859-1"),
        ("# coding: cp1252\nx = '€'\n".encode("cp1252"), "# coding: cp1252\nx = '€'\n", "cp1252"),
        ("# coding: shift_jis\nx = '音'\n".encode("shift_jis"), "# coding: shift_jis\nx = '音'\n", "shift_jis"),
        (b"x = 1\r\ny = 2\rz = 3\n\x0c\n", "x = 1\r\ny = 2\rz = 3\n\x0c\n", "utf-8"),
        (b"", "", "utf-8"),
        (b"\xef\xbb\xbf", "", "utf-8-sig"),
    ],
)
def test_encodings(tmp_path: Path, data: bytes, text: str, encoding: str) -> None:
    made = read_bytes(tmp_path, data)
    assert isinstance(made, Source)
    assert (made.name, made.text, made.encoding) == ("x.py", text, encoding)
    assert made.text.encode(made.encoding) == made.data == data


@pytest.mark.parametrize(
    ("data", "key"),
    [
        (b"# coding: no-such-codec\nx = 1\n", "skipped-encoding"),
        (b"x = '\xff'\n", "skipped-encoding"),
        ("x = '后端'\n".encode("gbk"), "skipped-encoding"),
        (b"\xef\xbb\xbf# coding: gbk\nx = 1\n", "skipped-encoding"),
        ("x = 1\n".encode("utf-16"), "skipped-encoding"),
        (b"# coding: ascii\nx = '\xc3\xa9'\n", "skipped-encoding"),
        (b"# coding: rot13\nk = 1\n", "skipped-encoding"),
        (b"# coding: hex\n78\n", "skipped-encoding"),
        (b"x = 1\0\n", "skipped-nul"),
        (b"\0" * 10, "skipped-nul"),
    ],
)
def test_what_cannot_be_read_is_skipped_by_name(tmp_path: Path, data: bytes, key: str) -> None:
    made = read_bytes(tmp_path, data)
    assert isinstance(made, Skipped)
    assert (made.name, made.reason.key) == ("x.py", key)


def test_a_codec_that_does_not_give_the_bytes_back(tmp_path: Path) -> None:
    # utf-7 has several spellings of one text; what would come back is not what was there
    made = read_bytes(tmp_path, b"# coding: utf-7\nx = '+AGE-'\n")
    assert isinstance(made, Skipped)
    assert made.reason.key == "skipped-encoding"


def test_missing_and_too_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = read(tmp_path / "none.py", tmp_path)
    assert isinstance(missing, Skipped)
    assert missing.reason.key == "skipped-unreadable"
    (tmp_path / "folder.py").mkdir()
    assert isinstance(read(tmp_path / "folder.py", tmp_path), Skipped)
    monkeypatch.setattr(files, "MAX_BYTES", 10)
    large = read_bytes(tmp_path, b"x" * 11)
    assert isinstance(large, Skipped)
    assert large.reason.key == "skipped-too-large"


@settings(max_examples=80, deadline=None)
@given(
    st.binary(max_size=60),
    st.sampled_from(
        [b"", b"\xef\xbb\xbf", b"# coding: gbk\n", b"# coding: latin-1\n", b"# coding: utf-8\r\n", b"# coding: big5\n"]
    ),
)
def test_whatever_is_read_comes_back_byte_for_byte(tmp_path_factory: pytest.TempPathFactory, tail: bytes, head: bytes) -> None:
    made = read_bytes(tmp_path_factory.getbasetemp(), head + tail)
    if isinstance(made, Source):
        assert made.text.encode(made.encoding) == head + tail


@given(
    st.lists(
        st.sampled_from(
            [b"#", b" coding: ", b"utf-8", b"latin-1", b"gbk", b"\n", b"\r", b"x", b"\xff", b"\xc3\xa9", b"\xef\xbb\xbf"]
        )
    )
)
def test_the_encoding_of_a_file_is_the_one_that_python_detects(parts: list[bytes]) -> None:
    data = b"".join(parts)
    try:
        wanted, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError:
        with pytest.raises(SyntaxError):
            _detect_encoding(data)
    else:
        assert _detect_encoding(data) == wanted
