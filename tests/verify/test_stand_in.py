"""``verify --run COMMAND --steps 0`` on a machine without the hardware, and runs that end in other ways than well."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ddp_codemod.cli import main
from ddp_codemod.machine.processes import find_free_port
from ddp_codemod.report.trials import SCHEMA

TRAIN = """import os
import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group(KIND)
print("trained on", dist.get_backend())
dist.all_reduce(torch.ones(1))
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text("")
    monkeypatch.chdir(root)
    return root


def run(capfd: pytest.CaptureFixture[str], command: str, platform: str, *words: str) -> tuple[int, dict[str, Any], str]:
    capfd.readouterr()
    own = command.replace("PYTHON", sys.executable)
    limit = [] if "--timeout" in words else ["--timeout", "120"]
    code = main(["verify", "--platform", platform, "--run", own, "--format", "json", *limit, *words])
    out, err = capfd.readouterr()
    document = json.loads(out)
    jsonschema.validate(document, json.loads(SCHEMA.read_text("utf-8")))
    return code, document["run"], err


def torchrun(ranks: int) -> str:
    return f"PYTHON -m torch.distributed.run --nproc_per_node={ranks} --master_port={find_free_port()} train.py"


def seen(document: dict[str, Any]) -> list[tuple[str, int, str | None, str]]:
    return [(one["stack"][0]["path"], one["stack"][0]["line"], one["backend"], one["verdict"]) for one in document["groups"]]


def no_process_holds(root: Path) -> bool:
    """Whether no process works in a folder."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cwd").resolve() == root and int(folder.name) != os.getpid():
                return False
        except OSError:
            continue
    return True


def test_where_the_hardware_is_missing_a_stand_in_answers_and_nothing_is_trained(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (root / "train.py").write_text(TRAIN.replace("KIND", '"nccl" if torch.cuda.is_available() else "gloo"'))
    code, document, err = run(capfd, torchrun(2), "cuda", "--steps", "0")
    assert code == 0, err
    assert seen(document) == [("train.py", 6, "nccl", "agrees")]
    assert (document["simulated_ranks"], document["ranks"], document["exit_code"]) == (2, 0, 0)
    assert "answered by a stand-in" in err
    assert "No group was formed and nothing was trained" in err
    assert "trained on" not in err


def test_a_backend_that_fails_on_the_platform_is_found_on_a_machine_without_it(
    root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (root / "train.py").write_text(TRAIN.replace("KIND", "open('kind.txt').read()"))
    (root / "kind.txt").write_text("nccl")
    code, document, err = run(capfd, torchrun(2), "rocm", "--steps", "0", "--record", str(tmp_path / "run.json"))
    assert code == 1, err
    assert seen(document) == [("train.py", 6, "nccl", "unknown-value")]
    assert document["groups"][0]["fails"]
    assert json.loads((tmp_path / "run.json").read_bytes())["run"]["simulated_ranks"] == 2


def test_a_backend_that_this_machine_has_forms_its_group_also_where_the_device_is_imitated(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (root / "train.py").write_text(TRAIN.replace("KIND", '"gloo" if torch.version.hip else "nccl"'))
    code, document, err = run(capfd, torchrun(2), "rocm", "--steps", "0")
    assert code == 0, err
    assert seen(document) == [("train.py", 6, "gloo", "agrees")]
    assert (document["simulated_ranks"], document["ranks"]) == (0, 2)
    assert "2 ranks formed a group" in err
    assert "trained on" not in err


def test_the_device_of_whichever_kind_and_a_backend_that_is_left_out_are_answered_for_too(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (root / "train.py").write_text(
        "import os\nimport torch\nimport torch.distributed as dist\n\nassert torch.accelerator.device_count() == 2\n"
        "device = torch.accelerator.current_accelerator()\ntorch.accelerator.set_device_index(int(os.environ['LOCAL_RANK']))\n"
        "print('on', device.type)\ndist.init_process_group()\nprint('trained')\n"
    )
    code, document, err = run(capfd, torchrun(2), "cuda", "--steps", "0")
    assert code == 0, err
    assert seen(document) == [("train.py", 9, None, "agrees")]
    assert document["simulated_ranks"] == 2
    assert "on cuda" in err
    assert "trained\n" not in err


def test_for_this_machine_itself_nothing_is_imitated(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = TRAIN.replace("torch.cuda.set_device", "assert not torch.cuda.is_available()\nprint")
    (root / "train.py").write_text(text.replace("KIND", "'gloo'"))
    code, document, err = run(capfd, torchrun(1), "cpu", "--steps", "0")
    assert (code, document["simulated_ranks"], document["ranks"]) == (0, 0, 1), err


def test_without_steps_nothing_is_imitated(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (root / "train.py").write_text("import torch\nimport torch.distributed as dist\n\nprint('cuda', torch.cuda.is_available())\n")
    code, document, err = run(capfd, "PYTHON train.py", "cuda")
    assert (code, document["groups"], document["exit_code"]) == (1, [], 0)
    assert "cuda False" in err
    assert "No process asked for a process group" in err


FORKS = """import os
import sys
import torch.distributed as dist

for rank in range(64):
    if not os.fork():
        dist.init_process_group("nccl", init_method="tcp://127.0.0.1:9", rank=rank, world_size=64)
        print("trained")
        sys.exit()
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
"""


def test_sixty_four_ranks_that_are_forked_are_all_on_record(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (root / "train.py").write_text(FORKS)
    code, document, err = run(capfd, "PYTHON train.py", "cuda", "--steps", "0")
    assert code == 0, err
    (group,) = document["groups"]
    assert sorted(map(int, group["ranks"])) == list(range(64))
    assert (document["simulated_ranks"], document["killed_processes"]) == (64, 0)
    assert "trained\n" not in err
    assert no_process_holds(root)


@pytest.mark.long
def test_sixty_four_ranks_that_form_one_group_are_all_on_record(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = FORKS.replace(
        '"nccl", init_method="tcp://127.0.0.1:9"', f'"gloo", init_method="tcp://127.0.0.1:{find_free_port()}?use_libuv=0"'
    )
    ends = text.replace(
        'print("trained")\n        sys.exit()', 'dist.barrier()\n        print("trained", flush=True)\n        os._exit(0)'
    )
    (root / "train.py").write_text(ends)  # what is forked beside torch's threads does not end in order
    started = time.monotonic()
    code, document, err = run(capfd, "PYTHON train.py", "cpu", "--timeout", "200")
    assert time.monotonic() - started < 240
    assert code == 0, err
    (group,) = document["groups"]
    assert (sorted(map(int, group["ranks"])), group["verdict"]) == (list(range(64)), "agrees")
    assert (document["ranks"], document["simulated_ranks"], document["killed_processes"]) == (64, 0, 0)
    assert err.count("trained") == 64
    assert no_process_holds(root)


def test_a_run_that_dies_says_by_what(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (root / "train.py").write_text(
        f"import os\nimport signal\nimport torch.distributed as dist\n\ndist.init_process_group('gloo', "
        f"init_method='tcp://127.0.0.1:{find_free_port()}?use_libuv=0', rank=0, world_size=1)\nos.kill(os.getpid(), signal.SIGSEGV)\n"
    )
    code, document, err = run(capfd, "PYTHON train.py", "cpu")
    assert (code, document["exit_code"], document["ranks"]) == (1, -11, 1)
    assert seen(document) == [("train.py", 5, "gloo", "agrees")]
    assert "The command was ended by SIGSEGV; 1 rank formed a group" in err


def test_a_run_that_hangs_before_its_group_is_ended_with_all_its_processes(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (root / "train.py").write_text(
        "import os\nimport subprocess\nimport sys\nimport threading\n\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        "if os.fork():\n    print('hanging', flush=True)\nthreading.Event().wait()\n"
    )
    started = time.monotonic()
    code, document, err = run(capfd, "PYTHON train.py", "cpu", "--steps", "0", "--timeout", "5")
    assert time.monotonic() - started < 90
    assert (code, document["exit_code"]) == (1, None)
    assert "hanging" in err
    assert "after 5 s: 0 ranks had formed a group" in err
    assert no_process_holds(root)


def test_what_a_command_leaves_running_is_ended_and_said(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (root / "train.py").write_text(
        "import os\nimport sys\nimport threading\n\nif os.fork():\n    sys.exit()\nos.setsid()\nif os.fork():\n    sys.exit()\n"
        "threading.Event().wait()\n"
    )
    started = time.monotonic()
    code, document, err = run(capfd, "PYTHON train.py", "cpu")
    assert time.monotonic() - started < 90
    assert (code, document["exit_code"], document["killed_processes"]) == (1, 0, 1)
    assert "Killed 1 process that still ran after the command" in err
    assert no_process_holds(root)


ALONE = """import os
import signal
import subprocess
import sys
import threading

code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
subprocess.Popen(
    [sys.executable, "-c", code], start_new_session=True, env={}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
)
"""
STAYS = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nopen('ready', 'w')\nthreading.Event().wait()\n"


def test_what_is_left_running_is_found_whatever_its_environment_and_session(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (root / "train.py").write_text(ALONE)
    code, document, err = run(capfd, "PYTHON train.py", "cpu")
    assert (code, document["exit_code"], document["killed_processes"]) == (1, 0, 1)
    assert "Killed 1 process that still ran after the command" in err
    assert no_process_holds(root)


def test_a_command_that_is_deaf_to_its_end_is_ended_in_time(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (root / "train.py").write_text(ALONE + STAYS)
    started = time.monotonic()
    code, document, _ = run(capfd, "PYTHON train.py", "cpu", "--timeout", "3")
    assert time.monotonic() - started < 90
    assert (code, document["exit_code"]) == (1, None)
    assert no_process_holds(root)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_whoever_ends_the_run_leaves_nothing_behind(root: Path, number: signal.Signals) -> None:
    (root / "train.py").write_text(ALONE + STAYS)
    own = [sys.executable, "-m", "ddp_codemod", "verify", "--platform", "cpu", "--run", f"{sys.executable} train.py"]
    with subprocess.Popen(own, cwd=root, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}) as verify:
        limit = time.monotonic() + 200
        while not (root / "ready").exists() and time.monotonic() < limit:
            time.sleep(0.1)
        assert (root / "ready").exists()
        verify.send_signal(number)
        verify.wait(60)
    assert no_process_holds(root)


PLACE = "RANK=0 WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 MASTER_PORT"


@pytest.mark.parametrize(
    "command",
    [
        f"sh -c '{PLACE}=PORT PYTHON train.py > out.log 2>&1'",
        "PYTHON -m torch.distributed.run --master_port=PORT --redirects 3 --log-dir logs train.py",
    ],
)
def test_a_launcher_that_redirects_what_is_said_hides_no_record(
    command: str, root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (root / "train.py").write_text(
        "import torch.distributed as dist\n\ndist.init_process_group('gloo', init_method='env://?use_libuv=0')\n"
    )
    code, document, err = run(capfd, command.replace("=PORT", f"={find_free_port()}"), "cpu")
    assert code == 0, err
    assert seen(document) == [("train.py", 3, "gloo", "agrees")]
    assert "group formed over gloo" in err
