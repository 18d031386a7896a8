"""Whole names in bytes: what an identifier of Python is, found without parsing."""

from __future__ import annotations

import io
import keyword
import tokenize

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ddp_codemod.sites.word_search import WordMatcher, contains_text, find_whole_words, has_word

NAMES = st.from_regex(r"\A[ab_]{1,4}\Z").filter(lambda name: not keyword.iskeyword(name))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("ignite.Parallel()", ["Parallel"]),
        ("DataParallel(model)", []),
        ("Parallelism", []),
        ("模Parallel", []),
        ("launch_from_torch()", ["launch_from_torch"]),  # the longest, not launch
        ("x.launch\n", ["launch"]),
        (r'"source": ["import x\n", "x\nlaunch()"]', ["launch"]),  # the line end of a notebook's JSON is no letter
        ("", []),
    ],
)
def test_only_whole_names_are_held(code: str, words: list[str]) -> None:
    wanted = ["launch", "launch_from_torch", "Parallel"]
    assert list(WordMatcher(wanted).held(code.encode())) == words
    assert [word for word in wanted if has_word(code.encode(), word.encode())] == words


@given(
    st.lists(st.one_of(NAMES, st.sampled_from([" ", "(", ")", ".", ",", "\n", "+", "'a'", "# b"]))), st.sets(NAMES, min_size=1)
)
def test_every_name_that_the_tokenizer_sees_is_held(parts: list[str], words: set[str]) -> None:
    code = "".join(parts)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(code).readline))
    except (tokenize.TokenError, IndentationError):
        return
    wanted = {token.string for token in tokens if token.type == tokenize.NAME} & words
    assert wanted <= set(WordMatcher(words).held(code.encode()))
    assert wanted <= {word for word in words if has_word(code.encode(), word.encode())}


@given(st.text("a-_. ", max_size=12), st.text("a-", min_size=1, max_size=4))
@example("aa-a-a", "a-a")
def test_a_word_is_found_wherever_it_stands_whole_also_across_itself(text: str, word: str) -> None:
    letters = {"a", "_"}

    def is_whole(at: int) -> bool:
        end = at + len(word)
        goes_on = end < len(text) and text[end] in letters and text[end - 1] in letters
        return not goes_on and (at == 0 or text[at - 1] not in letters)

    wanted = [(at, at + len(word)) for at in range(len(text)) if text.startswith(word, at) and is_whole(at)]
    assert list(find_whole_words(text.encode(), word.encode())) == wanted


@given(st.text("ab-", max_size=12), st.integers(190, 210), st.text("ab-", min_size=1, max_size=3))
def test_a_text_is_found_anywhere(text: str, before: int, word: str) -> None:
    data = b"." * before + text.encode()
    assert contains_text(data, word.encode()) == (word.encode() in data)
    assert contains_text(text.encode(), word.encode()) == (word in text)
