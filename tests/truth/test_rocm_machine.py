"""On an imitated AMD machine with two GPUs, real torch and real gloo: what dies for want of NCCL trains once it is patched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

ROCM = {"gpus": 2, "hip": True, "os.name": "posix", "platform.system": "Linux", "sys.platform": "linux"}
# A build with NCCL finds no GPU behind the imitated ones.
NO_NCCL = ("Distributed package doesn't have NCCL built in", "ProcessGroupNCCL is only supported with GPUs")


def dies_for_nccl(ran: Any) -> None:
    assert ran.status != 0, ran.output
    assert any(message in ran.output for message in NO_NCCL), ran.output
    assert not ran.losses


def trains(ran: Any, losses: list[float]) -> None:
    """The run ended well, printed these losses, and they fall."""
    assert ran.status == 0, ran.output
    assert len(ran.losses) > 3
    assert ran.losses == pytest.approx(losses, abs=2e-6)
    assert ran.losses[-1] < ran.losses[0]


@pytest.mark.parametrize(
    ("entry", "checkpoint"),
    [
        pytest.param("s1_train.py", "logs/s1/s1.pth", id="lightning", marks=pytest.mark.long),
        pytest.param("s2_train.py", "logs/s2/s2.pth", id="spawn"),
    ],
)
def test_tts_dies_unpatched_and_trains_as_one_process_does(project: Callable[..., Any], entry: str, checkpoint: str) -> None:
    unpatched, patched = project("tts-spawn"), project("tts-spawn", "rocm")
    dies_for_nccl(unpatched.on(**ROCM).python(entry))
    alone = unpatched.python(entry)  # on the plain CPU: one process, the reference
    trains(patched.on(**ROCM).python(entry), alone.losses)
    assert (patched.root / checkpoint).stat().st_size


@pytest.mark.long
def test_the_older_tts_dies_unpatched_and_trains_patched(project: Callable[..., Any]) -> None:
    unpatched, patched = project("tts-spawn-before-libuv"), project("tts-spawn-before-libuv", "rocm")
    dies_for_nccl(unpatched.on(**ROCM).python("s1_train.py"))
    first, second = (patched.on(**ROCM).python("s1_train.py") for _ in range(2))
    trains(first, second.losses)


def test_speaker_under_torchrun_dies_unpatched_and_trains_patched(project: Callable[..., Any]) -> None:
    unpatched, patched = project("speaker-torchrun"), project("speaker-torchrun", "rocm")
    dies_for_nccl(unpatched.on(**ROCM).torchrun("speakerlab/bin/train.py"))
    ran = patched.on(**ROCM).torchrun("speakerlab/bin/train.py")
    trains(ran, ran.losses)
    assert "backend gloo ranks 2" in ran.output
    assert (patched.root / "exp/toy/speaker.pt").stat().st_size


def test_a_group_whose_address_comes_from_the_command_line_trains_patched(project: Callable[..., Any]) -> None:
    ran = project("speaker-torchrun", "rocm").on(**ROCM).torchrun("speakerlab/bin/pretrain.py", "--dist_url", "env://")
    trains(ran, ran.losses)


def test_speaker_tools_that_ask_for_gloo_never_needed_a_patch(project: Callable[..., Any]) -> None:
    ran = project("speaker-torchrun").on(**ROCM).torchrun("egs/diarization/local/extract_diar_embeddings.py")
    assert ran.status == 0, ran.output
    assert "embeddings 6" in ran.output


@pytest.mark.long
@pytest.mark.parametrize("model", ["vocoder", "tts"])
def test_accelerate_trainers_die_unpatched_and_train_patched(project: Callable[..., Any], model: str) -> None:
    unpatched, patched = project("vocoder-accelerate"), project("vocoder-accelerate", "mixed-gpu", "--unsafe")
    mixed = {**ROCM, "hip": False}
    dies_for_nccl(unpatched.on(**mixed).torchrun("bins/train.py", "--model", model))
    alone = unpatched.python("bins/train.py", "--model", model)
    trains(patched.on(**mixed).torchrun("bins/train.py", "--model", model), alone.losses)
    assert (patched.root / "ckpts/toy/model.pt").stat().st_size


def test_inference_prints_the_same_after_the_patch(project: Callable[..., Any]) -> None:
    before = project("vocoder-accelerate").on(**ROCM).python("bins/vocode.py")
    after = project("vocoder-accelerate", "mixed-gpu", "--unsafe").on(**ROCM).python("bins/vocode.py")
    assert before.status == after.status == 0, before.output + after.output
    assert before.output == after.output
    assert "wave (2, 2)" in after.output
