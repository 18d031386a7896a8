"""The Python interface says what the command line says, and writes nothing before it is told to."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import ddp_codemod
from ddp_codemod import Plan, PlanError, plan
from ddp_codemod.cli import main

TRAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
STORE = (
    'import torch.distributed as dist\n\nstore = dist.TCPStore("h", 1, 2, True)\ndist.init_process_group("gloo", store=store)\n'
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_STATE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").touch()
    (root / "train.py").write_text(TRAIN)
    return root


def test_a_plan_is_what_diff_and_json_say(project: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    made = plan(project, "rocm")
    main(["diff", str(project), "--platform", "rocm", "-q"])
    assert capfdbinary.readouterr().out == made.patch
    main(["diff", str(project), "--platform", "rocm", "--format", "json"])
    said = json.loads(capfdbinary.readouterr().out)
    for kind in ("sites", "edits", "advisories", "skipped"):
        entries = getattr(made, kind)
        assert len(entries) == len(said[kind])
        for entry, wanted in zip(entries, said[kind], strict=True):
            assert {field.name for field in fields(entry)} == set(wanted)
            assert (entry.path, entry.line) == (wanted["path"], wanted["line"])
    assert made.sites[0].resolves_to == ("nccl",)
    assert made.sites[0].origins[0].kind == "literal"
    assert (project / "train.py").read_text() == TRAIN


def test_applying_it_can_be_undone(project: Path) -> None:
    made = plan([project / "train.py"], "rocm")
    assert made.apply() == ("train.py",)
    assert (project / "train.py").read_bytes() == made.files["train.py"] == TRAIN.replace("nccl", "gloo").encode()
    assert plan(project, "rocm").files == {}
    assert main(["undo", str(project)]) == 0
    assert (project / "train.py").read_text() == TRAIN


def test_a_file_that_changed_meanwhile_is_not_overwritten(project: Path) -> None:
    made = plan(project, "rocm")
    (project / "train.py").write_text("# mine\n" + TRAIN)
    with pytest.raises(PlanError, match=r"train\.py"):
        made.apply()
    assert (project / "train.py").read_text() == "# mine\n" + TRAIN


def test_unsafe_edits_are_in_the_patch_only_when_asked_for(project: Path) -> None:
    (project / "train.py").write_text(STORE)
    careful, bold = plan(project, "windows"), plan(project, "windows", unsafe=True)
    assert [edit.applied for edit in careful.edits] == [False]
    assert [edit.applied for edit in bold.edits] == [True]
    assert (careful.patch, bool(bold.patch)) == (b"", True)


def test_conditions_and_launch_files_are_asked_for(project: Path) -> None:
    (project / "run.sh").write_text("torchrun --nproc_per_node 2 train.py\n")
    assert b" if " in plan(project, "windows", style="portable").files["train.py"]
    assert set(plan(project, "cuda", rules=["nccl-debug"]).files) == {"train.py"}
    assert set(plan(project, "cuda", rules=["nccl-debug"], env_in="shell").files) == {"run.sh"}


def test_the_version_of_torch_counts(project: Path) -> None:
    (project / "rules/platforms").mkdir(parents=True)
    (project / "rules/platforms/pod.toml").write_text(
        'id = "pod"\ntitle = "pod"\nwhy = "x"\nsource = ["x"]\nrules = ["unsupported-backend"]\nfacts = {}\n'
        'backend = { wanted = "nccl", works = ["nccl"], default = "nccl" }\n[[warnings]]\nid = "old"\nwhen_backend = "nccl"\n'
        'message = "x"\nsource = ["x"]\nwhen = { torch = "<2.4" }\n'
    )
    notes = [
        plan(project, "pod", rule_folders=[project / "rules"], torch_version=version).advisories for version in ("2.3.1", "2.4")
    ]
    assert [len(found) for found in notes] == [1, 0]


def test_the_project_s_own_word_is_heeded(project: Path) -> None:
    (project / "old.py").write_text(TRAIN)
    (project / "pyproject.toml").write_text(
        '[tool.ddp-codemod]\nplatform = "rocm"\nexclude = ["old.py"]\nrules = ["nccl-debug"]\n'
    )
    made = plan(project)
    assert (made.platform, set(made.files)) == ("rocm", {"train.py"})


def test_reviews_are_sites(project: Path) -> None:
    (project / "train.py").write_text("import sys\nimport torch.distributed as dist\n\ndist.init_process_group('ours')\n")
    made = plan(str(project), "rocm", lang="zh")
    assert [site.line for site in made.reviews] == [4]
    assert not made.reviews[0].reason.isascii()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"platform": "rcm"}, "did you mean rocm"),
        ({"platform": "npu"}, "did you mean ascend"),
        ({"platform": None}, "no platform set"),
        ({"rules": ["no-libvu"]}, "no-libuv"),
        ({"paths": "nowhere"}, "nowhere"),
        ({"paths": []}, "no path"),
        ({"rule_folders": ["nowhere"]}, "nowhere"),
        ({"torch_version": "newest"}, "newest"),
    ],
)
def test_what_stands_in_the_way_is_a_sentence(project: Path, change: dict[str, object], said: str) -> None:
    asked: dict[str, object] = {"paths": project, "platform": "rocm", **change}
    with pytest.raises(PlanError, match=said):
        plan(asked.pop("paths"), **asked)  # type: ignore[arg-type]


def test_a_bad_configuration_is_one_too(project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.ddp-codemod]\nplatfrom = 'rocm'\n")
    with pytest.raises(PlanError, match=r"pyproject\.toml:2.*did you mean platform"):
        plan(project, "rocm")


def test_importing_the_package_loads_next_to_nothing() -> None:
    code = "import sys; before = set(sys.modules); import ddp_codemod; print(len(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 2


def test_everything_offered_is_there_and_typed() -> None:
    assert set(ddp_codemod.__all__) <= set(dir(ddp_codemod))
    assert all(getattr(ddp_codemod, name) is not None for name in ddp_codemod.__all__)
    assert ddp_codemod.Plan is Plan
    with pytest.raises(AttributeError, match="plam"):
        ddp_codemod.plam  # type: ignore[attr-defined]  # noqa: B018
    assert (Path(ddp_codemod.__file__).parent / "py.typed").is_file()


def test_a_plan_is_told_from_others_by_its_digest_and_taken_back(project: Path) -> None:
    made = plan(project, "rocm")
    assert made.digest == plan(project, "rocm").digest
    assert made.digest != plan(project, "cpu").digest
    (project / "train.py").write_text(TRAIN + "\n")
    other = plan(project, "rocm")
    assert made.digest != other.digest
    other.apply()
    assert ddp_codemod.undo(project / "train.py") == ("train.py",)
    assert (project / "train.py").read_text() == TRAIN + "\n"
    with pytest.raises(PlanError, match="Nothing to undo"):
        ddp_codemod.undo(project)
