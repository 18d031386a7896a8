"""Conditions on versions, under what projects state."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.catalog.machine import MachineFacts
from ddp_codemod.catalog.model import Platform
from ddp_codemod.catalog.packages import may_concern
from ddp_codemod.policy.versions import Versions
from ddp_codemod.versions import Stated, holds

RULES = load()


def versions(root: Path, files: dict[str, str], given: dict[str, str] | None = None, platform: str = "windows") -> Versions:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return Versions(
        root,
        RULES.packages,
        RULES.platforms[platform].facts,
        {name: Stated(name, f"=={one}", "given") for name, one in (given or {}).items()},
        RULES.platforms[platform].machine,
        RULES.machines,
        [one.machine for one in RULES.platforms.values()],
    )


@pytest.mark.parametrize(
    ("stated", "wanted", "holds"),
    [
        ("torch==2.9.1", ">=2.8", True),
        ("torch==2.1.0+cu118", "<2.2", True),
        ("torch>=2.8", ">=2.8", True),
        ("torch>=2.0", ">=2.8", None),
        ("torch<2.4", ">=2.8", False),
        ("torch~=2.1.0", ">=2.1,<2.2", True),
        ("torch", ">=2.8", None),
        ("numpy", ">=2.8", None),
        ("torch==99.1", ">=2.8", True),  # newer than the rule data
    ],
)
def test_a_condition_under_a_statement(tmp_path: Path, stated: str, wanted: str, holds: bool | None) -> None:
    assert versions(tmp_path, {"requirements.txt": stated}).holds({"torch": wanted}) is holds


def test_what_nothing_states_is_remembered(tmp_path: Path) -> None:
    known = versions(tmp_path, {"requirements.txt": "torch\nlightning==2.0.0\n"})
    assert known.holds({"lightning": ">=2"}) is True
    assert not known.open
    assert known.holds({"torch": ">=2.8"}) is None
    assert known.open == {"torch"}


def test_no_condition_holds_always(tmp_path: Path) -> None:
    assert versions(tmp_path, {}).holds({}) is True


def test_what_the_user_says_counts_more(tmp_path: Path) -> None:
    known = versions(tmp_path, {"requirements.txt": "torch==2.9.1"}, {"torch": "2.3.1"})
    assert known.holds({"torch": "<2.4"}) is True


def test_a_lock_file_counts_more_than_what_it_was_made_from(tmp_path: Path) -> None:
    lock = '[[package]]\nname = "torch"\nversion = "2.5.1"\n'
    known = versions(tmp_path, {"pyproject.toml": '[project]\ndependencies = ["torch>=2.0"]\n', "uv.lock": lock})
    assert known.holds({"torch": "==2.5.1"}) is True


def test_several_files_hold_together(tmp_path: Path) -> None:
    known = versions(tmp_path, {"requirements.txt": "torch>=2.8", "requirements-dev.txt": "torch<2.10"})
    assert known.holds({"torch": ">=2.8,<2.10"}) is True
    stated = known.stated("torch")
    assert stated is not None
    assert stated.origin == "requirements-dev.txt:1, requirements.txt:1"


def test_files_that_exclude_each_other_are_for_different_set_ups(tmp_path: Path) -> None:
    known = versions(tmp_path, {"requirements.txt": "torch==2.1.0", "requirements_new.txt": "torch==2.9.1"})
    assert known.holds({"torch": ">=2.8"}) is None
    assert known.holds({"torch": ">=2.0"}) is True


def test_markers_are_for_their_platform(tmp_path: Path) -> None:
    files = {"requirements.txt": "torch==2.3.1; sys_platform == 'win32'\ntorch==2.9.1; sys_platform == 'linux'\n"}
    assert versions(tmp_path, files).holds({"torch": "==2.3.1"}) is True
    assert versions(tmp_path, files, platform="rocm").holds({"torch": "==2.9.1"}) is True


def test_the_nearest_folder_that_says_so_counts(tmp_path: Path) -> None:
    files = {"requirements.txt": "torch==2.1.0", "new/requirements.txt": "torch==2.9.1", "plain/requirements.txt": "torch\n"}
    known = versions(tmp_path, files)
    assert known.holds({"torch": ">=2.8"}, "new/deep/train.py") is True
    assert known.holds({"torch": ">=2.8"}, "plain/train.py") is False
    assert known.holds({"torch": ">=2.8"}, "train.py") is False


@pytest.mark.parametrize(
    ("name", "text", "open_"),
    [
        ("Dockerfile", "RUN pip install torch==2.6.0\n", True),
        ("README.md", "```bash\npip install torch==2.6.0\n```\n", True),
        ("Dockerfile", "RUN pip install torch\n", False),  # whatever else is there is heeded
        ("Dockerfile", "RUN pip install torch==$VERSION\n", False),
        ("Dockerfile", "RUN pip install vllm==0.8.4\n", False),
        ("README.md", "It was written for torch==2.6.0.\n", False),
    ],
)
def test_what_a_folder_installs_by_itself_is_not_what_stands_further_up(
    tmp_path: Path, name: str, text: str, open_: bool
) -> None:
    known = versions(tmp_path, {"requirements.txt": "torch==2.1.2", f"second/{name}": text, "second/requirements.txt": "vllm\n"})
    assert known.holds({"torch": ">=2.5"}, "second/deep/train.py") is (None if open_ else False)
    assert known.is_shown({"torch": ">=2.5"}, "second/deep/train.py") is open_
    assert known.holds({"torch": ">=2.5"}, "train.py") is False


def test_a_file_of_the_same_folder_counts_more_than_its_commands(tmp_path: Path) -> None:
    known = versions(tmp_path, {"requirements.txt": "torch==2.1.2", "Dockerfile": "RUN pip install torch==2.6.0\n"})
    assert known.holds({"torch": ">=2.5"}, "train.py") is False


def test_a_folder_of_requirements_belongs_to_the_folder_around_it(tmp_path: Path) -> None:
    known = versions(tmp_path, {"requirements/gpu.txt": "torch==2.9.1"})
    assert known.holds({"torch": ">=2.8"}, "pkg/train.py") is True


@pytest.mark.parametrize("text", ["torch=>2", "torch==two", "torch==2.1; what is this", "\0"])
def test_statements_that_no_tool_reads_say_nothing(tmp_path: Path, text: str) -> None:
    assert versions(tmp_path, {"requirements.txt": text}).holds({"torch": ">=2.8"}) in (None, False)


def test_conditions_of_the_rule_data_can_be_read() -> None:
    conditions = [warning.when for platform in RULES.platforms.values() for warning in platform.warnings]
    for condition in conditions:
        assert set(condition) <= set(RULES.packages)
        assert all(holds(specifier, Stated("torch", "==2.1", "x")) is not None for specifier in condition.values())


def test_a_platform_is_as_it_was_only_where_that_is_sure(tmp_path: Path) -> None:
    xpu = RULES.platforms["xpu"]
    for stated, wanted in (("torch==2.6.0", "ccl"), ("torch>=2.8", "xccl"), ("torch>=2.0", "xccl"), ("numpy", "xccl")):
        found = versions(tmp_path, {"requirements.txt": stated}, platform="xpu").platform(xpu)
        assert found.backend.wanted == wanted, stated
        assert (found.required_import is not None) == (wanted == "ccl")


@pytest.mark.parametrize("platform", RULES.platforms.values(), ids=lambda platform: platform.id)
def test_earlier_backends_work(platform: Platform) -> None:
    for earlier in platform.earlier:
        assert earlier.backend.wanted in earlier.backend.works
        assert set(earlier.when) <= set(RULES.packages)


OTHER_MACHINES = [
    ("requirements/npu.txt", "torch==2.9.1\ntorch-npu==2.9.1\n"),
    ("requirements-ascend910.txt", "torch==2.9.1\n"),
    ("requirements_mac.txt", "torch==2.9.1\n"),
    ("requirements-linux-gpu.txt", "torch==2.9.1\n"),
    ("environment-gaudi2.yml", "dependencies:\n  - pytorch==2.9.1\n"),
    ("setup.py", "extras = {'torch-npu': ['deepspeed[x]>=1', 'torch==2.9.1']}\n"),
    ("setup.py", "extras['npu'] = ['torch==2.9.1']\n"),
    ("setup.cfg", "[options.extras_require]\nhpu =\n    numpy\n    torch==2.9.1\n"),
    ("pyproject.toml", '[project.optional-dependencies]\nnpu = [\n  "accelerate[a]",\n  "torch==2.9.1",\n]\n'),
    ("pyproject.toml", '[tool.poetry.group.mlu.dependencies]\ntorch = "2.9.1"\n'),
]


@pytest.mark.parametrize(("name", "text"), OTHER_MACHINES)
def test_what_is_stated_for_other_machines_says_nothing(tmp_path: Path, name: str, text: str) -> None:
    known = versions(tmp_path, {name: text})
    assert known.holds({"torch": ">=2.8"}) is None
    assert known.open == {"torch"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements/windows.txt", "torch==2.9.1\n"),
        ("requirements-win-cu121.txt", "torch==2.9.1\n"),
        ("requirements_amd64.txt", "torch==2.9.1\n"),
        ("requirements-cpu.txt", "torch==2.9.1\n"),
        ("requirements/input.txt", "torch==2.9.1\n"),
        ("setup.py", "extras = {'npu': ['torch-npu'], 'train': ['torch==2.9.1']}\n"),
        ("setup.py", "setup(extras_require={'npu': ['torch-npu']}, install_requires=['torch==2.9.1'])\n"),
        ("pyproject.toml", '[project.optional-dependencies]\nnpu = ["torch-npu"]\n[project]\ndependencies = ["torch==2.9.1"]\n'),
        ("pyproject.toml", '[tool.poetry.group.mlu.dependencies]\nx = "1"\n[tool.poetry.dependencies]\ntorch = "2.9.1"\n'),
    ],
)
def test_what_may_be_for_the_target_counts(tmp_path: Path, name: str, text: str) -> None:
    assert versions(tmp_path, {name: text}).holds({"torch": ">=2.8"}) is True


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[project.optional-dependencies]\nnpu = ["torch-npu"]\nall = ["torch==2.9.1"]\n'),
        ("pyproject.toml", '[tool.poetry.group.train.dependencies]\ntorch = "2.9.1"\n'),
        ("setup.cfg", "[options.extras_require]\ntrain =\n    torch==2.9.1\n"),
    ],
)
def test_what_only_an_extra_states_leaves_the_version_open(tmp_path: Path, name: str, text: str) -> None:
    known = versions(tmp_path, {name: text})
    assert known.holds({"torch": ">=2.8"}) is None
    assert known.holds({"torch": "<2.4"}) is None
    assert known.stated("torch") is None


def test_an_extra_beside_a_requirement_does_not_narrow_it(tmp_path: Path) -> None:
    text = '[project]\ndependencies = ["torch>=2.4"]\n[project.optional-dependencies]\ntested = ["torch==2.9.1"]\n'
    known = versions(tmp_path, {"pyproject.toml": text})
    assert known.holds({"torch": ">=2.4"}) is True
    assert known.holds({"torch": ">=2.9"}) is None  # without the extra 2.4 will do
    assert known.holds({"torch": "<2.4"}) is False


def test_an_extra_that_the_requirement_rules_out_leaves_it_as_it_is(tmp_path: Path) -> None:
    text = '[project]\ndependencies = ["torch>=2.4"]\n[project.optional-dependencies]\nold = ["torch==1.13"]\n'
    assert versions(tmp_path, {"pyproject.toml": text}).holds({"torch": ">=2.4"}) is True


def test_the_file_for_the_target_counts_beside_those_for_others(tmp_path: Path) -> None:
    files = {
        "requirements/npu.txt": "torch==2.9.1",
        "requirements/gpu.txt": "torch==2.4.1",
        "requirements/cpu.txt": "torch==2.6.0",
    }
    assert versions(tmp_path, files, platform="ascend").holds({"torch": "==2.9.1"}) is True
    assert versions(tmp_path, files, platform="rocm").holds({"torch": "==2.4.1"}) is True
    assert versions(tmp_path, files, platform="cpu").holds({"torch": "==2.6.0"}) is True


def test_every_platform_is_spoken_of_by_some_word() -> None:
    known = [one.machine for one in RULES.platforms.values()]
    words = [word for one in RULES.machines for word in one.words] + [word for one in known for word in one.words]

    def speaks(word: str, own: MachineFacts) -> bool:
        return may_concern(RULES.machines, known, word, own)

    assert all(any(speaks(word, one) for word in words if word.isalnum()) for one in known)
    assert not any(speaks("ipu", one) for one in known)
    assert all(speaks("ipu", MachineFacts()) is False and speaks("extras", one) for one in known)
    gpus = {ident for ident, one in RULES.platforms.items() if speaks("gpu", one.machine)}
    assert gpus == {"cuda", "mixed-gpu", "musa", "rocm", "rocm-rccl", "rocm-windows", "single-gpu", "windows", "xpu"}
