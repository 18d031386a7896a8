"""A recorder in place of init_process_group: which backend, store and environment each program would create its group with.

On each platform, before the patch, after the patch that a person wrote and after the tool's own.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.edits.render import render
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

# What each platform tells a program, written down again here so that it can disagree with the rule data.
LINUX = {"os.name": "posix", "platform.system": "Linux", "sys.platform": "linux"}
MACHINES: dict[str, dict[str, Any]] = {
    "rocm": {**LINUX, "gpus": 1, "hip": True},
    "rocm-rccl": {**LINUX, "gpus": 1, "hip": True},
    "windows": {"os.name": "nt", "platform.system": "Windows", "sys.platform": "win32", "gpus": 1},
    "cpu": {**LINUX, "gpus": 0},
    "macos": {"os.name": "posix", "platform.system": "Darwin", "sys.platform": "darwin", "gpus": 0},
    "cuda": {**LINUX, "gpus": 1},
    "mixed-gpu": {**LINUX, "gpus": 1},
    "ascend": {**LINUX, "gpus": 1, "accelerator": "npu"},  # torch_npu.contrib.transfer_to_npu makes torch.cuda answer yes
}
# No person wrote a patch for these. On all but Intel's their makers have such migrations too.
OTHERS: dict[str, dict[str, Any]] = {
    name: {**LINUX, "gpus": 0 if name == "xpu" else 1, "accelerator": name}
    for name in ("xpu", "mlu", "musa", "sdaa", "gcu", "neuron", "tpu", "hpu")
}
# What portable conditions ask beside that, and the machine that the projects were written for.
NVIDIA: dict[str, Any] = {**LINUX, "gpus": 2, "names": ["A", "A"], "cuda": True, "nccl": True, "plugins": False}
TARGETS: dict[str, dict[str, Any]] = {
    **{name: {**machine, "nccl": machine.get("hip", False)} for name, machine in {**MACHINES, **OTHERS}.items()},
    "cuda": NVIDIA,
    "mixed-gpu": {**NVIDIA, "names": ["A", "B"]},
}
GOOD = {
    "rocm-rccl": "nccl",
    "cuda": "nccl",
    "ascend": "hccl",
    "xpu": "xccl",
    "mlu": "cncl",
    "musa": "mccl",
    "sdaa": "tccl",
    "gcu": "eccl",
    "neuron": "neuron",
    "tpu": "tpu_dist",
    "hpu": "hccl",
}  # gloo elsewhere
PLUGINS = {
    "ascend": ["torch_npu"],
    "mlu": ["torch_mlu"],
    "musa": ["torch_musa"],
    "sdaa": ["torch_sdaa"],
    "gcu": ["torch_gcu"],
    "neuron": ["torch_neuronx"],
    "tpu": ["torch_tpu"],
    "hpu": ["habana_frameworks.torch.distributed.hccl"],
}

# What a kind of program asks for unpatched, where that is not the same everywhere; None: it makes no group.
NEVER_PATCHED = "gloo everywhere"
KINDS: dict[str, dict[str, str | None]] = {
    "literal": {},
    "spawn-ternary": {"windows": "gloo", "cpu": "gloo", "macos": "gloo", "xpu": "gloo"},
    "strategy-ternary": {"windows": "gloo", "cpu": None, "macos": None, "xpu": None},
    "accelerator": {"cpu": "gloo", "macos": "gloo", "xpu": "gloo"},
}
SPEAKER = [f"speakerlab/bin/{name}.py" for name in ("train", "train_asd", "train_para", "train_rdino", "train_sdpn")]
TOOLS = [f"egs/diarization/local/{n}.py" for n in ("extract_diar_embeddings", "extract_visual_embeddings", "out_transcription")]
PROGRAMS: dict[str, list[tuple[str, str]]] = {
    "tts-spawn": [("s1_train.py", "strategy-ternary"), ("s2_train.py", "spawn-ternary")],
    "tts-spawn-before-libuv": [
        ("s1_train.py", "strategy-ternary"),
        ("s2_train.py", "spawn-ternary"),
        ("prosody_train.py", NEVER_PATCHED),
    ],
    "speaker-torchrun": [
        *((entry, "literal") for entry in SPEAKER),
        ("speakerlab/bin/pretrain.py --dist_url env://", "literal"),
        ("speakerlab/bin/train_asd.py --test", NEVER_PATCHED),
        *((entry, NEVER_PATCHED) for entry in TOOLS),
    ],
    "vocoder-accelerate": [("bins/train.py --model vocoder", "accelerator"), ("bins/train.py --model tts", "accelerator")],
}
CASES = sorted(PROGRAMS)
RULE = "nccl-p2p-off"

Results = dict[tuple[str, str, str], dict[str, Any]]  # by case, platform and program
Record = Callable[[str], Results]


def before(kind: str, platform: str) -> str | None:
    return "gloo" if kind == NEVER_PATCHED else KINDS[kind].get(platform, "nccl")


def after(kind: str, platform: str) -> str | None:
    if before(kind, platform) != "nccl":
        return before(kind, platform)
    if kind == "accelerator" and platform in PLUGINS:  # accelerate takes the makers' backends by itself
        return "nccl"
    return GOOD.get(platform, "gloo")


def ported(kind: str, platform: str) -> str | None:
    """As ``after``, for a program that finds the device of another maker too: Intel's, which torch.cuda does not show."""
    return GOOD[platform] if platform == "xpu" and kind.endswith("-ternary") else after(kind, platform)


def libuv(record: dict[str, Any]) -> bool:
    """Whether torch 2.4 to 2.6 would ask for libuv: the query decides, else the variable, and only 1 means on."""
    query = parse_qs(urlsplit(record["init_method"] or "env://").query, keep_blank_values=True).get("use_libuv")
    return (query[0] if query else record["environment"].get("USE_LIBUV", "1")) == "1"


OLD = "the machine that it was written for"


def apply(root: Path, platform: str, fixes: tuple[str, ...] = (), unsafe: bool = False, style: Any = "pin") -> None:
    """What the tool's command does, without starting Python for each of a hundred copies."""
    rules = load()
    found = survey(Options((root,), rules.platforms[platform], rules, fixes=fixes, root=root, style=style))
    rendered = render(found, unsafe)
    assert not rendered.failed
    for change in rendered.changes:
        (root / change.name).write_bytes(change.after)


class Recorder:
    """Patches copies of the fixtures and runs the recorder on them, all jobs in one process."""

    def __init__(self, folder: Path, truth: Any) -> None:
        self.folder, self.truth = folder, truth

    def patched(self, case: str, name: str, by: str) -> Path:
        root = self.folder / f"{case}-{name}-{by}"
        shutil.copytree(self.truth.fixtures / case / "project", root)
        if by == "hand":
            self.truth.apply_by_hand(root, case, name)
        elif by == "tool":
            platform, *words = name.split("--")
            apply(root, platform, tuple(word for word in words if word != "unsafe"), "unsafe" in words)
        elif by == "portable":
            apply(root, name, unsafe=True, style="portable")
        return root

    def job(self, root: Path, platform: str, program: str, exported: dict[str, str] | None = None) -> dict[str, Any]:
        entry, *arguments = program.split()
        ranks = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}
        machine = {"root": str(root), **(NVIDIA if platform == OLD else TARGETS[platform])}
        return {"machine": machine, "entry": entry, "arguments": arguments, "environment": {**ranks, **(exported or {})}}

    def run(self, jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """One record a job; ``backend`` is None where the program ended well without a group."""
        asked, answered = self.folder / "jobs.json", self.folder / "results.json"
        asked.write_text(json.dumps(jobs), encoding="utf-8")
        script = str(self.truth.machines / "recorder.py")
        ran = self.truth.run([sys.executable, script, str(asked), str(answered)], self.folder, self.truth.clean_environment())
        assert ran.status == 0, ran.output
        records = []
        for job, result in zip(jobs, json.loads(answered.read_text(encoding="utf-8")), strict=True):
            assert result["error"] is None, f"{job['machine']['root']}/{job['entry']}: {result['error']}"
            records.append(result["records"][0] if result["records"] else {"backend": None})
        return records


PATCHES: dict[str, list[str]] = {"nobody": [*MACHINES, OLD], "hand": [*MACHINES], "tool": [*TARGETS], "portable": [*TARGETS]}


@pytest.fixture(scope="module")
def record(once: Callable[..., Path], truth: Any) -> Record:
    """``record(by)`` runs every program on every platform, once; ``by`` says who patched it.

    What was written portably runs on the old machine too, under the platform's name with ``OLD`` behind it.
    """

    @cache
    def results(by: str) -> Results:
        def fill(folder: Path) -> None:
            recorder = Recorder(folder, truth)
            keys, jobs = [], []
            for case in CASES:
                for platform in PATCHES[by]:
                    root = recorder.patched(case, platform, by)
                    for program, kind in PROGRAMS[case]:
                        if by != "portable" or kind != NEVER_PATCHED:
                            keys.append((case, platform, program))
                            jobs.append(recorder.job(root, platform, program))
                        if by == "portable" and kind != NEVER_PATCHED:
                            keys.append((case, platform + OLD, program))
                            jobs.append(recorder.job(root, OLD, program))
            records = recorder.run(jobs)
            (folder / "records.json").write_text(json.dumps(list(zip(keys, records, strict=True))), "utf-8")

        records = json.loads((once(f"recorded-{by}", fill) / "records.json").read_text("utf-8"))
        return {(case, platform, program): seen for (case, platform, program), seen in records}

    return results


@pytest.mark.parametrize("platform", MACHINES)
@pytest.mark.parametrize("case", CASES)
def test_unpatched_programs_ask_for_what_their_lines_say(record: Record, case: str, platform: str) -> None:
    found = {program: record("nobody")[case, platform, program]["backend"] for program, _kind in PROGRAMS[case]}
    assert found == {program: before(kind, platform) for program, kind in PROGRAMS[case]}


@pytest.mark.parametrize(("platform", "by"), [(name, by) for by in ("hand", "tool") for name in PATCHES[by]])
@pytest.mark.parametrize("case", CASES)
def test_patched_programs_ask_for_what_works(record: Record, case: str, platform: str, by: str) -> None:
    records = {program: record(by)[case, platform, program] for program, _kind in PROGRAMS[case]}
    found = {program: seen["backend"] for program, seen in records.items()}
    assert found == {program: after(kind, platform) for program, kind in PROGRAMS[case]}
    for program, seen in records.items():
        assert platform not in PLUGINS or seen["backend"] != GOOD[platform] or seen["plugins"] == PLUGINS[platform], program


@pytest.mark.parametrize("platform", TARGETS)
@pytest.mark.parametrize("case", CASES)
def test_portable_programs_ask_for_what_works(record: Record, case: str, platform: str) -> None:
    for program, kind in PROGRAMS[case]:
        if kind != NEVER_PATCHED:
            seen = record("portable")[case, platform, program]
            assert seen["backend"] == ported(kind, platform), program
            assert platform not in PLUGINS or seen["backend"] != GOOD[platform] or seen["plugins"] == PLUGINS[platform], program


@pytest.mark.parametrize("platform", TARGETS)
@pytest.mark.parametrize("case", CASES)
def test_portable_programs_ask_for_the_same_on_the_machine_they_were_written_for(
    record: Record, case: str, platform: str
) -> None:
    for program, kind in PROGRAMS[case]:
        if kind != NEVER_PATCHED:
            assert record("portable")[case, platform + OLD, program] == record("nobody")[case, OLD, program], program


@pytest.mark.parametrize("case", ["tts-spawn", "tts-spawn-before-libuv", "speaker-torchrun"])
def test_on_windows_only_todays_tts_turns_libuv_off_unpatched(record: Record, case: str) -> None:
    for program, _kind in PROGRAMS[case]:
        assert libuv(record("nobody")[case, "windows", program]) == (case != "tts-spawn"), program


@pytest.mark.parametrize("by", ["hand", "tool", "portable"])
@pytest.mark.parametrize("case", ["tts-spawn", "tts-spawn-before-libuv", "speaker-torchrun"])
def test_on_windows_no_patched_program_asks_for_libuv(record: Record, case: str, by: str) -> None:
    for program, _kind in [one for one in PROGRAMS[case] if by != "portable" or one[1] != NEVER_PATCHED]:
        seen = record(by)[case, "windows", program]
        assert libuv(seen) == ("--dist_url" in program), program  # what a user types is beyond an edit


@pytest.mark.parametrize("by", ["hand", "tool"])
def test_nccl_p2p_off_reaches_the_nccl_groups_only_and_keeps_an_exported_choice(tmp_path: Path, truth: Any, by: str) -> None:
    recorder = Recorder(tmp_path, truth)
    root = recorder.patched("speaker-torchrun", f"cuda--{RULE}", by)
    programs = PROGRAMS["speaker-torchrun"]
    exported = {"NCCL_P2P_DISABLE": "0"}
    records = recorder.run(
        [recorder.job(root, "cuda", program) for program, _kind in programs]
        + [recorder.job(root, "cuda", program, exported) for program, _kind in programs]
    )
    for (program, kind), plain, chosen in zip(programs, records, records[len(programs) :], strict=False):
        assert plain["environment"].get("NCCL_P2P_DISABLE") == (None if kind == NEVER_PATCHED else "1"), program
        assert chosen["environment"]["NCCL_P2P_DISABLE"] == "0", program
