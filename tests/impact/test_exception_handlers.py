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
        "except:\n    pass",
        "except (Exception, KeyboardInterrupt):\n    pass",
        "except Exception as e:\n    'no device'\n    print(e)",
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
        "except:\n    pass\nelse:\n    print('done')",
        "except Exception as e:\n    model(batch)\n    print(e)",
        "except KeyboardInterrupt:\n    raise\nexcept AssertionError:\n    model(batch)",
        "except AssertionError:\n    def again():\n        raise ValueError\n    again",
    ],
)
def test_a_handler_that_goes_on_without_it(tmp_path: Path, handlers: str) -> None:
    assert not changed(tmp_path, handlers)


LOST = """\
import os

import torch
import torch.distributed as dist


def first():
    try:
{body}
    except Exception:
        {handler}
    return torch.zeros(1)


dist.init_process_group("nccl")
first()
"""


def rewritten(folder: Path, body: str, handler: str = "pass", platform: str = "ascend") -> set[str]:
    (folder / "train.py").write_text(LOST.format(body=indent(body, "        "), handler=handler), "utf-8")
    made: Survey = survey(Options((folder,), RULES.platforms[platform], RULES, root=folder))
    return {edit.rule for edit in made.edits} - {"unsupported-backend"}


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ('os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["SLURM_LOCALID"]', "device-visible"),
        ('os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")', "device-visible"),
        ("torch.cuda.set_device(0)", "device-module"),
        ("import torch\nimport random\ntorch.cuda.manual_seed_all(random.randrange(9))", "device-module"),
        ('torch.zeros(1, device="cuda")', "device-keyword"),
    ],
)
def test_a_use_that_is_lost_silently(tmp_path: Path, body: str, rule: str) -> None:
    assert rewritten(tmp_path, body) == {rule}


def test_setting_a_variable_fails_nowhere(tmp_path: Path) -> None:
    assert rewritten(tmp_path, 'os.environ["CUDA_VISIBLE_DEVICES"] = "0"', "raise SystemExit") == {"device-visible"}
    assert rewritten(tmp_path, 'os.environ["CUDA_VISIBLE_DEVICES"] = "0"', "os.nice(1)") == {"device-visible"}


@pytest.mark.parametrize(
    ("body", "handler"),
    [
        ('return torch.zeros(1, device="cuda")', "pass"),  # what follows takes its place
        ("import apex\ntorch.cuda.set_device(0)", "pass"),
        ("torch.cuda.set_device(0)", "torch.set_num_threads(1)"),
    ],
)
def test_a_use_that_something_takes_the_place_of(tmp_path: Path, body: str, handler: str) -> None:
    assert rewritten(tmp_path, body, handler) == set()


def test_a_machine_without_a_device_loses_nothing(tmp_path: Path) -> None:
    assert rewritten(tmp_path, "torch.cuda.set_device(0)", platform="cpu") == set()


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
