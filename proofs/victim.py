"""``python -m proofs.victim ROOT apply|undo|recover``: writes, and may be ended from outside at any system call."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ddp_codemod.write.errors import WriteError
from proofs.all_or_nothing import BEGIN
from proofs.faults import write

if __name__ == "__main__":
    os.path.exists(BEGIN)
    try:
        write(Path(sys.argv[1]), sys.argv[2])
    except WriteError:
        sys.exit(1)
