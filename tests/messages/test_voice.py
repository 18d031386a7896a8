"""How English texts speak to users: a short first sentence, and the words that they use themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pytest

from ddp_codemod.messages import catalogue

# where texts for users come from, each as {name: text}; the help of the command line is among the messages
TEXTS: dict[str, Callable[[], Mapping[str, str]]] = {
    "messages": lambda: catalogue("en"),
}
MOST = 25  # words before the first stop
PLACEHOLDER = re.compile(r"\{\w+(?:\|([^{}|]*)\|([^{}|]*))?\}")
STOP = re.compile(r"[.:;?!](?=\s|$)|\n\n|\n(?=. - )")
# words of a translation, each with what an engineer writes
RETIRED = {
    r"given": "passed, set",
    r"heed(?:s|ed|ing)?": "honors, ignores",
    r"com(?:es?|ing) out|came out": "resolves to, defaults to, fails",
    r"(?:gets?|comes?) here": "reaches this code",
    r"stands? (?:at|in|under|here|there|above|below|beside|still|on)": "is, is set; hangs",
    r"a start (?:that|with)": "runs that",
    r"a person|somebody|whoever": "needs review; callers, users",
    r"puts? (?:it |them )?(?:right|back)": "fixes, restores",
    r"goes? with (?:it|that|them)": "related changes",
    r"(?:is|are|was) (?:said|told|spoken|asked)": "who says what",
    r"(?:is|are|was) taken|takes? it": "in use, accepts",
    r"br(?:ings?|ought)": "enables",
    r"hangs? on": "depends on",
    r"left out|is left to (?!do)": "not passed, omitted; unchanged",
    r"cannot do without": "requires",
    r"mend(?:s|ed)?": "fixes",
    r"(?:is|are) made|made first": "creates",
    r"(?:is|are) not followed": "ddp-codemod does not trace",
    r"no \w+ is called": "unknown rule",
    r"to look at|looked at": "to review, checked",
    r"unaccounted for": "not traced",
    r"of its own": "its own",
    r"behaviour|colour": "American spelling, one for all texts",
}


def opening(text: str) -> list[str]:
    """The words before the first stop; a value that is filled in counts as one."""
    plain = PLACEHOLDER.sub(lambda found: found.group(2) or "x", text).strip()
    return STOP.split(plain, maxsplit=1)[0].split()


def retired(text: str) -> list[str]:
    """The retired words of a text, whichever number its values have."""
    both = {PLACEHOLDER.sub(lambda found, at=at: found.group(at) or "{}", text) for at in (1, 2)}
    return sorted({found.group() for said in both for word in RETIRED for found in re.finditer(rf"(?i)\b(?:{word})\b", said)})


@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_comes_to_its_first_stop_soon(kind: str) -> None:
    long = {name: len(opening(text)) for name, text in TEXTS[kind]().items()}
    assert {name: words for name, words in long.items() if words > MOST} == {}


@pytest.mark.parametrize("kind", TEXTS)
def test_no_text_uses_a_retired_word(kind: str) -> None:
    found = {name: retired(text) for name, text in TEXTS[kind]().items()}
    assert {name: words for name, words in found.items() if words} == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{value} fails: because of one word and one more", 2),
        ("train.py:12 is a place. It has no stop inside", 4),
        ("{n} {n|file|files} of {files}; more", 4),
        ("y - accept this\nn - reject it", 4),
        ("one line\nand the next. End", 5),
    ],
)
def test_what_counts_as_the_first_stop(text: str, words: int) -> None:
    assert len(opening(text)) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{given} is passed", []),
        ("{value} is given here", ["given"]),
        ("{n|it stands|they stand} at {place}", ["stand at", "stands at"]),
        ("a personal reason, brought up", ["brought"]),
        ("something is left to do", []),
    ],
)
def test_what_counts_as_a_retired_word(text: str, words: list[str]) -> None:
    assert retired(text) == words
