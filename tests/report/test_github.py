"""Workflow commands of real runs, read as GitHub's runner reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from ddp_codemod.catalog.load import load
from ddp_codemod.cli import main
from ddp_codemod.model import Advisory, Reason, Survey
from ddp_codemod.report.github import dumps
from ddp_codemod.report.sarif import Scope

Command = tuple[str, dict[str, str], str]
Output = Callable[..., bytes]


def commands(out: bytes) -> list[Command]:
    """Kind, properties and message of each line; every line has to be a command."""
    found = []
    for line in out.decode("utf-8").split("\n")[:-1]:
        parts = re.fullmatch(r"::(warning|notice|error) (.*?)::(.*)", line)
        assert parts, line
        properties = dict(pair.split("=", 1) for pair in parts[2].split(","))
        found.append((parts[1], {name: plain(value) for name, value in properties.items()}, plain(parts[3])))
    return found


def plain(value: str) -> str:
    for code, character in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        value = value.replace(code, character)
    return value


def of(found: list[Command], name: str) -> list[Command]:
    return [one for one in found if one[1].get("file") == f"sub project/{name}"]


def test_each_change_is_a_warning_at_its_place(output: Output, odd: Path) -> None:
    found = commands(output("check", str(odd), "--platform", "rocm", "--format", "github"))
    (one,) = of(found, "a b#%,:é.py")
    kind, where, message = one
    assert kind == "warning"
    assert (where["line"], where["endLine"], where["col"], where["endColumn"]) == ("2", "2", "35", "40")
    assert where["title"] == "ddp-codemod: unsupported-backend (safe)"
    assert message.startswith("nccl does not work on rocm")
    assert message.endswith('\n-x = "é𐐀"; dist.init_process_group("nccl")\n+x = "é𐐀"; dist.init_process_group("gloo")')


def test_what_a_person_has_to_look_at_is_a_notice(output: Output, odd: Path) -> None:
    found = commands(output("check", str(odd), "--platform", "rocm", "--format", "github"))
    assert [kind for kind, _, _ in of(found, "why.py")] == ["notice"]


def test_a_file_that_was_not_read_is_a_warning(output: Output, odd: Path) -> None:
    found = commands(output("check", str(odd), "--platform", "rocm", "--format", "github"))
    ((kind, where, message),) = of(found, "py2.py")
    assert (kind, "line" in where) == ("warning", False)
    assert "Python 2" in message


def test_what_counts_comes_first(output: Output, odd: Path) -> None:
    kinds = [kind for kind, _, _ in commands(output("check", str(odd), "--platform", "rocm", "--format", "github"))]
    assert kinds == sorted(kinds, reverse=True)
    assert set(kinds) == {"warning", "notice"}


def test_a_note_about_the_project_has_no_place() -> None:
    note = Advisory("", 0, "a-note", Reason.of("platform-warning", text="slow: 100%, or so", source="s"))
    found = commands(dumps(Scope(Survey(Path(), "rocm", (), (), (note,), ()), load())))
    assert found == [("notice", {"title": "ddp-codemod: a-note"}, "slow: 100%, or so (s)")]


def test_chinese_when_asked_for(output: Output, odd: Path) -> None:
    found = commands(output("check", str(odd), "--platform", "rocm", "--format", "github", "--lang", "zh"))
    assert any("个人" in message or "上" in message for _, _, message in of(found, "crlf.py"))


def test_nothing_to_say_is_nothing(output: Output, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "a.py").write_text("print(1)\n")
    assert output("check", str(tmp_path), "--platform", "rocm", "--format", "github") == b""


def test_the_exit_code_says_that_something_is_to_be_done(odd: Path) -> None:
    (odd / "py2.py").unlink()
    assert main(["check", str(odd / "end.py"), "--platform", "rocm", "--format", "github"]) == 1
    assert main(["check", str(odd / "why.py"), "--platform", "rocm", "--format", "github"]) == 0
