"""One rank of a trial: forms the process group, talks, takes a training step, leaves. Python 3.8 and torch only.

Prints a line for each step; ends with the process that started it, however that ends.
"""

# ruff: noqa: UP006, UP035
from __future__ import annotations

import faulthandler
import importlib
import json
import os
import sys
import threading
import time
import traceback
from typing import Any, Dict, Tuple

MARK = "@@ddp-codemod "


def say(step: str, **more: Any) -> None:
    """Report to the parent: one write, so that lines of several ranks stay whole."""
    line = MARK + json.dumps(dict(more, step=step, rank=int(os.environ["RANK"]))) + "\n"
    sys.stdout.flush()
    os.write(1, line.encode("ascii"))


def watch_parent() -> None:
    """End with the parent: it holds the other end of standard input, on which nothing ever comes."""

    def wait() -> None:
        while os.read(0, 1):
            pass
        os._exit(3)

    threading.Thread(target=wait, daemon=True).start()


def device_for(torch: Any, backend: str, plugin: Any) -> Tuple[Any, str]:
    """The device that this rank trains on, and why it cannot, if it cannot."""
    local = int(os.environ["LOCAL_RANK"])
    kinds = [plugin] if plugin else ["cuda", "xpu"]
    for kind in kinds:
        module = getattr(torch, kind, None)
        if module is not None and module.is_available():
            count = module.device_count()
            if local < count:
                module.set_device(local)
                return torch.device(f"{kind}:{local}"), ""
            if "gloo" not in backend:
                return torch.device("cpu"), f"{count} {kind}"
    return torch.device("cpu"), ""


def main() -> None:
    """Run the steps of the trial in the first argument."""
    watch_parent()
    trial: Dict[str, Any] = json.loads(sys.argv[1])
    step = "import"
    say("start")
    started = time.monotonic()
    try:
        import torch
        import torch.distributed as dist

        if trial["plugin"]:
            importlib.import_module(trial["plugin"])
        faulthandler.dump_traceback_later(trial["seconds"], exit=True)
        device, lacking = device_for(torch, trial["backend"], trial["device"])
        if lacking:
            say("skipped", lacking=lacking)
            return
        say(step, seconds=time.monotonic() - started)
        for step, act in STEPS.items():
            started = time.monotonic()
            act(torch, dist, device, trial)
            say(step, seconds=time.monotonic() - started)
    except BaseException as why:
        traceback.print_exc()
        sys.stderr.flush()
        say("failed", at=step, error=f"{type(why).__name__}: {why}"[:2000])
        os._exit(1)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # what is left of torch's threads must not spoil the end


def form(torch: Any, dist: Any, device: Any, trial: Dict[str, Any]) -> None:
    """Create the default group as the call would."""
    from datetime import timedelta

    given: Dict[str, Any] = {"backend": trial["backend"], "timeout": timedelta(seconds=trial["seconds"])}
    if trial["init_method"] is not None:
        given["init_method"] = trial["init_method"]
    if trial["init_method"] is not None and not trial["init_method"].startswith("env:"):
        given.update(rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
    dist.init_process_group(**given)


def all_reduce(torch: Any, dist: Any, device: Any, trial: Dict[str, Any]) -> None:
    """Every rank adds its number, and gets the sum."""
    ranks = dist.get_world_size()
    tensor = torch.full((4,), float(dist.get_rank() + 1)).to(device)
    dist.all_reduce(tensor)
    expected = ranks * (ranks + 1) / 2
    if tensor.tolist() != [expected] * 4:
        raise ValueError(f"all_reduce gave {tensor.tolist()} instead of {expected}")


def broadcast(torch: Any, dist: Any, device: Any, trial: Dict[str, Any]) -> None:
    """Every rank gets rank 0's number."""
    tensor = torch.full((4,), float(dist.get_rank() + 7)).to(device)
    dist.broadcast(tensor, src=0)
    if tensor.tolist() != [7.0] * 4:
        raise ValueError(f"broadcast gave {tensor.tolist()} instead of 7")


def barrier(torch: Any, dist: Any, device: Any, trial: Dict[str, Any]) -> None:
    """All ranks meet."""
    dist.barrier()


def ddp_step(torch: Any, dist: Any, device: Any, trial: Dict[str, Any]) -> None:
    """One step of training: different data on every rank, the same gradients after."""
    from torch.nn.parallel import DistributedDataParallel

    torch.manual_seed(dist.get_rank())
    model = DistributedDataParallel(torch.nn.Linear(4, 1).to(device))
    model(torch.randn(8, 4).to(device)).sum().backward()
    gradient: Any = next(model.parameters()).grad
    lowest, highest = gradient.clone(), gradient.clone()
    dist.all_reduce(lowest, op=dist.ReduceOp.MIN)
    dist.all_reduce(highest, op=dist.ReduceOp.MAX)
    if not torch.equal(lowest, highest):
        raise ValueError("the gradients of the ranks differ after backward")


def destroy(torch: Any, dist: Any, device: Any, trial: Dict[str, Any]) -> None:
    """Leave the group."""
    dist.destroy_process_group()


STEPS = {
    "form": form,
    "all_reduce": all_reduce,
    "broadcast": broadcast,
    "barrier": barrier,
    "ddp_step": ddp_step,
    "destroy": destroy,
}

if __name__ == "__main__":
    main()
