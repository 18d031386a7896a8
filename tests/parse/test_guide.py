"""What a guide says to type: the commands, where they stand, and nothing of the prose around them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.model import Source
from ddp_codemod.parse.guide import extract_shell_text
from ddp_codemod.parse.scripts import parse_shell
from ddp_codemod.parse.shell import Script

PIECES = [
    "```",
    "```bash\n",
    "~~~",
    "\n",
    "    ",
    "\t",
    "`",
    "$ ",
    "> ",
    "(venv) $ ",
    "python a.py --b c",
    "--d=e",
    "'",
    '"',
    "\\\n",
    "\\",
    "é",
    "\r\n",
    "<x>",
    "<x(y)>",
    "<pre>",
    "</pre>",
]


def options(text: str, name: str = "README.md") -> list[tuple[str, str, str, int]]:
    parsed = parse_shell(Source(Path(name), name, text.encode("utf-8"), text, "utf-8"))
    assert isinstance(parsed, Script)
    assert not parsed.editable
    return [(option.name, option.value, option.program, option.line) for option in parsed.options]


@pytest.mark.parametrize(
    "text",
    [
        "```\npython train.py --backend nccl\n```\n",
        "```bash\n$ python train.py --backend nccl\n```\n",
        "~~~ sh\n(env) user@host:~/x$ python train.py --backend nccl\n~~~\n",
        "- a\n  ```shell\n  python train.py --backend nccl\n  ```\n",
        "```python\npython train.py --backend nccl\n```\n",  # the kind of a block is often wrong
        "or\n\n    python train.py --backend nccl\n",
        "or `python train.py --backend nccl`, and so on\n",
        "```\nCUDA_VISIBLE_DEVICES=0,1 python train.py [options] --backend nccl <data>\n```\n",
        "```\npython train.py\n    --backend nccl\n```\n",
        "```\npython other.py <language(optional)>\n```\nThen\n```\npython train.py <a(b|c); d> --backend nccl\n```\n",
        "```\nits output: it's done\npython train.py --backend nccl\n```\n",
        "```\npython train.py --backend nccl",  # never closed
        "`one` and ``python train.py --backend nccl``\n",
        "<pre>python train.py --backend nccl</pre>\n",
        '1. so:\n<pre class="x"><code>python train.py \\\n--backend nccl</code></pre> \n',
        "<PRE>\npython train.py --backend nccl",  # never closed
    ],
)
def test_a_command_is_found(text: str) -> None:
    line = text[: text.index("nccl")].count("\n") + 1
    assert options(text) == [("backend", "nccl", "train.py", line)]
    assert options(text.replace("\n", "\r\n")) == [("backend", "nccl", "train.py", line)]


@pytest.mark.parametrize(
    "text",
    [
        "Start it with python train.py --backend nccl.\n",
        "`--backend nccl` is the default\n",
        "```python\nadd('--backend', 'nccl')\n```\n",
        '```json\n{"a": "--backend nccl"}\n```\n',
        "```\n   /__\\ --backend nccl (\n```\n",
        "    a quotation with --backend nccl\n",
        "<pre>a table with --backend nccl</pre>\n",
        "<preface>python train.py --backend nccl</preface>\n",
        "# python train.py --backend nccl\n",
    ],
)
def test_prose_code_and_pictures_are_none(text: str) -> None:
    assert options(text) == []


def test_a_history_of_changes_that_is_too_long_to_read_is_not_named() -> None:
    assert options("`python train.py --backend nccl`\n" + "x" * 600_000) == []


def test_a_line_that_nobody_types_is_no_command() -> None:
    assert options("```\npython train.py --backend nccl\npython train.py --backend gloo --seed " + "1" * 40_000 + "\n```\n") == [
        ("backend", "nccl", "train.py", 2)
    ]


@pytest.mark.parametrize(
    "piece",
    [">", "> ", " ", "`", "a/", "a=b ", "$", "-", "(", "~~~\n", "```\n", "a.", "\\\n", "<pre>", "<pre ", "<pre><code>", "</pre>"],
)
def test_what_is_repeated_without_end_is_read_in_time(piece: str) -> None:
    text = f"```\n{piece * 60_000}\n```\n    {piece * 60_000}\n"
    assert len(extract_shell_text(text)) == len(text)  # quadratic reading of it takes minutes


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_what_is_left_stands_where_it_stood(text: str) -> None:
    left = extract_shell_text(text)
    assert len(left) == len(text)
    kept = [(was, now) for was, now in zip(text, left, strict=True) if was != now]
    assert all(now == " " or (now, was) in {*(("_", one) for one in "<>()"), ("\\", "\r")} for was, now in kept)
