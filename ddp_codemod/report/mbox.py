"""The patch as a mail in a mailbox, as ``git format-patch`` writes it and ``git am`` takes it."""

from __future__ import annotations

import quopri
from email.header import Header
from email.utils import formataddr, formatdate

from ddp_codemod import __version__


def format_mail(patch: bytes, message: str, author: tuple[str, str], seconds: float) -> bytes:
    """One mail. ``seconds``: its date, since 1970.

    A patch with carriage returns is written as quoted-printable: git drops them from the lines of a mail that is not.
    """
    subject, _, body = message.partition("\n")
    text = _escape_body(body.strip("\n")).encode("utf-8", "replace")
    content = text + b"\n---\n" + patch + b"-- \nddp-codemod " + __version__.encode("ascii") + b"\n\n"
    plain = b"\r" not in content and b"\0" not in content
    head = [
        "From " + "0" * 40 + " Mon Sep 17 00:00:00 2001",  # the line that git knows its own mails by
        "From: " + _format_address(author),
        "Date: " + formatdate(seconds, usegmt=False),
        "Subject: " + Header(f"[PATCH] {subject}", "ascii" if subject.isascii() else "utf-8", 76).encode(),
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=UTF-8",
        "Content-Transfer-Encoding: " + ("8bit" if plain else "quoted-printable"),
    ]
    if not plain:
        # \r as =0D: quopri leaves it where a line feed follows
        content = quopri.encodestring(content.replace(b"\r", b"\0"), quotetabs=False).replace(b"=00", b"=0D")
    return "".join(line + "\n" for line in head).encode("ascii") + b"\n" + content


def _format_address(author: tuple[str, str]) -> str:
    name, address = (" ".join(part.split()) for part in author)
    return formataddr((name, address.encode("ascii", "replace").decode("ascii")))


def _escape_body(body: str) -> str:
    """The message without lines that git takes for the start of the patch or of the next mail."""
    starts = ("---", "diff ", "Index: ", "From ", ">From ")
    return "\n".join(" " + line if line.startswith(starts) else line for line in body.split("\n"))
