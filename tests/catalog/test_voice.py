"""The English texts of the rule data speak as an engineer would: short titles, the fact first, and the reader's own words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ddp_codemod.catalog.files import data_folder
from ddp_codemod.toml import tomllib

PACKAGED = data_folder()
Text = tuple[str, str, str]  # where, the key, the English text

# Words that read like a translation, and what an engineer writes instead.
RETIRED = {
    r"given": "passed, set",
    r"heed\w*": "ignore, honor",
    r"comes? out": "is, becomes",
    r"gets? here": "reaches this code",
    r"hangs on (?:the|its)": "depends on",
    r"stands?": "is",
    r"an? start": "a run",
    r"persons?": "needs review",
    r"put right": "fixed",
    r"goes with": "related",
    r"(?<!un)said": "set",
    r"taken": "used",
    r"br(?:ings?|ought)": "registers, includes",
    r"left out": "missing, default",
    r"(?:is|are|was|been) told": "gets",
    r"hand(?:s|ed)? (?:it|on|over)": "pass",
    r"whatever": "always",
    r"makes? (?:a|the|its|no) (?:process )?group": "create",
    r"mend(?:s|ed)?": "fix",
    r"answers? to": "is registered as",
    r"under a question": "inside if",
    r"(?:in|of) vain": "without success",
    r"to blame": "the cause",
    r"file of settings": "config file",
    r"time limit of": "timeout",
    r"must|should|might": "needs, may",
    r"asks? for": "uses",
    r"in its place": "instead",
    r"boards?": "GPU, card",
    r"path between (?:the )?GPUs": "peer-to-peer",
    r"(?<!log )line names": "log line names",
    r"condition is off|open the condition": "is false; make it true",
    r"TLS switch|engine of torch": "setting; implementation",
}
WORDS_OF_A_TITLE = 6
COMMON = {"the", "and", "for", "with", "without", "from", "error", "failure", "missing", "another"}  # say nothing of a title
WORDS_OF_A_HEADLINE = 25


def texts(found: object, where: str) -> Iterator[Text]:
    """Every English text beside its Chinese one, and the titles of examples, with the table they belong to."""
    if isinstance(found, list):
        for entry in found:
            yield from texts(entry, where)
    elif isinstance(found, dict):
        inner = f"{where}:{found['id']}" if isinstance(found.get("id"), str) else where
        for key, value in found.items():
            if f"{key}_zh" in found:
                yield from ((inner, key, text) for text in ([value] if isinstance(value, str) else value))
            elif key == "title" and "before" in found:
                yield inner, "example", value
            else:
                yield from texts(value, inner)


def packaged(folder: str = "") -> list[Text]:
    files = sorted((PACKAGED / folder).rglob("*.toml"))
    return [
        text for path in files for text in texts(tomllib.loads(path.read_text("utf-8")), path.relative_to(PACKAGED).as_posix())
    ]


ALL = packaged()


def headline(text: str) -> int:
    """How many words there are before the first stop; one in brackets is none."""
    depth = 0
    words = text.split()
    for number, word in enumerate(words, 1):
        depth += word.count("(") - word.count(")")
        if depth <= 0 and re.search(r"[.:;?!][\"')]*$", word):
            return number
    return len(words)


def retired(text: str) -> list[str]:
    own = re.sub(r'"[^"]*"', "", text)  # what stands in quotes are the words of a log
    return [
        f"{found[0]}: write {better}" for word, better in RETIRED.items() if (found := re.search(rf"\b(?:{word})\b", own, re.I))
    ]


def test_titles_of_notes_and_errors_have_six_words_at_most() -> None:
    titles = [one for folder in ("advisories", "diagnostics") for one in packaged(folder) if one[1] == "title"]
    assert len(titles) > 250
    assert [(where, title) for where, _, title in titles if len(title.split()) > WORDS_OF_A_TITLE] == []


def test_titles_of_errors_have_a_word_of_the_log() -> None:
    known = [
        one
        for path in (PACKAGED / "diagnostics").glob("*.toml")
        for one in tomllib.loads(path.read_text("utf-8")).get("signature", [])
    ]
    assert len(known) > 200
    assert [
        one["title"] for one in known if not one.get("silence") and not shared(one["title"], *one["hit"], *one["patterns"])
    ] == []


def shared(title: str, *log: str) -> set[str]:
    """The words that a title has from a log: what somebody who sees it searches for."""
    return {word for word in re.findall(r"[a-z_0-9]{3,}", title.lower()) if word in " ".join(log).lower()} - COMMON


def test_what_counts_as_a_word_of_the_log() -> None:
    assert shared("torch without NCCL", "RuntimeError: NCCL error") == {"nccl"}
    assert shared("an error of the process", "an error, a process") == {"process"}
    assert shared("Missing peers", "RuntimeError: timed out without any") == set()


def test_titles_end_without_a_stop() -> None:
    assert [
        (where, text)
        for where, key, text in ALL
        if key == "title" and text.rstrip('"').endswith((".", ":", ";")) and "..." not in text
    ] == []


def test_the_fact_comes_within_the_first_words() -> None:
    assert len(ALL) > 2_000
    assert [(where, key, text) for where, key, text in ALL if headline(text) > WORDS_OF_A_HEADLINE] == []


def test_no_text_uses_a_retired_word() -> None:
    assert [(where, key, found) for where, key, text in ALL if (found := retired(text))] == []


def test_a_note_does_not_begin_with_what_it_does_not_name() -> None:
    notes = [one for one in ALL if one[1] in ("text", "note", "cause", "message", "ignored", "foreign")]
    assert len(notes) > 700
    assert [(where, text) for where, _, text in notes if text.lower().startswith(("it ", "they ", "he "))] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a fact: the reason", 2),
        ("a fact (with brackets. And a stop) that goes on; then the rest", 10),
        ('torch says "nothing." Then more', 3),
        ("torch 2.8 and cpu:gloo are no stops", 7),
    ],
)
def test_words_before_the_first_stop_are_counted(text: str, words: int) -> None:
    assert headline(text) == words


def test_a_retired_word_is_found_as_a_word_only() -> None:
    assert retired("Backend is Given here") == ["Given: write passed, set"]
    assert retired("the forgiven one understands standard settings") == []
    assert retired('the log says "tensors must be given"') == []


def test_texts_of_inline_tables_and_lists_are_looked_at() -> None:
    found = {"entry": [{"id": "a", "why": "x", "why_zh": "y", "inner": {"names": ["b", "c"], "names_zh": ["d"], "id_": "no"}}]}
    assert list(texts(found, "f")) == [("f:a", "why", "x"), ("f:a", "names", "b"), ("f:a", "names", "c")]
    assert list(texts({"title": "an example has no Chinese", "before": "pass"}, "f")) == [
        ("f", "example", "an example has no Chinese")
    ]
    assert not list(texts({"title": "no text for users"}, "f"))


def test_no_file_is_passed_by() -> None:
    assert Path(PACKAGED, "surfaces").is_dir()
    assert {where.split(":")[0].split("/")[0] for where, _, _ in ALL} >= {
        "advisories",
        "diagnostics",
        "fixes",
        "platforms",
        "surfaces",
    }
