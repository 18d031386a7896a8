from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.patch.blob import Blob, LineEnds, blob_id, looks_like_text

RunGit = Callable[..., bytes]


def test_id_is_gits(git: RunGit) -> None:
    for data in (b"", b"a\n", b"\xff\0" * 9):
        assert blob_id(data) == git("hash-object", "--stdin", stdin=data).decode().strip()


@pytest.mark.parametrize(
    "content",
    [
        b"a\r\nb\r\n",
        b"a\r\nb\n",
        b"a\r\nb\r",
        b"a\r\n\0",
        b"a\r\n\x1a",
        b"a\r\n" + b"x" * 127 + b"\x01",
        b"a\r\n" + b"x" * 128 + b"\x01",
        b"a\r\n" + b"x" * 128 + b"\x7f\x1a",
        b"a\r\n" + b"x" * 120 + b"\r\n" * 20 + b"\x01",
        b"a\x0c\x1b\b\t\r\n",
        "训练\r\n".encode("gbk"),
    ],
)
def test_guesses_text_as_git_does(git: RunGit, content: bytes) -> None:
    oid = git("-c", "core.autocrlf=input", "-c", "core.safecrlf=false", "hash-object", "--stdin", "--path=new", stdin=content)
    assert Blob(b"", "0" * 40, "100644", line_ends=LineEnds.AUTO).stored(content) in (content, content.replace(b"\r\n", b"\n"))
    assert blob_id(Blob(b"", "0" * 40, "100644", line_ends=LineEnds.AUTO).stored(content)) == oid.decode().strip()


@given(st.binary(max_size=20))
def test_kept_line_ends_keep_every_byte(content: bytes) -> None:
    assert Blob(b"", "0" * 40, "100644").stored(content) == content


def test_a_repository_that_holds_crlf_goes_on_holding_it() -> None:
    blob = Blob(b"a\r\n", blob_id(b"a\r\n"), "100644", line_ends=LineEnds.AUTO)
    assert blob.stored(b"b\r\n") == b"b\r\n"
    assert blob.holds(b"a\r\n")


def test_an_unknown_file_is_held_by_nothing() -> None:
    assert not Blob(b"", "0" * 40, "100644").holds(b"")
    assert Blob(b"", blob_id(b""), "100644").holds(b"")


def test_lone_carriage_return_is_no_text() -> None:
    assert not looks_like_text(b"a\rb")
    assert looks_like_text(b"")
