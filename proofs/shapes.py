"""Texts that nest: expressions, statements and configuration files, each as a function of its depth."""

from __future__ import annotations

from collections.abc import Callable

Shape = Callable[[int], str]

EXPRESSIONS: dict[str, Shape] = {
    "brackets": lambda n: "(" * n + "1" + ")" * n,
    "lists": lambda n: "[" * n + "]" * n,
    "dictionaries": lambda n: "{1:" * n + "1" + "}" * n,
    "lambdas": lambda n: "lambda:" * n + "1",
    "sum": lambda n: "1" + "+1" * n,
    "powers": lambda n: "1" + "**1" * n,
    "attributes": lambda n: "a" + ".b" * n,
    "subscripts": lambda n: "a" + "[0]" * n,
    "calls": lambda n: "f" + "()" * n,
    "minus signs": lambda n: "-" * n + "1",
    "negations": lambda n: "not " * n + "1",
    "conditions": lambda n: "1 if 1 else " * n + "1",
    "alternatives": lambda n: "1 or " * n + "1",
    "comparisons": lambda n: "1<" * n + "1",
    "strings": lambda n: '"a" ' * n,
    "comprehensions": lambda n: "[x for x in " * n + "y" + "]" * n,
    "keyword arguments": lambda n: "f(a=" * n + "1" + ")" * n,
}
STATEMENTS: dict[str, Shape] = {
    "elif": lambda n: "if a:\n    pass\n" + "elif a:\n    pass\n" * n,
    "else if": lambda n: (
        "".join("  " * i + "if a:\n" + "  " * i + "  pass\n" + "  " * i + "else:\n" for i in range(n)) + "  " * n + "pass\n"
    ),
    "blocks": lambda n: "".join(" " * i + "if a:\n" for i in range(n)) + " " * n + "pass\n",
    "assignments": lambda n: "a = " * n + "1\n",
}
YAML: dict[str, Shape] = {
    "flow lists": lambda n: "[" * n + "]" * n + "\n",
    "flow maps": lambda n: "{a: " * n + "1" + "}" * n + "\n",
    "block maps": lambda n: "".join(" " * i + "a:\n" for i in range(n)),
    "block lists": lambda n: "- " * n + "1\n",
    "open brackets": lambda n: "[" * n + "\n",
}
JSON: dict[str, Shape] = {
    "arrays": lambda n: "[" * n + "]" * n,
    "objects": lambda n: '{"a":' * n + "1" + "}" * n,
    "open arrays": lambda n: "[" * n,
}
TOML: dict[str, Shape] = {
    "arrays": lambda n: "a = " + "[" * n + "]" * n + "\n",
    "inline tables": lambda n: "a = " + "{a = " * n + "1" + "}" * n + "\n",
    "dotted keys": lambda n: "a" + ".a" * n + " = 1\n",
    "tables": lambda n: "[a" + ".a" * n + "]\nb = 1\n",
}
SHELL: dict[str, Shape] = {
    "substitutions": lambda n: "a=" + "$(echo " * n + ")" * n + "\n",
    "subshells": lambda n: "(" * n + "a" + ")" * n + "\n",
    "quotes": lambda n: 'a="' + '$(echo "' * n + '")' * n + '"\n',
    "ifs": lambda n: "if a; then\n" * n + "b\n" + "fi\n" * n,
    "loops": lambda n: "while a; do\n" * n + "b\n" + "done\n" * n,
    "cases": lambda n: "case a in b)\n" * n + "c\n" + ";;\nesac\n" * n,
    "functions": lambda n: "f() {\n" * n + "b\n" + "}\n" * n,
    "else ifs": lambda n: "if a; then b\n" + "elif a; then b\n" * n + "fi\n",
    "pipes": lambda n: "a | " * n + "a\n",
    "lists": lambda n: "a && " * n + "a\n",
    "variables": lambda n: (
        "A0=nccl\n"
        + "".join(f"A{i + 1}=$A{i}\n" for i in range(min(n, 20_000)))
        + f"torchrun train.py --backend $A{min(n, 20_000)}\n"
    ),
    "braces": lambda n: "a=" + "${b:-" * n + "}" * n + "\n",
}

# where an expression of a stranger can stand that some stage follows; X is the expression
POSITIONS: dict[str, str] = {
    "init_method": "dist.init_process_group('nccl', init_method=X)\n",
    "backend": "dist.init_process_group(X)\n",
    "name": "x = X\ndist.init_process_group(x)\n",
    "timeout": "dist.init_process_group('nccl', timeout=X)\n",
    "condition": "if X:\n    dist.init_process_group('nccl')\n",
    "ternary": "dist.init_process_group('nccl' if X else 'gloo')\n",
    "address": "os.environ['MASTER_ADDR'] = X\ndist.init_process_group('nccl')\n",
    "variable": "os.environ['NCCL_P2P_DISABLE'] = X\ndist.init_process_group('nccl')\n",
    "key": "os.environ[X] = '1'\ndist.init_process_group('nccl')\n",
    "default": "def f(b=X):\n    dist.init_process_group(b)\nf()\n",
    "argument": "def f(b):\n    dist.init_process_group(b)\nf(X)\n",
    "decorator": "@d(X)\ndef f():\n    dist.init_process_group('nccl')\n",
    "base": "class A(X):\n    def f(self):\n        dist.init_process_group('nccl')\n",
    "callee": "(X)('nccl')\ndist.init_process_group('nccl')\n",
    "mapping": "dist.init_process_group(**X)\n",
    "sequence": "dist.init_process_group(*X)\n",
    "option": "p = argparse.ArgumentParser()\np.add_argument('--backend', default=X)\na = p.parse_args()\ndist.init_process_group(a.backend)\n",
    "result": "def f():\n    return X\ndist.init_process_group(f())\n",
    "member": "class A:\n    def __init__(self):\n        self.b = X\n    def g(self):\n        dist.init_process_group(self.b)\n",
    "device": "torch.cuda.set_device(X)\nx = torch.zeros(1).to(X)\nx.to(device=X)\ndist.init_process_group('nccl')\n",
    "target": "X = 1\ndist.init_process_group('nccl')\n",
    "model": "m = torch.nn.parallel.DistributedDataParallel(X, device_ids=[X])\ndist.init_process_group('nccl')\n",
    "comparison": "if dist.get_backend() == X:\n    pass\ndist.init_process_group('nccl')\n",
    "strategy": "from lightning import Trainer\nTrainer(strategy=X)\n",
    "strategy object": "from lightning.pytorch.strategies import DDPStrategy\nDDPStrategy(process_group_backend=X)\n",
    "spawn": "import torch.multiprocessing as mp\nmp.spawn(X, nprocs=X)\ndef main():\n    dist.init_process_group('nccl')\n",
    "statement": "if __name__ == '__main__':\n    dist.init_process_group('nccl')\n    X\n",
}
# many statements, each of which leads to the one before
CHAINS: dict[str, Shape] = {
    "assignments": lambda n: _linked("x0 = 'nccl'\n", "x{1} = x{0}\n", n, "x{0}"),
    "texts": lambda n: _linked("x0 = 'n'\n", "x{1} = x{0} + 'c'\n", n, "x{0}"),
    "f-strings": lambda n: _linked("x0 = 'nccl'\n", "x{1} = f'{{x{0}}}'\n", n, "x{0}"),
    "returns": lambda n: _linked("def f0():\n    return 'nccl'\n", "def f{1}():\n    return f{0}()\n", n, "f{0}()"),
    "calls": lambda n: (
        "def f0(b):\n    dist.init_process_group(b)\n"
        + "".join(f"def f{i + 1}(b):\n    f{i}(b)\n" for i in range(n))
        + f"f{n}('nccl')\n"
    ),
    "classes": lambda n: _linked("class C0:\n    b = 'nccl'\n", "class C{1}(C{0}):\n    pass\n", n, "C{0}.b"),
    "mappings": lambda n: _linked("d0 = {'b': 'nccl'}\n", "d{1} = {{**d{0}}}\n", n, "d{0}['b']"),
    "items": lambda n: _linked("d0 = {'b': 'nccl'}\n", "d{1} = {{'b': d{0}['b']}}\n", n, "d{0}['b']"),
    "attributes": lambda n: _linked(
        "class C:\n    pass\nc0 = C()\nc0.b = 'nccl'\n", "c{1} = C()\nc{1}.b = c{0}.b\n", n, "c{0}.b"
    ),
    "variables": lambda n: _linked(
        "os.environ['A0'] = 'nccl'\n", "os.environ['A{1}'] = os.environ['A{0}']\n", n, "os.environ['A{0}']"
    ),
    "conditions": lambda n: _linked("x0 = True\n", "x{1} = not x{0}\n", n, "'nccl' if x{0} else 'gloo'"),
    "mappings by two calls": lambda n: _handed("d", "dist.init_process_group(d['b'])", n, "{'b': 'nccl'}"),
    "mappings asked by two calls": lambda n: _handed("d", "dist.init_process_group(d.get('b', 'nccl'))", n, "{}"),
    "keywords by two calls": lambda n: _handed("**k", "dist.init_process_group(**k)", n, "backend='nccl'"),
    "values by two calls": lambda n: _handed("b", "dist.init_process_group(b)", n, "'nccl'"),
    "callables by two calls": lambda n: _handed("g", "g('nccl')", n, "dist.init_process_group"),
    "calls in a circle": lambda n: (
        "def h(d):\n    dist.init_process_group(d['b'])\n"
        + "".join(f"def f{i}(d):\n    h(d)\n    f{(i + 1) % n}(d)\n    f{(i * 7 + 3) % n}(d)\n" for i in range(n))
        + "f0({'b': 'nccl'})\n"
    ),
    "mappings put in twice": lambda n: _linked(
        "d0 = {'backend': 'nccl'}\n", "d{1} = {{}}\nif a:\n    d{1}.update(d{0})\nif b:\n    d{1}.update(d{0})\n", n, "**d{0}"
    ),
    "mappings of either": lambda n: _linked("d0 = {'backend': 'nccl'}\n", "d{1} = {{**(d{0} or d{0})}}\n", n, "**d{0}"),
    "one name": lambda n: "x = 'n'\n" + "x = x + ''\n" * n + "dist.init_process_group(x)\n",
    "additions": lambda n: "x = 'nccl'\n" + "x += ''\n" * n + "dist.init_process_group(x)\n",
    "ways that multiply": lambda n: "x = 'nccl'\n" + "if a:\n    x = x or 'gloo'\n" * n + "dist.init_process_group(x)\n",
    "ways that part": lambda n: (
        "if a == 0:\n    x = 'gloo'\n" + "elif a == 1:\n    x = 'nccl'\n" * n + "dist.init_process_group(x)\n"
    ),
    "other names": lambda n: (
        "f0 = dist.init_process_group\n" + "".join(f"f{i + 1} = f{i}\n" for i in range(n)) + f"f{n}('nccl')\n"
    ),
    "decorators": lambda n: "@d\n" * n + "def f():\n    dist.init_process_group('nccl')\nf()\n",
    "managers": lambda n: "with " + ", ".join("a" for _ in range(n)) + ":\n    dist.init_process_group('nccl')\n",
    "arguments": lambda n: "dist.init_process_group('nccl', " + "".join(f"a{i}=1, " for i in range(n)) + ")\n",
}


def _linked(first: str, link: str, n: int, last: str) -> str:
    return first + "".join(link.format(i, i + 1) for i in range(n)) + f"dist.init_process_group({last.format(n)})\n"


def _handed(parameter: str, body: str, n: int, last: str) -> str:
    """Functions each of which calls the one before twice, with what it was called with."""
    link = f"def f{{1}}({parameter}):\n    f{{0}}({parameter})\n    f{{0}}({parameter})\n"
    return f"def f0({parameter}):\n    {body}\n" + "".join(link.format(i, i + 1) for i in range(n)) + f"f{n}({last})\n"
