"""What stands in a ``try`` is cared for only where a handler lets the program go on without it."""

from pathlib import Path
from textwrap import indent

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.model import Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
PROGRAM = """\
import torch
import torch.distributed as dist


def train(model, batch):
    try:
        model(batch.cuda()).backward()
{handlers}


dist.init_process_group("nccl")
train(torch.nn.Linear(1, 1), torch.ones(1))
"""
MEMORY = """\
except RuntimeError as e:
    if "out of memory" in str(e):
        torch.manual_seed(0)
    else:
        raise e
"""


def changed(folder: Path, handlers: str) -> bool:
    (folder / "train.py").write_text(PROGRAM.format(handlers=indent(handlers.rstrip(), "    ")), "utf-8")
    made: Survey = survey(Options((folder,), RULES.platforms["gcu"], RULES, root=folder))
    return any(edit.rule == "device-method" for edit in made.edits)


@pytest.mark.parametrize(
    "handlers",
    [
        MEMORY,
        "except KeyboardInterrupt:\n    print('early')",
        "except (KeyboardInterrupt, SystemExit):\n    print('early')",
        "except torch.cuda.OutOfMemoryError:\n    print('skipped')",
        "except RuntimeError as e:\n    raise SystemExit('no device') from e",
        "except StopIteration:\n    pass\nexcept RuntimeError:\n    print('failed')\n    raise",
        "finally:\n    print('done')",
        "except RuntimeError:\n    model(batch)",  # torch without CUDA raises AssertionError
        "except (RuntimeError, KeyboardInterrupt):\n    pass",
        "except ImportError:\n    pass",
    ],
)
def test_a_handler_that_does_not_go_on_without_the_device(tmp_path: Path, handlers: str) -> None:
    assert changed(tmp_path, handlers)


@pytest.mark.parametrize(
    "handlers",
    [
        "except AssertionError:\n    model(batch)",
        "except (AssertionError, RuntimeError):\n    model(batch)",
        "except NoDevice:\n    model(batch)",
        "except Exception as e:\n    print(e)",
        "except:\n    pass",
        "except (Exception, KeyboardInterrupt):\n    pass",
        "except KeyboardInterrupt:\n    raise\nexcept AssertionError:\n    model(batch)",
        "except AssertionError:\n    def again():\n        raise ValueError\n    again",
    ],
)
def test_a_handler_that_goes_on_without_it(tmp_path: Path, handlers: str) -> None:
    assert not changed(tmp_path, handlers)


UNBOUND = """import torch.distributed as dist

try:
    import flash_attn
{handler}

def attend(q, kind="flash"):
{use}

dist.init_process_group("gloo")
attend(1)
"""
PASS = "except ImportError:\n    pass\n"


@pytest.mark.parametrize(
    ("handler", "use", "listed"),
    [
        (PASS, "    return flash_attn.flash_attn_func(q)", True),
        ("except:\n    pass\n", "    return flash_attn.flash_attn_func(q)", True),
        (PASS, "    if kind == 'flash':\n        return flash_attn.flash_attn_func(q)\n    return q", False),
        (PASS, "    return flash_attn.flash_attn_func(q) if kind == 'flash' else q", False),
        (PASS, "    try:\n        return flash_attn.flash_attn_func(q)\n    except NameError:\n        return q", False),
        (PASS, "    return q", False),
        (
            "except ImportError:\n    flash_attn = None\n",
            "    return flash_attn.flash_attn_func(q)",
            False,
        ),  # something takes its place
        ("except ImportError:\n    HAS = False\n", "    return flash_attn.flash_attn_func(q)", False),
    ],
)
def test_an_import_that_is_caught_and_read_anyhow_is_listed(tmp_path: Path, handler: str, use: str, listed: bool) -> None:
    (tmp_path / "train.py").write_text(UNBOUND.format(handler=handler, use=use))
    found = survey(Options((tmp_path,), RULES.platforms["cpu"], RULES, (), tmp_path))
    assert bool([one for one in found.decisions if one.surface == "device-attention"]) is listed
