"""The schema of ``rules/diagnostics``: errors as logs show them, and the ways out."""

from __future__ import annotations

from typing import Literal

from ddp_codemod.catalog.entry import Name, RuleEntry
from ddp_codemod.catalog.pattern import find_anchors


class Hint(RuleEntry, frozen=True, kw_only=True):
    """A fact about the machine that a log shows; cures can depend on it."""

    id: Name
    patterns: tuple[Name, ...]

    def __post_init__(self) -> None:
        """Refuse patterns that cannot be used (ValueError)."""
        for pattern in self.patterns:
            find_anchors(pattern)


class Harmless(RuleEntry, frozen=True, kw_only=True):
    """Lines that a healthy run prints: they are no error, with any words in them."""

    id: Name
    patterns: tuple[Name, ...]  # any of them, within one line ...
    apart: tuple[Name, ...] = ()  # ... that holds none of these

    def __post_init__(self) -> None:
        """Refuse patterns that cannot be used (ValueError)."""
        for pattern in (*self.patterns, *self.apart):
            find_anchors(pattern)


class Cure(RuleEntry, frozen=True, kw_only=True):
    """A fix: an ``apply`` with this platform and these rules, or advice, or both."""

    platform: str | None = None
    rules: tuple[Name, ...] = ()
    unsafe: bool = False
    text: str = ""
    text_zh: str = ""
    when: tuple[Name, ...] = ()  # hints of which the log gives at least one
    unless: tuple[Name, ...] = ()  # hints of which it gives none

    def __post_init__(self) -> None:
        """Refuse a cure that says nothing, or only in one language (ValueError)."""
        if bool(self.text) != bool(self.text_zh) or not (self.text or self.platform or self.rules):
            raise ValueError("a cure has a platform, rules, or a text in both languages")


class Signature(RuleEntry, frozen=True, kw_only=True):
    """An error as logs show it."""

    id: Name
    patterns: tuple[Name, ...]  # any of them, within one line
    near: tuple[Name, ...] = ()  # one of these has to be in the same stack ...
    apart: tuple[Name, ...] = ()  # ... and none of these
    silence: bool = False  # counts only where the log ends with it
    general: bool = False  # gives way to any other that knows the same line
    # "umbrella": says that something failed, another line says what; "consequence": usually follows from another error;
    # "warning": may be in a healthy log, and is the cause where nothing else is; "outside": an error of the program or
    # the machine that has nothing to do with several processes, and counts as a cause only where others fail because of it
    role: Literal["root", "umbrella", "warning", "consequence", "outside"] = "root"
    confidence: Literal["sure", "usual", "possible"]
    backend: Name | None = None  # that the code asked for ...
    absent: bool = False  # ... and that the machine's torch lacks; else its library wrote the line
    title: str
    title_zh: str
    cause: str
    cause_zh: str
    source: tuple[Name, ...]
    cure: tuple[Cure, ...]
    hit: tuple[str, ...]  # excerpts of logs that show it
    miss: tuple[str, ...]  # and such that look alike and do not

    def __post_init__(self) -> None:
        """Refuse patterns that cannot be used (ValueError)."""
        for pattern in (*self.patterns, *self.near, *self.apart):
            find_anchors(pattern)


class DiagnosticFile(RuleEntry, frozen=True, kw_only=True):
    """rules/diagnostics/KIND.toml"""

    hint: tuple[Hint, ...] = ()
    harmless: tuple[Harmless, ...] = ()
    signature: tuple[Signature, ...] = ()
