"""Where backend names are in a project in a place of a value: literals of programs, values of configuration files, words of commands."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Union

from msgspec import Struct

from ddp_codemod.model import Place
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.python import Module
from ddp_codemod.parse.shell import Option, Script, Setting
from ddp_codemod.sites.project import Project
from ddp_codemod.sites.word_search import ANYTHING, WordMatcher

_QUOTED = re.compile(r"[\"']([\w:,]+)[\"']")


class Mention(Struct, frozen=True, eq=False):
    """One place where a name is."""

    tree: Union[Module, Document, Script]
    node: Union[ast.Constant, Entry, Option, Setting]
    place: Place
    value: str
    in_code: bool = False  # an entry that is run as code, with the name among its arguments


def find_mentions(
    project: Project,
    names: Iterable[str],
    is_wrong: Callable[[str], bool],
    admits: Callable[[str], bool],
    called: Collection[str] = (),
) -> Iterator[Mention]:
    """The places where a text that is wrong is, kind of file by kind of file; ``names`` are the words that such texts hold.

    ``called``: what the calls are named that take one, where configuration holds code: ``"$dist.init_process_group('nccl')"``.
    """
    calls = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(called))) or '(?!)'})\s*\(")
    spelled = sorted({spelling for name in names for spelling in (name, name.upper(), name.capitalize())})
    if not spelled:
        return
    words = "|".join(map(re.escape, spelled)).encode()
    quoted = re.compile(rb"[\"':,](?:%s)\\?[\"',]" % words)
    search = WordMatcher(spelled)
    for name in filter(admits, project.names):
        if search.some(project.data(name)) and quoted.search(project.data(name)):
            for module in project.programs(name):
                yield from _find_literals(module, is_wrong)
    seen: set[Document | Script] = set()
    admitted = tuple(filter(admits, project.small_configs))
    for word in spelled:
        for document in (*project.documents(word, None, admitted), *project.bindings(word, None, admitted)):
            if document not in seen:
                seen.add(document)
                yield from _find_entries(document, is_wrong, calls)
    # as whole names: "ucc" is none in "success"
    manifests = project.manifests(*spelled, behind=ANYTHING) if seen else ()
    for script in (*project.scripts(*spelled, behind=ANYTHING), *manifests):
        if script not in seen and admits(script.name):
            seen.add(script)
            yield from _find_words(script, is_wrong)


def _find_literals(module: Module, is_wrong: Callable[[str], bool]) -> Iterator[Mention]:
    for node in module.nodes.get(ast.Constant, ()):
        assert isinstance(node, ast.Constant)
        if isinstance(node.value, str) and is_wrong(node.value):
            yield Mention(module, node, module.place(node), node.value)


def _find_entries(document: Document, is_wrong: Callable[[str], bool], calls: re.Pattern[str]) -> Iterator[Mention]:
    for entry in document.entries:
        if entry.is_text and is_wrong(entry.value):
            yield Mention(document, entry, document.place(entry), entry.value)
        elif entry.is_text and calls.search(entry.value):
            for name in filter(is_wrong, _QUOTED.findall(entry.value)):
                yield Mention(document, entry, document.place(entry), name, True)


def _find_words(script: Script, is_wrong: Callable[[str], bool]) -> Iterator[Mention]:
    found: list[Union[Option, Setting]] = [*script.options, *script.settings]
    for word in found:
        if is_wrong(word.value):
            yield Mention(script, word, script.place(word), word.value)
