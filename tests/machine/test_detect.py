"""Machines imitated by a folder that stands for the root of their file system."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.machine.detect import CHECKS, Machine, find_amd_architectures, find_unattended_variable, has_all_checks


def machine(root: Path, *paths: str, system: str = "linux", **environ: str) -> Machine:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    return Machine(root, system, environ)


def amd_card(root: Path, vendor: str = "0x1002\n") -> None:
    path = root / "sys/class/drm/renderD128/device/vendor"
    path.parent.mkdir(parents=True)
    path.write_text(vendor, "ascii")


def held(found: Machine) -> set[str]:
    return {name for name in CHECKS if has_all_checks((name,), found)}


def test_a_laptop_with_linux(tmp_path: Path) -> None:
    assert held(machine(tmp_path, "dev/null", "dev/dri/card0")) == {"linux"}


def test_windows(tmp_path: Path) -> None:
    assert held(machine(tmp_path, system="win32")) == {"windows"}


def test_a_mac(tmp_path: Path) -> None:
    assert held(machine(tmp_path, system="darwin")) == {"macos"}


def test_a_mac_is_no_linux_even_with_device_nodes(tmp_path: Path) -> None:
    assert held(machine(tmp_path, "dev/nvidia0", "dev/davinci0", "dev/dxg", "opt/rocm/bin/x", system="darwin")) == {"macos"}


def test_an_amd_card(tmp_path: Path) -> None:
    amd_card(tmp_path)
    assert held(machine(tmp_path, "dev/kfd", "dev/dri/renderD128")) == {"linux", "amd-gpu", "one-accelerator"}


def kfd(root: Path, *versions: int) -> None:
    for number, version in enumerate(versions):
        path = root / f"sys/class/kfd/kfd/topology/nodes/{number}/properties"
        path.parent.mkdir(parents=True)
        path.write_text(f"cpu_cores_count 16\ngfx_target_version {version}\nvendor_id 4098\n", "ascii")


@pytest.mark.parametrize(
    ("versions", "wanted"),
    [((0, 110501), True), ((0, 110000), False), ((0, 110501, 110000), False), ((0, 0), False), ((), False)],
)
def test_a_platform_of_some_architectures_alone(tmp_path: Path, versions: tuple[int, ...], wanted: bool) -> None:
    amd_card(tmp_path)
    kfd(tmp_path, *versions)
    found = machine(tmp_path, "dev/kfd", "dev/dri/renderD128")
    assert has_all_checks(("amd-gpu",), found, ("gfx1151",)) is wanted
    assert has_all_checks(("amd-gpu",), found)


def test_the_architecture_is_written_as_the_driver_counts_it(tmp_path: Path) -> None:
    kfd(tmp_path, 90010, 90402, 120001)
    assert find_amd_architectures(machine(tmp_path)) == {"gfx90a", "gfx942", "gfx1201"}


def test_an_amd_card_without_the_compute_driver(tmp_path: Path) -> None:
    amd_card(tmp_path)
    assert held(machine(tmp_path, "dev/dri/renderD128")) == {"linux"}


@pytest.mark.parametrize("vendor", ["0x8086\n", "", "\n"])
def test_the_compute_driver_with_another_card(tmp_path: Path, vendor: str) -> None:
    amd_card(tmp_path, vendor)
    assert held(machine(tmp_path, "dev/kfd", "dev/dri/renderD128")) == {"linux"}


def test_an_amd_card_that_this_container_was_not_given(tmp_path: Path) -> None:
    amd_card(tmp_path)
    assert held(machine(tmp_path, "dev/kfd", "dev/dri/card0")) == {"linux"}


def test_wsl_with_rocm(tmp_path: Path) -> None:
    assert held(machine(tmp_path, "dev/dxg", "opt/rocm-6.2.3/bin/rocminfo")) == {"linux", "wsl", "rocm-installed"}


def test_rocm_elsewhere(tmp_path: Path) -> None:
    assert "rocm-installed" in held(machine(tmp_path, "usr/local/amd/bin/rocminfo", ROCM_PATH="/usr/local/amd"))
    assert "rocm-installed" not in held(Machine(tmp_path / "empty", "linux", {"ROCM_PATH": "/usr/local/amd"}))


def test_folders_that_only_look_like_rocm(tmp_path: Path) -> None:
    assert held(machine(tmp_path, "opt/rocm-tools/x", "opt/rocmfoo/x")) == {"linux"}


def test_wsl_with_nvidia(tmp_path: Path) -> None:
    assert held(machine(tmp_path, "dev/dxg", "usr/lib/wsl/lib/nvidia-smi")) == {"linux", "wsl", "nvidia-gpu"}


def test_wsl_with_another_card(tmp_path: Path) -> None:
    assert held(machine(tmp_path, "dev/dxg", "usr/lib/wsl/lib/libd3d12.so")) == {"linux", "wsl"}


@pytest.mark.parametrize("node", ["nvidia0", "nvidia7", "nvidia12"])
def test_nvidia(tmp_path: Path, node: str) -> None:
    assert held(machine(tmp_path, f"dev/{node}")) == {"linux", "nvidia-gpu", "one-accelerator"}


@pytest.mark.parametrize("node", ["nvidiactl", "nvidia-uvm", "nvidia-modeset"])
def test_nvidia_s_driver_without_a_card(tmp_path: Path, node: str) -> None:
    assert held(machine(tmp_path, f"dev/{node}")) == {"linux"}


def test_ascend(tmp_path: Path) -> None:
    assert held(machine(tmp_path, "dev/davinci0", "dev/davinci_manager")) == {"linux", "ascend-npu", "one-accelerator"}
    assert "one-accelerator" not in held(machine(tmp_path, "dev/davinci1"))


def test_two_cards_are_not_one(tmp_path: Path) -> None:
    assert held(machine(tmp_path, "dev/nvidia0", "dev/nvidia1", "dev/nvidiactl")) == {"linux", "nvidia-gpu"}


def test_ascend_s_driver_without_a_card(tmp_path: Path) -> None:
    assert held(machine(tmp_path, "dev/davinci_manager")) == {"linux"}


def test_all_checks_have_to_hold(tmp_path: Path) -> None:
    found = machine(tmp_path, "dev/nvidia0")
    assert has_all_checks(("linux", "nvidia-gpu"), found)
    assert not has_all_checks(("linux", "amd-gpu"), found)
    assert not has_all_checks((), found)
    assert not has_all_checks(("linux", "a check of a newer release"), found)


@pytest.mark.parametrize("variable", ["CI", "GITHUB_ACTIONS", "PRE_COMMIT", "GIT_INDEX_FILE"])
def test_nobody_is_there(variable: str) -> None:
    assert find_unattended_variable({variable: "1"}) == variable


@pytest.mark.parametrize("environ", [{}, {"CI": ""}, {"CI": "false"}, {"CI": "0"}, {"CITY": "1"}])
def test_somebody_is_there(environ: dict[str, str]) -> None:
    assert find_unattended_variable(environ) is None


def test_hygons_toolkit_tells_its_machines_from_amds(tmp_path: Path) -> None:
    (tmp_path / "opt" / "dtk-25.04.1").mkdir(parents=True)
    assert CHECKS["dtk-installed"](Machine(tmp_path, "linux", {}))
    assert not CHECKS["dtk-installed"](Machine(tmp_path, "win32", {}))
    (tmp_path / "opt" / "dtk-25.04.1").rmdir()
    (tmp_path / "opt" / "dtkit").mkdir()
    assert not CHECKS["dtk-installed"](Machine(tmp_path, "linux", {}))
