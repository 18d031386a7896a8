"""What holds for every error signature: its examples, its sources, its words, and that no line can hold it up."""

from __future__ import annotations

import io
import re

import pytest

from ddp_codemod.catalog.diagnostics import load_diagnostics
from ddp_codemod.catalog.load import load
from ddp_codemod.catalog.pattern import WIDEST, find_anchors
from ddp_codemod.catalog.signature import Signature
from ddp_codemod.machine.diagnose import diagnose

KNOWN = load_diagnostics()
RULES = load()
SIGNATURES = list(KNOWN.signatures.values())
CHINESE = re.compile(r"[\u4e00-\u9fff]")
NOISE = "2026-05-01 12:00:01 INFO epoch 3 loss 0.123\n"

each = pytest.mark.parametrize("signature", SIGNATURES, ids=lambda signature: signature.id)


def ids(log: str) -> list[str | None]:
    reading = diagnose(io.BytesIO(log.encode()), KNOWN)
    told = [one.signature or one.outside for one in reading.diagnoses]
    return [one and one.id for one in told]


def test_all_kinds_of_errors_are_there() -> None:
    assert len(SIGNATURES) >= 54


@each
def test_each_excerpt_leads_to_its_signature(signature: Signature) -> None:
    assert signature.hit
    for excerpt in signature.hit:
        assert ids(NOISE * 30 + excerpt)[0] == signature.id


@each
def test_a_near_miss_is_none(signature: Signature) -> None:
    assert signature.miss
    for excerpt in signature.miss:
        assert signature.id not in ids(excerpt)


@each
def test_no_other_root_cause_is_seen_in_an_excerpt(signature: Signature) -> None:
    for excerpt in signature.hit:
        others = [KNOWN.signatures[found] for found in ids(excerpt) if found and found != signature.id]
        assert [other.id for other in others if other.role == "root"] == []


@each
def test_both_languages_and_links(signature: Signature) -> None:
    for text in (signature.title_zh, signature.cause_zh):
        assert CHINESE.search(text)
    assert not any(CHINESE.search(text) for text in (signature.title, signature.cause))
    assert all(re.fullmatch(r"https://[^\s/]+/\S+", link) for link in signature.source)
    assert signature.source


@each
def test_cures_can_be_typed(signature: Signature) -> None:
    assert signature.cure
    for cure in signature.cure:
        assert cure.platform is None or cure.platform in RULES.platforms
        assert set(cure.rules) <= set(RULES.fixes)
        assert not cure.text_zh or CHINESE.search(cure.text_zh) or cure.text_zh == cure.text


@each
def test_some_cure_is_left_whatever_the_log_hints_at(signature: Signature) -> None:
    for hint in (*KNOWN.hints, None):
        assert any(hint not in cure.unless and (not cure.when or hint in cure.when) for cure in signature.cure)


@each
def test_a_hostile_line_does_not_hold_it_up(signature: Signature) -> None:
    """Every fixed text of the pattern, over and over, in a line without end."""
    for pattern in signature.patterns:
        for text in find_anchors(pattern):
            for glue in ("", " ", "'0"):
                line = (text + glue) * (6_000 // (len(text) + len(glue)))
                diagnose(io.BytesIO(line.encode() + b"\n"), KNOWN)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+bcdef",
        r"(?:ab|cd)*efghi",
        r"abcdef.*ghi",
        f"abcdef.{{0,{WIDEST + 1}}}",
        r"abcd\w*\s+\w+\s*\s*",
        "(?=abcdef)",
        "ab",
        "abcdef|x",
        "(abcdef",
    ],
)
def test_patterns_that_could_blow_up_or_be_nowhere_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        find_anchors(pattern)


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("EADDRINUSE|[Aa]ddress in use", ("EADDRINUSE", "ddress in use")),
        (r"exitcode\s*: -11\b", ("exitcode",)),
        (r"(?:NCCL|gloo) failed: x?", (" failed: ",)),
        (r"colou?r is not", ("r is not",)),
        (r"Invalid: '\[x\]", ("Invalid: '[x]",)),
    ],
)
def test_what_a_pattern_is_found_by(pattern: str, texts: tuple[str, ...]) -> None:
    assert find_anchors(pattern) == texts


TRACE = 'Traceback (most recent call last):\n  File "/home/u/proj/train.py", line 88, in <module>\n    main()\n'
LAUNCHER = """W0502 10:00:00.000 99 torch/distributed/elastic/multiprocessing/api.py:900] Sending process 4243 closing signal SIGTERM
E0502 10:00:00.000 99 torch/distributed/elastic/multiprocessing/api.py:826] failed (exitcode: 1) local_rank: 0 (pid: 4242) of binary: python
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
train.py FAILED
"""
OF_THE_PROGRAM = [
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    "RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x512 and 256x10)",
    'RuntimeError: Error(s) in loading state_dict for DistributedDataParallel:\n\tMissing key(s) in state_dict: "module.fc.weight".',
    "KeyError: 'input_ids'",
    "RuntimeError: CUDA error: device-side assert triggered",
    "RuntimeError: DataLoader worker (pid 3312) is killed by signal: Killed.",
    "RuntimeError: DataLoader worker (pid 12) is killed by signal: Bus error.",
    "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.json'",
    "ModuleNotFoundError: No module named 'flash_attn'",
    "ImportError: libmpi.so.12: cannot open shared object file: No such file or directory",
    "ImportError: cannot import name 'LlamaConfig' from 'transformers'",
    "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='huggingface.co', port=443): Connection refused",
    "OSError: [Errno 24] Too many open files",
    "AttributeError: Can't pickle local object 'main.<locals>.<lambda>'",
]


@pytest.mark.parametrize("error", OF_THE_PROGRAM)
@pytest.mark.parametrize("tail", ["", LAUNCHER], ids=["alone", "launched"])
def test_an_error_of_the_program_gets_no_distributed_cause(error: str, tail: str) -> None:
    reading = diagnose(io.BytesIO(f"{TRACE}{error}\n{tail}".encode()), KNOWN)
    lead = reading.diagnoses[0]
    assert lead.signature is None or lead.signature.role == "outside"


def test_a_warning_about_tokenizers_is_no_error() -> None:
    said = "huggingface/tokenizers: The current process just got forked, after parallelism has already been used. Disabling parallelism\n"
    assert ids(said) == []
