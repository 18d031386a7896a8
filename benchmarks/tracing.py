"""``python benchmarks/tracing.py TREE ...``: what following values adds to finding their uses, in seconds of CPU.

Each tree is looked through with values followed, and with each value taken as it stands in the call; by turns, each time in a
process of its own, of which the least is given. Reading, searching, parsing, matching and warning are there both times.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from ddp_codemod.catalog.load import load
from ddp_codemod.dataflow.evaluator import Evaluator
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.parse.python import Module
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey


def main() -> int:
    """Print both figures for each tree."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path, metavar="TREE")
    parser.add_argument("--platform", default="rocm")
    parser.add_argument("--runs", type=int, default=3, help="how often each is done (default 3)")
    parser.add_argument("--only", choices=("with", "without"), help=argparse.SUPPRESS)  # what a process of its own does
    asked = parser.parse_args()
    if asked.only:
        print(json.dumps(once(asked.trees[0], asked.platform, asked.only == "with")))
        return 0
    for tree in asked.trees:
        least = {"with": float("inf"), "without": float("inf")}
        for _ in range(asked.runs):
            for only, known in least.items():
                command = [sys.executable, __file__, str(tree), "--platform", asked.platform, "--only", only]
                made = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                least[only] = min(known, made["seconds"])
        adds = least["with"] - least["without"]
        share = f"{adds / least['without']:.2f} of it"
        print(
            f"{tree.name}: {least['without']:.2f} s without, {least['with']:.2f} with: following values adds {adds:.2f}, {share}"
        )
    return 0


def once(tree: Path, platform: str, traced: bool) -> dict[str, float]:
    """Look through a tree: seconds of CPU, and how many edits came out."""
    rules = load()
    if not traced:
        follow = Evaluator.step

        def as_it_stands(self: Evaluator, module: Module, node: ast.expr, way: Trace) -> Iterable[Value]:
            if isinstance(node, ast.Constant):
                return follow(self, module, node, way)
            return [self.unknown(module, node, way, "why-expression", text=module.text(node))]

        Evaluator.step = as_it_stands  # type: ignore[method-assign]
    gc.disable()
    start = time.process_time()
    found = survey(Options((tree,), rules.platforms[platform], rules))
    return {"seconds": time.process_time() - start, "edits": len(found.edits)}


if __name__ == "__main__":
    sys.exit(main())
