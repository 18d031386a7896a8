"""What diagnose claims of whole logs, and what it leaves alone: most errors have nothing to do with several processes."""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path

import pytest

from ddp_codemod.catalog.diagnostics import load_diagnostics
from ddp_codemod.catalog.load import load
from ddp_codemod.catalog.signature import Cure
from ddp_codemod.cli import main
from ddp_codemod.cli.diagnose import cure_command
from ddp_codemod.health import Diagnosis, Reading
from ddp_codemod.machine.diagnose import diagnose, fitting_cures

KNOWN = load_diagnostics()
TORCHRUN = """Traceback (most recent call last):
  File "/env/bin/torchrun", line 8, in <module>
    sys.exit(main())
  File "/env/lib/python3.11/site-packages/torch/distributed/run.py", line 919, in main
    run(args)
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
"""


def read(log: str) -> Reading:
    return diagnose(io.BytesIO(log.encode()), KNOWN)


def lead(log: str) -> Diagnosis:
    return read(log).diagnoses[0]


def name(one: Diagnosis) -> str | None:
    return one.signature.id if one.signature else None


OTHERS = {
    "a key": "KeyError: 'label'",
    "a shape": "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x768 and 512x10)",
    "one GPU, full": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 7.79 GiB",
    "an older one": "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 3.95 GiB total capacity)",
    "a label": "RuntimeError: CUDA error: device-side assert triggered",
    "a kernel": "RuntimeError: CUDA error: an illegal memory access was encountered",
    "no driver": "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU",
    "no GPU": "RuntimeError: No CUDA GPUs are available",
    "an import": "ModuleNotFoundError: No module named 'flash_attn'",
    "a name": "ImportError: cannot import name 'Trainer' from 'transformers' (/env/lib/transformers/__init__.py)",
    "a library": "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory",
    "a download": "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded (Caused by NewConnectionError: [Errno 111] Connection refused)",
    "a resolver": "urllib3.exceptions.NameResolutionError: <HTTPSConnection object>: Failed to resolve 'hub.example.org' ([Errno -2] Name or service not known)",
    "a timeout": "requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='example.org', port=443): Read timed out. (read timeout=10)",
    "a reset": "ConnectionResetError: [Errno 104] Connection reset by peer",
    "a pipe": "BrokenPipeError: [Errno 32] Broken pipe",
    "a file": "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.jsonl'",
    "a permission": "PermissionError: [Errno 13] Permission denied: '/data/ckpt'",
    "a disk": "OSError: [Errno 28] No space left on device: '/data/ckpt/model.pt'",
    "audio": "soundfile.LibsndfileError: Error opening 'a.wav': Format not recognised.",
    "a worker": "RuntimeError: DataLoader worker (pid(s) 4121) exited unexpectedly",
    "pickling": "AttributeError: Can't pickle local object 'main.<locals>.collate'",
    "bootstrap": "RuntimeError: An attempt has been made to start a new process before the current process has finished its bootstrapping phase.",
    "fork": "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method",
    "devices mixed": "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    "dtype": "RuntimeError: expected scalar type Half but found Float",
    "scalar": "RuntimeError: Invalid scalar type",
    "a checkpoint": "RuntimeError: Error(s) in loading state_dict for Net: size mismatch for fc.weight: copying a param with shape torch.Size([10, 4])",
    "in place": "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation",
    "arguments": "train.py: error: unrecognized arguments: --lr-decay 0.1",
    "a build": "subprocess.CalledProcessError: Command '['ninja', '-v']' returned non-zero exit status 1.",
    "ecc": "RuntimeError: CUDA error: uncorrectable ECC error encountered",
    "cublas": "RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling cublasSgemm",
    "cudnn": "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED",
    "a port of a page": "OSError: [Errno 99] Cannot assign requested address",
    "a config": "omegaconf.errors.ConfigAttributeError: Key 'world' is not in struct",
    "heads": "ValueError: embed_dim (768) must be divisible by num_heads (7)",
    "nan": "ValueError: Loss is nan, stopping training",
    "an assert": "AssertionError",
    "a tokenizer": "ValueError: Tokenizer class LlamaTokenizer does not exist or is not currently imported.",
    "a queue": "_queue.Empty",
    "an actor": "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
    "windows alone": "Process finished with exit code -1073741819 (0xC0000005)",
    "segmentation": "Segmentation fault (core dumped)",
}


@pytest.mark.parametrize("log", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("rank", ["", "[rank0]: ", "(Trainer pid=4121) "], ids=["plain", "rank", "ray"])
@pytest.mark.parametrize("launched", [False, True], ids=["alone", "torchrun"])
def test_errors_of_other_kinds_are_not_claimed(log: str, rank: str, launched: bool) -> None:
    whole = f'{rank}Traceback (most recent call last):\n{rank}  File "/home/u/p/train.py", line 30, in main\n{rank}    step()\n'
    reading = read(whole + rank + log + "\n" + (TORCHRUN if launched else ""))
    assert [name(one) for one in reading.diagnoses if one.signature] == []
    if reading.diagnoses:
        assert reading.diagnoses[0].first.text == log[:300]
        assert reading.diagnoses[0].first.line == 4


WATCHDOG = "[rank1]:[E626 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600031 milliseconds before timing out.\n"
NCCL = (
    "[rank0]: torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:268, unhandled cuda error, NCCL version 2.21.5\n"
)


@pytest.mark.parametrize(
    ("first", "then", "cause", "rank"),
    [
        ("[rank3]: torch.OutOfMemoryError: CUDA out of memory.\n", WATCHDOG, "accelerator-memory-full", "3"),
        ("[rank2]: RuntimeError: CUDA error: device-side assert triggered\n", NCCL, "device-side-assert", "2"),
        ("[rank2]: RuntimeError: CUDA error: an illegal memory access was encountered\n", WATCHDOG, "illegal-memory-access", "2"),
        ("[rank4]: RuntimeError: CUDA error: uncorrectable ECC error encountered\n", WATCHDOG, "hardware-fault", "4"),
        ("[rank5]: KeyError: 'speaker'\n", WATCHDOG, None, "5"),
        ("n1:3:4 [0] NCCL WARN Call to ibv_create_qp failed\n", NCCL, "ib-call-refused", None),
        ("[W socket.cpp:601] The IPv6 network addresses of (n1, 29500) cannot be retrieved (gai error: -2 - x).\n",
         "[rank1]: torch.distributed.DistNetworkError: The client socket has timed out after 600s while trying to connect to (n1, 29500).\n",
         "address-unresolved", None),
        ("[W socket.cpp:601] The IPv6 network addresses of (n1, 29500) cannot be retrieved (gai error: -2 - x).\n",
         "[rank1]: KeyError: 'speaker'\n", None, "1"),
        ("[rank1]: RuntimeError: Connection reset by peer\n", "[rank0]: KeyError: 'speaker'\n", None, "0"),
    ],
)  # fmt: skip
def test_what_others_follow_from_leads(first: str, then: str, cause: str | None, rank: str | None) -> None:
    one = lead("noise\n" + first + "noise\n" + then)
    assert name(one) == cause
    assert next(iter(one.first.ranks), None) == rank


def test_an_error_from_outside_that_comes_later_than_nccl_s_does_not_lead() -> None:
    assert name(lead(NCCL + "[rank3]: torch.OutOfMemoryError: CUDA out of memory.\n")) == "nccl-cuda-error"


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        ("CUDA error: uncorrectable ECC error encountered", "hardware-fault"),
        ("CUDA error: device-side assert triggered", "device-side-assert"),
    ],
)
def test_the_watchdog_s_word_makes_no_error_of_several_processes(cause: str, told: str) -> None:
    log = f"[rank1]: RuntimeError: {cause}\n[rank1]:[E ProcessGroupNCCL.cpp:916] [Rank 1] NCCL watchdog thread terminated with exception: {cause}\n"
    one = lead(log)
    assert one.signature is None
    assert one.outside is not None
    assert one.outside.id == told


@pytest.mark.parametrize(
    ("log", "name_of_cause"),
    [
        (
            "Primary job  terminated normally, but 1 process returned\nmpirun noticed that process rank 2 with PID 7 on node n1 exited on signal 9 (Killed).\n",
            "killed",
        ),
        ("ncclInvalidArgument: Invalid value for an argument.\nRuntimeError: NCCL error\n", "nccl-invalid-usage"),
        ("n1:4:5 [0] NCCL INFO transport/shm.cc:101 -> 2\nRuntimeError: NCCL error\n", "nccl-shared-memory-path"),
        ("n1:4:5 [0] NCCL INFO Call to connect returned Connection refused, retrying\n" * 3, "nccl-keeps-trying"),
    ],
)
def test_a_general_word_gives_way_to_what_names_the_cause(log: str, name_of_cause: str) -> None:
    assert name(lead(log)) == name_of_cause


ERROR = "RuntimeError: Default process group has not been initialized, please make sure to call init_process_group."


@pytest.mark.parametrize(
    ("mark", "rank"),
    [
        ("", None),
        ("0: ", "0"),
        (" 12: ", "12"),
        ("[1,2]<stderr>:", "2"),
        ("[rank3]: ", "3"),
        ("(WorkerDict pid=12, ip=10.0.0.3) [rank3]: ", "3"),
        ("(RayTrainWorker pid=1187) ", None),
        ("2026-05-01T12:00:00.123456789Z stderr F ", None),
        ("2026-05-01T12:00:00Z [rank1]: ", "1"),
        ("[2026-05-01 12:00:00,123] [ERROR] ", None),
        ("[pod/train-0/pytorch] ", None),
        ("trainer-1  | ", None),
        ("worker-1: ", None),
        ("10.0.0.3: [rank7]: ", "7"),
        ("E   ", None),
        ("> ", None),
        ("[36m(Worker pid=3)[0m ", None),
        ("ERROR 11-02 10:00:01 [multiproc_executor.py:371] ", None),
    ],
)
def test_marks_before_a_line_hide_nothing(mark: str, rank: str | None) -> None:
    lines = ["Traceback (most recent call last):", '  File "/home/u/p/train.py", line 30, in main', "    dist.barrier()", ERROR]
    one = lead("".join(f"{mark}{line}\n" for line in lines))
    assert name(one) == "group-not-initialised"
    assert (one.first.line, one.first.text) == (4, ERROR)
    assert [(frame.path, frame.line) for frame in one.first.frames] == [("/home/u/p/train.py", 30)]
    assert next(iter(one.first.ranks), None) == rank


@pytest.mark.parametrize("title", ["[Bug]: {}", "{}", "训练报错 {}", 'Question about "{}"'])
def test_titles_alone(title: str) -> None:
    assert name(lead(title.format(ERROR))) == "group-not-initialised"


def test_half_a_line() -> None:
    assert name(lead("ault process group has not been initialized, please make sure to call init_pro")) == "group-not-initialised"


def test_a_traceback_whose_end_is_missing_is_an_error() -> None:
    log = (
        "step 10\nException in thread Thread-2:\nTraceback (most recent call last):\n"
        + '  File "/usr/lib/threading.py", line 1016, in run\n' * 2
    )
    reading = read(log)
    assert [(one.signature, one.first.line) for one in reading.diagnoses] == [(None, 3)]


@pytest.mark.parametrize(
    "path",
    ["/mnt/c/Users/li/p/train.py", "/data/Users/li/p/train.py", "/lustre/Users/li/train.py"],
)
def test_folders_that_only_look_like_a_mac_s(path: str) -> None:
    log = f'  File "{path}", line 3, in main\nRuntimeError: Distributed package doesn\'t have NCCL built in\n'
    assert {"macos", "windows"}.isdisjoint(read(log).hints)


@pytest.mark.parametrize(("path", "hint"), [("/Users/li/p/train.py", "macos"), ("C:\\p\\train.py", "windows")])
def test_folders_of_a_mac_and_of_windows(path: str, hint: str) -> None:
    assert (
        hint in read(f'  File "{path}", line 3, in main\nRuntimeError: Distributed package doesn\'t have NCCL built in\n').hints
    )


HEALTHY = (
    "Bootstrap : Using eth0:10.0.0.4<0>",
    "NET/Plugin: Failed to find ncclNetPlugin_v8 symbol.",
    "NET/Plugin : dlerror=libnccl-net.so: cannot open shared object file: No such file or directory",
    "NET/Plugin : Plugin load (libnccl-net.so) returned 2 : libnccl-net.so: cannot open shared object file",
    "Failed to open libibverbs.so[.1]",
    "NET/IB : No device found.",
    "Failed to initialize NET plugin IB",
    "NVLS multicast support is not available on dev 0 (NVLS_NCHANNELS 0)",
    "Could not enable P2P between dev 1(=1e000) and dev 0(=1d000)",
    "P2P is disabled between connected GPUs 1 and 0. You can repress this message with NCCL_IGNORE_DISABLED_P2P=1.",
    "[Service thread] Connection closed by localRank 1",
    "misc/socket.cc:546 -> 6",
    "transport/p2p.cc:352 -> 1",
)


@pytest.mark.parametrize("said", HEALTHY)
def test_what_nccl_says_in_health_is_no_error(said: str) -> None:
    assert read(f"n1:26:28 [0] NCCL INFO {said}\n").diagnoses == ()


def test_what_nccl_says_in_health_hides_no_error() -> None:
    health = "".join(f"n1:26:28 [0] NCCL INFO {said}\n" for said in HEALTHY)
    reading = read(health + "[rank1]: KeyError: 'speaker'\n")
    assert [(name(one), one.first.line) for one in reading.diagnoses] == [(None, len(HEALTHY) + 1)]
    assert (
        name(lead(health + "n1:26:28 [0] transport/net_ib.cc:839 NCCL WARN NET/IB : Got completion with error 12\n")) == "ib-link"
    )
    merged = "n1:26:28 [0] NCCL INFO Channel 00 n1:26:28 [0] NCCL WARN Call to posix_fallocate failed : No space left on device\n"
    assert name(lead(merged)) == "shared-memory-too-small"


def test_a_run_that_printed_an_error_did_not_hang() -> None:
    alive = "n1:26:28 [0] NCCL INFO comm 0x55 rank 0 nranks 16 cudaDev 0 busId 5000 - Init COMPLETE\n"
    assert name(lead(alive)) == "hang"
    for error, cause in (
        ("n1:26:28 [0] transport/net_ib.cc:839 NCCL WARN NET/IB : Got completion with error 12\n", "ib-link"),
        (ERROR + "\n", "group-not-initialised"),
        ("KeyError: 'speaker'\n", None),
    ):
        assert [name(one) for one in read(alive + error).diagnoses] == [cause]


def test_a_hang_is_not_laid_to_members_that_no_line_speaks_of() -> None:
    reading = diagnose(io.BytesIO(b"loading\n"), KNOWN, hang=True)
    assert [name(one) for one in reading.diagnoses] == ["hang"]


CURES = {
    (cure.platform, cure.rules, cure.unsafe): cure
    for signature in KNOWN.signatures.values()
    for cure in signature.cure
    if cure.platform or cure.rules
}


@pytest.mark.parametrize("cure", CURES.values(), ids=[str(key) for key in CURES])
def test_every_command_that_is_offered_runs(cure: Cure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "train.py").write_text(
        'import torch.distributed as dist\n\n\nif __name__ == "__main__":\n    dist.init_process_group("nccl")\n'
    )
    monkeypatch.chdir(tmp_path)
    command = cure_command(load(), ".")(cure)
    assert command is not None
    words = shlex.split(command)
    assert main([*words[1:], "--dry-run"]) == 0


# What a log's machine cannot run: no torch for Windows or a Mac has NCCL, and the platforms of accelerators that are not there.
FOREIGN = {
    "windows": {"rocm", "rocm-rccl", "mixed-gpu", "macos", "ascend", "mlu", "musa", "sdaa", "gcu", "neuron", "tpu", "hpu"},
    "macos": {
        "rocm",
        "rocm-windows",
        "rocm-rccl",
        "mixed-gpu",
        "windows",
        "ascend",
        "mlu",
        "musa",
        "sdaa",
        "gcu",
        "neuron",
        "tpu",
        "hpu",
        "xpu",
    },
    "wsl": {"rocm-windows", "rocm-rccl", "windows", "macos"},
}
# Signatures whose own text says which machine it is, whatever else the log holds.
NAMES_ITSELF = re.compile(
    r"ccl|cncl|xpu|npu|neuron|tpu|hip|ibv|NVRM|/dev/shm|RTX|FullMesh|remNode|peer access|NVLink|NET/", re.IGNORECASE
)


@pytest.mark.parametrize("hint", FOREIGN)
def test_no_command_is_for_another_machine_than_the_log_s(hint: str) -> None:
    commands = 0
    for signature in KNOWN.signatures.values():
        if any(NAMES_ITSELF.search(excerpt) for excerpt in signature.hit):
            continue
        for cure in fitting_cures(signature, {hint}):
            commands += bool(cure.platform or cure.rules)
            assert cure.platform not in FOREIGN[hint], f"{signature.id}: --platform {cure.platform} in a log of {hint}"
            nccl = [rule for rule in cure.rules if rule.startswith("nccl-")]
            assert not nccl or hint == "wsl", f"{signature.id}: --rule {nccl} in a log of {hint}"
    assert commands >= 5
