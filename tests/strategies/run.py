"""Holds the table of strategy texts in rules/surfaces/lightning*.toml to Lightning's own registry, in several of its releases.

``python tests/strategies/run.py [PIN...]`` (make strategies): fetches each release and what it needs beside torch into a folder of
the user's cache, asks its registry there, and compares. Exit codes: 0 all agree, 1 something differs, 3 a release could not be had.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from ddp_codemod.catalog.load import load
from ddp_codemod.versions import Stated, holds

PINS = (
    "lightning==2.6.1",
    "pytorch-lightning==2.5.0",
    "pytorch-lightning==2.0.0",
    "pytorch-lightning==1.9.5",
)
# setuptools brings pkg_resources, which releases before 2.1 import
BESIDE = (
    "lightning-utilities",
    "torchmetrics<1.9",
    "numpy",
    "tqdm",
    "fsspec",
    "pyyaml",
    "packaging",
    "typing-extensions",
    "setuptools<80",
)
ASK = """
import importlib, inspect, json, sys
answer = {}
for table, names in (("lightning-trainer", ("lightning.pytorch.strategies", "pytorch_lightning.strategies")),
                     ("lightning-fabric", ("lightning.fabric.strategies", "lightning_fabric.strategies"))):
    for name in names:
        try:
            module = importlib.import_module(name)
        except ImportError as why:
            if name.partition(".")[0] not in str(why):
                raise
            continue
        registry = getattr(module, "StrategyRegistry", None) or module.STRATEGY_REGISTRY
        for text, entry in dict(registry).items():
            given = inspect.signature(entry["strategy"].__init__).parameters
            if "process_group_backend" in given:
                simple = {key: one.default for key, one in given.items() if isinstance(one.default, (bool, int, str))}
                answer.setdefault(table, {})[text] = [entry["strategy"].__name__, simple, entry["init_params"]]
        break
print(json.dumps(answer))
"""
# Their classes are no surfaces: fairscale's, and Habana's, which names its own backend.
OTHER = {
    "DDPFullyShardedStrategy",
    "DDPShardedStrategy",
    "DDPSpawnShardedStrategy",
    "HPUParallelStrategy",
    "DDPFullyShardedNativeStrategy",
}


def installed(pin: str) -> Path:
    """A folder with the release and what it needs, torch apart. Raises SystemExit(3) where pip cannot fetch it."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "ddp-codemod" / "strategies" / pin.replace("==", "-")
    if not (folder / "done").exists():
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--upgrade",
            "--target",
            str(folder),
            pin,
            *BESIDE,
        ]
        ran = subprocess.run(command, capture_output=True, text=True)
        if ran.returncode:
            print(f"{pin}: {ran.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            raise SystemExit(3)
        (folder / "done").touch()
    return folder


def asked(pin: str) -> dict[str, dict[str, Any]]:
    """What the release's registries hold of classes that take a backend: class, the defaults of its arguments, and those given."""
    environment = {**os.environ, "PYTHONPATH": str(installed(pin))}
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", ASK], capture_output=True, text=True, env=environment)
    if ran.returncode:
        raise SystemExit(f"{pin}: its registry cannot be asked:\n{ran.stderr}")
    answer: dict[str, dict[str, Any]] = json.loads(ran.stdout.splitlines()[-1])
    return answer


def differences(pin: str) -> list[str]:
    """Where the rule data and the release disagree."""
    rules, registry = load(), asked(pin)
    stated = Stated("lightning", f"=={pin.partition('==')[2]}", pin)
    found = []
    for table, entries in rules.objects.items():
        ours = {}
        for entry in entries:
            if holds(entry.when.get("lightning", ""), stated):
                ours.setdefault(entry.text, [rules.surfaces[entry.surface].names[0].rpartition(".")[2], dict(entry.arguments)])
        theirs = {text: made for text, made in registry.get(table, {}).items() if made[0] not in OTHER or text in ours}
        for text in sorted(ours.keys() & theirs.keys()):
            name, defaults, given = theirs[text]
            if ours[text][0] != name or {**defaults, **ours[text][1]} != {**defaults, **given}:
                found.append(f"{pin} {table} {text}: {name} {given} there, {ours[text]} in the rule data")
        found += [
            f"{pin} {table} {text}: {theirs[text][0]} {theirs[text][2]} there, missing in the rule data"
            for text in sorted(theirs.keys() - ours.keys())
        ]
    return found


def main() -> int:
    pins = sys.argv[1:] or PINS
    found = [line for pin in pins for line in differences(pin)]
    print("\n".join(found) or f"{len(pins)} releases agree")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
