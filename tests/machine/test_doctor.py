"""What the answers of a machine come to; the answers are made up here, and asked for in test_interview.py."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from ddp_codemod.catalog.load import load
from ddp_codemod.catalog.machine import MachineFacts
from ddp_codemod.cli.doctor import make_command
from ddp_codemod.health import Check, Checkup
from ddp_codemod.machine.doctor import examine, redact_value
from ddp_codemod.machine.recognise import accelerators_to_ask_for, platforms_by_accelerator
from ddp_codemod.messages import render
from ddp_codemod.report import checkup as report
from ddp_codemod.report.ink import Ink

KNOWN = load().platforms
PLATFORMS = {ident: one for ident, one in KNOWN.items() if ident != "single-gpu"}
A100 = {"name": "NVIDIA A100", "capability": "8.0", "memory": 80 << 30}
T4 = {"name": "Tesla T4", "capability": "7.5", "memory": 15 << 30}


def machine(**sections: Any) -> dict[str, Any]:
    """A healthy Linux without an accelerator, but for what is given."""
    facts: dict[str, dict[str, Any]] = {
        "system": {"system": "Linux", "sys_platform": "linux", "python": "3.9.1", "shm_total": 8 << 30, "shm_free": 8 << 30},
        "environment": {"variables": {}},
        "network": {"loopback": True, "master_addr": "127.0.0.1", "master_port": "29500", "master_resolves": ["127.0.0.1"],
                    "host_resolves": ["10.0.0.1"], "port_free": True, "interfaces": ["lo", "eth0"]},
        "packages": {"versions": {}},
        "drivers": {"nvidia": [], "processes": 0, "nvlink": False, "amd": {}},
        "torch": {"version": "2.6.0", "cuda": None, "hip": None, "devices": [], "accelerators": [], "backends": ["gloo"], "libuv": True},
    }  # fmt: skip
    for name, changed in sections.items():
        facts[name] = {**facts[name], **changed}
    return facts


def look(**sections: Any) -> Checkup:
    return examine(machine(**sections), PLATFORMS)


@pytest.mark.parametrize(
    ("kinds", "platform"), [(["gfx1151"], "rocm"), (["gfx1100"], "rocm-rccl"), (["gfx1151", "gfx1100"], "rocm-rccl")]
)
def test_a_gpu_that_rccl_is_not_made_for(kinds: list[str], platform: str) -> None:
    devices = [{"name": "AMD", "capability": kind, "memory": 8 << 30} for kind in kinds]
    facts = machine(torch={**CUDA, "hip": "7.14", "cuda": None, "devices": devices})
    assert examine(facts, PLATFORMS, "", {"gfx1151": "rocm"}).platform == platform


def test_a_torch_that_is_newer_than_the_rule_data_is_said() -> None:
    assert one(examine(machine(torch={"version": "2.16.0"}), PLATFORMS, "2.15.0"), "torch-newer").state == "warning"
    for version in ("2.15.1+cu132", "2.9.1", "unknown"):
        found = examine(machine(torch={"version": version}), PLATFORMS, "2.15.0")
        assert "torch-newer" not in [check.id for check in found.checks]


def one(found: Checkup, ident: str) -> Check:
    (check,) = [check for check in found.checks if check.id == ident]
    return check


CUDA = {
    "cuda": "12.4",
    "accelerators": ["cuda"],
    "backends": ["nccl", "gloo"],
    "devices": [A100, A100],
    "peers": [[True] * 2] * 2,
}


WITHOUT = {"distributed": False, "backends": []}


@pytest.mark.parametrize(
    ("sections", "platform"),
    [
        ({}, "cpu"),
        ({"torch": CUDA}, "cuda"),
        ({"torch": {**CUDA, "devices": [A100, T4]}}, "mixed-gpu"),
        ({"torch": {**CUDA, "hip": "6.2", "cuda": None}}, "rocm-rccl"),
        ({"torch": {**CUDA, "hip": "6.2", "cuda": None, "backends": ["gloo"]}}, "rocm"),
        ({"torch": {**CUDA, "hip": "6.2"}, "system": {"wsl": True}}, "rocm"),
        ({"torch": {"accelerators": ["npu"]}}, "ascend"),
        ({"torch": {"accelerators": ["xpu"]}}, "xpu"),
        ({"system": {"sys_platform": "win32"}, "torch": CUDA}, "windows"),
        ({"system": {"sys_platform": "win32"}, "torch": {**CUDA, "hip": "7.0", "cuda": None}}, "rocm-windows"),
        ({"system": {"sys_platform": "win32"}, "torch": {**CUDA, "hip": "7.0", **WITHOUT}}, "rocm-windows"),
        ({"torch": WITHOUT}, "cpu"),
        ({"system": {"sys_platform": "darwin"}}, "macos"),
        ({"torch": {"error": "ModuleNotFoundError", "missing": True}}, None),
    ],
)
def test_what_a_machine_is_taken_for(sections: dict[str, Any], platform: str | None) -> None:
    found = look(**sections)
    assert found.platform == platform
    assert render(found.because, "zh") != render(found.because, "en")


def test_a_torch_without_distributed_is_said_beside_a_platform_that_does_not_know_it() -> None:
    def told(**sections: Any) -> tuple[str | None, bool]:
        found = examine(machine(**sections), KNOWN)
        return found.platform, found.bare

    windows = {"sys_platform": "win32"}
    assert told(torch={**CUDA, **WITHOUT}) == ("single-gpu", True)
    assert told(torch={**CUDA, **WITHOUT}, system=windows) == ("windows", True)
    assert told(torch={**CUDA, "hip": "7.0", **WITHOUT}, system=windows) == ("rocm-windows", False)  # its platform knows
    assert told(torch=CUDA) == ("cuda", False)
    assert told(torch={"error": "ModuleNotFoundError", "missing": True}) == (None, False)


def test_a_platform_is_known_by_an_accelerator_that_only_it_has() -> None:
    known = {
        "gcu": "gcu",
        "neuron": "neuron",
        "tpu": "tpu",
        "hpu": "hpu",
        "mlu": "mlu",
        "musa": "musa",
        "npu": "ascend",
        "sdaa": "sdaa",
        "supa": "biren",
        "xpu": "xpu",
    }
    assert platforms_by_accelerator(KNOWN) == known
    mine = replace(KNOWN["mlu"], id="zpu", machine=MachineFacts(accelerators=("zpu",)), device_types=("zpu", "cpu"))
    assert platforms_by_accelerator({**KNOWN, "zpu": mine}) == {**known, "zpu": "zpu"}
    assert "cuda" not in platforms_by_accelerator({**KNOWN, "mine": replace(KNOWN["cuda"], id="mine")})
    found = examine(machine(torch={"accelerators": ["zpu"]}), {**PLATFORMS, "zpu": mine})
    assert found.platform == "zpu"


def test_what_torch_is_asked_about_comes_from_the_platforms() -> None:
    assert accelerators_to_ask_for(KNOWN) == {
        "accelerators": ["cuda", "gcu", "hpu", "mlu", "musa", "neuron", "npu", "sdaa", "supa", "tpu", "xpu"],
        "packages": [
            "habana-frameworks",
            "torch-gcu",
            "torch-mlu",
            "torch-musa",
            "torch-neuronx",
            "torch-npu",
            "torch-sdaa",
            "torch-tpu",
        ],
    }


def test_one_gpu_leads_to_its_platform_where_there_is_one() -> None:
    facts = machine(torch={**CUDA, "devices": [A100]})
    assert examine(facts, KNOWN).platform == "single-gpu"
    assert examine(facts, PLATFORMS).platform == "cuda"


def test_a_healthy_machine_raises_nothing() -> None:
    for sections in ({}, {"torch": CUDA}):
        assert {check.state for check in look(**sections).checks} == {"ok"}


@pytest.mark.parametrize(
    ("sections", "ident", "state"),
    [
        ({"torch": {"error": "ImportError: libc10.so", "missing": False}}, "torch", "problem"),
        ({"torch": {"backends": []}}, "backends", "problem"),
        ({"torch": {"libuv": False}}, "libuv", "warning"),
        ({"torch": {"version": "2.9.1"}, "system": {"sys_platform": "win32"}}, "gloo", "problem"),
        ({"system": {"shm_total": 64 << 20}}, "shm", "warning"),
        ({"drivers": {"nvidia": [{"driver": "550"}]}}, "gpus", "problem"),
        ({"torch": {**CUDA, "architectures": ["sm_90"]}}, "architecture", "problem"),
        ({"torch": {**CUDA, "devices": [A100, T4]}}, "generations", "warning"),
        ({"torch": {**CUDA, "peers": [[True, False], [False, True]]}}, "peers", "warning"),
        ({"torch": CUDA, "drivers": {"processes": 2}}, "processes", "warning"),
        ({"network": {"loopback": False}}, "loopback", "problem"),
        ({"network": {"master_addr": "node-1", "master_resolves": []}}, "master", "problem"),
        ({"network": {"port_free": False}}, "port", "warning"),
        ({"network": {"host_resolves": []}}, "host", "warning"),
        ({"network": {"interfaces": ["lo", "docker0", "eth0"]}}, "adapters", "warning"),
        ({"environment": {"variables": {"GLOO_SOCKET_IFNAME": "^docker0"}}}, "gloo-interface", "problem"),
        ({"environment": {"variables": {"NCCL_P2P_DISABLE": "1"}}}, "environment", "warning"),
    ],
)
def test_what_is_wrong_says_why_or_what_to_do(sections: dict[str, Any], ident: str, state: str) -> None:
    check = one(look(**sections), ident)
    assert check.state == state
    assert check.why or check.todo
    for reason in filter(None, (check.said, check.why, check.todo)):
        assert "{" not in render(reason, "en")
        assert "{" not in render(reason, "zh")


@pytest.mark.parametrize(
    "sections",
    [
        {"torch": {**CUDA, "architectures": ["sm_80"]}},
        {"torch": {**CUDA, "devices": [{**A100, "capability": "8.9"}] * 2, "architectures": ["sm_80", "sm_86"]}},
        {"torch": {**CUDA, "devices": [{**A100, "capability": "gfx1100"}], "architectures": ["gfx1100"]}},
    ],
)
def test_architectures_that_fit(sections: dict[str, Any]) -> None:
    assert [check.id for check in look(**sections).checks if check.id == "architecture"] == []


def test_virtual_adapters_do_not_matter_where_one_is_named() -> None:
    found = look(network={"interfaces": ["docker0"]}, environment={"variables": {"GLOO_SOCKET_IFNAME": "eth0"}})
    assert [check.id for check in found.checks if check.id == "adapters"] == []


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("MASTER_ADDR", "alice-pc.example.org", "<host>"),
        ("MASTER_ADDR", "10.0.0.3", "10.0.0.3"),
        ("NCCL_SOCKET_IFNAME", "^docker0", "^docker0"),
        ("NCCL_DEBUG_FILE", "/home/alice/nccl.log", "<...>"),
        ("NCCL_DEBUG", "INFO", "INFO"),
    ],
)
def test_values_that_name_someone_are_not_shown(name: str, value: str, expected: str) -> None:
    assert redact_value(name, value) == expected


def test_a_bug_report_names_nobody() -> None:
    error = "ImportError: /home/alice/env/libc10.so on alicepc, hf_abcdefghijklmnop"
    text = report.format_issue_report(look(torch={"error": error}), "en", "1", None, ["/home/alice", "alice", "alicepc"])
    assert "ImportError" in text
    assert not any(word in text for word in ("alice", "hf_abc"))


def test_json_follows_its_schema() -> None:
    for sections in ({}, {"torch": {"error": "x"}}, {"torch": CUDA}):
        document = json.loads(report.encode_checkup(look(**sections), "zh", None))
        jsonschema.validate(document, json.loads(report.SCHEMA.read_text("utf-8")))


def test_every_check_has_a_line() -> None:
    found = look(torch={**CUDA, "devices": [A100, T4]})
    lines = report.format_checkup(found, "en", Ink(False), "ddp-codemod apply . --platform mixed-gpu")
    assert sum(line.startswith(("ok", "warning")) for line in lines) == len(found.checks)
    assert lines[-1].endswith("ddp-codemod apply . --platform mixed-gpu")


@pytest.mark.parametrize(
    ("sections", "ident", "state"),
    [
        ({"environment": {"variables": {"GLOO_SOCKET_IFNAME": "eth9"}}}, "interface-gloo_socket_ifname", "problem"),
        ({"environment": {"variables": {"NCCL_SOCKET_IFNAME": "ib"}}}, "interface-nccl_socket_ifname", "problem"),
        ({"environment": {"variables": {"NCCL_SOCKET_IFNAME": "=eth"}}}, "interface-nccl_socket_ifname", "problem"),
        ({"environment": {"variables": {"CUDA_VISIBLE_DEVICES": ""}}}, "hidden-cuda_visible_devices", "warning"),
        ({"environment": {"variables": {"CUDA_VISIBLE_DEVICES": ""}}, "drivers": {"nvidia": [{"name": "T4", "driver": "550"}]}}, "hidden-cuda_visible_devices", "problem"),
        ({"network": {"master_addr": "tcp://10.0.0.1"}}, "master", "problem"),
        ({"network": {"master_addr": "[::1]"}}, "master", "problem"),
        ({"network": {"master_addr": "10.0.0.1:29500"}}, "master", "problem"),
        ({"network": {"master_addr": ""}}, "master", "problem"),
        ({"store": {"libuv": False}}, "libuv", "warning"),
        ({"network": {"late": 30.0, "error": "no answer within 30 s"}}, "late-network", "problem"),
    ],
)  # fmt: skip
def test_settings_that_cannot_work_are_flagged(sections: dict[str, Any], ident: str, state: str) -> None:
    facts = machine()
    for name, changed in sections.items():
        facts[name] = {**facts.get(name, {}), **changed}
    assert one(examine(facts, PLATFORMS), ident).state == state


@pytest.mark.parametrize(
    "sections",
    [
        {"environment": {"variables": {"NCCL_SOCKET_IFNAME": "eth"}}},
        {"environment": {"variables": {"NCCL_SOCKET_IFNAME": "^docker0,lo"}}},
        {"environment": {"variables": {"GLOO_SOCKET_IFNAME": "eth9,eth0"}}},
        {"environment": {"variables": {"CUDA_VISIBLE_DEVICES": "0,1"}}},
        {"network": {"master_addr": "::1"}},
        {"network": {"master_addr": "node-0.cluster"}},
    ],
)
def test_settings_that_can_work_are_not(sections: dict[str, Any]) -> None:
    assert not [check.id for check in look(**sections).checks if check.state == "problem"]


def test_a_torch_that_was_never_asked_is_not_called_missing() -> None:
    facts = machine()
    del facts["torch"]
    found = examine(facts, PLATFORMS)
    assert found.platform is None
    said = render(found.because, "en") + render(one(found, "torch").said, "en")
    assert "was not queried" in said
    assert "missing" not in said
    assert "not installed" not in said


NPU = {"accelerators": ["npu"]}


def asked_for(ident: str, **sections: Any) -> dict[str, str]:
    """The checks of a named platform, each with its state."""
    found = examine(machine(**sections), KNOWN, asked=KNOWN[ident])
    assert found.asked == ident
    return {check.id: check.state for check in found.checks if check.id.startswith("platform-")}


def test_what_a_machine_has_of_the_platform_that_is_named() -> None:
    assert asked_for("ascend", torch=NPU, packages={"versions": {"torch-npu": "2.6.0"}}) == {
        "platform-package": "ok",
        "platform-accelerator": "ok",
    }
    assert asked_for("ascend", torch=NPU) == {"platform-accelerator": "ok"}  # it works, whatever the package is called
    assert asked_for("ascend") == {"platform-package": "problem", "platform-accelerator": "problem"}
    assert asked_for("cuda", torch=CUDA) == {"platform-accelerator": "ok", "platform-backend": "ok"}
    assert asked_for("cuda") == {"platform-accelerator": "problem", "platform-backend": "problem"}
    assert asked_for("cpu") == {"platform-backend": "ok"}
    assert asked_for("cpu", torch=CUDA) == {"platform-backend": "ok"}


def test_a_card_of_amd_is_none_of_nvidia() -> None:
    amd = {**CUDA, "cuda": None, "hip": "7.1"}
    assert asked_for("rocm", torch=amd)["platform-accelerator"] == "ok"
    assert asked_for("cuda", torch=amd)["platform-accelerator"] == "problem"
    assert asked_for("rocm", torch=CUDA)["platform-accelerator"] == "problem"
    assert asked_for("single-gpu", torch=amd)["platform-accelerator"] == "ok"
    assert asked_for("hygon", torch=amd)["platform-accelerator"] == "ok"  # torch calls it cuda: nothing tells it apart


def test_another_system_than_the_platform_has() -> None:
    assert asked_for("windows")["platform-system"] == "problem"
    assert "platform-system" not in asked_for("windows", system={"sys_platform": "win32"})
    assert "platform-system" not in asked_for("single-gpu", system={"sys_platform": "win32"})
    assert asked_for("ascend", torch={"error": "ModuleNotFoundError", "missing": True}) == {}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_report_about_a_named_platform(lang: str) -> None:
    lacking = examine(machine(), KNOWN, asked=KNOWN["ascend"])
    said = "\n".join(report.format_checkup(lacking, lang, Ink(False), "ddp-codemod apply . --platform ascend"))
    assert "torch_npu" in said
    assert ("lacks 2 things that platform ascend needs" if lang == "en" else "平台 ascend 所需的条件，这台机器缺 2 项") in said
    assert "apply . --platform ascend" in said
    assert ("Detected platform cpu" if lang == "en" else "本机被视为 cpu") in said
    document = json.loads(report.encode_checkup(lacking, lang, "x"))
    jsonschema.validate(document, json.loads(report.SCHEMA.read_text("utf-8")))
    assert (document["platform"], document["asked"]) == ("cpu", "ascend")
    assert "asked" not in json.loads(report.encode_checkup(examine(machine(), KNOWN), lang, "x"))
    ready = examine(machine(torch=NPU), KNOWN, asked=KNOWN["ascend"])
    said = "\n".join(report.format_checkup(ready, lang, Ink(False), "x"))
    assert ("has what platform ascend needs" if lang == "en" else "具备平台 ascend 所需的一切") in said


@pytest.mark.parametrize(
    ("ident", "said"),
    [
        ("rocm-windows", "install torch (https://rocm.docs.amd.com/projects/radeon-ryzen/"),
        ("rocm", "install torch (https://rocm.docs.amd.com/projects/install-on-linux/"),
        ("ascend", "install torch, torch_npu, CANN (https://github.com/Ascend/pytorch)"),
        ("cuda", "install torch (https://pytorch.org/get-started/locally/)"),
        (None, "install torch (https://pytorch.org/get-started/locally/)"),
    ],
)
def test_a_missing_torch_is_installed_from_the_makers_page(ident: str | None, said: str) -> None:
    facts = machine(torch={"error": "ModuleNotFoundError", "missing": True})
    found = examine(facts, KNOWN, asked=KNOWN[ident] if ident else None)
    text = "\n".join(report.format_checkup(found, "en", Ink(False), None))
    assert said in text
    assert ("Cannot tell which platform" in text) == (ident is None)  # where the user names it, nothing has to be told


@pytest.mark.parametrize(
    ("ident", "unsafe"),
    [("ascend", True), ("xpu", True), ("cpu", True), ("macos", True), ("rocm", False), ("rocm-windows", False), ("cuda", False)],
)
def test_the_command_for_a_platform_does_the_whole_port(ident: str, unsafe: bool) -> None:
    line = make_command(examine(machine(), KNOWN, asked=KNOWN[ident]), load(), "./x")
    assert line == f"ddp-codemod apply ./x --platform {ident}" + (" --unsafe" if unsafe else "")
