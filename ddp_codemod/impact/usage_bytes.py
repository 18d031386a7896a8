"""Tells from a file's bytes whether it can hold what the pattern of an advice looks for, long before it is parsed."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache

from ddp_codemod.catalog.advisory import Pattern
from ddp_codemod.sites.word_search import ANYTHING, has_word_in_context

_CALLED = re.compile(rb"[\s\\]*\(")
_CALLED_OR_RENAMED = re.compile(rb"[\s\\]*\(|[\s\\]+as\b")
_RENAMED = re.compile(rb"[\s\\]+as\b")
_BASE = re.compile(rb"\bclass\s+\w+\s*\([^)]*\Z")
_GIVEN = re.compile(rb"=[\s\\(]*(?:\w+\.)*\Z")
_OF_SOMETHING = re.compile(rb"\.[\s\\]*\Z")


def texts_of(pattern: Pattern) -> set[str]:
    """The texts by which a file may hold what a pattern looks for: of what is from outside the last name, and the one before it."""
    last = {part for name in pattern.names for part in _list_words(name)}
    last |= {pattern.below.rpartition(".")[2]} if pattern.below else set()
    last |= {name.rpartition(".")[2] for name in pattern.makers} if pattern.use in ("apart", "alone") else set()
    last |= {pattern.argument} if pattern.derived and pattern.argument else set()
    last |= {*pattern.texts} if pattern.use in ("text", "handed") or pattern.argument_is == "option" else set()
    last |= {*pattern.holders} if pattern.use == "assigned" else set()
    return {*pattern.methods, *pattern.keywords, *pattern.attributes, pattern.device, *last}


def may_hold(pattern: Pattern, texts: Set[str]) -> bool:
    """Whether anything can be found in a file that holds these of the texts."""
    if pattern.use == "asked":
        return pattern.device in texts
    if pattern.use in ("apart", "alone"):  # what wraps the model may be a function of another file
        named = pattern.device in texts and any(name.rpartition(".")[2] in texts for name in pattern.names)
        return named or any(name.rpartition(".")[2] in texts for name in pattern.makers)
    if pattern.use == "gate":
        return any(name.rpartition(".")[2] in texts for name in pattern.names)
    if pattern.use == "assigned":
        return pattern.device in texts and not texts.isdisjoint(pattern.holders)
    if pattern.derived and pattern.argument in texts:  # the class that takes it may be called anything
        return True
    own = pattern.texts if pattern.use in ("text", "handed") else ()
    if any(word in texts for word in (*own, *pattern.attributes, *([pattern.below.rpartition(".")[2]] if pattern.below else ()))):
        return True
    if any(word in texts for word in (*pattern.methods, *pattern.keywords)):
        return not pattern.device or pattern.device in texts or bool(pattern.ranks)
    if pattern.argument_is == "option" and texts.isdisjoint(pattern.texts):
        return False
    return any(all(word in texts for word in _list_words(name)) for name in pattern.names)


def is_about_calls(pattern: Pattern) -> bool:
    """Whether a pattern finds nothing but calls, with what they are passed: not what a name is handed to, or derived from it."""
    others = pattern.keywords or pattern.attributes or pattern.below is not None
    return pattern.use == "called" and not others and (pattern.argument is not None or pattern.position is not None)


def may_call(pattern: Pattern, texts: Set[str], data: bytes) -> bool:
    """Whether a file's bytes, which hold these of the texts, seem to call one of the names or methods, or to rename one."""
    if any(has_word_in_context(data, method.encode(), _OF_SOMETHING, _CALLED) for method in pattern.methods if method in texts):
        return True
    if pattern.derived and pattern.argument in texts:
        return True
    held = [words for words in map(_list_words, pattern.names) if all(word in texts for word in words)]
    if any(
        has_word_in_context(data, words[-1].encode(), ANYTHING, _CALLED_OR_RENAMED)
        or has_word_in_context(data, words[-1].encode(), _BASE, ANYTHING)
        for words in held
    ):
        return True
    return any(_is_renamed(data, words[0].encode(), words[1].encode()) for words in held if len(words) > 1)


def _is_renamed(data: bytes, package: bytes, name: bytes) -> bool:
    """Whether a name, or the package that it is of, may have another in a file."""
    said, imported = _compile_package_patterns(name)
    return has_word_in_context(data, package, _GIVEN, said) or any(
        has_word_in_context(data, package, ANYTHING, behind) for behind in (_RENAMED, imported)
    )


@lru_cache(maxsize=256)
def _compile_package_patterns(name: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """What is behind a package where a name of it is mentioned, and where the name is imported from it."""
    word = re.escape(name) + rb"\b"
    return re.compile(rb"[\s\\]*\.[\s\\]*" + word), re.compile(rb"[\s\\]+import\b(?:[\s\\]*\([^)]*|[^\n]*)\b" + word)


def _list_words(name: str) -> list[str]:
    """What a file that holds a name from outside writes out: the last of it, and the one before."""
    return name.replace("*", "").split(".")[-2:]
