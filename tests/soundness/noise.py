"""Things that have the name of a backend and choose none: they say what they hold, which no edit may change."""

from __future__ import annotations

NOISE: dict[str, tuple[str, ...]] = {
    "option": (
        "plots = argparse.ArgumentParser()",
        'plots.add_argument("--backend", default="nccl")',
        'print(json.dumps({"noise": plots.parse_args([]).backend}))',
    ),
    "field": (
        "@dataclasses.dataclass",
        "class Plot:",
        '    backend: str = "nccl"',
        'print(json.dumps({"noise": Plot().backend}))',
    ),
    "attribute": ("class Cache:", '    backend = "nccl"', 'print(json.dumps({"noise": Cache.backend}))'),
    "self": (
        "class Audio:",
        "    def __init__(self, backend):",
        "        self.backend = backend",
        'print(json.dumps({"noise": Audio("nccl").backend}))',
    ),
    "table": ('KERNELS = {"backend": "nccl"}', 'print(json.dumps({"noise": KERNELS}))'),
    "words": ('WORDS = ["nccl", "gloo"]', 'print(json.dumps({"noise": WORDS}))'),
    "keyword": ('print(json.dumps({"noise": dict(backend="nccl")}))',),
    "own method": (
        "class Launcher:",
        "    def init_process_group(self, backend):",
        '        print(json.dumps({"noise": backend}))',
        'Launcher().init_process_group("nccl")',
    ),
    "namespace": ('print(json.dumps({"noise": types.SimpleNamespace(backend="nccl").backend}))',),
}
