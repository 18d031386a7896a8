"""Batch and PowerShell files: what their commands pass and set, found where it stands, whatever the text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.discover.files import read_loosely
from ddp_codemod.model import Source
from ddp_codemod.parse.scripts import parse_shell
from ddp_codemod.parse.shell import Script


def script(text: str, name: str = "run.bat") -> Script:
    parsed = parse_shell(Source(Path(name), name, text.encode("utf-8"), text, "utf-8"))
    assert isinstance(parsed, Script)
    for entry in (*parsed.options, *parsed.settings):
        assert re.sub("[\"']", "", parsed.text(entry)) == re.sub("[\"']", "", entry.value)
        assert entry.line == parsed.source.position(entry.start)[0]
    return parsed


def options(text: str, name: str = "run.bat") -> list[tuple[str, str, str, int]]:
    return [(option.name, option.value, option.program, option.line) for option in script(text, name).options]


@pytest.mark.parametrize(
    "text",
    [
        "python train.py --backend nccl\r\n",
        "@python train.py --backend=nccl",
        'python "train.py" "--backend" "nccl"\n',
        "cd x && python train.py --backend nccl & pause\n",
        'start "" "%PYTHON%" train.py --backend nccl\n',
        "set BACKEND=nccl&& python train.py --backend nccl\n",
        'if "%1"=="" (python train.py --backend nccl) else (exit)\n',
        'cmd /c "python train.py --backend nccl"\n',
    ],
)
def test_an_option_of_a_batch_file(text: str) -> None:
    assert options(text) in ([("backend", "nccl", "train.py", 1)], [])
    assert bool(options(text)) != text.startswith("set ")  # what follows "set" on its line is left


@pytest.mark.parametrize(
    "text",
    [
        "python train.py --backend nccl\n",
        "& 'python' 'train.py' --backend 'nccl'\n",
        "if ($x) { python train.py --backend nccl; exit }\n",
        'Start-Process python -ArgumentList "train.py", "--backend", "nccl"\n',
        'Start-Process python -ArgumentList "train.py --backend nccl"\n',
        "$given = @('train.py', '--backend', 'nccl')\n",
    ],
)
def test_an_option_of_a_powershell_file(text: str) -> None:
    assert options(text, "run.ps1") == [("backend", "nccl", "train.py", 1)]


def test_lines_that_go_on_and_folders() -> None:
    assert options("python src\\train.py ^\r\n  --backend ^\r\n nccl\r\n") == [("backend", "nccl", "src/train.py", 3)]
    assert options("python src\\train.py `\n  --backend nccl\n", "run.ps1") == [("backend", "nccl", "src/train.py", 2)]


def test_a_variable_is_followed_to_where_it_is_set() -> None:
    assert options('set "B=nccl"\npython train.py --backend %B%\n') == [("backend", "nccl", "train.py", 1)]
    assert options("set b=nccl \npython train.py --backend !B!\n") == [("backend", "nccl", "train.py", 1)]
    assert options("$B = 'nccl'\npython train.py --backend $b\n", "run.ps1") == [("backend", "nccl", "train.py", 1)]
    assert options("python train.py --backend %1\n") == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.bat", "rem python train.py --backend nccl\n"),
        ("run.bat", "@REM python train.py --backend nccl\n"),
        ("run.bat", "  :: python train.py --backend nccl\n"),
        ("run.ps1", "# python train.py --backend nccl\n"),
        ("run.ps1", "exit # python train.py --backend nccl\n"),
        ("run.ps1", "<#\npython train.py --backend nccl\n#>\n"),
    ],
)
def test_comments_pass_nothing(name: str, text: str) -> None:
    assert script(text, name).parts.options == ()


def test_what_is_set_for_programs() -> None:
    found = script('set NCCL_DEBUG=INFO\nset "USE_LIBUV=0"\nset X=%Y%\n').settings
    assert [(setting.name, setting.value, setting.kind) for setting in found] == [
        ("NCCL_DEBUG", "INFO", "export"),
        ("USE_LIBUV", "0", "export"),
    ]
    found = script('$env:NCCL_DEBUG = "INFO"\n$mine = 1\n', "run.ps1").settings
    assert [(setting.name, setting.kind) for setting in found] == [("NCCL_DEBUG", "export"), ("mine", "variable")]
    assert not script("$env:NCCL_DEBUG = | more\n$env:NCCL_DEBUG =;\n", "run.ps1").settings


def test_such_a_file_is_never_edited() -> None:
    parsed = script("python train.py --backend nccl\n")
    assert not parsed.editable
    with pytest.raises(ValueError, match="batch"):
        parsed.written(parsed.options[0], "gloo")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gbk"])
def test_any_encoding_is_read(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "run.bat"
    path.write_bytes("rem 训练\npython train.py --backend nccl\n".encode(encoding))
    source = read_loosely(path, tmp_path)
    assert isinstance(source, Source)
    parsed = parse_shell(source)
    assert isinstance(parsed, Script)
    assert [(option.value, option.line) for option in parsed.options] == [("nccl", 2)]


WORDS = st.sampled_from(
    ["python", "train.py", "--backend", "nccl", "--a=b", '"', "'", "%", "%B%", "!B!", "$b", "$", "${b}", "`", "^", "\n", "\r\n", "&", "|",
     "(", ")", "{", "}", ";", ",", "#", "<#", "#>", "@", "rem", "::", "set", "set B=nccl", '"x y.py z"', "$env:A=", "é", " ", "="]
)  # fmt: skip


@given(st.lists(WORDS, max_size=14), st.sampled_from(["run.bat", "run.ps1"]))
def test_whatever_stands_there_spans_show_what_they_say(words: list[str], name: str) -> None:
    script(" ".join(words), name)
    script("".join(words), name)
