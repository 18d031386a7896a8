"""How English texts speak to users: a short first sentence, and the words that they use themselves."""

from __future__ import annotations

import ast
import inspect
import io
import json
import re
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest

import ddp_codemod
from ddp_codemod import api, request
from ddp_codemod.codemods import port
from ddp_codemod.messages import catalogue

TOP = Path(ddp_codemod.__file__).parents[1]
ABOVE = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
# what is no prose of a page: what is made by programs, code, comments, the address of a link
NO_PROSE = re.compile(
    r"(?s)<!-- (?:begin|benchmark|proofs).*?<!-- (?:end|/benchmark)[^>]*-->|<!--.*?-->|^ *(`{3,}).*?^ *\1$|`[^`\n]*`|\]\([^)]*\)|^    .*?$",
    re.M,
)


def pages() -> dict[str, str]:
    """Every paragraph, item and row of the English pages, by its file and line."""
    files = [*(TOP / name for name in ABOVE), *sorted((TOP / "docs").rglob("*.md"))]
    return dict(entry for file in files if ".zh-CN" not in file.name for entry in prose(file))


def prose(file: Path) -> Iterator[tuple[str, str]]:
    plain = NO_PROSE.sub(lambda found: "x" + "\n" * found[0].count("\n"), file.read_text("utf-8"))
    for found in re.finditer(r"(?ms)^(?:[-|#>]|\d\. |\S).*?(?=\n\s*\n|\n *[-|#>] |\n *\d\. |\Z)", plain):
        yield f"{file.relative_to(TOP)}:{plain.count(chr(10), 0, found.start()) + 1}", " ".join(found[0].split())


def schemas() -> dict[str, str]:
    """Every title and description of the published JSON schemas."""
    files = [*sorted(Path(ddp_codemod.__file__).with_name("report").glob("*schema.json")), TOP / "rules/schema.json"]
    return {
        f"{file.relative_to(TOP)}{path}": text for file in files for path, text in described(json.loads(file.read_text("utf-8")))
    }


def described(node: object, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("title", "description") and isinstance(value, str):
                yield path, value
            else:
                yield from described(value, f"{path}/{key}")


def docstrings() -> dict[str, str]:
    """What the public modules, and all that is public in them, say of themselves."""
    return {name: text for module in (ddp_codemod, api, request, port) for name, text in told(module, module)}


def told(one: object, module: ModuleType) -> Iterator[tuple[str, str]]:
    name = getattr(one, "__qualname__", module.__name__)
    if text := inspect.getdoc(one):
        yield f"{module.__name__}:{name}", text
    for key, inner in vars(one).items():
        own = getattr(inner, "fget", inner)
        if not key.startswith("_") and getattr(own, "__module__", "") == module.__name__ and hasattr(own, "__doc__"):
            yield from told(own, module) if isinstance(own, type) else [(f"{module.__name__}:{key}", inspect.getdoc(own) or "")]


# where texts for users come from, each as {name: text}; the help of the command line is among the messages
TEXTS: dict[str, Callable[[], Mapping[str, str]]] = {
    "messages": lambda: catalogue("en"),
    "pages": pages,
    "schemas": schemas,
    "docstrings": docstrings,
}
SHORT = ("messages",)  # each is read alone, at a glance
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
    r"ask(?:s|ed|ing)? (?:for (?:nccl|gloo)|the group)": "uses, checks",
    r"in (?:its|their) place": "instead",
    r"the answer is": "is true, is false",
    r"what is right|mark(?:s|ed)? as right": "correct",
    r"as PATH": "run apply on that file alone",
}
# and such that only longer texts use
RETIRED_IN_PROSE = {
    r"stands?(?!-in| for)": "is",
    r"persons?|whoever": "users",
    r"whatever": "always, any",
    r"to blame": "the cause",
    r"taken for": "detected as, counts as",
    r"hand(?:s|ed)? (?:it |them )?(?:on|over)": "passes",
    r"looks? (?:at|through|into)|looked (?:at|through|into)": "reads, checks",
    r"takes? (?:it|them|that) back": "reverts, undoes",
    r"in vain": "without success",
    r"wherever|whereof|thereof": "anywhere",
}


# and of these such as a reader of the code stumbles over, in its docstrings and comments
RETIRED_IN_CODE = {
    r"given(?! up)": "passed, set",
    r"heed(?:s|ed|ing)?": "honors, ignores",
    r"com(?:es?|ing) out|came out": "results in, resolves to",
    r"(?:gets?|comes?) here": "reaches this code",
    r"st(?:ands?|ood)(?!-in| for)": "is, replaces",
    r"a person|persons?": "needs review, for review, a user",
    r"puts? (?:it |them )?(?:right|back)": "fixes, restores",
    r"(?:is|are|was|were) said": "is reported",
    r"br(?:ings?|ought)": "enables, adds, contains",
    r"h[au]ngs? on": "depends on",
    r"left out": "omitted",
    r"cannot do without|could not do without": "requires",
    r"mend(?:s|ed|ing)?": "fixes",
    r"hand(?:s|ed|ing)? on": "passes on",
    r"in vain": "without success",
    r"to blame": "the cause",
    r"behaviour|colour": "American spelling, one for all texts",
}
# words of names in the code that the field has terms for
RETIRED_NAMES = {
    "way": "trace, condition",
    "hops": "trace, steps",
    "journey": "trace",
    "leaf": "source",
    "leaves": "sources",
    "piece": "edit, replacement, fragment, chunk",
    "pieces": "edits, replacements, fragments, chunks",
    "within": "scope, project",
    "heed": "honors",
    "tame": "scope",
    "omitted": "default",
    "spoken": "covered",
    "brought": "enabled",
    "voided": "ignored",
    "unheeded": "ignored",
    "gist": "headline",
    "touching": "overlapping",
    "provenance": "allocation site",
    "journeys": "traces",
}
RETIRED_WHOLE = {  # names of several words, and such as are retired only alone
    *("left_out", "own_init", "at_the_call", "foreign_hardware", "other_devices", "made_before", "shown_groups", "said_once"),
    *("set_elsewhere", "filled_objects", "mapping_writes", "Maker", "_made", "_said", "_taken"),
    *("_held", "_handed", "_spoken", "_brought"),
}
# keys of rule data, a statement that leaves its block, and a method of click
NOT_YET = {
    "dataflow": {"leaves", "within"},
    "sites": {"omitted"},
    "ledger": {"omitted"},
    "policy": {"omitted"},
    "impact": {"leaves", "omitted"},
    "report": {"leaves"},
    "run": {"leaves"},
    "edits": {"leaves", "omitted"},
    "machine": {"omitted"},
    "catalog": {"omitted", "leaves"},
    "single_process": {"leaves"},
    "cli": {"pieces"},
    "model.py": {"leaves"},
    "kinds.py": {"omitted"},
}
QUOTED = re.compile(r"`+[^`]*`+|\"[^\"\n]*\"")


def opening(text: str) -> list[str]:
    """The words before the first stop; a value that is filled in counts as one."""
    plain = PLACEHOLDER.sub(lambda found: found.group(2) or "x", text).strip()
    return STOP.split(plain, maxsplit=1)[0].split()


def retired(text: str, words: Iterable[str] = RETIRED) -> list[str]:
    """The retired words of a text, whichever number its values have."""
    both = {PLACEHOLDER.sub(lambda found, at=at: found.group(at) or "{}", text) for at in (1, 2)}
    return sorted({found.group() for said in both for word in words for found in re.finditer(rf"(?i)\b(?:{word})\b", said)})


@pytest.mark.parametrize("kind", SHORT)
def test_a_text_comes_to_its_first_stop_soon(kind: str) -> None:
    long = {name: len(opening(text)) for name, text in TEXTS[kind]().items()}
    assert {name: words for name, words in long.items() if words > MOST} == {}


@pytest.mark.parametrize("kind", TEXTS)
def test_no_text_uses_a_retired_word(kind: str) -> None:
    words = RETIRED if kind == "messages" else {**RETIRED, **RETIRED_IN_PROSE}
    found = {name: retired(text, words) for name, text in TEXTS[kind]().items()}
    assert {name: words for name, words in found.items() if words} == {}


def remarks(file: Path) -> Iterator[tuple[str, str]]:
    """The docstrings and comments of a file, without what they quote."""
    text = file.read_text("utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if said := ast.get_docstring(node):
                yield f"{file.relative_to(TOP)}:{node.body[0].lineno}", QUOTED.sub("x", said)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield f"{file.relative_to(TOP)}:{token.start[0]}", QUOTED.sub("x", token.string)


def names(tree: ast.AST) -> Iterator[str]:
    """Every name that a module binds or reads, and those of its parameters and attributes."""
    for node in ast.walk(tree):
        for kind, key in ((ast.Name, "id"), (ast.arg, "arg"), (ast.keyword, "arg"), (ast.Attribute, "attr"), (ast.alias, "name")):
            if isinstance(node, kind) and (name := getattr(node, key)):
                yield name
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            yield node.name


def test_no_name_in_the_code_is_a_retired_word() -> None:
    top = Path(ddp_codemod.__file__).parent
    found: dict[str, set[str]] = {}
    for file in sorted(top.rglob("*.py")):
        folder = file.relative_to(top).parts[0]
        for name in set(names(ast.parse(file.read_text("utf-8")))):
            words = {word for word in name.lower().split("_") if word in RETIRED_NAMES} | {name} & RETIRED_WHOLE
            found.setdefault(folder, set()).update(words)
    assert {folder: words for folder, words in found.items() if words} == NOT_YET


def test_every_kind_of_name_is_found() -> None:
    tree = ast.parse("import way\n\n\nclass Leaf:\n    def pieces(self, within):\n        return self.hops(leaves=omitted)\n")
    assert {"way", "Leaf", "pieces", "within", "hops", "leaves", "omitted"} <= set(names(tree))


def test_no_docstring_or_comment_uses_a_retired_word() -> None:
    every = [one for file in sorted(Path(ddp_codemod.__file__).parent.rglob("*.py")) for one in remarks(file)]
    assert len(every) > 5_000
    assert [(where, words) for where, said in every if (words := retired(said, RETIRED_IN_CODE))] == []


def test_remarks_are_read_without_what_they_quote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "TOP", tmp_path)
    file = tmp_path / "m.py"
    file.write_text(
        '"""Given ``given``."""\n\ngiven = "given"  # "given" given\n\n\ndef f():\n    """Stands\n    for it."""\n', "utf-8"
    )
    assert dict(remarks(file)) == {"m.py:1": "Given x.", "m.py:3": "# x given", "m.py:7": "Stands\nfor it."}
    assert [retired(said, RETIRED_IN_CODE) for said in dict(remarks(file)).values()] == [["Given"], ["Stands"], ["given"]]


def test_every_kind_of_text_is_found() -> None:
    found = {kind: texts() for kind, texts in TEXTS.items()}
    assert [len(texts) > 20 for texts in found.values()] == [True] * len(TEXTS)
    assert {"README.md:1", "docs/commands/apply.md:1", "docs/how-it-works.md:1"} <= found["pages"].keys()
    assert {"ddp_codemod.api:Plan", "ddp_codemod.api:digest", "ddp_codemod.api:plan"} <= found["docstrings"].keys()
    assert found["schemas"]["ddp_codemod/report/schema.json"] == "ddp-codemod --format json, version 3"


def test_the_prose_of_a_page_is_told_from_code_and_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "TOP", tmp_path)
    page = tmp_path / "page.md"
    fence = "```"
    page.write_text(
        f"# Head\n\none `given` [two](given.md)\nthree\n\n- item\n- other\n\n{fence}console\n$ given\ngiven\n{fence}\n\n"
        "    given\n\n<!-- begin keys -->\ngiven\n<!-- end -->\n\n| cell | given |\n",
        "utf-8",
    )
    assert dict(prose(page)) == {
        "page.md:1": "# Head",
        "page.md:3": "one x [twox three",
        "page.md:6": "- item",
        "page.md:7": "- other",
        "page.md:9": "x",
        "page.md:14": "x",
        "page.md:16": "x",
        "page.md:20": "| cell | given |",
    }
    assert retired(dict(prose(page))["page.md:20"]) == ["given"]
    assert [retired(text, RETIRED_IN_PROSE) for text in ("it stands", "a stand-in", "Looks at it")] == [
        ["stands"],
        [],
        ["Looks at"],
    ]


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
