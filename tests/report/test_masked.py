"""Code in a bug report: what its author called things is not in it."""

from __future__ import annotations

import re

import pytest

from ddp_codemod.report.masked import LONGEST, Masked

PUBLIC = frozenset({"torch", "distributed", "init_process_group", "backend", "gloo", "nccl", "cpu"})


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("dist.init_process_group('nccl')", 'n1.init_process_group("nccl")'),
        ("a if b else a", "n1 if n2 else n1"),
        ("f(backend='acme', x='acme', y='other')", "n1(backend=<text 1>, n2=<text 1>, n3=<text 2>)"),
        ("os.environ.get('ACME', 'cpu:gloo')  # of acme", 'os.environ.get(<text 1>, "cpu:gloo")'),
        ("x = 3 * 10.20.3", "n1 = 0 * 0"),
        ('f"{alice}://home"', "<text 1>"),
        ("b'acme' rb\"alice\"", "<text 1> <text 2>"),
        ("'''one\ntwo'''", "<text 1>"),
        ("名 = '名字'", "n1 = <text 1>"),
        ("key: it's alice\n", "n1: n2'n3 n4"),
        ('"alice', '"n1'),
        ("$alice -- /home/acme", "$n1 -- /n2/n3"),
        ("", ""),
    ],
)
def test_names_and_texts_become_numbers(text: str, masked: str) -> None:
    assert Masked(PUBLIC).code(text) == masked


def test_the_same_word_has_the_same_number_in_all_of_a_report() -> None:
    masked = Masked(PUBLIC)
    assert masked.code("alice(bob)") == "n1(n2)"
    assert masked.code("bob('x')") == "n2(<text 1>)"
    assert (masked.value("x"), masked.value("NCCL"), masked.value("acme:gloo"), masked.value("")) == (
        "<text 1>",
        "NCCL",
        "<text 2>",
        "<text 3>",
    )


def test_what_is_long_is_cut() -> None:
    said = Masked(PUBLIC).code("f(" + "1, " * 1000 + ")")
    assert len(said) == LONGEST + 3


def test_nothing_of_a_whole_program_is_left() -> None:
    """Of this file no word of three letters that is not Python's own."""
    words = {"secret_name", "AcmeTrainer", "alice", "run_id", "s3", "bucket"}
    text = "class AcmeTrainer:\n    def secret_name(self, alice, *, run_id='s3://bucket/alice'):\n        return alice[run_id]\n"
    said = Masked(PUBLIC).code(text)
    assert not words & set(re.findall(r"\w+", said))
