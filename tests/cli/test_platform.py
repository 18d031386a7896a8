"""Which platform is chosen where no option names one, on machines that are imitated."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.cli import main
from ddp_codemod.cli.errors import Failure
from ddp_codemod.cli.platform import choose_platform
from ddp_codemod.cli.settings import Settings
from ddp_codemod.discover.config import Config
from ddp_codemod.machine.detect import Machine
from ddp_codemod.messages import render

RULES = load()
NOTHING_SAID = Config(Path("pyproject.toml"))


@pytest.fixture
def machine(tmp_path: Path):  # type: ignore[no-untyped-def]
    def build(*paths: str, system: str = "linux", **environ: str) -> Machine:
        for path in paths:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).touch()
            if path.endswith("vendor"):
                (tmp_path / path).write_text("0x1002\n")
        return Machine(tmp_path, system, environ)

    return build


AMD = ("dev/kfd", "dev/dri/renderD128", "sys/class/drm/renderD128/device/vendor")


def chosen(machine: Machine, config: Config = NOTHING_SAID, **said: object) -> str:
    return choose_platform(Settings("apply", ("p",), **said), config, RULES, machine).platform.id  # type: ignore[arg-type]


def offered(failure: Failure) -> set[str]:
    return {match.group(1) for line in failure.lines if (match := re.match(r"ddp-codemod apply p --platform (\S+)  ", line))}


def test_machines_that_are_surely_known(machine) -> None:  # type: ignore[no-untyped-def]
    assert chosen(machine(system="win32")) == "windows"
    assert chosen(machine(system="darwin")) == "macos"


@pytest.mark.parametrize(("there", "others"), [(("dev/nvidia0", "dev/nvidia1"), ["mixed-gpu"]), (AMD, ["rocm", "single-gpu"])])
def test_no_other_makers_platform_is_offered_beside(machine, there: tuple[str, ...], others: list[str]) -> None:  # type: ignore[no-untyped-def]
    choice = choose_platform(Settings("apply", ("p",)), NOTHING_SAID, RULES, machine(*there))
    assert [other.id for other in choice.others] == others


def test_an_nvidia_machine(machine) -> None:  # type: ignore[no-untyped-def]
    assert chosen(machine("dev/nvidia0")) == "cuda"


@pytest.mark.parametrize(
    ("paths", "system", "platform", "offered"),
    [
        (("dev/nvidia0",), "linux", "cuda", True),
        (("dev/nvidia0", "dev/nvidia1"), "linux", "cuda", False),
        (("dev/davinci0",), "linux", "ascend", True),
        (("dev/dxg", "usr/lib/wsl/lib/nvidia-smi"), "linux", "cuda", True),  # how many there are cannot be seen
        ((), "win32", "windows", True),
        ((), "darwin", "macos", False),
    ],
)
def test_one_accelerator_is_told_of_the_platform_without_a_group(  # type: ignore[no-untyped-def]
    machine, paths: tuple[str, ...], system: str, platform: str, offered: bool
) -> None:
    choice = choose_platform(Settings("apply", ("p",)), NOTHING_SAID, RULES, machine(*paths, system=system))
    assert choice.platform.id == platform
    assert ("single-gpu" in [other.id for other in choice.others]) == offered


def test_an_ascend_machine(machine) -> None:  # type: ignore[no-untyped-def]
    assert chosen(machine("dev/davinci0")) == "ascend"


def test_an_amd_machine_is_healthy_and_the_other_command_is_named(machine) -> None:  # type: ignore[no-untyped-def]
    choice = choose_platform(Settings("apply", ("p",)), NOTHING_SAID, RULES, machine(*AMD))
    assert choice.platform.id == "rocm-rccl"
    assert [other.id for other in choice.others] == ["rocm", "single-gpu"]
    assert "RCCL" in render(choice.reason, "en")
    assert re.search("[\u4e00-\u9fff]", render(choice.reason, "zh"))


def test_rocm_under_wsl_is_gloo_and_the_other_command_is_named(machine) -> None:  # type: ignore[no-untyped-def]
    choice = choose_platform(Settings("apply", ("p",)), NOTHING_SAID, RULES, machine("dev/dxg", "opt/rocm/bin/rocminfo"))
    assert choice.platform.id == "rocm"
    assert "rocm-rccl" in [other.id for other in choice.others]


def test_a_machine_with_two_kinds_of_cards_is_asked_about(machine) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Failure) as failure:
        chosen(machine(*AMD, "dev/nvidia0"))
    assert offered(failure.value) == {"rocm-rccl", "cuda"}


def test_a_laptop_is_never_guessed(machine) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Failure) as failure:
        chosen(machine("dev/dri/card0"))
    assert failure.value.code == 2
    assert offered(failure.value) == set(RULES.platforms)


@pytest.mark.parametrize("variable", ["CI", "PRE_COMMIT"])
def test_ci_is_never_guessed(machine, variable: str) -> None:  # type: ignore[no-untyped-def]
    for system in ("linux", "win32", "darwin"):
        with pytest.raises(Failure) as failure:
            chosen(machine("dev/nvidia0", system=system, **{variable: "true"}))
        assert variable in render(failure.value.reason)
        assert offered(failure.value) == set(RULES.platforms)


def test_the_option_comes_first_then_the_project_then_the_rule_then_the_machine(machine) -> None:  # type: ignore[no-untyped-def]
    windows, project = machine(system="win32"), Config(Path("pyproject.toml"), platform="cpu")
    assert chosen(windows, project, platform="rocm", rules=("nccl-p2p-off",)) == "rocm"
    assert chosen(windows, project, rules=("nccl-p2p-off",)) == "cpu"
    assert chosen(windows, rules=("nccl-p2p-off",)) == "cuda"
    assert chosen(windows) == "windows"


def test_a_rule_s_platform_works_in_ci_too(machine) -> None:  # type: ignore[no-untyped-def]
    assert chosen(machine(CI="true"), rules=("nccl-shm", "nccl-debug")) == "cuda"


def test_rules_that_assume_different_platforms_are_asked_about(machine) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Failure) as failure:
        chosen(machine(), rules=("nccl-p2p-off", "no-libuv"))
    assert failure.value.code == 2
    assert any("--platform cuda --rule nccl-p2p-off --rule no-libuv" in line for line in failure.value.lines)


@pytest.mark.parametrize(
    ("config", "said"), [(NOTHING_SAID, {"platform": "rocn"}), (Config(Path("x.toml"), platform="rocn"), {})]
)
def test_an_unknown_platform_names_the_nearest(machine, config: Config, said: dict[str, str]) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(Failure) as failure:
        chosen(machine(), config, **said)
    assert failure.value.code == 2
    assert "did you mean rocm?" in render(failure.value.reason)
    assert "是否想输入 rocm" in render(failure.value.reason, "zh")


@pytest.mark.parametrize(("word", "platform"), [("npu", "ascend"), ("rcom", "rocm"), ("tccl", "sdaa")])
def test_another_name_of_a_platform_is_understood(capfd: pytest.CaptureFixture[str], word: str, platform: str) -> None:
    assert main(["diff", ".", "--platform", word]) == 2
    assert f"did you mean {platform}?" in capfd.readouterr().err


@pytest.mark.parametrize("words", [["--platform", "rocm,windows"], ["--platform", "rocm", "--platform", "windows"]])
def test_several_platforms_are_ported_to_one_after_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    (tmp_path / "a.py").write_text("import torch\n", "utf-8")
    assert main(["diff", str(tmp_path), *words]) == 2
    said = capsys.readouterr().err
    assert "One platform at a time" in said
    for platform in ("rocm", "windows"):
        assert f"--platform {platform} --style portable\n" in said


def test_one_platform_named_twice_is_one(tmp_path: Path) -> None:
    assert main(["check", str(tmp_path), "--platform", "rocm", "--platform=rocm"]) == 0


@pytest.mark.parametrize(("ported", "platform"), [({"ascend"}, "ascend"), ({"ascend", "rocm"}, None), (set(), None)])
def test_the_platform_of_the_only_apply_is_remembered(machine, ported: set[str], platform: str | None) -> None:  # type: ignore[no-untyped-def]
    settings = Settings("check", ("p",))
    if platform is None:
        with pytest.raises(Failure):
            choose_platform(settings, NOTHING_SAID, RULES, machine(), lambda: ported)
    else:
        assert choose_platform(settings, NOTHING_SAID, RULES, machine(), lambda: ported).platform.id == platform
    assert choose_platform(settings, NOTHING_SAID, RULES, machine("dev/nvidia0"), lambda: ported).platform.id == "cuda"
    with pytest.raises(Failure):
        choose_platform(settings, NOTHING_SAID, RULES, machine(CI="1"), lambda: ported)
