"""Where a value can start from: each gives the expression that reads it and the code that this needs."""

from __future__ import annotations

from collections.abc import Callable

from tests.soundness.code import Code

Start = tuple[str, Code]
Source = Callable[[int, str], Start]  # a number for names, the value's text

HUB = {'"nccl"': "NCCL", '"gloo"': "GLOO", '"mpi"': "MPI", '"cpu:gloo,cuda:nccl"': "MIXED", "None": "NOTHING"}


def top(expression: str, *lines: str) -> Start:
    return expression, Code(top=lines)


def parser(n: int, v: str, *, read: str = "args_{n}.backend", flag: str = "--backend", more: tuple[str, ...] = ()) -> Start:
    lines = (
        f"parser_{n} = argparse.ArgumentParser()",
        f'parser_{n}.add_argument("{flag}", default={v})',
        f"args_{n} = parser_{n}.parse_known_args()[0]",
        *(line.format(n=n, v=v) for line in more),
    )
    return read.format(n=n), Code(top=lines, argv=(flag, "mpi"))


def parser_in_a_function(n: int, v: str) -> Start:
    lines = (
        f"def options_{n}(argv=None):",
        "    parser = argparse.ArgumentParser()",
        f'    parser.add_argument("--dist-backend", type=str, default={v})',
        "    return parser.parse_known_args(argv)[0]",
    )
    return f"options_{n}().dist_backend", Code(top=lines, argv=("--dist-backend", "mpi"))


def typed(start: Start, variable: str) -> Start:
    return start[0], Code(start[1].body, start[1].top, start[1].files, environ={variable: "mpi"})


SOURCES: dict[str, Source] = {
    "literal": lambda n, v: (v, Code()),
    "constant": lambda n, v: top(f"BACKEND_{n}", f"BACKEND_{n} = {v}"),
    "constant that is set again": lambda n, v: top(f"BACKEND_{n}", f'BACKEND_{n} = "gloo"', f"BACKEND_{n} = {v}"),
    "global": lambda n, v: top(
        f"BACKEND_{n}",
        f'BACKEND_{n} = "gloo"',
        f"def choose_{n}():",
        f"    global BACKEND_{n}",
        f"    BACKEND_{n} = {v}",
        f"choose_{n}()",
    ),
    "constant of another file": lambda n, v: (
        f"BACKEND_{n}",
        Code(top=(f"from consts_{n} import BACKEND_{n}",)).beside(**{f"consts_{n}": f"BACKEND_{n} = {v}"}),
    ),
    "constant of another module": lambda n, v: (
        f"consts_{n}.BACKEND",
        Code(top=(f"import consts_{n}",)).beside(**{f"consts_{n}": f"BACKEND = {v}"}),
    ),
    "constant by a star": lambda n, v: (
        f"BACKEND_{n}",
        Code(top=(f"from consts_{n} import *",)).beside(**{f"consts_{n}": f"BACKEND_{n} = {v}"}),
    ),
    "constant set from outside": lambda n, v: (
        f"consts_{n}.BACKEND",
        Code(top=(f"import consts_{n}", f"consts_{n}.BACKEND = {v}")).beside(**{f"consts_{n}": 'BACKEND = "gloo"'}),
    ),
    "class attribute": lambda n, v: top(f"Config{n}.backend", f"class Config{n}:", f"    backend = {v}"),
    "inherited attribute": lambda n, v: top(
        f"Child{n}.backend", f"class Config{n}:", f"    backend = {v}", f"class Child{n}(Config{n}):", "    rank = 0"
    ),
    "overridden attribute": lambda n, v: top(
        f"Child{n}().backend", f"class Config{n}:", '    backend = "gloo"', f"class Child{n}(Config{n}):", f"    backend = {v}"
    ),
    "class attribute set later": lambda n, v: top(
        f"Config{n}.backend", f"class Config{n}:", '    backend = "gloo"', f"Config{n}.backend = {v}"
    ),
    "instance attribute": lambda n, v: top(
        f"Config{n}().backend", f"class Config{n}:", "    def __init__(self):", f"        self.backend = {v}"
    ),
    "parameter of the constructor": lambda n, v: top(
        f"Config{n}().backend", f"class Config{n}:", f"    def __init__(self, backend={v}):", "        self.backend = backend"
    ),
    "property": lambda n, v: top(
        f"Config{n}().backend", f"class Config{n}:", "    @property", "    def backend(self):", f"        return {v}"
    ),
    "dataclass": lambda n, v: top(
        f"Config{n}().backend", "@dataclasses.dataclass", f"class Config{n}:", f"    backend: str = {v}", "    rank: int = 0"
    ),
    "dataclass field": lambda n, v: top(
        f"Config{n}().backend",
        "@dataclasses.dataclass",
        f"class Config{n}:",
        f"    backend: str = dataclasses.field(default={v})",
    ),
    "dataclass given": lambda n, v: top(
        f"config_{n}.backend",
        "@dataclasses.dataclass",
        f"class Config{n}:",
        '    backend: str = "gloo"',
        f"config_{n} = Config{n}(backend={v})",
    ),
    "dataclass replaced": lambda n, v: top(
        f"config_{n}.backend",
        "@dataclasses.dataclass",
        f"class Config{n}:",
        '    backend: str = "gloo"',
        f"config_{n} = dataclasses.replace(Config{n}(), backend={v})",
    ),
    "named tuple": lambda n, v: top(f"Config{n}().backend", f"class Config{n}(typing.NamedTuple):", f"    backend: str = {v}"),
    "enum": lambda n, v: top(f"Kind{n}.GPU.value", f"class Kind{n}(enum.Enum):", f"    GPU = {v}", '    CPU = "cpu"'),
    "namespace": lambda n, v: top(f"config_{n}.backend", f"config_{n} = types.SimpleNamespace(backend={v})"),
    "namespace set later": lambda n, v: top(
        f"config_{n}.backend", f"config_{n} = types.SimpleNamespace()", f"config_{n}.backend = {v}"
    ),
    "setattr": lambda n, v: top(
        f"config_{n}.backend", f'config_{n} = types.SimpleNamespace(backend="gloo")', f'setattr(config_{n}, "backend", {v})'
    ),
    "nested table": lambda n, v: top(
        f'CONFIG_{n}["dist"]["backend"]', f'CONFIG_{n} = {{"dist": {{"backend": {v}}}, "plot": {{"backend": "agg"}}}}'
    ),
    "table with a default": lambda n, v: top(f'CONFIG_{n}.get("backend", {v})', f'CONFIG_{n} = {{"rank": 0}}'),
    "table set later": lambda n, v: top(
        f'CONFIG_{n}["backend"]', f'CONFIG_{n} = {{"backend": "gloo"}}', f'CONFIG_{n}["backend"] = {v}'
    ),
    "list": lambda n, v: top(f"CHOICES_{n}[0]", f'CHOICES_{n} = [{v}, "gloo"]'),
    "list that grows": lambda n, v: top(f"CHOICES_{n}[-1]", f'CHOICES_{n} = ["gloo"]', f"CHOICES_{n}.append({v})"),
    "json file": lambda n, v: (
        f'config_{n}["backend"]',
        Code(
            top=(f'config_{n} = json.loads(pathlib.Path("config_{n}.json").read_text())',),
            files={f"config_{n}.json": f'{{"backend": {"null" if v == "None" else v}}}\n'},
        ),
    ),
    "option": parser,
    "option of a function": parser_in_a_function,
    "option by getattr": lambda n, v: parser(n, v, read='getattr(args_{n}, "backend")'),
    "option by vars": lambda n, v: parser(n, v, read='vars(args_{n})["backend"]'),
    "option set again": lambda n, v: parser(n, '"gloo"', more=(f"args_{n}.backend = {v}",)),
    "option with set_defaults": lambda n, v: (
        f"args_{n}.backend",
        Code(
            top=(
                f"parser_{n} = argparse.ArgumentParser()",
                f'parser_{n}.add_argument("--backend", default="gloo")',
                f"parser_{n}.set_defaults(backend={v})",
                f"args_{n} = parser_{n}.parse_known_args()[0]",
            ),
            argv=("--backend", "mpi"),
        ),
    ),
    "environment": lambda n, v: typed((f'os.environ.get("BACKEND_{n}", {v})', Code()), f"BACKEND_{n}"),
    "getenv": lambda n, v: typed((f'os.getenv("BACKEND_{n}", default={v})', Code()), f"BACKEND_{n}"),
    "environment or": lambda n, v: typed((f'(os.environ.get("BACKEND_{n}") or {v})', Code()), f"BACKEND_{n}"),
    "outside constant": lambda n, v: (f"hub.{HUB[v]}", Code()),
    "outside function": lambda n, v: (f'hub.pick("{HUB[v]}")', Code()),
    "outside settings": lambda n, v: top(f"settings_{n}.backend", f'settings_{n} = hub.Settings("{HUB[v]}")'),
    "function": lambda n, v: top(f"choose_{n}()", f"def choose_{n}():", f"    return {v}"),
    "function with branches": lambda n, v: top(
        f"choose_{n}()", f"def choose_{n}():", "    if not torch.cuda.is_available():", '        return "gloo"', f"    return {v}"
    ),
    "function of another file": lambda n, v: (
        f"choose_{n}()",
        Code(top=(f"from chooser_{n} import choose_{n}",)).beside(**{f"chooser_{n}": f"def choose_{n}():\n    return {v}"}),
    ),
    "default of a parameter": lambda n, v: top(f"choose_{n}()", f"def choose_{n}(backend={v}):", "    return backend"),
    "generator": lambda n, v: top(f"next(choose_{n}())", f"def choose_{n}():", f"    yield {v}"),
    "lambda": lambda n, v: top(f"choose_{n}()", f"choose_{n} = lambda: {v}"),
    "method": lambda n, v: top(f"Config{n}().choose()", f"class Config{n}:", "    def choose(self):", f"        return {v}"),
}
