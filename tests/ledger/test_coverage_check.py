"""The ledger: names that stand where a value can stand, as the command line tells of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ddp_codemod import plan
from ddp_codemod.cli import main

PROGRAM = 'import torch.distributed as dist\n\ndist.init_process_group("gloo")\n'


def project(folder: Path, **files: str) -> Path:
    (folder / "pyproject.toml").touch()
    for name, text in {"train_py": PROGRAM, **files}.items():
        (folder / name.replace("_", ".")).write_text(text, "utf-8")
    return folder


def left(folder: Path, platform: str = "rocm") -> list[tuple[str, int, str]]:
    return [(one.path, one.line, one.text) for one in plan(folder, platform=platform).uncovered]


def test_a_value_that_goes_to_code_which_is_not_read_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project(tmp_path, run_py='from fancy import Engine\n\nEngine(comm="nccl")\n')
    assert main(["check", str(tmp_path), "--platform", "rocm"]) == 0
    said = capsys.readouterr().err
    assert "1 backend name not traced to a process group" in said
    assert 'run.py:3: "nccl" is passed to Engine as comm' in said
    assert main(["check", str(tmp_path), "--platform", "rocm", "--strict"]) == 1
    assert main(["check", str(tmp_path), "--platform", "cuda", "--strict"]) == 0  # where nccl works nothing is wrong


@pytest.mark.parametrize(
    ("call", "named"),
    [
        ('load("fancy")("nccl")', 'load("fancy")'),
        ('getattr(fancy,\n    "start")(comm="nccl")', 'getattr(fancy, "start")'),
        ('STARTS[0]("nccl")', "STARTS[0]"),
        ('fancy.start("nccl")', "start"),
    ],
)
def test_a_function_without_a_name_is_named_as_it_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], call: str, named: str
) -> None:
    project(tmp_path, run_py=f"import fancy\nfrom fancy import STARTS, load\n\n{call}\n")
    main(["check", str(tmp_path), "--platform", "rocm"])
    assert f'"nccl" is passed to {named}' in " ".join(capsys.readouterr().err.split())


_PARSER = "import argparse\n\nparser = argparse.ArgumentParser()\nparser.add_argument('--comm-kind', default='nccl')\n"


@pytest.mark.parametrize(
    "text",
    [
        '"""\nnccl\n"""\n',
        'print("nccl")\n',
        'if backend == "nccl":\n    pass\n',
        'if backend in ("nccl", "hccl"):\n    pass\n',
        'NAMES = ["gloo", "nccl", "mpi"]\n',
        'SHORT = {"nccl": "n"}\n',
        'kind = TABLE["nccl"]\n',
        'raise ValueError("nccl")\n',
        'assert kind == "nccl"\n',
        'backend = "nccl"\nbackend = "gloo"\nprint(backend)\n',
        'def show(kind="nccl"):\n    print(f"{kind} is there")\n\n\nshow("nccl")\n',
        'def start(rank, backend="nccl"):\n    return rank\n\n\nstart(0, backend="nccl")\n',
        'BY_DEVICE = {"cuda": "gloo", "npu": "nccl"}\n',
        'import os\n\nif os.name == "nt":\n    choose("nccl")\n',
        'choose("nccl")  # ddp-codemod: ignore\n',
        'choose("nccl")  # ddp-codemod: ignore[unsupported-backend]\n',
        "from typing import Literal\n\nKind = Literal['nccl', 'gloo']\n",
        'choose(f"nccl {version}")\n',
        'if config.get("comm", "nccl") == "mpi":\n    pass\n',
        'import enum\n\n\nclass Kind(enum.Enum):\n    MPI = "mpi"\n    NCCL = "nccl"\n\n\nassert given is not Kind.NCCL\n',
        'import argparse\n\nimport mxnet\n\nargparse.ArgumentParser().add_argument("--store", default="nccl")\n',
        'PACKAGES = {"torch", "nccl", "triton"}\n',
        'prefixes = ("TORCH", "NCCL", "PYTORCH", "CUDA", "OMP_")\n',
        'class NcclTransport:\n    name = "nccl"\n',
        'from mine import Engines\n\n\n@Engines.register("nccl")\nclass Engine:\n    pass\n',
        'import os\n\nos.environ["HOROVOD_GPU_ALLREDUCE"] = "NCCL"\n',
        'from setuptools import Extension\n\nExtension("fast", ["fast.c"], libraries=["nccl"])\n',
        'import pytest\n\nKINDS = [pytest.param("nccl", id="gpu")]\n',
        'TABLE = {"rate": 16, "dist_config": {"dist_backend": "nccl"}}\nprint(TABLE["rate"])\n',
        _PARSER + "print(parser.parse_args().rate)\n",
        _PARSER + "import deepspeed\n\nargs = parser.parse_args()\ndeepspeed.initialize(args=args)\n",
        'from dataclasses import dataclass\n\nfrom coqpit import Coqpit\n\n\n@dataclass\nclass Config(Coqpit):\n    comm: str = "nccl"\n',
    ],
)
def test_a_name_that_is_no_value_of_a_group_is_not(tmp_path: Path, text: str) -> None:
    assert left(project(tmp_path, run_py=text)) == []


@pytest.mark.parametrize(
    "text",
    [
        'import mylib\n\nfor backend in ["nccl", "gloo"]:\n    mylib.start(backend)\n',
        'import mylib\n\nmylib.start(getattr(args, "dist_backend", "nccl"))\n',
        'import mylib\n\nassert mylib.start("nccl") != 0\n',
        'import mylib\n\nconfig = {"trainer": {"process_group_backend": "nccl"}}\nmylib.Trainer(**config["trainer"])\n',
        'import mylib\n\nTABLE = {"dist_config": {"dist_backend": "nccl"}}\nmylib.Trainer(**TABLE)\n',
        'import mylib\n\nTABLE = {"rate": 16, "dist_config": {"dist_backend": "nccl"}}\nmylib.start(**TABLE["dist_config"])\n',
        'import os\n\nos.environ["MY_COMM"] = "nccl"\n',
        'import mylib\n\nmylib.start(["auto", "nccl", 8])\n',
        'import mylib\n\n\nclass Transport:\n    name = "nccl"\n',
        'import mylib\n\n\n@mylib.launch("nccl")\ndef train():\n    pass\n',
        _PARSER + "import mylib\n\nmylib.start(parser.parse_args().comm_kind)\n",
        _PARSER + "import mylib\n\nargs = parser.parse_args()\nmylib.start(args)\n",
        _PARSER + "import mylib\n\noptions = parser.parse_args()\nmylib.start(**vars(options))\n",
        'import dataclasses\n\nmine = dataclasses.replace(theirs, dist_backend="nccl")\n',
        'import mylib\n\n\ndef start(backend="nccl"):\n    mylib.start(**locals())\n',
        'def info(backend):\n    import mylib\n\n    mylib.start(backend)\n\n\ninfo("nccl")\n',
        'import mylib\n\nassert mylib.start(config.get("comm", "nccl")) != 0\n',
        'import enum\n\nimport mylib\n\n\nclass Kind(enum.Enum):\n    MPI = "mpi"\n    NCCL = "nccl"\n\n\nmylib.start(Kind.NCCL)\n',
        'import tensorflow\nimport torch\n\nparams = tensorflow.HParams(comm="nccl")\n',
        'from dataclasses import dataclass\n\nfrom mylib import Config\n\n\n@dataclass\nclass Mine(Config):\n    comm: str = "nccl"\n',
        'from dataclasses import dataclass\n\n\n@dataclass\nclass Mine:\n    comm: str = "nccl"\n\n\ndef start(mine):\n    run(mine.comm)\n',
    ],
)
def test_a_value_that_only_looks_harmless_is_listed(tmp_path: Path, text: str) -> None:
    assert len(left(project(tmp_path, run_py=text))) == 1


def test_parameters_that_nobody_reads_account_for_their_key(tmp_path: Path) -> None:
    settings = json.dumps({"dist": {"comm": "nccl", "url": "x"}})
    read = "import json\n\nfrom start import start\n\nstart(**json.load(open('a.json'))['dist'])\n"
    for number, (body, wanted) in enumerate(
        [("print(url)", []), ("print(comm, url)", []), ("mylib.start(comm)", ["a.json"]), ("mylib.start(**locals())", ["a.json"])]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        start = f"import mylib\n\n\ndef start(comm, url):\n    {body}\n"
        assert [path for path, _, _ in left(project(folder, a_json=settings, run_py=read, start_py=start))] == wanted


def test_what_a_file_of_another_framework_holds_is_listed_where_torch_may_get_it(tmp_path: Path) -> None:
    params = 'import tensorflow\n\n\ndef create():\n    return tensorflow.HParams(comm="nccl")\n'
    run = "import torch\n\nimport mylib\nfrom hparams import create\n\nmylib.start(create())\n"
    assert [path for path, _, _ in left(project(tmp_path, hparams_py=params, run_py=run))] == ["hparams.py"]


def test_settings_that_lie_with_tests_are_the_tests_own(tmp_path: Path) -> None:
    for folder in ("tests/cases", "tested"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "model.yaml").write_text("args:\n  --distributed-backend: nccl\n")
    (tmp_path / "test_flip.yaml").write_text("comm: nccl\n")
    assert [path for path, _, _ in left(project(tmp_path))] == ["test_flip.yaml", "tested/model.yaml"]


def test_each_kind_of_file_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("backend: nccl\n")
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": ['start(comm="nccl")\n']}]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    found = left(
        project(
            tmp_path,
            a_yaml="engine:\n  comm: nccl\nneeds:\n  - torch\n  - nccl\n",
            b_sh="other-trainer --comm nccl\n# --comm nccl\n",
            c_toml='[engine]\ncomm = "NCCL"\n',
            d_ipynb=json.dumps(notebook, indent=1),
            e_yaml="comm: cpu:gloo,cuda:nccl\n",
            Dockerfile="FROM scratch\nENV COMM=nccl\n",
        )
    )
    assert [(path, text) for path, _, text in found] == [
        ("Dockerfile", "nccl"),
        ("a.yaml", "nccl"),
        ("b.sh", "nccl"),
        ("c.toml", "NCCL"),
        ("d.ipynb", "nccl"),
        ("e.yaml", "cpu:gloo,cuda:nccl"),
    ]
    assert [line for _, line, _ in found[:3]] == [2, 2, 1]


def test_nothing_to_change_is_not_said_while_a_name_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "run.py").write_text('from fancy import Engine\n\nEngine(comm="nccl")\n')
    main(["apply", str(tmp_path), "--platform", "rocm"])
    said = capsys.readouterr()
    assert "no code was found" not in said.out + said.err
    assert "Left to do by hand" in said.out + said.err


def test_names_of_one_reason_stand_below_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = "".join(f'Engine(comm="nccl", size={size})\n' for size in range(6))
    project(tmp_path, run_py=f"from fancy import Engine\n\n{calls}")
    main(["check", str(tmp_path), "--platform", "rocm"])
    lines = capsys.readouterr().err.splitlines()
    (reason,) = [number for number, line in enumerate(lines) if "passed to Engine" in line]
    assert lines[reason + 1].endswith("run.py:3, 4, 5, 6, 7, 8")


@pytest.mark.parametrize("form", ["json", "sarif", "github", "rdjson"])
def test_every_format_holds_it(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], form: str) -> None:
    project(tmp_path, run_py='from fancy import Engine\n\nEngine(comm="nccl")\n')
    main(["check", str(tmp_path), "--platform", "rocm", "--format", form])
    said = capsysbinary.readouterr().out.decode()
    assert "uncovered" in said
    assert "is passed to Engine as comm" in said.replace('\\"', '"')


def test_a_line_that_is_listed_can_be_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = project(tmp_path, run_py='from fancy import Engine\n\nEngine(comm="nccl")\n') / "run.py"
    assert main(["explain", f"{run}:3", "--platform", "rocm"]) == 0
    assert "is passed to Engine as comm" in capsys.readouterr().out


def test_rules_of_the_project_s_own_ask_for_no_backend(tmp_path: Path) -> None:
    folder = project(tmp_path, other_toml='[engine]\ncomm = "nccl"\n')
    (folder / "pyproject.toml").write_text('[tool.ddp-codemod]\nrule-folders = ["tools/rules"]\n')
    (folder / "tools/rules").mkdir(parents=True)
    (folder / "tools/rules/backends.toml").write_text(
        '[[backend]]\nname = "nccl"\ndevices = ["cuda"]\nenum = true\nsource = ["https://example.org/nccl"]\n'
    )
    assert [path for path, _, _ in left(folder)] == ["other.toml"]


@pytest.mark.parametrize(("name", "text"), [("run.sh", "other-trainer --comm nccl\n"), ("a.yaml", "engine:\n  comm: nccl\n")])
def test_a_name_is_listed_where_no_program_speaks_of_any(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.py").write_text("print('hello')\n")
    (tmp_path / name).write_text(text)
    assert [path for path, _, _ in left(tmp_path)] == [name]


NATIVE = """#include <nccl.h>
// ncclCommInitRank(&comm, size, id, rank);
/* ncclCommInitRank(&comm, size, id, rank); */
const char *url = "https://example.org"; ncclResult_t ncclCommInitRank(ncclComm_t *comm, int size, ncclUniqueId id, int rank);
void start() { NCCLCHECK(ncclCommInitRank(&comm, size, id, rank)); }
void again() { NCCLCHECK(ncclCommInitRank(&comm, size, id, rank)); }
"""


@pytest.mark.parametrize(
    ("name", "text", "line", "maker"),
    [
        ("comm.cu", NATIVE, 5, "ncclCommInitRank"),
        ("comm.cpp", 'auto init = dlsym(handle, "ncclCommInitAll");\n', 1, "ncclCommInitAll"),
        ("comm.py", "from mylib import C\n\nC.ncclCommInitRank(0, 2, 0)\n", 3, "ncclCommInitRank"),
        ("comm.py", 'import ctypes\n\nstart = ctypes.CDLL("libnccl.so.2")["ncclCommInitRank"]\n', 3, "ncclCommInitRank"),
        (
            "comm.py",
            "from cupy.cuda.nccl import NcclCommunicator\n\nNcclCommunicator(2, i, 0)\n",
            3,
            "cupy.cuda.nccl.NcclCommunicator",
        ),
    ],
)
def test_a_group_that_is_made_past_torch_is_listed_once_a_file(
    tmp_path: Path, name: str, text: str, line: int, maker: str
) -> None:
    for folder in ("alone", "beside"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text, "utf-8")
    (tmp_path / "beside" / "train.py").write_text(PROGRAM, "utf-8")
    assert left(tmp_path / "alone") == left(tmp_path / "beside") == [(name, line, maker)]
    assert left(tmp_path / "beside", "cuda") == left(tmp_path / "beside", "rocm-rccl") == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("comm.h", "ncclResult_t ncclCommInitRank(ncclComm_t *comm, int size, ncclUniqueId id, int rank);\n"),
        ("comm.cpp", "// ncclCommInitRank(&comm);\nint myncclCommInitRank = 0;\n"),
        ("tests/comm.cpp", NATIVE),
        ("tests/test_comm.py", "C.ncclCommInitRank(0, 2, 0)\n"),
        ("comm.py", '"""ncclCommInitRank"""\n\n# C.ncclCommInitRank(0)\nNAMES = ["ncclCommInitRank"]\n'),
        ("comm.h", "class Comm { NcclCommunicator(int size); };\n"),
        ("comm.py", "class NcclCommunicator:\n    pass\n\n\nNcclCommunicator()\n"),
        ("comm.py", "C.ncclCommInitRank(0, 2, 0)  # ddp-codemod: ignore\n"),
        ("comm.py", 'import os\n\nif os.name == "nt":\n    C.ncclCommInitRank(0, 2, 0)\n'),
        ("notes.txt", NATIVE),
    ],
)
def test_what_makes_no_group_past_torch_is_not_listed(tmp_path: Path, name: str, text: str) -> None:
    project(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text, "utf-8")
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    "text",
    [
        'import os\n\nos.system("torchrun train.py --dist-backend nccl")\n',
        'import os\n\nfor seed in (1, 2):\n    os.system(f"torchrun train.py --dist-backend nccl --seed {seed}")\n',
        "import subprocess\n\n\nsubprocess.run(\"python -m pkg.train --dist_backend='nccl' --lr 1\".split())\n",
    ],
)
def test_a_command_in_a_text_is_listed(tmp_path: Path, text: str) -> None:
    project(tmp_path, run_py=text)
    assert [(name, found) for name, _, found in left(tmp_path)] == [("run.py", "nccl")]
    assert left(tmp_path, "cuda") == []


@pytest.mark.parametrize(
    "text",
    [
        '"""\npython train.py --dist-backend nccl\n"""\n',
        'print("python train.py --dist-backend nccl")\n',
        'import argparse\n\nargparse.ArgumentParser(usage="python train.py --dist-backend nccl")\n',
        'raise ValueError("call python train.py --dist-backend nccl")\n',
        'run("python train.py --dist-backend gloo --note nccl-free")\n',
        'run("python train.py --dist-backend nccl")  # ddp-codemod: ignore\n',
        'run("use --dist-backend nccl")\n',
    ],
)
def test_a_text_that_is_no_command_is_not_listed(tmp_path: Path, text: str) -> None:
    project(tmp_path, run_py=text)
    assert left(tmp_path) == []


def test_an_option_that_no_program_reads_accounts_for_what_launch_files_pass(tmp_path: Path) -> None:
    project(tmp_path, run_sh="python run.py --comm-kind nccl\n", run_py=_PARSER + "print(parser.parse_args())\n")
    assert left(tmp_path) == []


def test_an_option_that_a_library_may_read_does_not(tmp_path: Path) -> None:
    project(
        tmp_path,
        run_sh="python run.py --comm-kind nccl\n",
        run_py=_PARSER + "import mylib\n\nargs = parser.parse_args()\nmylib.go(args)\n",
    )
    assert left(tmp_path) == [("run.py", 4, "nccl"), ("run.sh", 1, "nccl")]


def test_what_a_library_is_built_with_is_told_at_its_calls(tmp_path: Path) -> None:
    project(tmp_path, run_sh="HOROVOD_GPU_ALLREDUCE=NCCL pip install horovod\nexport MINE=nccl\npython train.py\n")
    assert left(tmp_path) == [("run.sh", 2, "nccl")]


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("start(**config.model)\n", []),
        ("start(**{'rate': config.rate})\n", []),
        ("start(**config.dist_config)\n", ["nccl"]),
        ("start(**config)\n", ["nccl"]),
    ],
)
def test_a_table_of_json_is_listed_where_a_library_may_be_handed_it(tmp_path: Path, text: str, listed: list[str]) -> None:
    reading = "import json\n\nfrom theirs import start\n\nfrom mine import Table\n\n"
    (tmp_path / "a.json").write_text('{"rate": 16, "dist_config": {"comm_kind": "nccl"}}', "utf-8")
    project(tmp_path, run_py=reading + 'config = Table(json.load(open("a.json")))\n' + text)
    assert [found for _, _, found in left(tmp_path)] == listed


_TRAINER = "trainer:\n  gpus: 8\n  strategy: ddp\n"


@pytest.mark.parametrize(
    ("program", "settings", "listed"),
    [
        ("import pytorch_lightning as pl\nfrom recipes import App\n\nApp(pl.Callback).run()\n", _TRAINER, ["ddp"]),
        ("import torch\nfrom recipes import App\n\nApp().run()\n", _TRAINER, []),  # nothing speaks of Lightning
        ("import pytorch_lightning as pl\nfrom recipes import App\n\nApp(pl.Callback).run()\n", "strategy: ddp\n", []),
        ("import pytorch_lightning as pl\nfrom recipes import App\n\nApp(pl.Callback).run()\n", "gpus: 2\nstrategy: dp\n", []),
        (
            "import pytorch_lightning as pl\nfrom recipes import read\n\npl.Trainer(**read().trainer)\n",
            _TRAINER,
            [],
        ),  # an item there
    ],
)
def test_a_strategy_in_a_file_that_no_program_takes_is_listed(
    tmp_path: Path, program: str, settings: str, listed: list[str]
) -> None:
    (tmp_path / "a.yaml").write_text(settings, "utf-8")
    assert [text for _, _, text in left(project(tmp_path, run_py=program))] == listed
    assert left(tmp_path, "cuda") == []


@pytest.mark.parametrize(
    "line",
    [
        "CLASSES = {'fast': dist.ProcessGroupNCCL}",
        "def pick(name):\n    return dist.ProcessGroupNCCL if name == 'fast' else dist.ProcessGroupGloo",
        "make = dist.ProcessGroupNCCL",
        "import fancy\nfancy.start(cls=dist.ProcessGroupNCCL)",
    ],
)
def test_a_class_that_is_the_backend_is_listed_where_it_is_kept(tmp_path: Path, line: str) -> None:
    project(tmp_path, run_py=f"import torch.distributed as dist\n\n{line}\n")
    assert [(path, text) for path, _, text in left(tmp_path)] == [("run.py", "ProcessGroupNCCL")]
    assert left(tmp_path, "cuda") == []


@pytest.mark.parametrize(
    "line",
    [
        "print(isinstance(dist.group.WORLD, dist.ProcessGroupNCCL))",
        "def show(group: dist.ProcessGroupNCCL) -> None: ...",
        "group: dist.ProcessGroupNCCL | None = None",
        "options = dist.ProcessGroupNCCL.Options",
        "make = dist.ProcessGroupGloo",
        "class ProcessGroupNCCL: ...\nmake = ProcessGroupNCCL",
    ],
)
def test_a_class_that_is_asked_about_or_a_type_is_not_listed(tmp_path: Path, line: str) -> None:
    assert left(project(tmp_path, run_py=f"import torch.distributed as dist\n\n{line}\n")) == []


def test_a_library_that_a_manifest_links_is_no_value(tmp_path: Path) -> None:
    (project(tmp_path) / "Cargo.toml").write_text('[package]\nname = "nccl-sys"\nlinks = "nccl"\n', "utf-8")
    assert left(tmp_path) == []
