"""``python benchmarks/passed.py``: how many functions and files one site of a small program passes, and how long the engine is.

The fewer, the sooner a reader has followed one: a program of eight lines is surveyed and rendered under a profile hook.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from types import FrameType

TOP = Path(__file__).parent.parent / "ddp_codemod"
ENGINE = ("sites", "dataflow", "policy", "impact", "edits", "single_process", "ledger", "run")
PROGRAM = """\
import argparse

import torch.distributed as dist

parser = argparse.ArgumentParser()
parser.add_argument("--backend", default="nccl")
args = parser.parse_args()
dist.init_process_group(backend=args.backend)
"""


def passed(root: Path) -> set[tuple[str, str]]:
    """(file, function) of all of ours that run for the program."""
    import ddp_codemod.run.pipeline  # noqa: F401 - bodies of classes are no steps
    from ddp_codemod.catalog.load import load
    from ddp_codemod.edits.render import render
    from ddp_codemod.run.options import Options
    from ddp_codemod.run.survey import survey

    rules = load()
    options = Options((root,), rules.platforms["rocm"], rules, root=root)
    found: set[tuple[str, str]] = set()

    def seen(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(TOP)) and not frame.f_code.co_name.startswith("<"):
            found.add(
                (frame.f_code.co_filename, frame.f_code.co_qualname if sys.version_info >= (3, 11) else frame.f_code.co_name)
            )

    sys.setprofile(seen)
    try:
        rendered = render(survey(options), unsafe=False)
    finally:
        sys.setprofile(None)
    assert rendered.changes
    return found


def main() -> None:
    """Print the three numbers."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "train.py").write_text(PROGRAM)
        found = passed(Path(folder))
    lines = sum(len(path.read_text("utf-8").splitlines()) for room in ENGINE for path in (TOP / room).rglob("*.py"))
    print(f"one site passes {len(found)} functions in {len({file for file, _ in found})} files; the engine has {lines:,} lines")


if __name__ == "__main__":
    main()
