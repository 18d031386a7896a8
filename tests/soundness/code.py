"""Pieces of a program: statements, what stands before them in their file, and other files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

IMPORTS = {
    "argparse": "import argparse",
    "collections": "import collections",
    "copy": "import copy",
    "dataclasses": "import dataclasses",
    "dist": "import torch.distributed as dist",
    "enum": "import enum",
    "functools": "import functools",
    "futures": "from concurrent import futures",
    "hub": "import hub",
    "importlib": "import importlib",
    "json": "import json",
    "os": "import os",
    "pathlib": "import pathlib",
    "torch": "import torch",
    "types": "import types",
    "typing": "import typing",
}


@dataclass(frozen=True)
class Code:
    """``body`` runs in its place, in a function too; ``top`` stands before it at the top of the same file."""

    body: tuple[str, ...] = ()
    top: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    argv: tuple[str, ...] = ()  # what a person could type to get another backend
    environ: Mapping[str, str] = field(default_factory=dict)

    def after(self, *lines: str) -> Code:
        """The same with statements before its own."""
        return Code((*lines, *self.body), self.top, self.files, self.argv, self.environ)

    def under(self, *lines: str) -> Code:
        """The same with lines at the top of the file, after those that it has."""
        return Code(self.body, (*self.top, *lines), self.files, self.argv, self.environ)

    def beside(self, **files: str) -> Code:
        """The same with another module of these lines."""
        made = {f"{name}.py": module(text) for name, text in files.items()}
        return Code(self.body, self.top, {**self.files, **made}, self.argv, self.environ)

    def inside(self, *head: str, call: str) -> Code:
        """The statements moved into the function or method whose head these lines are, and a call in their place."""
        depth = len(head[-1]) - len(head[-1].lstrip()) + 4
        moved = (*head, *indented(self.body, depth))
        return Code((call,), (*self.top, *moved), self.files, self.argv, self.environ)

    def elsewhere(self, name: str, *head: str, call: str) -> Code:
        """The same in a module of its own."""
        moved = self.inside(*head, call=call)
        made = {f"{name}.py": module("\n".join(moved.top))}
        return Code((call,), (), {**self.files, **made}, self.argv, self.environ)

    def then(self, other: Code) -> Code:
        """One after the other in the same file."""
        return Code(
            (*self.body, *other.body),
            (*self.top, *other.top),
            {**self.files, **other.files},
            (*self.argv, *other.argv),
            {**self.environ, **other.environ},
        )


Use = Callable[[str], Code]  # what is done with the value of an expression


def indented(lines: tuple[str, ...], depth: int = 4) -> tuple[str, ...]:
    return tuple(" " * depth + line if line else line for line in lines)


def module(text: str) -> str:
    """A file of these lines, with the imports that they need at its head."""
    lines = text.split("\n")
    own = [line for line in lines if line.startswith(("from ", "import "))]
    rest = "\n".join(line for line in lines if line not in own).strip("\n")
    needed = [line for name, line in IMPORTS.items() if re.search(rf"(?<![\w.\"']){name}[.,)]", rest)]
    head = "\n".join(dict.fromkeys([*needed, *own]))
    return f"{head}\n\n{rest}\n" if head else f"{rest}\n"
