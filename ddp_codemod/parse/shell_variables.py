"""Variables of a shell file: where they are assigned, and which assignments a use can see."""

from __future__ import annotations

from msgspec import Struct

from ddp_codemod.parse.shell_words import Literal, Word, split_word, to_literal

_DEPTH = 8


class Branch(Struct, frozen=True):
    """A stretch that does not always run, and the statement of which it is one of several branches."""

    start: int
    end: int
    whole_start: int
    whole_end: int

    def holds(self, at: int) -> bool:
        """Whether an offset is in the branch."""
        return self.start <= at < self.end

    def excludes(self, at: int) -> bool:
        """Whether an offset is in another branch of the same statement."""
        return self.whole_start <= at < self.whole_end and not self.holds(at)


class Assignment(Struct, frozen=True):
    """One assignment: to a string, or to several words (an array, the items of a loop)."""

    name: str
    at: int
    word: Word = ()
    words: tuple[Word, ...] | None = None
    append: bool = False
    inside: tuple[Branch, ...] = ()  # branches, loops and functions that it is in
    loop: bool = False  # each word is a value of its own


class Variables:
    """The assignments of one file."""

    def __init__(self, text: str) -> None:
        """Start without any; ``text`` is that of the file."""
        self._text = text
        self._all: dict[str, list[Assignment]] = {}
        self.functions: list[tuple[int, int]] = []
        self.used: set[Assignment] = set()  # those whose words were put into a command

    def add(self, assignment: Assignment) -> None:
        """Take an assignment, in source order."""
        self._all.setdefault(assignment.name, []).append(assignment)

    def all(self) -> list[Assignment]:
        """Every assignment."""
        return [assignment for found in self._all.values() for assignment in found]

    def reaching(self, name: str, at: int) -> list[Assignment]:
        """The assignments that a use can see: back to the nearest one that surely ran before it."""
        found: list[Assignment] = []
        for assignment in reversed(self._all.get(name, [])):
            if assignment.at < at and not any(branch.excludes(at) for branch in assignment.inside):
                found.append(assignment)
                if not assignment.append and all(branch.holds(at) for branch in assignment.inside):
                    break
        if not found and any(start <= at < end for start, end in self.functions):  # it may run after what is below it
            return [assignment for assignment in self._all.get(name, []) if assignment.at >= at]
        return found[::-1]

    def values(self, word: Word, at: int, depth: int = 0) -> list[Literal]:
        """The literals that a word can be: its own text, or what the variable that it consists of is assigned.

        None of a variable that a ``+=`` makes longer: what it starts with is not what arrives.
        """
        if found := to_literal(word):
            return [found]
        if len(word) != 1 or not word[0].name or depth > _DEPTH:
            return []
        values = self.values(word[0].default, at, depth + 1) if word[0].default else []
        seen = self.reaching(word[0].name, at)
        if any(assignment.append and assignment.words is None for assignment in seen):
            return []
        for assignment in seen:
            if assignment.loop and assignment.words:
                values += [value for item in assignment.words for value in self.values(item, assignment.at, depth + 1)]
            elif assignment.words is None:
                values += self.values(assignment.word, assignment.at, depth + 1)
        return list(dict.fromkeys(values))

    def expand_words(self, words: list[Word], at: int, depth: int = 0) -> list[Word]:
        """Words of a command, with those in place that arrays and strings of several words give."""
        found: list[Word] = []
        for word in words:
            given: list[Word] = []
            if len(word) == 1 and word[0].name and depth <= _DEPTH:
                for assignment in self.reaching(word[0].name, at):
                    parts = self.parts(assignment) if word[0].many and not assignment.loop else []
                    if len(parts) > 1 or (parts and assignment.words is not None):
                        self.used.add(assignment)
                        given += self.expand_words(parts, assignment.at, depth + 1)
            found += given or [word]
        return found

    def parts(self, assignment: Assignment) -> list[Word]:
        """The words that an assignment holds."""
        return split_word(self._text, assignment.word) if assignment.words is None else list(assignment.words)
