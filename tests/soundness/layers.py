"""Ways of a value through a program, from an expression to where it is used."""

from __future__ import annotations

from collections.abc import Callable

from tests.soundness.code import Code, Use, indented

Layer = Callable[[int, str, Use], Code]  # a number for names, the expression, what is done with it
DEEPEST = 3  # layers in one program

TRANSPARENT = (
    "    @functools.wraps(function)",
    "    def inner(*args, **kwargs):",
    "        return function(*args, **kwargs)",
    "    return inner",
)


def held(*lines: str, read: str) -> Layer:
    """Statements that keep the value, which is then read from there."""
    return lambda n, e, use: use(read.format(n=n, e=e)).after(*(line.format(n=n, e=e) for line in lines))


def passed(*head: str, call: str, top: tuple[str, ...] = (), read: str = "backend") -> Layer:
    """A function of the project that gets the value."""

    def layer(n: int, e: str, use: Use) -> Code:
        code = use(read).under(*(line.format(n=n, e=e) for line in top))
        return code.inside(*(line.format(n=n, e=e) for line in head), call=call.format(n=n, e=e))

    return layer


def elsewhere(n: int, e: str, use: Use) -> Code:
    moved = use("backend").elsewhere(f"launch_{n}", f"def launch_{n}(backend):", call=f"launch_{n}({e})")
    return Code(moved.body, (f"from launch_{n} import launch_{n}",), moved.files, moved.argv, moved.environ)


def loop(n: int, e: str, use: Use) -> Code:
    code = use(f"backend_{n}")
    return Code((f"for backend_{n} in [{e}]:", *indented(code.body)), code.top, code.files, code.argv, code.environ)


def asked(n: int, e: str, use: Use) -> Code:
    code = use(f"backend_{n}").after(f"backend_{n} = {e}")
    return Code(
        (*code.body[:1], f'if backend_{n} != "skip":', *indented(code.body[1:])), code.top, code.files, code.argv, code.environ
    )


def tried(n: int, e: str, use: Use) -> Code:
    code = use(e)
    lines = ("try:", *indented(code.body), "finally:", "    pass")
    return Code(lines, code.top, code.files, code.argv, code.environ)


def through(*top: str, read: str) -> Layer:
    """A function of the project that gives the value back."""
    return lambda n, e, use: use(read.format(n=n, e=e)).under(*(line.format(n=n, e=e) for line in top))


GPU = "torch.cuda.is_available()"

LAYERS: dict[str, Layer] = {
    "nothing": lambda n, e, use: use(e),
    "variable": held("backend_{n} = {e}", read="backend_{n}"),
    "annotated variable": held("backend_{n}: str = {e}", read="backend_{n}"),
    "two variables": held("first_{n} = {e}", "backend_{n} = first_{n}", read="backend_{n}"),
    "unpacked": held("backend_{n}, rank_{n} = {e}, 0", read="backend_{n}"),
    "unpacked with a star": held("backend_{n}, *rest_{n} = [{e}, 0, 1]", read="backend_{n}"),
    "chained": held("backend_{n} = other_{n} = {e}", read="other_{n}"),
    "walrus": held("if (backend_{n} := {e}) == 'skip':", "    pass", read="backend_{n}"),
    "set again": held('backend_{n} = "gloo"', "backend_{n} = {e}", read="backend_{n}"),
    "branch": held(f"if {GPU}:", "    backend_{n} = {e}", "else:", '    backend_{n} = "gloo"', read="backend_{n}"),
    "branch that overrides": held('backend_{n} = "gloo"', f"if {GPU}:", "    backend_{n} = {e}", read="backend_{n}"),
    "branch not taken": held("backend_{n} = {e}", f"if not {GPU}:", '    backend_{n} = "gloo"', read="backend_{n}"),
    "open branch": held('backend_{n} = "gloo"', 'if not os.environ.get("NOT_SET"):', "    backend_{n} = {e}", read="backend_{n}"),
    "guess": held("try:", "    backend_{n} = {e}", "except ValueError:", '    backend_{n} = "gloo"', read="backend_{n}"),
    "ternary": lambda n, e, use: use(f'({e} if {GPU} else "gloo")'),
    "ternary turned": lambda n, e, use: use(f'("gloo" if not {GPU} else {e})'),
    "open ternary": lambda n, e, use: use(f'("gloo" if os.environ.get("NOT_SET") else {e})'),
    "or": lambda n, e, use: use(f'({e} or "nccl")'),
    "and": lambda n, e, use: use(f"({GPU} and {e})"),
    "filled in": held("backend_{n} = {e}", "if backend_{n} is None:", '    backend_{n} = "nccl"', read="backend_{n}"),
    "compared": held("backend_{n} = {e}", 'if backend_{n} == "nccl":', '    print("fast")', read="backend_{n}"),
    "renamed": held("backend_{n} = {e}", 'if backend_{n} == "gloo":', '    backend_{n} = "nccl"', read="backend_{n}"),
    "loop": loop,
    "asked": asked,
    "tried": tried,
    "parameter": passed("def setup_{n}(backend):", call="setup_{n}({e})"),
    "keyword parameter": passed("def setup_{n}(rank, *, backend):", call="setup_{n}(0, backend={e})"),
    "parameter with default": passed('def setup_{n}(backend="gloo"):', call="setup_{n}({e})"),
    "parameter with default left out": passed('def setup_{n}(backend="nccl"):', call="setup_{n}()"),
    "parameter filled in": lambda n, e, use: (
        use("backend")
        .after("if backend is None:", '    backend = "nccl"')
        .inside(f"def setup_{n}(backend=None):", call=f"setup_{n}({e})")
    ),
    "parameter set again": lambda n, e, use: (
        use("backend").after('backend = backend or "nccl"').inside(f"def setup_{n}(backend):", call=f"setup_{n}({e})")
    ),
    "called twice": lambda n, e, use: (
        use("backend").inside(f"def setup_{n}(backend):", call=f"setup_{n}({e})").after(f'setup_{n}("gloo")')
    ),
    "function of another file": elsewhere,
    "star parameter": passed("def setup_{n}(*args):", call="setup_{n}({e}, 0)", read="args[0]"),
    "keywords parameter": passed("def setup_{n}(**options):", call="setup_{n}(backend={e})", read='options["backend"]'),
    "keywords parameter by get": passed(
        "def setup_{n}(**options):", call="setup_{n}(backend={e})", read='options.get("backend", "nccl")'
    ),
    "given by unpacking": passed("def setup_{n}(rank, backend):", call='setup_{n}(**{{"rank": 0, "backend": {e}}})'),
    "given by a star": passed("def setup_{n}(rank, backend):", call="setup_{n}(*[0, {e}])"),
    "method": passed("class Trainer{n}:", "    def setup(self, backend):", call="Trainer{n}().setup({e})"),
    "static method": passed("class Trainer{n}:", "    @staticmethod", "    def setup(backend):", call="Trainer{n}.setup({e})"),
    "class method": passed("class Trainer{n}:", "    @classmethod", "    def setup(cls, backend):", call="Trainer{n}.setup({e})"),
    "constructor": passed("class Trainer{n}:", "    def __init__(self, backend):", call="Trainer{n}({e})"),
    "call method": passed("class Trainer{n}:", "    def __call__(self, backend):", call="Trainer{n}()({e})"),
    "self": passed(
        "class Trainer{n}:",
        "    def __init__(self, backend):",
        "        self.backend = backend",
        "    def setup(self):",
        call="Trainer{n}({e}).setup()",
        read="self.backend",
    ),
    "self set from outside": lambda n, e, use: (
        use("self.backend")
        .inside(f"class Trainer{n}:", "    backend = None", "    def setup(self):", call=f"trainer_{n}.setup()")
        .after(f"trainer_{n} = Trainer{n}()", f"trainer_{n}.backend = {e}")
    ),
    "inherited method": lambda n, e, use: (
        use("self.backend")
        .inside(f"class Base{n}:", "    def setup(self):", call=f"Trainer{n}({e}).setup()")
        .under(f"class Trainer{n}(Base{n}):", "    def __init__(self, backend):", "        self.backend = backend")
    ),
    "super": lambda n, e, use: (
        use("backend")
        .inside(f"class Base{n}:", "    def __init__(self, backend):", call=f"Trainer{n}({e})")
        .under(f"class Trainer{n}(Base{n}):", "    def __init__(self, *args):", "        super().__init__(*args)")
    ),
    "object handed over": passed(
        "def setup_{n}(config):", call="setup_{n}(types.SimpleNamespace(backend={e}))", read="config.backend"
    ),
    "table handed over": passed("def setup_{n}(config):", call='setup_{n}({{"backend": {e}}})', read='config["backend"]'),
    "getattr": held("config_{n} = types.SimpleNamespace(backend={e})", read='getattr(config_{n}, "backend", "nccl")'),
    "identity": through("def same_{n}(backend):", "    return backend", read="same_{n}({e})"),
    "last of two": through("def last_{n}(*values):", "    return values[-1]", read='last_{n}("gloo", {e})'),
    "own decorator": passed(
        "@logged_{n}", "def setup_{n}(backend):", call="setup_{n}({e})", top=("def logged_{n}(function):", *TRANSPARENT)
    ),
    "own decorator that overrides": passed(
        "@forced_{n}",
        "def setup_{n}(backend):",
        call="setup_{n}({e})",
        top=("def forced_{n}(function):", "    def inner(backend):", '        return function("nccl")', "    return inner"),
    ),
    "own decorator that fills in": passed(
        "@filled_{n}",
        "def setup_{n}(backend):",
        call="setup_{n}({e})",
        top=(
            "def filled_{n}(function):",
            "    def inner(backend=None):",
            '        return function(backend or "nccl")',
            "    return inner",
        ),
    ),
    "decorator with arguments": passed(
        '@forced_{n}("nccl")',
        "def setup_{n}(backend):",
        call="setup_{n}({e})",
        top=(
            "def forced_{n}(name):",
            "    def outer(function):",
            "        return lambda backend: function(name)",
            "    return outer",
        ),
    ),
    "outside decorator": passed("@hub.traced", "def setup_{n}(backend):", call="setup_{n}({e})"),
    "outside decorator that overrides": passed("@hub.forced", "def setup_{n}(backend):", call="setup_{n}({e})"),
    "outside caller": passed("def setup_{n}(backend):", call="hub.call(setup_{n}, {e})"),
    "partial": passed("def setup_{n}(rank, backend):", call="functools.partial(setup_{n}, backend={e})(0)"),
    "alias of the function": passed("def setup_{n}(backend):", call="run_{n} = setup_{n}; run_{n}({e})"),
    "ternary of functions": passed("def setup_{n}(backend):", call=f"(setup_{{n}} if {GPU} else print)({{e}})"),
    "table of functions": passed("def setup_{n}(backend):", call='{{"dist": setup_{n}, "show": print}}["dist"]({e})'),
    "thread": passed("def setup_{n}(backend):", call="futures.ThreadPoolExecutor(1).submit(setup_{n}, {e}).result()"),
    "f-string": held("backend_{n} = {e}", read='(backend_{n} and f"{{backend_{n}}}")'),
    "lower": held("backend_{n} = {e}", read="(backend_{n} and backend_{n}.lower())"),
    "global": lambda n, e, use: (
        use(f"BACKEND_{n}").inside(f"def setup_{n}():", call=f"setup_{n}()").after(f"global BACKEND_{n}", f"BACKEND_{n} = {e}")
    ),
}
