"""``python -m proofs [--slice] [--seed N] [--only N] [--share S] [--write]``: try the promises of SECURITY.md.

Exit code 0: all were kept. An input that broke one is left in proofs/kept/, where every later run tries it again.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import traceback
from importlib import import_module
from pathlib import Path

from proofs.proof import KEPT, Trial
from proofs.table import write

PROOFS = (
    "bytes_stay",
    "second_run",
    "planned_nodes",
    "all_or_nothing",
    "no_lost_edit",
    "nothing_executed",
    "inside_only",
    "nothing_kills",
    "patch_applies",
    "safe_by_default",
    "inert_output",
    "undo_restores",
    "one_process",
    "nothing_else",
    "kept_answers",
)


def main() -> int:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m proofs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--slice", action="store_true", help="a small part of each, as in the test run")
    parser.add_argument("--seed", type=int, help="of what is made at random; printed when it is not given")
    parser.add_argument("--only", type=int, action="append", choices=range(1, len(PROOFS) + 1), metavar="N")
    parser.add_argument("--share", type=float, default=1.0, help="of the full number of generated cases, 0 to 1")
    parser.add_argument("--write", action="store_true", help="put the table into SECURITY.md")
    asked = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 32) if asked.seed is None else asked.seed
    broken = 0
    for number in asked.only or range(1, len(PROOFS) + 1):
        module = import_module(f"proofs.{PROOFS[number - 1]}")
        with tempfile.TemporaryDirectory(prefix="proof-", ignore_cleanup_errors=True) as folder:
            trial = Trial(not asked.slice, seed, Path(folder).resolve(), asked.share)
            began = time.monotonic()
            try:
                measured = module.prove(trial)
            except Exception as why:  # of the tool, which none may leave
                traceback.print_exc()
                measured = "did not come to its end"
                trial.fail(f"{why!r}")
        print(f"{number:2}. {module.PROMISE}\n    {measured}\n    seed {seed}, {time.monotonic() - began:.0f} s", flush=True)
        for failure in trial.failures:
            print(f"    BROKEN: {failure}", flush=True)
        for name, data in trial.kept.items():
            KEPT.mkdir(exist_ok=True)
            (KEPT / name.replace(" ", "-").replace("/", "-")[-120:]).write_bytes(data)
        broken += bool(trial.failures)
        if asked.write and not trial.failures:
            write(number, module.PROMISE, measured)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
