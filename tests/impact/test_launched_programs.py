"""Programs that a project starts beside training: ported with what they import; what nobody starts stays, unless the run names it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.cli import main
from ddp_codemod.model import Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

TRAIN = "import torch\n\nif __name__ == '__main__':\n    torch.ones(1, requires_grad=True).cuda().sum().backward()\n"
EXTRACT = "import torch\nfrom lib.place import place\n\nif __name__ == '__main__':\n    place(torch.ones(1))\n"
PLACE = "import torch\n\n\ndef place(x):\n    return x.to(torch.device('cuda'))\n\n\ndef elsewhere(x):\n    return x.cuda()\n"
INFER = "import torch\n\nif __name__ == '__main__':\n    torch.nn.Linear(1, 1).cuda()\n"
WEBUI = """import subprocess
import sys


def start():
    subprocess.Popen('"%s" -s infer.py' % sys.executable, shell=True)


if __name__ == "__main__":
    start()
"""


def ported(folder: Path, files: dict[str, str], platform: str = "ascend", *paths: str) -> set[tuple[str, int]]:
    """The file and line of each edit and item about devices; ``paths`` are those of the run."""
    every = look(folder, files, platform, *paths)
    places = (one.place for one in every.decisions if (one.rule or "").startswith("device-"))
    return {(place.name, every.sources[place.name].position(place.start)[0]) for place in places}


def look(folder: Path, files: dict[str, str], platform: str = "ascend", *paths: str) -> Survey:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    rules = load()
    asked = tuple(folder / path for path in paths) or (folder,)
    return survey(Options(asked, rules.platforms[platform], rules, root=folder))


@pytest.mark.parametrize("platform", ["ascend", "cpu", "xpu", "mlu"])
def test_what_a_recipe_starts_beside_training_is_ported_with_what_it_imports(tmp_path: Path, platform: str) -> None:
    files = {"train.py": TRAIN, "bin/extract.py": EXTRACT, "lib/place.py": PLACE, "other.py": INFER}
    recipe = {"egs/a/run.sh": "torchrun --nproc_per_node=4 train.py\npython -u bin/extract.py --out $1 || exit 1\n"}
    assert ported(tmp_path, files | recipe, platform) == {("train.py", 4), ("lib/place.py", 5)}
    assert look(tmp_path, {}, platform).unreached == ("other.py",)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.sh", "for i in 1 2; do\n  CUDA_VISIBLE_DEVICES=$i python infer.py &\ndone\n"),
        ("Makefile", "demo:\n\tpython infer.py\n"),
        ("run.bat", "python infer.py\r\n"),
        ("README.md", "Then:\n\n```\npython infer.py --text <what(you like)>\n```\n"),
        ("README.MD", "`python infer.py`\n"),
        ("docs/usage.rst", "Then::\n\n    python ../infer.py\n"),
        ("webui.py", f"{WEBUI}\n\nx = 'loss.backward()'\nimport torch\nif x == 1:\n    x.backward()\n"),
    ],
)
@pytest.mark.parametrize("trains", [True, False])
def test_each_way_to_start_a_program_counts(tmp_path: Path, name: str, text: str, trains: bool) -> None:
    files = {name: text, "infer.py": INFER} | ({"train.py": TRAIN} if trains else {})
    assert ("infer.py", 4) in ported(tmp_path, files)


def test_a_program_that_a_started_program_starts_counts_too(tmp_path: Path) -> None:
    files = {"go.bat": "runtime\\python.exe webui.py\r\n", "webui.py": f"import torch\n{WEBUI}torch.cuda.empty_cache()\n"}
    assert ported(tmp_path, files | {"infer.py": INFER}) == {("webui.py", 12), ("infer.py", 4)}


def test_the_commands_that_a_project_installs_count_where_its_pages_say_to_type_them(tmp_path: Path) -> None:
    files = {"pkg/infer.py": f"{INFER}\n\ndef main():\n    torch.ones(1).cuda()\n", "README.md": "```\nmy-infer a.wav\n```\n"}
    files["pyproject.toml"] = '[project]\nname = "pkg"\n[project.scripts]\nmy-infer = "pkg.infer:main"\n'
    assert ported(tmp_path, files) == {("pkg/infer.py", 4), ("pkg/infer.py", 8)}


@pytest.mark.parametrize(
    "files",
    [
        {"tests/run.sh": "python infer.py\n"},
        {"benchmarks/README.md": "```\npython ../infer.py\n```\n"},
        {"README.md": "Start it with python infer.py.\n"},
        {"README.md": "```\npython other/infer.py\n```\n", "other/infer.py": "print(1)\n"},
        {"a.sh": "# python infer.py\necho python infer.py\n"},
        {"a.sh": "python webui.py\n", "webui.py": WEBUI.replace("'\"%s\" -s infer.py' % sys.executable", "['ls']  # infer.py")},
        {"a.sh": "python webui.py\n", "webui.py": "print('infer.py')\n"},
        {"sub/README.md": "`python infer.py`\n", "sub/infer.py": "print(1)\n"},
    ],
)
def test_what_no_command_starts_stays(tmp_path: Path, files: dict[str, str]) -> None:
    assert ported(tmp_path, files | {"train.py": TRAIN, "infer.py": INFER}) == {("train.py", 4)}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("setup.py", INFER),  # what it builds for a device is for that device alone
        ("tests/test_it.py", INFER),
        ("benchmark/speed.py", INFER),
        ("keras_infer.py", "import tensorflow as tf\n\nwith tf.device('cuda:0'):\n    run(device='cuda')\n"),
        ("prepare.py", "import torch\n\nprint(torch.ones(1), 'no cuda here')\n"),
    ],
)
def test_some_programs_stay_whoever_starts_them(tmp_path: Path, name: str, text: str) -> None:
    files = {"train.py": TRAIN, name: text, "run.sh": f"python {name}\npython train.py\n"}
    assert ported(tmp_path, files) == {("train.py", 4)}


@pytest.mark.parametrize("platform", ["rocm", "windows", "cuda", "single-gpu"])
def test_where_the_device_is_there_nothing_changes(tmp_path: Path, platform: str) -> None:
    every = look(tmp_path, {"train.py": TRAIN, "infer.py": INFER, "run.sh": "python infer.py\n"}, platform)
    assert (every.decisions, every.edits, every.unreached) == ((), (), ())


def test_a_file_that_the_run_names_is_ported_whole(tmp_path: Path) -> None:
    files = {"train.py": TRAIN, "lib/place.py": PLACE, "infer.py": INFER}
    assert ported(tmp_path, files, "ascend", "lib/place.py") == {("lib/place.py", 5), ("lib/place.py", 9)}
    assert ported(tmp_path, files, "ascend", "infer.py", "train.py") == {("infer.py", 4), ("train.py", 4)}
    assert ported(tmp_path, files, "ascend", "infer.py", ".") == {("train.py", 4)}  # of the whole project it says nothing more


def test_so_is_one_of_a_project_that_does_not_train(tmp_path: Path) -> None:
    assert ported(tmp_path, {"infer.py": INFER}, "ascend", "infer.py") == {("infer.py", 4)}
    assert ported(tmp_path, {}) == set()
    assert look(tmp_path, {}).without_entry_point == 1


def test_the_vendors_import_goes_into_each_program_that_uses_the_device(tmp_path: Path) -> None:
    files = {"train.py": TRAIN, "infer.py": INFER, "prepare.py": "print(1)\n", "run.sh": "python prepare.py\npython infer.py\n"}
    look(tmp_path, files)
    rules = load()
    every = survey(Options((tmp_path,), rules.platforms["ascend"], rules, root=tmp_path, fixes=("transfer-to-npu",)))
    assert {edit.name for edit in every.edits if edit.rule == "transfer-to-npu"} == {"infer.py", "train.py"}


CTRANSLATE = """import torch
from faster_whisper import WhisperModel


def load(device):
    return WhisperModel("small", device=device)


def run(size):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.ones(1, device="cuda")
    return load(device), x


if __name__ == "__main__":
    run(1)
"""


def test_the_name_that_a_library_for_cuda_takes_stays_also_in_a_caller(tmp_path: Path) -> None:
    assert ported(tmp_path, {"asr.py": CTRANSLATE, "run.sh": "python asr.py\n"}) == {("asr.py", 2), ("asr.py", 11)}
    edits = [
        (edit.rule, edit.name, look(tmp_path, {}).sources["asr.py"].position(edit.start)[0]) for edit in look(tmp_path, {}).edits
    ]
    assert [edit for edit in edits if edit[2] > 2] == [("device-keyword", "asr.py", 11)]


def test_so_are_the_programs_of_a_folder_in_which_nothing_else_is_started(tmp_path: Path) -> None:
    files = {"train.py": TRAIN, "tools/one.py": INFER, "tools/two.py": INFER, "tools/test_one.py": INFER, "other/three.py": INFER}
    assert ported(tmp_path, files, "ascend", "tools") == {("tools/one.py", 4), ("tools/two.py", 4)}
    assert ported(tmp_path, {}, "ascend", "tools", ".") == {("train.py", 4)}
    assert ported(tmp_path, {"run.sh": "python tools/two.py\n"}, "ascend", "tools") == {("tools/two.py", 4)}
    assert look(tmp_path, {}, "ascend", "tools").unreached == ("tools/one.py", "tools/test_one.py")


COMPARES = """import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
device = parser.parse_args().device
if device == "cuda":
    torch.nn.Linear(1, 1).to(device)
"""


@pytest.mark.parametrize(("platform", "said"), [("ascend", "pass npu"), ("xpu", "pass xpu"), ("mlu", "pass mlu")])
def test_a_note_to_act_on_stays_after_apply_until_it_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], platform: str, said: str
) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "infer.py").write_text(COMPARES, "utf-8")
    script = tmp_path / "run.sh"
    script.write_text("python infer.py --device cuda\n", "utf-8")

    def run(*words: str) -> str:
        main([*words, str(tmp_path), "--platform", platform, "--unsafe", "--no-cache"])
        told = capsys.readouterr()
        return told.out + told.err

    first = run("apply")
    assert '== "cuda"' not in (tmp_path / "infer.py").read_text("utf-8"), first
    for again in (first, run("check"), run("apply")):
        assert re.search(r"Left to do by hand: 1 note to act on \(\S*run\.sh:1\)\.", " ".join(again.split()))
        assert "run.sh:1: device-launch" in again
        assert said in again
    script.write_text(script.read_text("utf-8").replace("cuda", said.split()[1]), "utf-8")
    assert "Left to do" not in run("check")
    script.write_text("python infer.py --device cuda  # ddp-codemod: ignore\n", "utf-8")
    assert "Left to do" not in run("check")
