"""Makes the errors that can be made without a GPU, with the torch of the Python that runs this; prints them as JSON, a case a line.

Each case is a small program in processes of its own: wrong names, stores, ranks, addresses, gloo, launchers.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

LIMIT = 150.0  # seconds for one case; those that wait have limits of their own
START = "import datetime, os, sys\nimport torch\nimport torch.distributed as dist\nSOON = datetime.timedelta(seconds=15)\n"
INIT = (
    "dist.init_process_group('gloo', init_method='tcp://127.0.0.1:{port}', rank=int(sys.argv[1]), world_size=2, timeout=SOON)\n"
)

# what is run by each of so many processes, with these variables; {port} is a free one; and the signatures of which one has to lead
CASES: dict[str, tuple[str, int, dict[str, str], tuple[str, ...]]] = {
    "nccl": ("dist.init_process_group('nccl', init_method='tcp://127.0.0.1:{port}', rank=0, world_size=1)", 1, {}, ("nccl-no-gpu", "nccl-not-built-in")),
    "nccl2": ("dist.init_process_group('nccl2', init_method='tcp://127.0.0.1:{port}', rank=0, world_size=1)", 1, {}, ("nccl-no-gpu", "backend-of-a-newer-torch", "no-driver-for-group")),
    "nccl4py": ("dist.init_process_group('nccl4py', init_method='tcp://127.0.0.1:{port}', rank=0, world_size=1)", 1, {}, ("backend-entry-point", "backend-of-a-newer-torch", "nccl-no-gpu")),
    "rccl": ("dist.init_process_group('rccl', init_method='tcp://127.0.0.1:{port}', rank=0, world_size=1)\ndist.all_reduce(torch.ones(1))", 1, {}, ("backend-unknown-rccl",)),
    "hccl": ("dist.init_process_group('hccl', init_method='tcp://127.0.0.1:{port}', rank=0, world_size=1)\ndist.all_reduce(torch.ones(1))", 1, {}, ("backend-unknown-ascend",)),
    "typo": ("dist.init_process_group('ncll', init_method='tcp://127.0.0.1:{port}', rank=0, world_size=1)\ndist.all_reduce(torch.ones(1))", 1, {}, ("backend-unknown",)),
    "quotes": ('dist.init_process_group("\'nccl\'", init_method="tcp://127.0.0.1:{port}", rank=0, world_size=1)\ndist.all_reduce(torch.ones(1))', 1, {}, ("backend-in-quotes",)),
    "mpi": ("dist.init_process_group('mpi')", 1, {}, ("backend-not-built-in",)),
    "xccl": ("dist.init_process_group('xccl', init_method='tcp://127.0.0.1:{port}', rank=0, world_size=1)\ndist.all_reduce(torch.ones(1))", 1, {}, ("backend-not-built-in", "backend-unknown-intel")),
    "blank": ("dist.init_process_group('cpu:gloo, cuda:gloo', init_method='tcp://127.0.0.1:{port}', rank=0, world_size=1)", 1, {}, ("blank-in-composite",)),
    "no launcher": ("dist.init_process_group('gloo')", 1, {}, ("launcher-missing",)),
    "no rank": ("dist.init_process_group('gloo', init_method='tcp://127.0.0.1:{port}')", 1, {}, ("launcher-usage",)),
    "no handler": ("dist.init_process_group('gloo', init_method='tpc://127.0.0.1:{port}', rank=0, world_size=1)", 1, {}, ("launcher-usage",)),
    "key": ("os.environ['LOCAL_RANK']", 1, {}, ("launcher-missing",)),
    "twice": (INIT.replace("world_size=2", "world_size=1") * 2, 1, {}, ("initialised-twice",)),
    "store and url": ("dist.init_process_group('gloo', init_method='env://', store=dist.HashStore(), rank=0, world_size=1)", 1, {}, ("init-method-and-store",)),
    "never": ("dist.all_reduce(torch.ones(1))", 1, {}, ("group-not-initialised",)),
    "port": ("import socket\nheld = socket.socket()\nheld.bind(('127.0.0.1', {port}))\nheld.listen(1)\ndist.TCPStore('127.0.0.1', {port}, is_master=True, wait_for_workers=False)", 1, {}, ("port-taken",)),
    "nobody there": ("dist.TCPStore('127.0.0.1', {port}, is_master=False, timeout=SOON)", 1, {}, ("store-unreachable", "store-not-there-yet")),
    "no such name": ("dist.TCPStore('no-such-host.invalid', {port}, is_master=False, timeout=SOON)", 1, {}, ("address-unresolved", "store-unreachable")),
    "in brackets": ("dist.TCPStore('[::1]', {port}, is_master=False, timeout=SOON)", 1, {}, ("master-address-in-brackets", "store-unreachable")),
    "missing rank": (INIT, 1, {}, ("store-timeout", "ranks-miscounted")),
    "no interface": (INIT.replace("world_size=2", "world_size=1"), 1, {"GLOO_SOCKET_IFNAME": "eth9"}, ("gloo-interface-unknown",)),
    "excluded interface": (INIT.replace("world_size=2", "world_size=1"), 1, {"GLOO_SOCKET_IFNAME": "^lo"}, ("gloo-interface-excluded",)),
    "peer gone": (INIT + "if sys.argv[1] == '1':\n    os._exit(0)\ndist.all_reduce(torch.ones(1))", 2, {}, ("gloo-peer-gone",)),
    "peer late": (INIT + "import time\nif sys.argv[1] == '1':\n    time.sleep(20)\n    os._exit(0)\ndist.all_reduce(torch.ones(1))", 2, {}, ("gloo-peer-gone",)),
    "sizes": (INIT + "dist.all_reduce(torch.ones(4 if sys.argv[1] == '0' else 4096))", 2, {}, ("ranks-out-of-step", "gloo-peer-gone")),
    "fingerprints": (INIT + "dist.all_reduce(torch.ones(4 if sys.argv[1] == '0' else 8))", 2, {"TORCH_DISTRIBUTED_DEBUG": "DETAIL"}, ("ranks-out-of-step",)),
    "uneven": (INIT + "dist.all_gather([torch.ones(2), torch.ones(3)], torch.ones(2))", 2, {}, ("gloo-shapes-differ", "ranks-out-of-step")),
    "int16": (INIT.replace("world_size=2", "world_size=1") + "dist.all_reduce(torch.ones(1, dtype=torch.int16))", 1, {}, ("gloo-dtype",)),
    "barrier": (INIT + "if sys.argv[1] == '0':\n    dist.monitored_barrier(timeout=SOON)\nelse:\n    import time; time.sleep(20)", 2, {}, ("monitored-barrier",)),
    "stranger": (INIT.replace("world_size=2", "world_size=1") + "dist.new_group([0, 5])", 1, {}, ("world-size-does-not-divide",)),
    "models differ": (INIT + "torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2 + int(sys.argv[1])))", 2, {}, ("ddp-parameters-differ", "gloo-peer-gone")),
    "frozen": (INIT.replace("world_size=2", "world_size=1") + "torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2).requires_grad_(False))", 1, {}, ("ddp-without-gradients",)),
    "unused": (INIT.replace("world_size=2", "world_size=1") + "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a, self.b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)\n    def forward(self, x):\n        return self.a(x)\nnet = torch.nn.parallel.DistributedDataParallel(Net())\nfor _ in range(3):\n    net(torch.ones(1, 2)).sum().backward()", 1, {}, ("unused-parameters",)),
    "attribute": (INIT.replace("world_size=2", "world_size=1") + "torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2)).generate", 1, {}, ("ddp-hides-attribute",)),
    "sampler": ("torch.utils.data.DistributedSampler([1, 2], num_replicas=2, rank=2)", 1, {}, ("world-size-does-not-divide",)),
    "device": (INIT.replace("world_size=1", "").replace("world_size=2", "world_size=1, device_id=torch.device('cuda')"), 1, {}, ("device-id-wrong", "device-id-without-accelerator", "nccl-no-gpu")),
}  # fmt: skip
LAUNCHED: dict[str, tuple[list[str], str, tuple[str, ...]]] = {
    "nproc": (["--nproc_per_node=gpus"], "pass", ("launcher-usage",)),
    "endpoint": (["--rdzv_backend=c10d", "--rdzv_endpoint=localhost:99999"], "pass", ("launcher-usage",)),
    "unreachable": (["--nnodes=2", "--rdzv_backend=c10d", "--rdzv_endpoint=no-such-host.invalid:29400", "--rdzv_conf=timeout=3,read_timeout=3"], "pass", ("rendezvous-connection", "address-unresolved", "store-unreachable")),
    "alone": (["--nnodes=2", "--rdzv_backend=c10d", "--rdzv_endpoint=localhost:{port}", "--rdzv_conf=timeout=3,join_timeout=3,read_timeout=3"], "pass", ("rendezvous-timeout",)),
    "rank failed": (["--standalone", "--nproc_per_node=2"], "raise KeyError('speaker')", ()),
    "crash": (["--standalone", "--nproc_per_node=1"], "os.kill(os.getpid(), 11)", ("native-crash",)),
    "local rank": ([], "import argparse\nargparse.ArgumentParser().parse_args()", ("local-rank-not-taken",)),
}  # fmt: skip


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def said(commands: list[list[str]], more: dict[str, str]) -> str:
    """What some processes say, run side by side."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MASTER_", "RANK", "WORLD_SIZE", "GLOO_"))}
    running = [
        subprocess.Popen(
            words, env={**kept, **more}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
        for words in commands
    ]
    told = []
    for process in running:
        try:
            told.append(process.communicate(timeout=LIMIT)[0])
        except subprocess.TimeoutExpired:
            process.kill()
            told.append(process.communicate()[0] + "\n(no end)")
    return "".join(told)


def main() -> None:
    """Make all errors."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "train.py")
        for name, (body, ranks, more, expected) in CASES.items():
            script.write_text(START + body.replace("{port}", str(free_port())) + "\n", encoding="utf-8")
            text = said([[sys.executable, str(script), str(rank)] for rank in range(ranks)], more)
            print(json.dumps({"id": name, "text": text, "expected": expected}), flush=True)
        for name, (words, body, expected) in LAUNCHED.items():
            script.write_text(START + body + "\n", encoding="utf-8")
            module = "torch.distributed.launch" if name == "local rank" else "torch.distributed.run"
            words = [word.replace("{port}", str(free_port())) for word in words]
            text = said([[sys.executable, "-m", module, *words, str(script)]], {})
            print(json.dumps({"id": f"torchrun: {name}", "text": text, "expected": expected}), flush=True)


if __name__ == "__main__":
    main()
