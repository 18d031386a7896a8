"""Small programs put together of three parts: where a backend's name starts, what else the program does with it, how the group gets it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Source:
    """Lines that hold the name, the expression that gives it, and the other files that takes."""

    lines: str
    gives: str
    files: Mapping[str, str] = field(default_factory=dict)
    holder: str = ""  # the object that holds it with others, if any
    inside: bool = False  # the rest of the program is the body of a function


@dataclass(frozen=True)
class Made:
    """One program."""

    name: str
    files: dict[str, str]


_PARSER = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--lr', default='0.1')\n"
_CONFIG = 'class Config:\n    backend = "nccl"\n    lr = 0.1\n'

SOURCES: dict[str, Source] = {
    "name": Source('BACKEND = "nccl"\n', "BACKEND"),
    "name of another file": Source("from settings import BACKEND\n", "BACKEND", {"settings.py": 'BACKEND = "nccl"\n'}),
    "module": Source("import settings\n", "settings.BACKEND", {"settings.py": 'BACKEND = "nccl"\nLR = 0.1\n'}),
    "default of a parameter": Source('def main(backend="nccl"):\n', "backend", inside=True),
    "argument": Source("def main(backend):\n", "backend", {}, "", True),
    "attribute of a class": Source(_CONFIG, "Config.backend", holder="Config.__dict__"),
    "attribute of an object": Source(
        'class Run:\n    def __init__(self):\n        self.backend = "nccl"\n        self.lr = 0.1\nrun = Run()\n', "run.backend", {}, "vars(run)"
    ),
    "inherited": Source(_CONFIG + "class Mine(Config):\n    lr = 0.2\n", "Mine.backend"),
    "property": Source('class Run:\n    @property\n    def backend(self):\n        return "nccl"\nrun = Run()\n', "run.backend"),
    "descriptor": Source(
        'class Fixed:\n    def __get__(self, obj, kind=None):\n        return "nccl"\nclass Run:\n    backend = Fixed()\nrun = Run()\n', "run.backend"
    ),
    "dataclass": Source(
        'import dataclasses\n@dataclasses.dataclass\nclass Config:\n    backend: str = "nccl"\n    lr: float = 0.1\ncfg = Config()\n',
        "cfg.backend",
        {},
        "dataclasses.asdict(cfg)",
    ),
    "option": Source(
        _PARSER + 'parser.add_argument("--backend", default="nccl")\nargs = parser.parse_args([])\n', "args.backend", {}, "vars(args)"
    ),
    "option with choices": Source(
        _PARSER + 'parser.add_argument("--backend", default="nccl", choices=["nccl", "mpi"])\nargs = parser.parse_args([])\n',
        "args.backend",
        {},
        "vars(args)",
    ),
    "environment": Source('import os\nbackend = os.environ.get("COMM_BACKEND", "nccl")\n', "backend"),
    "table": Source('CONFIG = {"backend": "nccl", "lr": 0.1}\n', 'CONFIG["backend"]', {}, "CONFIG"),
    "table in a table": Source('CONFIG = {"dist": {"backend": "nccl"}, "lr": 0.1}\n', 'CONFIG["dist"]["backend"]', {}, 'CONFIG["dist"]'),
    "list": Source('BACKENDS = ["nccl", "gloo"]\n', "BACKENDS[0]", {}, "{'all': BACKENDS}"),
    "json": Source(
        'import json\nwith open("config.json") as file:\n    cfg = json.load(file)\n', 'cfg["backend"]',
        {"config.json": '{"backend": "nccl", "lr": 0.1}\n'}, "cfg",
    ),
    "closure": Source('def make(name):\n    def get():\n        return name\n    return get\nget = make("nccl")\n', "get()"),
    "function": Source('def pick():\n    return "nccl"\n', "pick()"),
    "generator": Source('def names():\n    yield "nccl"\nbackend = next(names())\n', "backend"),
    "enumeration": Source('import enum\nclass Kind(enum.Enum):\n    FAST = "nccl"\n    SLOW = "gloo"\nkind = Kind.FAST\n', "kind.value"),
    "joined tables": Source('base = {"backend": "nccl"}\ncfg = {**base, "lr": 0.1}\n', 'cfg["backend"]', {}, "cfg"),
    "conditional": Source('import sys\nbackend = "nccl" if sys.maxsize > 1 else "gloo"\n', "backend"),
}  # fmt: skip

USES: dict[str, str] = {
    "nothing": "",
    "is printed": 'print("using", {e})\n',
    "is logged": 'import logging\nlogging.getLogger("x").info("backend %s", {e})\n',
    "is looked up": 'print({{"nccl": 8, "gloo": 2, "hccl": 3}}[{e}])\n',
    "is found in a list": 'print(["gloo", "nccl", "hccl"].index({e}))\n',
    "is asked for": 'print("known" if {e} in ("nccl", "mpi") else "other")\n',
    "names a method": 'class Steps:\n    def run_nccl(self):\n        return 1\n    def run_gloo(self):\n        return 2\nprint(getattr(Steps(), "run_" + {e}, None) is not None and getattr(Steps(), "run_" + {e})())\n',
    "names a file": 'open("log_" + {e} + ".txt", "w").close()\n',
    "names a file by an f-string": "with open(f'ckpt-{{{e}}}.pt', 'w') as out:\n    out.write('1')\n",
    "decides": 'print(0.1 if {e} == "nccl" else 0.2)\n',
    "decides a branch": 'workers = 1\nif {e} == "nccl":\n    workers = 4\nprint(workers)\n',
    "is matched": 'match {e}:\n    case "nccl":\n        print("fast")\n    case _:\n        print("slow")\n',
    "begins": 'print({e}.startswith("nc"))\n',
    "is counted": 'print(sum(map(ord, {e})))\n',
    "goes to a library": 'import otherlib\notherlib.init({e})\n',
    "goes to a library by its name": 'import otherlib\notherlib.init(backend={e})\n',
    "is a variable of processes": 'import os\nos.environ["CHILD_BACKEND"] = {e}\nprint(sorted(os.environ["CHILD_BACKEND"]))\n',
    "is a key": 'seen = {{{e}: 1}}\nprint(seen.get("nccl"), len(seen))\n',
    "raises": 'if {e} not in ("nccl", "mpi"):\n    raise SystemExit("no GPU backend")\n',
    "is kept by an object": 'class Kept:\n    def __init__(self, comm):\n        self.comm = comm\n        self.half = comm == "nccl"\nprint(Kept({e}).half)\n',
    "is registered": 'KINDS = {{}}\ndef register(name):\n    KINDS[name] = 1\nregister({e})\nprint("nccl" in KINDS)\n',
    "is handed to a function that keeps what it gave": 'import functools\n@functools.cache\ndef half(name):\n    return 0.5\nhalf("gloo")\nhalf({e})\nprint(half.cache_info().misses)\n',
    "is a part of a key": 'print(sorted({{{e}.upper() + "_DEBUG": 1, "MPI_DEBUG": 2}}))\n',
    "is called back": 'import contextlib\nseen = []\nwith contextlib.ExitStack() as stack:\n    stack.callback(seen.append, {{"at the end": {e}}})\nprint(seen[0]["at the end"] == "nccl")\n',
    "is kept among others": 'class Stored:\n    def __init__(self, **options):\n        self.options = options\nprint(sum(map(ord, repr(Stored(b={e}).options))))\n',
    "names a file by what is kept": 'class Held:\n    def __init__(self, **options):\n        self.options = options\nopen("".join(filter(str.isalpha, repr(Held(b={e}).options))) + ".txt", "w").close()\nopen(repr(Held(b={e}).options), "w").close()\n',
    "is written for others": 'import json\nwith open("run.json", "w") as out:\n    json.dump({{"name": {e}}}, out)\nwith open("run.json") as file:\n    print(json.load(file)["name"] == "nccl")\n',
    "is held by what is dumped": 'import json\nimport zlib\nprint(zlib.crc32(json.dumps({h}, default=str, sort_keys=True).encode()))\n',
    "is held by what is hashed": 'import zlib\nprint(zlib.crc32(str(sorted({h}.items(), key=str)).encode()))\n',
    "is held by what a library takes": 'import otherlib\notherlib.init({h})\n',
    "is held by what is looked through": 'print(any(value == "nccl" for value in {h}.values()))\n',
}  # fmt: skip

SINKS: dict[str, str] = {
    "first": "dist.init_process_group({e}, rank=0, world_size=1)\n",
    "named": "dist.init_process_group(backend={e}, rank=0, world_size=1)\n",
    "table": 'options = {{"backend": {e}, "rank": 0, "world_size": 1}}\ndist.init_process_group(**options)\n',
    "partial": "import functools\nstart = functools.partial(dist.init_process_group, backend={e})\nstart(rank=0, world_size=1)\n",
    "wrapper": "def start(name):\n    dist.init_process_group(name, rank=0, world_size=1)\nstart({e})\n",
    "group": "dist.init_process_group({e}, rank=0, world_size=1)\ndist.new_group([0], backend={e})\n",
}


def programs() -> Iterator[Made]:
    """Every program of the grammar: a source, a use, a call; before or behind the use."""
    shapes = itertools.product(SOURCES.items(), USES.items(), SINKS.items(), ("before", "behind"))
    for (source_name, source), (use_name, use), (sink_name, sink), order in shapes:
        if ("{h}" in use and not source.holder) or (not use and order == "before"):
            continue
        parts = [use.format(e=source.gives, h=source.holder), sink.format(e=source.gives)]
        body = "".join(parts if order == "before" else reversed(parts))
        if source.inside:
            given = '"nccl"' if source_name == "argument" else ""
            body = "".join(f"    {line}\n" if line else "\n" for line in body.splitlines()) + f"\n\nmain({given})\n"
        text = f"import torch.distributed as dist\n{source.lines}{body}"
        name = f"{source_name}, {use_name} {order} the call, {sink_name}"
        yield Made(name, {"main.py": text, **source.files})
