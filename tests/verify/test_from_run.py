"""``apply --from-run``: projects in which reading misses a group on purpose, each found by a run, located, and cured."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec import Struct

from ddp_codemod.cli import main
from ddp_codemod.machine.processes import find_free_port
from ddp_codemod.report.trials import SCHEMA

ALONE = "init_method='tcp://127.0.0.1:{port}?use_libuv=0', rank=0, world_size=1"
INIT = "init_" + "process_group"


class Missed(Struct, frozen=True):
    """A project whose group reading does not have: its files, where the run finds the call, and where the cure stands."""

    files: dict[str, str]
    at: str
    cure: str  # the file that changes
    text: str  # what stands there then
    seen: str = "not-found"
    library: str = ""  # of a package beside the project, called ``starters``


def mostly_long(projects: Iterable[str]) -> list[Any]:
    """The first three; the others, which start real processes just so, are tried by ``make long``."""
    return [name if at < 2 else pytest.param(name, marks=pytest.mark.long) for at, name in enumerate(projects)]


def plugin(root: Path) -> None:
    (root / "plugins.json").write_text(json.dumps({"start": ["torch.distributed", INIT]}))


def database(root: Path) -> None:
    with sqlite3.connect(root / "run.db") as table:
        table.execute("create table run (call text, backend text)")
        table.execute("insert into run values (?, ?)", (INIT, "nccl"))


MISSED = {
    "a dynamic import": Missed(
        {
            "train.py": "import importlib\nimport json\n\nmodule, name = json.load(open('plugins.json'))['start']\n"
            "start = getattr(importlib.import_module(module), name)\nstart('nccl', ALONE)\n"
        },
        "train.py:6",
        "train.py",
        "start('gloo', ",
    ),
    "a text that is executed": Missed(
        {
            "train.py": "import torch.distributed as dist\n\nalone = dict(ALONE)\n"
            "CODE = 'dist.init_' + 'process_group(\"nccl\", **alone)'\nexec(CODE)\n",
        },
        "train.py:5",
        "train.py",
        """'process_group("gloo", **alone)'""",
    ),
    "a plug-in that is loaded by name": Missed(
        {
            "train.py": "import importlib\nimport json\n\nname = open('plugin.txt').read()\n"
            "importlib.import_module(name).begin(*json.load(open('plugins.json'))['start'])\n",
            "plugin.txt": "extras.starter",
            "extras/__init__.py": "",
            "extras/starter.py": "import importlib\n\n\ndef begin(module, name, kind='nccl'):\n"
            "    start = getattr(importlib.import_module(module), name)\n    return start(kind, ALONE)\n",
        },
        "extras/starter.py:6",
        "extras/starter.py",
        'start("gloo" if kind == "nccl" else kind, ',
    ),
    "a call and a value from a database": Missed(
        {
            "train.py": "import sqlite3\nimport torch.distributed as dist\n\n"
            "call, backend = sqlite3.connect('run.db').execute('select call, backend from run').fetchone()\n"
            "vars(dist)[call](backend=backend, ALONE)\n"
        },
        "train.py:5",
        "train.py",
        'backend="gloo" if backend == "nccl" else backend',
    ),
    "a monkeypatch": Missed(
        {
            "patch.py": "import importlib\n\nmodule = importlib.import_module('torch.distri' + 'buted')\n"
            "for name, real in list(vars(module).items()):\n    if name.startswith('init_p'):\n"
            "        def other(*words, real=real, **named):\n            return real('nc' + words[0][2:] + 'cl', **named)\n\n"
            "        setattr(module, name, other)\n",
            "train.py": "import patch\nimport torch.distributed as dist\n\ndist.init_process_group('xx', ALONE)\n",
        },
        "patch.py:7",
        "patch.py",
        "real('gloo' if (backend := 'nc' + words[0][2:] + 'cl') == 'nccl' else backend, **named)",
    ),
    "a monkeypatch that hands all on": Missed(
        {
            "patch.py": "import importlib\n\nmodule = importlib.import_module('torch.distri' + 'buted')\n"
            "for name, real in list(vars(module).items()):\n    if name.startswith('init_p'):\n"
            "        def other(*words, real=real, **named):\n            named['backend'] = 'nccl'.strip()\n"
            "            return real(**named)\n\n        setattr(module, name, other)\n",
            "train.py": "import patch\nimport torch.distributed as dist\n\ndist.init_process_group('gloo', ALONE)\n",
        },
        "patch.py:8",
        "patch.py",
        'real(**{key: "gloo" if key == "backend" and value == "nccl" else value for key, value in named.items()})',
    ),
    "an argument of an unknown library": Missed(
        {"train.py": "import starters\n\nstarters.begin(2, kind='nccl')\n"},
        "train.py:3",
        "train.py",
        "starters.begin(2, kind='gloo')",
        library="import torch.distributed as dist\n\n\ndef begin(many, kind):\n    dist.init_process_group(kind, ALONE)\n",
    ),
    "a value that an unknown library is handed": Missed(
        {"train.py": "import json\nimport starters\n\nkind = json.load(open('options.json'))[0]\nstarters.Trainer().fit(kind)\n",
         "options.json": '["nccl"]'},
        "train.py:5",
        "train.py",
        'starters.Trainer().fit("gloo" if kind == "nccl" else kind)',
        library="import torch.distributed as dist\n\n\nclass Trainer:\n    def fit(self, kind):\n"
        "        dist.init_process_group(kind, ALONE)\n",
    ),
    "an option that an unknown library keeps": Missed(
        {"train.py": "import starters\n\ntrainer = starters.Trainer(options={'collectives': 'nccl'})\nprint('made')\ntrainer.fit()\n"},
        "train.py:5",
        "train.py",
        "{'collectives': 'gloo'}",
        library="import torch.distributed as dist\n\n\nclass Trainer:\n    def __init__(self, options):\n        self.options = options\n\n"
        "    def fit(self):\n        dist.init_process_group(self.options['collectives'], ALONE)\n",
    ),
    "a file that is executed": Missed(
        {
            "train.py": "import torch.distributed as dist\n\nalone = dict(ALONE)\nspace = {'dist': dist, 'alone': alone}\n"
            "exec(open('start.txt').read(), space)\n",
            "start.txt": f"# starts\ndist.{INIT}('nccl', **alone)\n",
        },
        "train.py:5",
        "start.txt",
        "('gloo', **alone)",
    ),
}  # fmt: skip


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def write(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Missed], None]:
    def write(project: Missed) -> None:
        plugin(root)
        database(root)
        alone = ALONE.replace("{port}", str(find_free_port()))
        for name, text in project.files.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text.replace("ALONE", alone), encoding="utf-8")
        if project.library:
            (tmp_path / "libraries" / "starters").mkdir(parents=True)
            (tmp_path / "libraries" / "starters" / "__init__.py").write_text(project.library.replace("ALONE", alone))
            monkeypatch.setenv("PYTHONPATH", str(tmp_path / "libraries"))

    return write


def run(capfd: pytest.CaptureFixture[str], *words: str, record: Path | None = None) -> tuple[int, dict[str, Any], str]:
    capfd.readouterr()
    more = ["--record", str(record)] if record else []
    own = ["verify", "--platform", "cpu", "--run", f"{sys.executable} train.py", "--format", "json", "--timeout", "120"]
    code = main([*own, *more, *words])
    out, err = capfd.readouterr()
    document = json.loads(out)
    jsonschema.validate(document, json.loads(SCHEMA.read_text("utf-8")))
    if record is not None:
        assert json.loads(record.read_bytes()) == document
    return code, document["run"], err


def called(capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capfd.readouterr()
    return main([*words, "--platform", "cpu"]), *capfd.readouterr()


@pytest.mark.parametrize("name", mostly_long(MISSED))
def test_what_reading_missed_is_found_located_and_cured(
    name: str, root: Path, write: Callable[[Missed], None], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    project = MISSED[name]
    write(project)
    record = tmp_path / "run.json"
    code, document, err = run(capfd, record=record)
    assert code == 1, err
    (group,) = [one for one in document["groups"] if one["call"] == INIT]
    frame = group["stack"][0]
    assert (f"{frame['path']}:{frame['line']}", group["verdict"], group["fails"]) == (project.at, project.seen, True)
    before = (root / project.cure).read_text("utf-8")
    assert project.text not in before
    code, out, err = called(capfd, "apply", ".", "--from-run", str(record))
    assert (root / project.cure).read_text("utf-8") == before, "only unsafe ones mend it"
    code, out, err = called(capfd, "apply", ".", "--from-run", str(record), "--unsafe")
    assert project.text in (root / project.cure).read_text("utf-8"), out + err
    code, document, err = run(capfd)
    assert [(one["backend"], one["fails"]) for one in document["groups"]] == [("gloo", False)], err
    assert (document["exit_code"], document["ranks"]) == (0, 1), err


RIGHT = {
    "an argument through functions": {
        "train.py": "from group import setup\n\n\ndef main(kind='gloo'):\n    setup(0, kind)\n\n\nmain()\n",
        "group.py": "import torch.distributed as dist\n\n\ndef setup(rank, kind):\n    dist.init_process_group(kind, ALONE)\n",
    },
    "an option with a default": {
        "train.py": "import argparse\nimport torch.distributed as dist\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--backend', default='gloo')\ndist.init_process_group(parser.parse_args().backend, ALONE)\n",
    },
    "a mapping that is unpacked": {
        "train.py": "import torch.distributed as dist\n\noptions = {'backend': 'gloo'}\ndist.init_process_group(**options, ALONE)\n",
    },
    "an attribute of an object, and further groups": {
        "train.py": "import torch.distributed as dist\n\n\nclass Settings:\n    backend = 'gloo'\n\n\n"
        "dist.init_process_group(Settings().backend, ALONE)\nfor _ in range(3):\n    dist.new_group([0], backend='gloo')\n",
    },
    "a branch by the machine": {
        "train.py": "import torch\nimport torch.distributed as dist\n\n"
        "dist.init_process_group('nccl' if torch.cuda.is_available() else 'gloo', ALONE)\n",
    },
}


@pytest.mark.parametrize("name", mostly_long(RIGHT))
def test_of_a_project_that_is_right_no_miss_is_claimed_and_nothing_more_is_changed(
    name: str, root: Path, write: Callable[[Missed], None], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(Missed(RIGHT[name], "", "", ""))
    record = tmp_path / "run.json"
    code, document, err = run(capfd, record=record)
    assert (code, document["exit_code"]) == (0, 0), err
    assert {one["verdict"] for one in document["groups"]} == {"agrees"}
    plain = called(capfd, "diff", ".", "--unsafe")[:2]
    assert called(capfd, "diff", ".", "--from-run", str(record), "--unsafe")[:2] == plain


LIBRARY = (
    "import torch.distributed as dist\n\n\ndef begin(*words):\n    dist.init_process_group(open('kind.txt').read(), ALONE)\n"
)
OPEN = {
    "a library that has its value from elsewhere": Missed(
        {"train.py": "import starters\n\nstarters.begin()\n", "kind.txt": "nccl"},
        "train.py:3", "", "and no line of the project certainly sets it", library=LIBRARY,
    ),
    "a library, and two names that may come to it": Missed(
        {"train.py": "import starters\n\nONE, OTHER = {'a': 'nccl'}, {'b': 'nccl'}\nstarters.begin(ONE, OTHER)\n", "kind.txt": "nccl"},
        "train.py:4", "", "and no line of the project certainly sets it", library=LIBRARY,
    ),
    "a text that is read from somewhere": Missed(
        {"train.py": "import json\nimport torch.distributed as dist\n\nalone = dict(ALONE)\n"
         "exec('dist.%s(%r, **alone)' % tuple(json.load(open('words.json'))))\n", "words.json": json.dumps([INIT, "nccl"])},
        "train.py:5", "", "write gloo in that string",
    ),
    "a call that binds the backend beforehand": Missed(
        {"train.py": "import functools\nimport importlib\nimport json\n\nmodule, name = json.load(open('plugins.json'))['start']\n"
         "start = functools.partial(getattr(importlib.import_module(module), name), 'NCCL'.lower())\nstart(ALONE)\n"},
        "train.py:7", "", "the call does not pass the backend itself",
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", ["later", "at_once"])
def test_what_reading_has_of_a_library_is_not_put_in_question(
    text: str,
    root: Path,
    tmp_path: Path,
    write: Callable[[Missed], None],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    write(
        Missed({"train.py": f"import deepspeed\n\ndeepspeed.init_distributed('nccl', {text!r})\ndeepspeed.later()\n"}, "", "", "")
    )
    (tmp_path / "libraries" / "deepspeed").mkdir(parents=True)
    (tmp_path / "libraries" / "deepspeed" / "__init__.py").write_text(
        "import torch.distributed as dist\n\n\ndef init_distributed(dist_backend, when):\n"
        "    global chosen\n    chosen = dist_backend + ''\n    if when == 'at_once':\n        later()\n\n\n"
        "def later():\n    dist.init_process_group(chosen, init_method='tcp://127.0.0.1:9', rank=0, world_size=1)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "libraries"))
    record = tmp_path / "run.json"
    _, document, err = run(capfd, record=record)
    assert [one["fails"] for one in document["groups"]] == [True], err
    plain = called(capfd, "diff", ".", "--unsafe")[:2]
    assert '"gloo"' in plain[1] or "'gloo'" in plain[1]
    code, out, err = called(capfd, "diff", ".", "--from-run", str(record), "--unsafe")
    assert (code, out) == plain
    assert "in a run" not in err


def test_settings_that_a_library_reads_are_not_put_in_question(
    root: Path,
    tmp_path: Path,
    write: Callable[[Missed], None],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    config = "env_cfg = dict(cudnn_benchmark=False, dist_cfg=dict(backend='nccl'))\n"
    train = "from mmengine.runner import Runner\n\nRunner.from_cfg('configs/a.py').train()\n"
    write(Missed({"train.py": train, "configs/a.py": config, "configs/b.py": config}, "", "", ""))
    (tmp_path / "libraries" / "mmengine" / "runner").mkdir(parents=True)
    (tmp_path / "libraries" / "mmengine" / "__init__.py").touch()
    (tmp_path / "libraries" / "mmengine" / "runner" / "__init__.py").write_text(
        "import runpy\nimport torch.distributed as dist\n\n\nclass Runner:\n    @classmethod\n    def from_cfg(cls, name):\n"
        "        dist.init_process_group(**runpy.run_path(name)['env_cfg']['dist_cfg'], "
        f"init_method='tcp://127.0.0.1:{find_free_port()}?use_libuv=0', rank=0, world_size=1)\n        return cls()\n\n"
        "    def train(self):\n        print('trained')\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "libraries"))
    record = tmp_path / "run.json"
    _, document, err = run(capfd, record=record)
    assert [(one["verdict"], one["fails"]) for one in document["groups"]] == [("agrees", True)], err
    plain = called(capfd, "diff", ".", "--unsafe")[:2]
    assert plain[1].count("+env_cfg") == 2
    code, out, err = called(capfd, "diff", ".", "--from-run", str(record), "--unsafe")
    assert (code, out) == plain
    assert "in a run" not in err
    called(capfd, "apply", ".", "--unsafe")
    code, document, err = run(capfd)
    assert (code, document["exit_code"]) == (0, 0), err
    assert [(one["verdict"], one["backend"], one["fails"]) for one in document["groups"]] == [("agrees", "gloo", False)]
    assert document["groups"][0]["site"] is None, "one of two files"
    assert main(["verify", "--platform", "cpu", "--run", f"{sys.executable} train.py"]) == 0
    assert "set by one of 2 config entries, such as configs/a.py:1" in capfd.readouterr().out
    (root / "configs" / "b.py").unlink()
    assert run(capfd)[1]["groups"][0]["site"]["path"] == "configs/a.py"
    (root / "train.py").write_text(train.replace("configs/a.py", "../other.py"))
    (tmp_path / "other.py").write_text(config.replace("nccl", "cpu:gloo"))
    assert [one["verdict"] for one in run(capfd)[1]["groups"]] == ["undecided"], "no settings of the project hold that"


def test_an_edit_of_what_asks_torch_for_its_backend_is_enough(
    root: Path, write: Callable[[Missed], None], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = (
        "import torch\nimport torch.distributed as dist\n\nbackend = dist.get_default_backend_for_device('cuda')\n"
        "dist.init_process_group(backend, ALONE)\n"
    )
    write(Missed({"train.py": text}, "", "", ""))
    record = tmp_path / "run.json"
    capfd.readouterr()
    rocm = ("--platform", "rocm")
    main(["verify", *rocm, "--run", f"{sys.executable} train.py", "--steps", "0", "--timeout", "120", "--record", str(record)])
    document = json.loads(record.read_bytes())["run"]
    assert [(one["backend"], one["verdict"], one["fails"]) for one in document["groups"]] == [("nccl", "agrees", True)]
    capfd.readouterr()
    main(["diff", ".", *rocm, "--unsafe"])
    plain = capfd.readouterr().out
    assert '+backend = "gloo"' in plain or "+backend = 'gloo'" in plain
    main(["diff", ".", *rocm, "--unsafe", "--from-run", str(record)])
    assert capfd.readouterr().out == plain


@pytest.mark.parametrize("name", OPEN)
def test_where_no_edit_is_possible_an_item_says_why(
    name: str, root: Path, write: Callable[[Missed], None], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    project = OPEN[name]
    write(project)
    record = tmp_path / "run.json"
    code, _, err = run(capfd, record=record)
    assert code == 1, err
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    _, out, _ = called(capfd, "apply", ".", "--from-run", str(record), "--unsafe")
    assert f"{project.at}: torch.init_process_group(backend): " in out
    assert project.text in out
    assert {path: path.read_bytes() for path in before} == before
    assert called(capfd, "apply", ".", "--from-run", str(record), "--unsafe", "--strict")[0] == 1


def test_what_the_project_spares_is_spared(
    root: Path, write: Callable[[Missed], None], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    project = MISSED["a dynamic import"]
    text = project.files["train.py"].replace("ALONE)\n", "ALONE)  # ddp-codemod: ignore\n")
    write(Missed({"train.py": text}, "", "", ""))
    record = tmp_path / "run.json"
    run(capfd, record=record)
    assert called(capfd, "apply", ".", "--from-run", str(record), "--unsafe")[0] == 0
    assert "'nccl'" in (root / "train.py").read_text("utf-8")


def test_two_calls_on_one_line_are_told_apart(
    root: Path, write: Callable[[Missed], None], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = (
        "import importlib\nimport json\n\nmodule, name = json.load(open('plugins.json'))['start']\n"
        "start = getattr(importlib.import_module(module), name)\nprint('nccl'); start('nccl', ALONE); print('nccl')\n"
    )
    write(Missed({"train.py": text}, "", "", ""))
    record = tmp_path / "run.json"
    run(capfd, record=record)
    document = json.loads(record.read_bytes())
    if sys.version_info < (3, 11):
        assert document["run"]["groups"][0]["span"] is None
    _, out, _ = called(capfd, "apply", ".", "--from-run", str(record), "--unsafe")
    assert "print('nccl'); start('gloo'," in (root / "train.py").read_text("utf-8"), out
    assert (root / "train.py").read_text("utf-8").endswith("print('nccl')\n")


@pytest.mark.parametrize("command", ["apply", "diff", "check"])
def test_a_record_of_other_files_is_refused(
    command: str, root: Path, write: Callable[[Missed], None], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(MISSED["a dynamic import"])
    record = tmp_path / "run.json"
    run(capfd, record=record)
    path = root / "train.py"
    text = path.read_text("utf-8")
    path.write_text("# later\n" + text)
    code, out, err = called(capfd, command, ".", "--from-run", str(record), "--unsafe")
    assert (code, out) == (2, "")
    assert "out of date: these files changed since the run" in err
    assert "\n  train.py" in err
    assert "ddp-codemod verify --run" in err
    path.unlink()
    code, out, err = called(capfd, command, ".", "--from-run", str(record), "--unsafe")
    assert (code, out) == (2, "")
    assert "is the record of another project" in err
    path.write_text(text)
    assert called(capfd, command, ".", "--from-run", str(record), "--unsafe")[0] == (1 if command == "check" else 0)


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b'{"version": 1, "run": {"command": 3}}', b"\xff\xfe"])
def test_what_is_no_record_is_said_to_be_none(data: bytes, root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.json").write_bytes(data)
    code, out, err = called(capfd, "apply", ".", "--from-run", str(tmp_path / "run.json"))
    assert (code, out) == (2, "")
    assert "is no record of a run" in err
    code, out, err = called(capfd, "apply", ".", "--from-run", str(tmp_path / "other.json"))
    assert (code, out) == (2, "")
    assert "cannot be read" in err


def test_a_file_that_changes_while_it_runs_is_not_taken_for_what_ran(
    root: Path, write: Callable[[Missed], None], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    project = MISSED["a dynamic import"]
    write(Missed({"train.py": project.files["train.py"] + "", "plugins.json": ""}, "", "", ""))
    plugin(root)
    text = (root / "train.py").read_text("utf-8")
    (root / "train.py").write_text(text.replace("import json\n", "import json\nopen(__file__, 'a').write('# later\\n')\n"))
    record = tmp_path / "run.json"
    _, document, _ = run(capfd, record=record)
    assert document["files"] == {"train.py": ""}
    assert called(capfd, "apply", ".", "--from-run", str(record), "--unsafe")[:2] == (2, "")


def test_a_record_needs_a_run_and_a_project_that_is_read(root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = called(capfd, "verify", ".", "--record", str(tmp_path / "run.json"))
    assert code == 2
    assert "add --run COMMAND" in err
    code, _, err = called(capfd, "verify", ".", "--run", "python train.py", "--record", str(tmp_path / "missing" / "run.json"))
    assert code == 2


def test_the_report_offers_the_command_that_changes_what_was_missed(
    root: Path, write: Callable[[Missed], None], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(MISSED["a dynamic import"])
    own = ["verify", "--run", f"{sys.executable} train.py", "--timeout", "120"]
    _, out, _ = called(capfd, *own)
    assert "run the command again with --record FILE" in out
    record = tmp_path / "run.json"
    _, out, _ = called(capfd, *own, "--record", str(record))
    assert f"ddp-codemod apply . --platform cpu --from-run {record} --unsafe" in out


KERNEL = """import json
import linecache
import sys

space = {}
for number, cell in enumerate(json.load(open(sys.argv[1]))["cells"]):
    text = "".join(cell["source"])
    if cell["cell_type"] == "code":
        name = NAME.format(number)
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        exec(compile(text, name, "exec"), space)
"""


@pytest.mark.parametrize("name", ["<ipython-input-{0}-abc>", pytest.param("/tmp/ipykernel_{0}77/{0}.py", marks=pytest.mark.long)])
def test_a_cell_of_a_notebook_is_located_and_cured(
    name: str, root: Path, tmp_path: Path, write: Callable[[Missed], None], capfd: pytest.CaptureFixture[str]
) -> None:
    alone = ALONE.replace("{port}", str(find_free_port()))
    start = [
        "import importlib, json\n",
        "words = json.load(open('plugins.json'))['start']\n",
        "start = getattr(importlib.import_module(words[0]), words[1])\n",
        f"start('nccl', {alone})",
    ]
    more = ["import torch.distributed as dist\n", "dist.new_group([0], backend='gloo')"]
    cells = [{"cell_type": "markdown", "metadata": {}, "source": ["# start"]}]
    cells += [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": one} for one in (start, more)
    ]
    write(Missed({}, "", "", ""))
    path = root / "train.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1))
    (tmp_path / "kernel.py").write_text(KERNEL.replace("NAME", repr(name)))
    at = next(number for number, line in enumerate(path.read_text().splitlines(), 1) if "start('nccl'" in line)
    record = tmp_path / "run.json"
    own = ["verify", "--platform", "cpu", "--run", f"{sys.executable} {tmp_path / 'kernel.py'} train.ipynb", "--timeout", "120"]
    main([*own, "--record", str(record)])
    document = json.loads(record.read_bytes())["run"]
    assert [(one["stack"], one["verdict"]) for one in document["groups"]] == [
        ([{"path": "train.ipynb", "line": at}], "not-found")
    ]
    _, out, err = called(capfd, "apply", ".", "--from-run", str(record), "--unsafe")
    assert "start('gloo'" in path.read_text(), out + err
    capfd.readouterr()
    main([*own, "--format", "json"])
    document = json.loads(capfd.readouterr().out)["run"]
    assert [(one["backend"], one["verdict"]) for one in document["groups"]] == [("gloo", "not-found"), ("gloo", "agrees")]


def test_check_lists_what_a_run_calls_for(
    root: Path, write: Callable[[Missed], None], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    project = MISSED["a dynamic import"]
    write(project)
    record = tmp_path / "run.json"
    run(capfd, record=record)
    assert called(capfd, "check", ".", "--unsafe")[0] == 0
    code, out, err = called(capfd, "check", ".", "--from-run", str(record), "--unsafe")
    assert code == 1
    assert project.at in out
    assert f"ddp-codemod apply . --platform cpu --from-run {record} --unsafe" in err
    edits = json.loads(called(capfd, "check", ".", "--from-run", str(record), "--format", "json")[1])["edits"]
    assert [(one["path"], one["line"], one["applicability"]) for one in edits] == [("train.py", 6, "unsafe")]


MIXED = """import importlib
import json
import torch.distributed as dist

module, name = json.load(open('plugins.json'))['start']
start = getattr(importlib.import_module(module), name)
start('gloo', ALONE)
dist.new_group([0], backend='gloo')
dist.new_group([0], backend=open('kind.txt').read())


def other():
    dist.init_process_group('gloo', '<b>never</b>')
"""


def shown(page: Path) -> dict[str, Any]:
    """What a review page shows of a run."""
    text = page.read_text("utf-8")
    found: dict[str, Any] = json.loads(text.split('id="data">')[1].split("</script>")[0])["run"]
    return found


def test_the_review_page_shows_the_run_beside_the_code(
    root: Path, write: Callable[[Missed], None], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(Missed({"train.py": MIXED, "kind.txt": "nccl"}, "", "", ""))
    record, page = tmp_path / "run.json", tmp_path / "page.html"
    run(capfd, record=record)
    review = ["review", ".", "--html", str(page)]
    assert called(capfd, *review, "--from-run", str(record))[0] == 0
    found = shown(page)
    assert found["head"].startswith("The run compared with the code for cpu: ")
    groups = {(one["where"], one["kind"]): " ".join([one["said"], *one["more"]]) for one in found["groups"]}
    assert "not found in the code" in groups["train.py:7", "manual"]
    assert 'agrees: new_group passes "gloo"' in groups["train.py:8", "safe"]
    assert '"nccl" does not work on cpu; to fix it: ddp-codemod apply' in groups["train.py:9", "manual"]
    assert found["sites"] == [["train.py:13", "torch.init_process_group(backend)"]]
    assert "1 call site" in found["left"]
    assert called(capfd, *review)[0] == 0
    assert shown(page) == {}


def test_the_review_page_says_what_the_run_said_of_another_machine(
    root: Path, write: Callable[[Missed], None], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = "import torch\nimport torch.distributed as dist\n\ndist.init_process_group('nccl' if torch.cuda.is_available() else 'gloo', ALONE)\n"
    write(Missed({"train.py": text}, "", "", ""))
    record, page = tmp_path / "run.json", tmp_path / "page.html"
    run(capfd, record=record)
    document = json.loads(record.read_bytes())
    document["run"]["groups"][0]["machine_platform"] = "cpu"
    record.write_text(json.dumps(document))
    assert main(["review", ".", "--html", str(page), "--platform", "cuda", "--from-run", str(record)]) == 0
    (group,) = shown(page)["groups"]
    assert (group["kind"], group["more"]) == ("unsafe", [])
    assert "this machine is cpu" in group["said"]
