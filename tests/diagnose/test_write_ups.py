"""The five write-ups: each log ends in the right command."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.cli import main

LOGS = {
    "rocm": (
        """
HIP version: 6.1  ROCm build
Traceback (most recent call last):
  File "/home/li/tts/s1_train.py", line 140, in main
    trainer.fit(model, data)
torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1970, internal error - please report this issue to the NCCL developers, NCCL version 2.18.6
ncclInternalError: Internal check failed.
Last error:
socketStartConnect: Connect to 172.17.0.1<41537> failed
""",
        "ddp-codemod apply . --platform rocm",
    ),
    "libuv": (
        r"""
Traceback (most recent call last):
  File "D:\work\tts\s2_train.py", line 60, in run
    dist.init_process_group(backend="gloo", init_method="env://", rank=rank, world_size=n_gpus)
  File "D:\work\tts\runtime\lib\site-packages\torch\distributed\rendezvous.py", line 185, in _create_c10d_store
    return TCPStore(
RuntimeError: use_libuv was requested but PyTorch was build without libuv support
""",
        "ddp-codemod apply . --platform windows",
    ),
    "system error": (
        """
RuntimeError: NCCL error in: ../torch/csrc/distributed/c10d/NCCLUtils.hpp:121, unhandled system error, NCCL version 2.10.3
ncclSystemError: System call (socket, malloc, munmap, etc) failed.
ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: 1) local_rank: 0 (pid: 70) of binary: /env/bin/python
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
""",
        "ddp-codemod apply . --rule nccl-debug",
    ),
    "hang": (
        """
Stage2: training the speaker model
h800:7123:7190 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM
h800:7123:7190 [0] NCCL INFO Connected all rings
h800:7123:7190 [0] NCCL INFO comm 0x7f rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 18000 - Init COMPLETE
""",
        "ddp-codemod apply . --rule nccl-p2p-off",
    ),
    "crash": (
        """
  File "/env/lib/python3.9/site-packages/accelerate/commands/launch.py", line 1048, in launch_command
    multi_gpu_launcher(args)
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
  exitcode   : -11 (pid: 9120)
  traceback : Signal 11 (SIGSEGV) received by PID 9120
""",
        "ddp-codemod apply . --platform mixed-gpu --unsafe",
    ),
}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", LOGS)
def test_a_write_up_ends_in_its_command(name: str, lang: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    log, expected = LOGS[name]
    path = tmp_path / "train.log"
    path.write_text(log, encoding="utf-8")
    assert main(["diagnose", str(path), "--lang", lang]) == 1
    commands = [line.strip() for line in capfd.readouterr().out.splitlines() if "ddp-codemod apply" in line]
    assert commands[0] == expected


def test_an_empty_embedding_is_advice_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "train.log"
    path.write_text(
        """Traceback (most recent call last):
  File "/data/3ds/speakerlab/process/cluster.py", line 90, in forward
    emb = emb - self.mean
RuntimeError: The size of tensor a (192) must match the size of tensor b (0) at non-singleton dimension 0
"""
    )
    assert main(["diagnose", str(path)]) == 1
    out = capfd.readouterr().out
    assert "[empty-tensor]" in out
    assert "ddp-codemod apply" not in out
