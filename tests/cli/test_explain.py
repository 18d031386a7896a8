"""``explain FILE:LINE``: the way to a decision, step by step."""

from __future__ import annotations

import json
import re
from pathlib import Path

OPTIONS = """import argparse


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dist-backend", default="nccl")
    return parser.parse_args()
"""
TRAIN = """import torch.distributed as dist

from options import parse

args = parse()
dist.init_process_group(backend=args.dist_backend)
"""
FOLDED = """import os

import torch.distributed as dist

backend = "gloo" if os.name == "nt" else "nccl"
dist.init_process_group(backend)
"""


def test_the_steps_to_an_option_in_another_file(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN, options=OPTIONS)
    done = run("explain", "train.py:6", "--platform", "rocm")
    assert done.code == 0
    call, value, *steps = done.out.splitlines()[1:]
    assert call.split() == ["call", "train.py:6", "dist.init_process_group(backend=args.dist_backend)"]
    assert value.split() == ["value", "backend", "=", "args.dist_backend"]
    assert any(line.startswith("    options.py:6 ") for line in steps)
    assert '  comes from options.py:6  default of a command-line option  "nccl"' in steps
    assert "  on rocm it resolves to nccl" in steps
    assert any(line.startswith("  fix: nccl does not work on rocm") for line in steps)


def test_the_line_of_the_origin_explains_the_same(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN, options=OPTIONS)
    at_the_call = run("explain", "train.py:6", "--platform", "rocm").out
    assert run("explain", "options.py:6", "--platform", "rocm").out == at_the_call


def test_a_folded_condition_is_a_step_and_is_told_once(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=FOLDED)
    for platform, says in (("rocm", "is false on this platform"), ("windows", "is true on this platform")):
        said = run("explain", "train.py:6", "--platform", platform).out
        assert said.count(f'the condition os.name == "nt" {says}') == 1


def test_a_line_without_a_site(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=FOLDED)
    assert "removes import os, because nothing" in run("explain", "train.py:1", "--platform", "rocm").out
    done = run("explain", "train.py:2", "--platform", "rocm")
    assert done.code == 0
    assert done.out.startswith("train.py:2: nothing on this line")
    assert "ddp-codemod scan train.py --platform rocm" in done.out


APART = "import torch\n\nx = torch.ones(1).cuda()\n"
TRAINS = "import torch\n\ntorch.ones(1, requires_grad=True).cuda().sum().backward()\n"


def test_a_file_outside_of_training_is_named_and_training_alone_is_done(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAINS, infer=APART)
    done = run("explain", "infer.py:3", "--platform", "ascend").out
    assert "infer.py:3 uses cuda, but no training, launch script or README command reaches that file: not changed." in done
    assert "reaches that file" not in run("explain", "train.py:1", "--platform", "ascend").out
    said = run("apply", ".", "--platform", "ascend", "--unsafe").said
    assert "Nothing else in the programs that this project starts needs to change" in said
    assert "1 file uses cuda, but no training, launch script or README command reaches that file: infer.py." in said


def test_a_line_that_is_not_ported_says_why_and_what_to_do(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAINS + "\n\ndef unused():\n    torch.cuda.synchronize()\n", infer=APART)
    done = run("explain", "infer.py:3", "--platform", "ascend")
    assert done.code == 0
    assert done.out == (
        "infer.py:3 uses cuda, but no training, launch script or README command reaches that file: not changed.\n"
        "To port it anyway, run apply on that file alone, or add the import that this command shows: "
        "ddp-codemod rules show transfer-to-npu\n"
    )
    assert "import torch_npu" in run("rules", "show", "transfer-to-npu").out
    said = run("explain", "infer.py:3", "--platform", "cpu").out
    assert said.startswith("infer.py:3 uses a GPU, but no training, launch script or README command reaches that file")
    assert "To port it anyway, run apply on that file alone.\n" in said
    said = run("explain", "train.py:7", "--platform", "ascend").out
    assert said == (
        "train.py:7 names cuda, and is not changed: ddp-codemod found no program of the project that uses it as a device "
        "on ascend, or fails there. If one does, change the line by hand.\n"
    )
    assert run("explain", "infer.py:3", "--platform", "rocm").out.startswith("infer.py:3: nothing on this line")


def test_a_line_with_a_device_where_nothing_trains(project, run) -> None:  # type: ignore[no-untyped-def]
    project(infer=APART)
    said = run("explain", "infer.py:3", "--platform", "ascend").out
    assert said.startswith("infer.py:3 names cuda, and is not changed: no training, launch script or README command reaches it.")


def test_json(project, run) -> None:  # type: ignore[no-untyped-def]
    import json

    project(train=FOLDED + "dist.new_group([0], backend='gloo')\n")
    found = json.loads(run("explain", "train.py:6", "--platform", "rocm", "--format", "json").out)
    assert [site["surface"] for site in found["sites"]] == ["torch.init_process_group"]


def test_a_line_of_a_batch_file_is_told_what_it_would_have_to_be(project, run) -> None:  # type: ignore[no-untyped-def]
    folder = project(train=TRAIN, options=OPTIONS.replace("nccl", "gloo"))
    (folder / "run.bat").write_text("@echo off\npython train.py --dist-backend nccl\n")
    done = run("explain", "run.bat:2", "--platform", "rocm")
    assert done.code == 0
    assert "  comes from run.bat:2  argument on a command line  nccl" in done.out
    assert "Change the line to: python train.py --dist-backend gloo" in done.out
    assert (folder / "run.bat").read_text() == "@echo off\npython train.py --dist-backend nccl\n"


HYDRA = """import hydra


@hydra.main(config_path="conf", config_name="config")
def main(cfg):
    hydra.utils.instantiate(cfg.trainer).fit()
"""
STRATEGY = """trainer:
  strategy:
    _target_: pytorch_lightning.strategies.DDPStrategy
    process_group_backend: gloo
"""


def test_the_program_that_a_strategy_in_a_configuration_file_starts_with(project, run) -> None:  # type: ignore[no-untyped-def]
    folder = project(train=HYDRA)
    (folder / "conf").mkdir()
    (folder / "conf" / "config.yaml").write_text(STRATEGY)
    done = run("explain", "conf/config.yaml:3", "--platform", "windows")
    assert "sets USE_LIBUV=0 at train.py:6, in the entry point that creates what this file describes" in done.out
    done = run("explain", "train.py:6", "--platform", "windows")
    assert "sets USE_LIBUV=0 at train.py:6" in done.out


def test_an_override_on_a_command_line_is_a_step_of_its_own(project, run) -> None:  # type: ignore[no-untyped-def]
    folder = project(train=HYDRA)
    (folder / "conf").mkdir()
    (folder / "conf" / "config.yaml").write_text(STRATEGY)
    (folder / "run.sh").write_text("python train.py +trainer.strategy.process_group_backend=nccl\n")
    done = run("explain", "run.sh:1", "--platform", "rocm")
    assert "  comes from run.sh:1  argument on a command line  nccl" in done.out
    assert "passed as trainer.strategy.process_group_backend to train.py" in done.out
    assert "The value comes from run.sh:1; changing the source to gloo" in done.out


def test_a_command_in_a_notebook(project, run) -> None:  # type: ignore[no-untyped-def]
    folder = project(train=TRAIN, options=OPTIONS.replace("nccl", "gloo"))
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": ["x = 1\n", "!python train.py --dist-backend nccl"]}
    (folder / "n.ipynb").write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))
    done = run("explain", "n.ipynb:9", "--platform", "rocm")
    assert "  comes from n.ipynb:9  argument on a command line  nccl" in done.out
    assert "changing the source to gloo" in done.out


def test_the_line_of_a_launch_file_before_which_a_variable_is_set(project, run) -> None:  # type: ignore[no-untyped-def]
    folder = project(train='import torch.distributed as dist\n\ndist.init_process_group("nccl")\n')
    (folder / "run.sh").write_text("set -e\ntorchrun train.py\n")
    words = ("--platform", "cuda", "--rule", "nccl-p2p-off", "--env-in", "shell")
    done = run("explain", "run.sh:2", *words)
    assert "NCCL_P2P_DISABLE is set before this line, which starts the program" in done.out
    assert "fix: sets NCCL_P2P_DISABLE=1 before the line that starts this program (run.sh:2)" in done.out
    assert run("explain", "run.sh:1", *words).out.startswith("run.sh:1: nothing on this line")
    assert run("explain", "run.sh:2", *words[:4]).out.startswith("run.sh:2: nothing on this line")


def test_commands_that_are_offered_next_keep_where_variables_go(project, run) -> None:  # type: ignore[no-untyped-def]
    folder = project(train='import torch.distributed as dist\n\ndist.init_process_group("nccl")\n')
    (folder / "run.sh").write_text("torchrun train.py\n")
    words = ("--platform", "cuda", "--rule", "nccl-p2p-off", "--env-in", "shell")
    assert "Apply:               ddp-codemod apply . " + " ".join(words) in run("check", ".", *words).said
    assert run("apply", ".", *words).code == 0
    assert (folder / "run.sh").read_text() == 'export NCCL_P2P_DISABLE="${NCCL_P2P_DISABLE:-1}"\ntorchrun train.py\n'
    assert run("check", ".", *words).code == 0


BY_NAME = """
import argparse
import torch
import torch.distributed as dist


parser = argparse.ArgumentParser()
parser.add_argument("--backend", default="nccl")
args = parser.parse_args()
dist.init_process_group(args.backend)
if args.backend == "nccl":
    torch.cuda.set_device(0)
"""
LOOP = """
import torch.distributed as dist

for backend in ["nccl", "mpi"]:
    dist.init_process_group(backend)
"""


def test_a_line_that_goes_by_the_name_shows_what_will_happen(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=BY_NAME)
    lines = Path("train.py").read_text("utf-8").splitlines()
    (call,) = [number for number, line in enumerate(lines, 1) if "init_process_group(" in line]
    (other,) = [number for number, line in enumerate(lines, 1) if 'if args.backend == "nccl":' in line]
    said = run("explain", f"train.py:{call}", "--platform", "rocm").out
    assert f"because train.py:{other} also uses the value, for something else" in " ".join(said.split())


BY_KEY = """
import torch.distributed as dist

BACKEND = "nccl"


def list_options():
    options = {}
    options["default"] = BACKEND
    return options


def is_low(table):
    rate = table.get("default")
    return rate <= 0.1


list_options()
dist.init_process_group(BACKEND)
"""


def test_a_line_that_only_a_key_leads_to_may_use_the_value(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=BY_KEY)
    lines = Path("train.py").read_text("utf-8").splitlines()
    (call,) = [number for number, line in enumerate(lines, 1) if "init_process_group(" in line]
    (other,) = [number for number, line in enumerate(lines, 1) if "rate <= 0.1" in line]
    said = " ".join(run("explain", f"train.py:{call}", "--platform", "rocm").out.split())
    assert f"because train.py:{other} may use the value too" in said
    assert "also uses the value" not in said


def test_the_loop_that_gives_a_value_is_a_step(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=LOOP)
    said = [run("explain", f"train.py:{line}", "--platform", "rocm").out for line in range(1, 6)]
    assert any("one of the values of the loop variable backend" in text for text in said)


def test_where_a_value_is_followed_no_further_is_named(project, run) -> None:  # type: ignore[no-untyped-def]
    handed_on = "".join(f"def f{n}(x):\n    return f{n - 1}(x)\n\n\n" for n in range(1, 200))
    program = (
        f'import torch.distributed as dist\n\n\ndef f0(x):\n    return x\n\n\n{handed_on}dist.init_process_group(f199("nccl"))\n'
    )
    project(train=program)
    line = program.count("\n")
    told = run("explain", f"train.py:{line}", "--platform", "rocm").out
    (stopped,) = re.findall(r"ddp-codemod traces the value only as far as train.py:(\d+)", " ".join(told.split()))
    assert program.splitlines()[int(stopped) - 1].startswith("    return f")


def test_a_file_or_folder_lists_what_apply_changed_there(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train=TRAIN, **{"more/other": TRAIN})
    assert run("explain", ".").code == 2  # nothing is on record
    applied = run("apply", ".", "--platform", "rocm")
    assert applied.code == 0
    for lang, said in (("en", "2 changes that apply made for rocm:"), ("zh", "apply 针对 rocm 所做的 2 处修改：")):
        listed = run("explain", ".", "--lang", lang)
        assert listed.code == 0
        assert listed.out.startswith(said)
        assert "train.py:6" in listed.out
        assert "more/other.py:6" in listed.out
        assert listed.out.count("gloo") >= 1
    part = run("explain", "more").out
    assert "more/other.py:6" in part
    assert "train.py:6" not in part.replace("more/other.py:6", "")
    run("undo", ".")
    assert run("explain", ".").code == 2


TWO_ON_A_LINE = """\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
total = torch.tensor([1.0], dtype=torch.float64, device="cuda")
dist.all_reduce(total)
model = DistributedDataParallel(torch.nn.Linear(2, 2).cuda())
"""


def test_a_line_with_two_changes_tells_both(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=TWO_ON_A_LINE)
    assert run("apply", ".", "--platform", "ascend", "--unsafe").code == 0
    lines = (root / "train.py").read_text().splitlines()
    number = next(at for at, line in enumerate(lines, 1) if "torch.float32" in line)
    assert 'device="npu"' in lines[number - 1]
    told = run("explain", f"train.py:{number}", "--platform", "ascend", "--unsafe", "--lang", "en").out
    assert "device-reduced-double" in told
    assert "device-keyword" in told
    assert "nothing on this line" not in told


def test_a_line_of_a_file_that_is_no_python_says_that_it_was_not_read(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train="import torch.distributed as dist\nfrom a import b, \\\n\ndist.init_process_group('nccl')\n")
    told = run("explain", "train.py:4", "--platform", "rocm", "--lang", "en").out
    assert "not fully read: line 2" in told or "not fully read: line 3" in told
    assert "nothing on this line" not in told
    found = run("check", ".", "--platform", "rocm", "--lang", "en")
    assert "Nothing to change" not in found.out + found.err


def test_a_patch_is_not_read_as_code(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train="import torch.distributed as dist\n")
    (root / "new.patch").write_text(
        '--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,2 @@\n+import torch.distributed as dist\n+dist.init_process_group("nccl")\n'
    )
    for command in (("check", "new.patch"), ("scan", "new.patch"), ("apply", "new.patch"), ("explain", "new.patch:5")):
        refused = run(*command, "--platform", "rocm", "--lang", "en")
        assert refused.code == 2
        assert "--diff-base" in refused.err
    assert run("check", ".", "--platform", "rocm").code == 0


LAUNCHED = """import torch
from accelerate import Accelerator

accelerator = Accelerator(mixed_precision="no")
accelerator.backward(torch.ones(1, requires_grad=True).sum())
"""


def test_a_call_whose_handler_is_set_is_not_told_what_it_would_be_without(project, run) -> None:  # type: ignore[no-untyped-def]
    root = project(train=LAUNCHED)
    before = run("explain", "train.py:4", "--platform", "rocm-windows").out
    assert "resolves to nccl" in before
    run("apply", ".", "--platform", "rocm-windows")
    text = (root / "train.py").read_text("utf-8")
    assert "InitProcessGroupKwargs" in text
    line = 1 + text[: text.index("Accelerator(mixed")].count("\n")
    after = run("explain", f"train.py:{line}", "--platform", "rocm-windows").out
    assert "the InitProcessGroupKwargs in this call sets the backend" in after
    assert "resolves to nccl" not in after


def test_files_that_differ_in_nothing_but_their_name_are_listed_once(project, run) -> None:  # type: ignore[no-untyped-def]
    program = "import argparse\nimport yaml\nimport torch.distributed as dist\n\nparser = argparse.ArgumentParser()\n"
    program += "parser.add_argument('--config')\ncfg = yaml.safe_load(open(parser.parse_args().config))\n"
    root = project(train=program + "dist.init_process_group(cfg['dist']['backend'])\n")
    for number in range(6):
        (root / f"c{number}.yaml").write_text("lr: 1\ndist:\n  backend: nccl\n")
    short = run("explain", "train.py:8", "--platform", "rocm").out
    assert short.count("config file key") == 1
    assert "the same path from 5 more places: c1.yaml:3, c2.yaml:3, c3.yaml:3, and 2 more; list all with -v" in " ".join(
        short.split()
    )
    assert run("explain", "train.py:8", "--platform", "rocm", "-v").out.count("config file key") == 6


def test_a_line_of_code_that_is_not_read_leads_to_the_fix_that_it_makes_unsafe(project, run) -> None:  # type: ignore[no-untyped-def]
    project(
        train='import importlib\nimport torch.distributed as dist\n\n\ndef main(name):\n    module = importlib.import_module(name)\n    dist.init_process_group("nccl")\n    dist.barrier()\n    module.loss().backward()\n\n\nif __name__ == "__main__":\n    main(input())\n'
    )
    said = run("explain", "train.py:6", "--platform", "single-gpu").out
    assert "importlib.import_module loads code that ddp-codemod does not see: check that it uses no process group" in said
    assert "train.py:7" in said


def test_the_first_line_of_a_call_is_asked_for_as_the_whole(project, run) -> None:  # type: ignore[no-untyped-def]
    code = 'import argparse\nimport torch.distributed as dist\n\nparser = argparse.ArgumentParser()\nparser.add_argument(\n    "--devices",\n    default=["cuda:0"],\n)\nprint([one.split(":")[-1] for one in parser.parse_args().devices])\ndist.init_process_group("nccl")\n'
    project(train=code)
    for line in (5, 6, 7):
        assert f"train.py:{line} names cuda, and is not changed" in run("explain", f"train.py:{line}", "--platform", "ascend").out
    assert "names cuda" not in run("explain", "train.py:9", "--platform", "ascend").out
