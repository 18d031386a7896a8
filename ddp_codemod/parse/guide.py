"""The commands that a guide tells its readers to type: blocks of code and spans of it in Markdown, HTML in it, and reStructuredText."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from ddp_codemod.parse.blanks import blank_out

_FENCE = re.compile(r"(?ms)^[ \t>]*(?P<mark>`{3,}|~{3,})[ \t]*(?P<kind>[^\s`]*)[^\r\n]*\r?$(?P<body>.*?)(?:^[ \t>]*(?P=mark)|\Z)")
_PRE = re.compile(r"(?is)<pre\b[^<>\r\n]*>(?:[ \t]*<code\b[^<>\r\n]*>)?(?P<body>.*?)(?:(?:</code>[ \t]*)?</pre>|\Z)")
_INDENTED = re.compile(r"(?m)(?:^(?:[ ]{3,}|\t)[^\r\n]*(?:\r\n|\n|\r|\Z))+")
_SPAN = re.compile(r"(?<!`)`{1,2}(?P<body>[^`\r\n]+)`{1,2}(?!`)")
_SHELLS = frozenset({"bash", "console", "sh", "shell", "shell-session", "shellsession", "terminal", "zsh"})
_PLAIN = frozenset({"", "bat", "batch", "cmd", "plaintext", "powershell", "ps1", "text", "txt"})  # of which some hold commands
# how a command begins that starts a program of Python's, with what is set for it alone
_START = r"(?:[A-Za-z_]\w*=\S*[ \t]+)*(?:\S*/)?(?:python[\d.]*|torchrun|accelerate|deepspeed|horovodrun|mpirun|srun|uv|poetry|pdm|conda)[ \t]"
_TYPED_BEHIND = r"(?:\([\w.-]+\)[ \t]*)?(?:[\w.@:~/-]*[$%]|[\w.@:~/-]+#|>+)[ \t]+"
_STARTS = re.compile(rf"(?m)^[ \t]*(?:{_TYPED_BEHIND})?{_START}")
_BEGINS = re.compile(_START)
_PROMPT = re.compile(rf"(?m)^([ \t]*)({_TYPED_BEHIND})(?=\S)")
# a line that begins with an option: the backslash above it was forgotten, or has a blank behind it
_GOES_ON = re.compile(r"(?:(?<=[^\s\\])|\\(?=[ \t]))[ \t]*(?:\r\n|\r|\n)(?=[ \t]*--?[A-Za-z])")
# a line of a block that need not be for a shell: a setting, or a command with options or a file
_LOOKS = re.compile(
    r"[ \t]*(?:(?:export|set)[ \t]+)?(?:[A-Za-z_]\w*=\S*(?:[ \t\r\n]|\Z)|[\w./~$({-]\S*[ \t][^\r\n]*(?:-\w|\.\w))"
)
_BRACKETS = ("()", "{}")
_LINE_END = re.compile(r"(\\?)\r\n")  # to a shell the first half is a part of the word before it
_LINE = re.compile(r"[^\r\n]*(?:(?<=\\)(?:\r\n|\r|\n)[^\r\n]*)*(?:\r\n|\r|\n|\Z)")
_LONGEST = 32_768  # characters of a command: more nobody types, and shlex takes four times as long for a word of twice the length
_OPENING = re.compile(r"[\"'\\]")  # what a line without is whole
_STAND_INS = str.maketrans("<>[]…", "_____")  # what a reader puts in: <path>, [options]
_SPECIAL = str.maketrans("()|;&", "_____")  # what a shell would see in it: <language(optional)>
_STAND_IN = re.compile(r"<[^<>\r\n]*>|\[[^\[\]\r\n]*\]")


def extract_shell_text(text: str) -> str:
    """The commands alone, as text of the same length: everything else is blank, and so is the first half of a line end of two."""
    parts, at = list[str](), 0
    for start, end, is_shell in _find_stretches(text):
        parts += (blank_out(text[at:start]), *_extract_commands(text[start:end], is_shell))
        at = end
    return _LINE_END.sub(r" \1\n", "".join((*parts, blank_out(text[at:]))))


def _find_stretches(text: str) -> Iterator[tuple[int, int, bool]]:
    """What is in blocks for a shell, in others that may hold commands, and in spans that do; whether it is for a shell; in order."""
    at = 0
    for fence in _FENCE.finditer(text):
        yield from _find_html_blocks(text, at, fence.start())
        kind = fence["kind"].strip("{}.").lower()
        if kind in _SHELLS or kind in _PLAIN or _STARTS.search(fence["body"]):
            yield *fence.span("body"), kind in _SHELLS
        at = fence.end()
    yield from _find_html_blocks(text, at, len(text))


def _find_html_blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """What is set as it is by HTML, and the rest, between two fences."""
    for block in _PRE.finditer(text, start, end):
        yield from _find_indented_blocks(text, start, block.start())
        if _STARTS.search(block["body"]):
            yield *block.span("body"), False
        start = block.end()
    yield from _find_indented_blocks(text, start, end)


def _find_indented_blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Indented blocks and spans."""
    for block in _INDENTED.finditer(text, start, end):
        yield from _find_spans(text, start, block.start())
        if _STARTS.search(block[0]):
            yield *block.span(), False
        else:
            yield from _find_spans(text, *block.span())
        start = block.end()
    yield from _find_spans(text, start, end)


def _find_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    for span in _SPAN.finditer(text, start, end):
        if _BEGINS.match(span["body"]):
            yield *span.span("body"), False


def _extract_commands(block: str, is_shell: bool) -> Iterator[str]:
    """The lines of a block, without prompts; those that are no commands, such as one in which a quote stays open, are blank."""
    block = _PROMPT.sub(lambda found: found[1] + " " * len(found[2]), block)
    block = _STAND_IN.sub(lambda found: found[0].translate(_SPECIAL), block).translate(_STAND_INS)
    block = _GOES_ON.sub(lambda found: " " * len(found[0]), block)
    for line in _LINE.finditer(block):
        yield line[0] if _is_whole(line[0]) and (is_shell or _is_command_line(line[0])) else blank_out(line[0])


def _is_command_line(line: str) -> bool:
    return _LOOKS.match(line) is not None and all(line.count(pair[0]) == line.count(pair[1]) for pair in _BRACKETS)


def _is_whole(line: str) -> bool:
    """Whether every quote in a line is closed."""
    if len(line) > _LONGEST:
        return False
    if not _OPENING.search(line):
        return True
    try:
        shlex.split(line, comments=True)
    except ValueError:
        return False
    return True
