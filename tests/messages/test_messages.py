"""Both languages say the same things, and every reason that the package gives has its sentence."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import ddp_codemod
from ddp_codemod import messages
from ddp_codemod.kinds import OriginKind
from ddp_codemod.messages import catalogue, language, placeholders, render, text
from ddp_codemod.model import Reason
from ddp_codemod.toml import tomllib

PACKAGE = Path(ddp_codemod.__file__).parent


def calls() -> list[tuple[str, str, set[str]]]:
    """(place, key, names of arguments) of every call in the package that makes a sentence from a literal key."""
    found = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and (key := literal_key(node)) is not None:
                given = {keyword.arg for keyword in node.keywords if keyword.arg is not None}
                if any(keyword.arg is None for keyword in node.keywords):
                    given |= placeholders(catalogue("en").get(key, ""))
                if ast.unparse(node.func) == "unknown":
                    given |= {"word", "hint"}
                found.append((f"{path.relative_to(PACKAGE)}:{node.lineno}", key, given))
    return found


def literal_key(call: ast.Call) -> str | None:
    name = ast.unparse(call.func)
    if not call.args or not isinstance(call.args[0], ast.Constant) or not isinstance(call.args[0].value, str):
        return None
    makes_reason = name == "Reason.of" or name in ("fail", "unknown")
    makes_text = name.split(".")[-1] in ("text", "say") and re.fullmatch(r"[a-z]+(-[a-z]+)+", call.args[0].value)
    return call.args[0].value if makes_reason or makes_text else None


def test_both_languages_have_the_same_sentences() -> None:
    assert set(catalogue("en")) == set(catalogue("zh"))


def test_both_languages_have_the_same_placeholders() -> None:
    english, chinese = catalogue("en"), catalogue("zh")
    assert {key for key in english if placeholders(english[key]) != placeholders(chinese[key])} == set()


def test_chinese_sentences_are_chinese() -> None:
    plain = re.compile(r"[\u4e00-\u9fff]|^\W*(\{\w+\}\W*)+$|^\W*$")
    assert {key for key, said in catalogue("zh").items() if not plain.search(said)} == set()


def test_english_sentences_have_no_chinese() -> None:
    assert {key for key, said in catalogue("en").items() if re.search("[\u3000-\u9fff\uff00-\uffef]", said)} == set()


@pytest.mark.parametrize("lang", messages.LANGUAGES)
def test_no_sentence_is_given_twice(lang: str) -> None:
    folder = Path(messages.__file__).parent
    tables = [
        tomllib.loads(path.read_text("utf-8")) for path in (folder / f"{lang}.toml", *(folder / f"{lang}.d").glob("*.toml"))
    ]
    assert sum(map(len, tables)) == len(catalogue(lang))


def test_every_key_in_the_package_has_a_sentence() -> None:
    assert len(calls()) > 50
    assert [(place, key) for place, key, _ in calls() if key not in catalogue("en")] == []


def test_every_sentence_gets_its_arguments() -> None:
    lacking = [(place, key, placeholders(catalogue("en").get(key, "")) - given) for place, key, given in calls()]
    assert [entry for entry in lacking if entry[2]] == []


def test_an_unknown_key_gives_the_key_and_its_arguments() -> None:
    assert render(Reason.of("no-such-key", file="a.py", line=3), "zh") == "no-such-key file=a.py line=3"


def test_braces_in_an_argument_stay_as_they_are() -> None:
    said = render(Reason.of("path-missing", path="{near}{0}{}"))
    assert said.startswith("{near}{0}{}: ")


def test_a_chinese_argument_stands_in() -> None:
    reason = Reason.of("platform-machine", why="an AMD GPU", why_zh="AMD 显卡")
    assert "an AMD GPU" in render(reason, "en")
    assert "AMD 显卡" in render(reason, "zh")
    assert "an AMD GPU" not in render(reason, "zh")


def test_a_missing_chinese_argument_falls_back() -> None:
    assert "an AMD GPU" in render(Reason.of("platform-machine", why="an AMD GPU", why_zh=""), "zh")


@pytest.mark.parametrize(
    ("option", "environ", "expected"),
    [
        ("zh", {"LANG": "en_US.UTF-8"}, "zh"),
        ("en", {"LANG": "zh_CN.UTF-8"}, "en"),
        (None, {"LANG": "zh_CN.UTF-8"}, "zh"),
        (None, {"LANG": "zh_CN.GBK"}, "zh"),
        (None, {"LANG": "zh_CN", "LC_ALL": "C"}, "en"),
        (None, {"LANG": "en_US", "LC_MESSAGES": "zh_TW.UTF-8"}, "zh"),
        (None, {"LANG": "zh_CN", "LC_ALL": ""}, "zh"),
        (None, {"LANG": "de_DE"}, "en"),
        (None, {}, "en"),
        ("fr", {}, "en"),
    ],
)
def test_the_reader_s_language(option: str | None, environ: dict[str, str], expected: str) -> None:
    assert language(option, environ) == expected


def test_windows_is_asked_where_no_variable_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "_windows_interface_language", lambda: 0x04)
    assert language(None, {}) == "zh"
    assert language(None, {"LANG": "en_US"}) == "en"


@pytest.mark.parametrize(("files", "said"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (11, "11 files")])
def test_words_follow_their_number(files: int, said: str) -> None:
    assert f"written to {said} for" in text("summary-written", "en", edits=3, files=files, platform="p")


def test_text_is_render_by_key() -> None:
    assert text("usage-near", "zh", near="--platform") == "；是否想输入 --platform？"


def test_every_source_of_a_value_has_a_name() -> None:
    assert [kind for kind in OriginKind if f"origin-{kind}" not in catalogue("en")] == []
