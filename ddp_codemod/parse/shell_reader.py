"""The walk over a shell file's tree."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from ddp_codemod.model import Source
from ddp_codemod.parse import shell_commands, shell_kinds
from ddp_codemod.parse.grammar import Tree, is_broken
from ddp_codemod.parse.shell import Launch, Option, Program, ScriptParts, Setting
from ddp_codemod.parse.shell_variables import Assignment, Branch, Variables
from ddp_codemod.parse.shell_words import Word, get_known_text, split_word, strip_quotes, to_literal
from ddp_codemod.parse.shell_words import read as read_word

if TYPE_CHECKING:
    from tree_sitter import Node

# What is inside one of these runs sometimes, often or elsewhere.
_BRANCHES = frozenset({
    "elif_clause", "else_clause", "case_item", "do_group", "function_definition", "subshell", "command_substitution", "pipeline",
})  # fmt: skip
_CHOICES = frozenset({"elif_clause", "else_clause", "case_item"})
_PARTED = frozenset({"if_statement", "list"})  # they hold branches that have no node of their own
# What a new line in front of is a statement of its own.
_STATEMENTS = frozenset({
    "command", "list", "pipeline", "if_statement", "for_statement", "c_style_for_statement", "while_statement", "case_statement",
    "subshell", "compound_statement", "redirected_statement", "variable_assignment", "variable_assignments", "declaration_command",
    "negated_command", "test_command",
})  # fmt: skip
_NO_WORDS = frozenset({"variable_assignment", "comment", "file_redirect", "herestring_redirect", "heredoc_redirect"})
_SOURCE = frozenset({"source", "."})
_NOTHING = ":"  # a command that does nothing but have its words expanded
_SHELL_C = frozenset({"bash", "sh", "zsh"})

DEEPEST = 2_000  # brackets inside each other
MOST_BRANCHES = 500  # inside each other; every node knows all of its own


def _guard_depth(text: str) -> None:
    """Raise RecursionError for substitutions so deep in each other that reading them takes for ever."""
    depth = 0
    for character in text if text.count("(") + text.count("{") > DEEPEST else "":
        depth += (character in "({") - (character in ")}")
        if depth > DEEPEST:
            raise RecursionError
        depth = max(depth, 0)  # the patterns of case close what nothing opened


def read(source: Source, kind: str) -> ScriptParts:
    """Options, settings and launches of a file of a kind (``shell_kinds.kind``)."""
    _guard_depth(source.text)
    reader = _ShellReader(source, Tree("bash", shell_kinds.extract_shell_text(source.text, kind)), kind)
    reader.walk()
    return reader.parts()


class _ShellReader:
    def __init__(self, source: Source, tree: Tree, kind: str) -> None:
        self.source = source
        self.tree = tree
        self.kind = kind
        self.variables = Variables(tree.text)
        self.commands: list[tuple[Node, list[Word]]] = []
        self.options: dict[Option, None] = {}
        self.settings: dict[Setting, None] = {}
        self.launches: list[Launch] = []
        self.programs: list[Program] = []

    def walk(self) -> None:
        """Collect assignments and commands, in source order."""
        todo: list[tuple[Node, tuple[Branch, ...], str]] = [(self.tree.root, (), "")]
        while todo:
            node, inside, kind = todo.pop()
            if len(inside) > MOST_BRANCHES:
                raise RecursionError
            name, children = node.type, node.children  # each is made anew when it is asked for
            if name == "heredoc_body" or (is_broken(node) and not children):
                continue
            if name == "variable_assignment" and not node.has_error:
                self._read_assignment(node, inside, kind)
            elif name == "for_statement":
                self._read_loop(node, inside)
            elif name == "command" and not node.has_error:
                words = [self._read_word(child) for child in node.named_children if child.type not in _NO_WORDS]
                self.commands.append((node, words))
                self._read_defaults(node, words, inside)
            if name == "function_definition":
                self.variables.functions.append(self.tree.span(node))
            if name in _BRANCHES:
                whole = node.parent if node.parent is not None and name in _CHOICES else node
                inside = (*inside, Branch(*self.tree.span(node), *self.tree.span(whole)))
            if name == "declaration_command":
                kind = "export" if self.tree.of(node).startswith(("export", "declare -x", "typeset -x")) else ""
            elif name == "command":
                kind = "command"
            elif name in ("command_substitution", "program"):
                kind = ""
            begin, parted = self._find_start(node) if name == "command" else 0, name in _PARTED
            for child in reversed(children):
                if child.child_count:  # a token by itself says nothing
                    around = (*inside, *self._find_branch(node, child)) if parted else inside
                    todo.append((child, around, kind if child.start_byte >= begin else ""))

    def _find_start(self, node: Node) -> int:
        """Where a command begins: the grammar takes a line of two assignments above it for its own."""
        begin, children = node.start_byte, node.children
        for left, right in pairwise(children):
            gap = self.tree.text[self.tree.offset(left.end_byte) : self.tree.offset(right.start_byte)]
            if gap != " " and re.search(r"(?<!\\)(?<!\\\r)[\r\n]", gap):
                begin = right.start_byte
        return begin

    def _find_branch(self, node: Node, child: Node) -> tuple[Branch, ...]:
        """The span of a branch that has no node of its own: after ``then``, after ``&&`` and ``||``."""
        if node.type == "if_statement" and child.type not in ("elif_clause", "else_clause"):
            then = next((each for each in node.children if each.type == "then"), None)
            if then is not None and child.start_byte > then.start_byte:
                ends = [each.start_byte for each in node.children if each.type in ("elif_clause", "else_clause")]
                span = self.tree.offset(then.start_byte), self.tree.offset(min([*ends, node.end_byte]))
                return (Branch(*span, span[0], self.tree.span(node)[1]),)
        if node.type == "list" and child.start_byte != node.start_byte:
            return (Branch(*self.tree.span(child), *self.tree.span(child)),)
        return ()

    def _read_word(self, node: Node) -> Word:
        return read_word(self.tree, node, make=self.kind == "make")

    def _read_assignment(self, node: Node, inside: tuple[Branch, ...], kind: str) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or name.type != "variable_name":
            return
        text, at = self.tree.of(name), self.tree.span(node)[0]
        append = any(child.type == "+=" for child in node.children)
        if value is not None and value.type == "array":
            words = tuple(self._read_word(child) for child in value.named_children if child.type != "comment")
            self.variables.add(Assignment(text, at, words=words, append=append, inside=inside))
            return
        word = self._read_word(value) if value is not None else ()
        if kind != "command":
            self.variables.add(Assignment(text, at, word, append=append, inside=inside))
        if not append:
            self._add_setting(text, word, kind or ("image" if self.kind == "docker" and not inside else "variable"))

    def _read_defaults(self, node: Node, words: list[Word], inside: tuple[Branch, ...]) -> None:
        """What ``: ${BACKEND:=nccl}`` assigns."""
        if words and get_known_text(words[0]) == _NOTHING:
            for fragment in (fragment for word in words[1:] for fragment in word if fragment.name and fragment.default):
                self.variables.add(Assignment(fragment.name, self.tree.span(node)[0], fragment.default, inside=inside))
                self._add_setting(fragment.name, fragment.default, "variable")

    def _add_setting(self, name: str, word: Word, kind: str) -> None:
        if len(word) == 1 and word[0].default:
            word = word[0].default
        if found := to_literal(word):
            line = self.source.position(found.start)[0]
            self.settings[Setting(name, found.start, found.end, found.value, line, kind, found.quote)] = None

    def _read_loop(self, node: Node, inside: tuple[Branch, ...]) -> None:
        name = node.child_by_field_name("variable")
        if name is not None and not any(is_broken(child) for child in node.children):
            words = tuple(self._read_word(child) for child in node.children_by_field_name("value"))
            self.variables.add(Assignment(self.tree.of(name), self.tree.span(node)[0], words=words, inside=inside, loop=True))

    def parts(self) -> ScriptParts:
        """Work the commands out, now that every assignment is known."""
        for node, words in self.commands:
            at = self.tree.offset(self._find_start(node))
            for command in shell_commands.split_commands(self._expand_shell_c(self.variables.expand_words(words, at))):
                self._add_command(command, at, self.tree.span(node)[1])
                if command.launches:
                    self._add_launch(node, command.program)
        for assignment in self.variables.all():  # lists of options that something else uses
            parts = self.variables.parts(assignment)
            if assignment not in self.variables.used and len(parts) > 1 and not assignment.loop:
                for command in shell_commands.split_commands(self.variables.expand_words(parts, assignment.at)):
                    self._add_command(command, assignment.at, assignment.at, assignment.name)
        return ScriptParts(
            tuple(sorted(self.options, key=lambda option: (option.start, option.used))),
            tuple(sorted(self.settings, key=lambda setting: setting.start)),
            tuple(self.launches),
            tuple(self.tree.errors()),
            tuple(
                get_known_text(words[1]) or ""
                for _, words in self.commands
                if len(words) > 1 and get_known_text(words[0]) in _SOURCE
            ),
            tuple(self.programs),
        )

    def _expand_shell_c(self, words: list[Word]) -> list[Word]:
        """The words of the command that ``bash -c "..."`` is passed, in place of it."""
        for index in range(len(words) - 2):
            shell, flag = (get_known_text(words[index]) or "").rpartition("/")[2], get_known_text(words[index + 1]) or ""
            if shell in _SHELL_C and flag.startswith("-") and flag.endswith("c"):
                return split_word(self.tree.text, words[index + 2])
        return words

    def _add_command(self, command: shell_commands.Command, at: int, end: int, variable: str = "") -> None:
        if command.program and not variable:
            word = command.words[command.index]
            line = self.source.position(word[0].outer_start)[0]
            self.programs.append(Program(command.program, word[0].outer_start, word[-1].outer_end, line, at))
        for name, word in shell_commands.find_settings(command):
            self._add_setting(name, word, "command")
        for name, word, program, override in shell_commands.find_options(command):
            for found in map(strip_quotes, self.variables.values(word, at)):
                if found.value:
                    line, away = self.source.position(found.start)[0], not at <= found.start < end
                    option = Option(
                        name, found.start, found.end, found.value, program, line, found.quote, at, away, override, variable
                    )
                    self.options[option] = None

    def _add_launch(self, node: Node, program: str) -> None:
        start, end = self.tree.offset(self._find_start(node)), self.tree.span(node)[1]
        insert, indent = None, ""
        at: Node | None = node if self.kind == "shell" else None
        while at is not None and at.type not in ("program", "function_definition"):
            statement = self._find_line_start(at, start if at is node else self.tree.span(at)[0])
            row = self.source.line_span(statement)[0]
            before = self.source.text[row:statement]
            # a line that continues the one above is inside a statement
            if (
                at.type in _STATEMENTS
                and not before.strip()
                and not self.source.text[:row].rstrip("\r\n").endswith(("\\", "&&", "||", "|"))
            ):
                insert, indent = row, before
                break
            at = at.parent
        self.launches.append(Launch(program, start, end, self.source.position(start)[0], insert, indent))

    def _find_line_start(self, node: Node, start: int) -> int:
        """Where the first of the statements begins that are on one line with this one, in the same block."""
        row = self.source.line_span(start)[0]
        before = node.prev_named_sibling
        while before is not None and self.tree.span(before)[0] >= row:
            start, before = self.tree.span(before)[0], before.prev_named_sibling
        return start
