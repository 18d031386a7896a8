"""Feeds the errors that several releases of torch really print to ``diagnose``.

``python tests/errors/run.py PYTHON...``: each PYTHON is an environment's with a torch of its own. Prints what did not lead to one of
the signatures that ``make_errors`` expects; ends with 1 where there is such a case.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

from ddp_codemod.catalog.diagnostics import load_diagnostics
from ddp_codemod.machine.diagnose import diagnose

MAKE = Path(__file__).with_name("make_errors.py")


def judged(line: str) -> str | None:
    """What is wrong about the answer to a case; None where it is right. A case without expectation must not be claimed."""
    case = json.loads(line)
    reading = diagnose(io.BytesIO(case["text"].encode()), load_diagnostics())
    lead = reading.diagnoses[0] if reading.diagnoses else None
    found = lead.signature.id if lead and lead.signature else None
    if found in case["expected"] or (found is None and not case["expected"]):
        return None
    said = lead.first.text if lead else case["text"].strip()[-300:]
    return f"{case['id']}: {found}, expected {' or '.join(case['expected']) or 'no claim'}: {said}"


def main() -> int:
    """Try each environment."""
    wrong = 0
    for python in sys.argv[1:]:
        version = subprocess.run(
            [python, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True, check=True
        )
        made = subprocess.run([python, str(MAKE)], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
        faults = [fault for line in made if (fault := judged(line)) is not None]
        wrong += len(faults)
        print(
            f"torch {version.stdout.strip()}: {len(made) - len(faults)} of {len(made)} as expected",
            *faults,
            sep="\n  ",
            flush=True,
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
