"""Programs to try the promises on: the fixtures and the examples of the rule data, as they are and changed at random."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from ddp_codemod.catalog.load import load
from proofs.proof import KEPT, REPOSITORY

SUFFIXES = (".py", ".ipynb", ".yaml", ".yml", ".json", ".toml", ".sh")


@cache
def programs() -> tuple[tuple[str, str], ...]:
    """(suffix, text) of every file of the fixtures and traps, and of every example of the rule data."""
    found: dict[tuple[str, str], None] = {}
    for top in (REPOSITORY / "fixtures",):
        for path in sorted(top.rglob("project/**/*")):
            if path.suffix in SUFFIXES and path.is_file():
                found[path.suffix, path.read_text("utf-8")] = None
    rules = load()
    entries = (*rules.surfaces.values(), *rules.platforms.values(), *rules.fixes.values())
    for entry in entries:
        for example in entry.examples:
            found[".py", example.before] = None
    return tuple(found)


def python(rng: random.Random, extra: tuple[str, ...] = ()) -> str:
    """A program that is likely to hold a site, with other code around it and its layout changed; most of them parse."""
    own = [text for suffix, text in programs() if suffix == ".py"]
    text = rng.choice(own)
    pieces = [text]
    for _ in range(rng.randrange(3)):
        pieces.insert(rng.choice([0, len(pieces)]), rng.choice(extra) if extra and rng.random() < 0.6 else rng.choice(own))
    if len(pieces) > 1:  # "from __future__" and docstrings are to come first
        pieces = [piece for piece in pieces if "__future__" in piece] + [piece for piece in pieces if "__future__" not in piece]
    text = "\n".join(pieces)
    for change in rng.sample(_CHANGES, rng.randrange(4)):
        text = change(text, rng)
    return text


def _indented(text: str, rng: random.Random) -> str:
    head = rng.choice(
        [
            "if True:",
            "def wrapped():",
            "class Wrapped:",
            "try:",
            "for _ in (0,):",
            "with open(__file__) as f:",
            "if 1:\n  pass\nelse:",
        ]
    )
    if '"""' in text or "'''" in text or "\\\n" in text or "__future__" in text or "import *" in text:
        return text
    indent = rng.choice(["    ", "\t", "  "])
    tail = "\nfinally:\n" + indent + "pass" if head == "try:" else ""
    return head + "\n" + "\n".join(indent + line if line.strip() else line for line in text.split("\n")) + tail + "\n"


def _comments(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    for _ in range(3):
        at = rng.randrange(len(lines) + 1)
        lines.insert(at, rng.choice(["# 训练 nccl", "#\t\u202e\u00e9\u0301", "\x0c", "   ", "#" * 90, "# fmt: off"]))
    return "\n".join(lines)


def _trailing(text: str, rng: random.Random) -> str:
    return "\n".join(
        line + rng.choice(["", "", "  ", "\t", "  # ü"]) if line.strip() and not line.endswith(("\\", '"""', "'''")) else line
        for line in text.split("\n")
    )


def _spaced(text: str, rng: random.Random) -> str:
    return text.replace("(", rng.choice(["( ", "(\n", "(  # x\n"])) if '"' not in text.split("(")[0] else text


def _final(text: str, rng: random.Random) -> str:
    return text.rstrip("\n") + rng.choice(["", "\n\n\n", "\n#", "\n\x0c\n"])


def _joined(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    if lines[at] and not lines[at][0].isspace() and lines[at].endswith(")"):
        lines[at] = f"x = 1; {lines[at]}; y = 2"
    return "\n".join(lines)


_CHANGES = [_indented, _comments, _trailing, _spaced, _final, _joined]


def encoded(text: str, rng: random.Random) -> bytes:
    """The text in one of the encodings and with one of the line ends that files have."""
    ends = rng.choice(["\n", "\n", "\n", "\r\n", "\r\n", "\r"])
    text = text.replace("\n", ends)
    if rng.random() < 0.05:
        text = text.replace(ends, "\r\n" if ends == "\n" else "\n", rng.randrange(1, 20))
    encoding = rng.choice(["utf-8", "utf-8", "utf-8", "utf-8-sig", "gbk", "latin-1", "shift_jis", "cp1252", "iso-8859-15"])
    if not encoding.startswith("utf-8"):
        text = f"# -*- coding: {encoding} -*-{ends}" + text
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode("utf-8-sig")


def mutant(rng: random.Random) -> tuple[str, bytes]:
    """(suffix, bytes) of a file with bytes changed, cut, doubled and moved: most of them are no programs any more."""
    suffix, text = rng.choice(programs())
    return suffix, mutated(encoded(text, rng) if suffix == ".py" else text.encode("utf-8"), rng)


def mutated(old: bytes, rng: random.Random) -> bytes:
    """The bytes with some changed, cut, doubled and moved."""
    data = bytearray(old)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice([1, 1, 2, 5, 20, 200]))
        kind = rng.randrange(6)
        if kind == 0:
            data[at:end] = b""
        elif kind == 1:
            data[at:at] = data[at:end] * rng.choice([1, 2, 50])
        elif kind == 2:
            data[at:at] = bytes([rng.randrange(256)])
        elif kind == 3:
            data[at:at] = rng.choice([b"(", b")", b"[", b"{", b'"', b"'", b'"""', b"\\", b"\r", b"\x0c", b"\0", b"#", b":", b"lambda:", b"f'{", b"}'", b"\xef\xbb\xbf", b"\n\t", b"\n  "])  # fmt: skip
        elif kind == 4:
            other = bytes(rng.choice(programs())[1], "utf-8")
            start = rng.randrange(len(other) + 1)
            data[at:at] = other[start : start + rng.choice([10, 100, 1000])]
        else:
            data[at:end] = data[at:end][::-1]
    return bytes(data)


def kept() -> list[Path]:
    """Inputs that once failed."""
    return sorted(path for path in KEPT.glob("*") if path.is_file()) if KEPT.is_dir() else []
