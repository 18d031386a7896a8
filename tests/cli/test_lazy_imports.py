"""Modules that are put off are there for whoever asks for something of them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from ddp_codemod.cli.lazy_imports import ASKED, MODULES, PARTS


@pytest.mark.parametrize(
    "expression",
    [
        "uuid.UUID(int=1).is_safe is uuid.SafeUUID.unknown",
        "type(decimal.Decimal('1.5') + 1) is decimal.Decimal",
        "gettext.gettext('a') == 'a' and gettext.NullTranslations().ngettext('a', 'b', 2) == 'b'",
        "inspect.isfunction(inspect.cleandoc)",
        "textwrap.dedent(' a') == 'a'",
        "str(ipaddress.ip_address('::1')) == '::1'",
        "msgspec.json.decode(msgspec.json.encode([1])) == [1]",
        "msgspec.inspect.type_info(int) == msgspec.inspect.IntType()",
        "msgspec.toml.decode('a = 1') == {'a': 1}",
    ],
)
def test_a_module_that_was_put_off_is_whole_once_it_is_asked_for(expression: str) -> None:
    top = re.search(r"[a-z]+(?=\.)", expression)
    code = f"import ddp_codemod.cli, {top and top[0]}; assert {expression}"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_what_is_taken_from_them_by_name_is_real() -> None:
    code = (
        "import ddp_codemod.cli\nfrom uuid import UUID, uuid4\nfrom decimal import *\nfrom gettext import ngettext\n"
        "assert isinstance(uuid4(), UUID) and Decimal(1) == 1 and ngettext('a', 'b', 2) == 'b'"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_nothing_is_left_of_the_answers_that_were_given_for_them() -> None:
    given = {name: set(answers) for name, answers in ASKED.items()}
    code = f"import sys, ddp_codemod.cli\nprint([vars(sys.modules[name]).keys() & given for name, given in {given!r}.items()])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == str([set()] * len(ASKED))


def test_what_is_there_already_stays() -> None:
    names = [*MODULES, *ASKED, *(f"msgspec.{name}" for name in PARTS)]
    code = f"import sys, click, {', '.join(names)}\nwere = dict(sys.modules)\nimport ddp_codemod.cli\n"
    code += f"assert all(sys.modules[name] is were[name] for name in {names!r})\nassert uuid.UUID(int=1)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@pytest.mark.parametrize("asked", ["msgspec.json.decode", "decimal.Decimal", "inspect.isfunction"])
def test_threads_that_ask_at_once_all_get_it(asked: str) -> None:
    module, _, attribute = asked.rpartition(".")
    code = f"""if True:
        import sys, threading, ddp_codemod.cli, {module}
        sys.setswitchinterval(1e-6)
        all_here, got = threading.Barrier(8), []

        def ask():
            all_here.wait()
            got.append(getattr({module}, {attribute!r}, None))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        assert got == [{asked}] * 8 and None not in got, got
        assert not hasattr({module}, "nothing")
    """
    for _ in range(3):
        subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_grammars_bring_nothing_for_reading_their_queries_until_one_is_read() -> None:
    code = """
import sys
from ddp_codemod.parse.grammar import Tree
assert [Tree(*one).root.has_error for one in (("json", "{}"), ("bash", "ls"), ("yaml", "a: 1"), ("toml", "a=1"))] == [False] * 4
assert "tempfile" not in sys.modules
import tree_sitter_json
assert "@" in tree_sitter_json.HIGHLIGHTS_QUERY
import importlib.resources
from importlib.resources import files
assert importlib.resources.files is files and "tempfile" in sys.modules and files("tree_sitter_yaml").joinpath("queries").is_dir()
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
