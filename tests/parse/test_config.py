"""What holds for configuration files of every kind."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ddp_codemod.discover.files import read_text
from ddp_codemod.model import Skipped, Source
from ddp_codemod.parse.config import SUFFIXES, Document, giving, parse_config

Parse = Callable[[str, str], Document]
SAMPLES = {
    "a.yaml": "dist:\n  backend: nccl\n",
    "a.yml": "dist: {backend: 'nccl'}\n",
    "a.toml": '[dist]\nbackend = "nccl"\n',
    "a.json": '{"dist": {"backend": "nccl"}}\n',
    "a.ini": "[dist]\nbackend = nccl\n",
    "a.cfg": "[dist]\nbackend: nccl\n",
    "a.gin": "dist.backend = 'nccl'\n",
}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_kind_gives_the_path_and_the_value(name: str, document: Parse) -> None:
    parsed = document(name, SAMPLES[name])
    assert [(entry.path, entry.value) for entry in parsed.entries] == [(("dist", "backend"), "nccl")]
    assert parsed.place(parsed.entries[0]).name == parsed.name == name


def test_every_suffix_has_a_sample() -> None:
    assert {Path(name).suffix for name in SAMPLES} == set(SUFFIXES)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("newline", ["\r\n", "\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [True, False])
def test_bytes_around_the_value_stay(name: str, newline: str, bom: bytes, end: bool, tmp_path: Path) -> None:
    comment = "" if name.endswith("json") else "# é 通\n"
    text = comment + (SAMPLES[name] if end else SAMPLES[name].rstrip("\n"))
    data = bom + text.replace("\n", newline).encode("utf-8")
    (tmp_path / name).write_bytes(data)
    source = read_text(tmp_path / name, tmp_path)
    assert isinstance(source, Source)
    assert source.text.encode(source.encoding) == data
    parsed = parse_config(source)
    assert isinstance(parsed, Document)
    (entry,) = parsed.entries
    new = source.text[: entry.start] + parsed.written(entry, "gloo") + source.text[entry.end :]
    assert new.encode(source.encoding) == data.replace(b"nccl", b"gloo")


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize(
    "text",
    ["", "\n", "# c\n", "\t", "[" * 900, "{" * 900, "a: " * 30_000, "- " * 30_000, "? " * 999, "- " * 300, '"' * 999],
)
def test_what_is_no_configuration_gives_nothing(name: str, text: str, document: Parse) -> None:
    assert all(entry.path == () for entry in document(name, text).entries if not name.endswith(("ini", "cfg")))


@pytest.mark.parametrize(("name", "head", "tail"), [("a.json", '{"a":', "}"), ("a.yaml", "{a: ", "}"), ("a.json", "[", "]")])
def test_deep_nesting_is_read(name: str, head: str, tail: str, document: Parse) -> None:
    deep = 900
    (entry,) = document(name, head * deep + "1" + tail * deep).entries
    assert len(entry.path) == deep


@pytest.mark.parametrize("newline", ["\n", "\r", "\r\n"])
def test_blocks_too_deep_for_the_grammar_are_left(newline: str, document: Parse) -> None:
    parsed = document("a.yaml", "".join(" " * level + "a:" + newline for level in range(600)) + " " * 600 + "b: nccl")
    assert (parsed.entries, parsed.errors) == ((), (0,))


@pytest.mark.parametrize("text", ["[" * 200_000 + "]" * 200_000, "[" * 200_000, '{"a":' * 200_000 + "1" + "}" * 200_000])
@pytest.mark.parametrize("name", ["a.json", "a.yaml", "a.toml"])
def test_brackets_without_end_are_left_with_the_reason(name: str, text: str) -> None:
    parsed = parse_config(Source(Path(name), name, text.encode(), text, "utf-8"))
    assert isinstance(parsed, Skipped)
    assert parsed.reason.key == "skipped-too-deep"


def test_many_brackets_side_by_side_are_read(document: Parse) -> None:
    text = '{"rows": [' + "[[1]], " * 2_000 + '[]], "backend": "nccl"}'
    assert [entry.value for entry in document("a.json", text).ending("backend")] == ["nccl"]


@pytest.mark.parametrize("text", ["a" + ".a" * 100_000 + " = 1", "[a" + ".a" * 100_000 + "]\nb = 1"])
def test_a_file_with_a_dotted_key_without_end_is_not_read(text: str) -> None:
    assert _skipped("a.toml", f'backend = "nccl"\n{text}\n') == "skipped-too-much"


# what each of these took before it was bounded: gigabytes, or minutes
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"backend": "nccl", "a": [' + "1," * 400_000 + "1]}"),
        ("a.yaml", "backend: nccl\na: [" + "1," * 400_000 + "1]\n"),
        ("a.yaml", "backend: nccl\na:\n" + "- 1\n" * 400_000),
        ("a.toml", 'backend = "nccl"\n' + "".join(f"a{i}{'.a' * 900} = 1\n" for i in range(50))),
        ("a.toml", f'backend = "nccl"\n[a{".a" * 900}]\n' + "".join(f"k{i} = 1\n" for i in range(50_000))),
    ],
)
def test_a_file_that_holds_too_much_is_not_read(name: str, text: str) -> None:
    assert _skipped(name, text) == "skipped-too-much"


@pytest.mark.parametrize("name", ["a.json", "a.yaml"])
def test_what_lies_deep_and_is_many_is_left_out_and_told(name: str, document: Parse) -> None:
    found = document(name, '{"backend": "nccl", "a": ' + "[" * 190 + "1, " * 100_000 + "1" + "]" * 190 + "}")
    assert [entry.value for entry in found.entries] == ["nccl"]
    assert found.errors


def test_spaces_without_end_in_a_line_take_no_time_of_their_square(document: Parse) -> None:
    text = f"[d]\nbackend = nccl\na = x{' ' * 200_000}y\nb{' ' * 200_000}x\nc = d{' ' * 200_000}; comment\n"
    assert [(entry.path[-1], entry.value[:1]) for entry in document("a.ini", text).entries] == [
        ("backend", "n"),
        ("a", "x"),
        ("c", "d"),
    ]


def _skipped(name: str, text: str) -> str:
    parsed = parse_config(Source(Path(name), name, text.encode(), text, "utf-8"))
    assert isinstance(parsed, Skipped)
    return parsed.reason.key


def test_large_files_are_left() -> None:
    text = "a: nccl\n" + "#" * 5_000_000
    parsed = parse_config(Source(Path("a.yaml"), "a.yaml", text.encode(), text, "utf-8"))
    assert isinstance(parsed, Skipped)
    assert dict(parsed.reason.args) == {"limit": "5"}


@pytest.mark.parametrize(
    ("data", "key"),
    [(b"a: \xff\n", "skipped-not-utf-8"), ("通信".encode("gbk"), "skipped-not-utf-8"), (b"a\0b", "skipped-not-text")],
)
def test_what_is_no_utf_8_text_is_skipped(data: bytes, key: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(data)
    skipped = read_text(tmp_path / "a.yaml", tmp_path)
    assert isinstance(skipped, Skipped)
    assert skipped.reason.key == key


def test_a_missing_file_is_skipped(tmp_path: Path) -> None:
    assert isinstance(read_text(tmp_path / "none.yaml", tmp_path), Skipped)


def test_the_neighbours_of_a_key(document: Parse) -> None:
    parsed = document("a.yaml", "s:\n  _target_: pkg.DDPStrategy\n  process_group_backend: nccl\n  deep: {x: 1}\nt: 2\n")
    assert [entry.path[-1] for entry in parsed.mapping(("s",))] == ["_target_", "process_group_backend"]
    assert [entry.value for entry in parsed.mapping(())] == ["2"]
    assert parsed.mapping(("nothing",)) == ()
    assert [entry.value for entry in parsed.at(("s", "_target_"))] == ["pkg.DDPStrategy"]
    assert parsed.at(("s",)) == parsed.at(()) == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "dist:\n  backend: nccl\n"),
        ("a.yaml", "dist: {port: 1, backend: 'nccl'}\n"),
        ("a.yaml", "dist:\n- backend: &b !!str\n    nccl\n"),
        ("a.yaml", "dist:\n  backend:  # of all\n    cuda:nccl,cpu:gloo\n"),
        ("a.yaml", "dist:\n  backend: >-\n    nccl\n"),
        ("a.toml", 'dist.backend = "nccl"\n'),
        ("a.toml", "[dist]\nbackend = '''nccl'''\n"),
        ("a.json", '{"dist": {"backend" :\n "NCCL"}}'),
        ("a.ini", "[dist]\nbackend=nccl\n"),
    ],
)
def test_a_file_that_gives_a_key_a_value_is_worth_reading(name: str, text: str, document: Parse) -> None:
    wanted = re.compile(giving("backend", [b"(?i:nccl)"]))
    assert any("nccl" in entry.value.lower() for entry in document(name, text).ending("backend"))
    assert wanted.search(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "--distributed-backend: nccl\n",
        "ddp_backend: nccl\n",
        "backend: gloo\nother: nccl\n",
        '{"backend": 2218, "nccl": 2219}',
        '{"backend": "gloo", "name": "nccl"}',
        "# the backend is nccl\n",
    ],
)
def test_a_file_that_gives_it_to_another_key_is_not(text: str) -> None:
    assert not re.search(giving("backend", [b"nccl"]), text.encode())
