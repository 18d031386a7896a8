"""The layout that the design asks for, kept true."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ddp_codemod
from ddp_codemod.catalog.load import load
from ddp_codemod.kinds import OriginKind
from ddp_codemod.messages import catalogue

PACKAGE = Path(ddp_codemod.__file__).parent
MODULES = {
    ".".join(("ddp_codemod", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}
TREES = {name: ast.parse(path.read_text("utf-8")) for name, path in MODULES.items()}

# A module may import what stands before it, and its own kind; the longest name that fits counts.
STAGES = [
    ("ddp_codemod", "ddp_codemod.model", "ddp_codemod.messages", "ddp_codemod.catalog"),
    ("ddp_codemod.discover",),
    ("ddp_codemod.parse",),
    ("ddp_codemod.sites",),
    ("ddp_codemod.dataflow",),
    ("ddp_codemod.policy",),
    ("ddp_codemod.impact",),
    ("ddp_codemod.edits",),
    ("ddp_codemod.single_process",),
    ("ddp_codemod.ledger",),
    ("ddp_codemod.patch",),
    ("ddp_codemod.report",),
    ("ddp_codemod.write",),
    ("ddp_codemod.machine",),
    ("ddp_codemod.run",),
    ("ddp_codemod.request", "ddp_codemod.api"),
    ("ddp_codemod.codemods",),
    ("ddp_codemod.fleet",),
    ("ddp_codemod.cli", "ddp_codemod.__main__", "ddp_codemod.servers"),
]
APART = {
    "ddp_codemod.report",
    "ddp_codemod.write",
    "ddp_codemod.machine",
}  # siblings at the end of the way, which need none of each other
RANKS = {prefix: rank for rank, prefixes in enumerate(STAGES) for prefix in prefixes}


def stage(module: str) -> str:
    parts = module.split(".")
    return next(name for end in range(len(parts), 0, -1) if (name := ".".join(parts[:end])) in RANKS)


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, module) of every import, also those inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, "relative imports hide where a module stands"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield node.lineno, full if full in MODULES else node.module


def ours() -> Iterator[tuple[str, int, str]]:
    for module, tree in TREES.items():
        for line, imported in imports(tree):
            if imported.split(".")[0] == "ddp_codemod":
                yield module, line, imported


def top_level(module: str) -> set[str]:
    """Packages that a module imports when it is imported."""
    found = set()
    for node in TREES[module].body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {name.split(".")[0] for _, name in imports(ast.Module([node], []))}
    return found


def test_data_flows_down() -> None:
    wrong = [
        f"{module}:{line} imports {imported}"
        for module, line, imported in ours()
        if RANKS[stage(imported)] > RANKS[stage(module)] and module != "ddp_codemod"  # the package offers its interface, lazily
    ]
    assert wrong == []


def test_the_ends_of_the_way_need_none_of_each_other() -> None:
    wrong = [
        f"{module}:{line} imports {imported}"
        for module, line, imported in ours()
        if stage(imported) in APART and stage(module) in APART and stage(imported) != stage(module)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("package", "stages"),
    [
        ("git", {"ddp_codemod.write"}),
        ("torch", {"ddp_codemod.machine"}),
        ("libcst", {"ddp_codemod.edits", "ddp_codemod.codemods"}),
        ("distributed", {"ddp_codemod.fleet"}),
        ("mcp", {"ddp_codemod.servers"}),
        ("mcp_types", {"ddp_codemod.servers"}),
        ("anyio", {"ddp_codemod.servers"}),
        ("pygls", {"ddp_codemod.servers"}),
        ("lsprotocol", {"ddp_codemod.servers"}),
    ],
)
def test_heavy_packages_are_named_in_one_stage_only(package: str, stages: set[str]) -> None:
    users = {stage(module) for module, tree in TREES.items() for _, name in imports(tree) if name.split(".")[0] == package}
    assert users <= stages


@pytest.mark.parametrize("package", ["git", "torch"])
def test_heavy_packages_are_imported_inside_functions(package: str) -> None:
    assert [module for module in TREES if package in top_level(module)] == []


def writing_calls(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
        modes = [*node.args[:2], *(keyword.value for keyword in node.keywords if keyword.arg == "mode")]
        opens = name in ("open", "fdopen") and any(
            isinstance(mode, ast.Constant)
            and isinstance(mode.value, str)
            and set(mode.value) & set("wax+")
            and len(mode.value) < 4
            for mode in modes
        )
        if opens or name in (
            "write_text",
            "write_bytes",
            "unlink",
            "rename",
            "replace_all",
            "rmtree",
            "mkstemp",
            "NamedTemporaryFile",
        ):
            yield node.lineno


def test_only_write_opens_files_for_writing() -> None:
    # the examples of rules, and a text from LibCST that lies in no file, are looked at in a temporary folder of their own
    writers = {module for module, tree in TREES.items() if any(writing_calls(tree))}
    assert {module for module in writers if stage(module) != "ddp_codemod.write"} <= {
        "ddp_codemod.codemods.port",
        "ddp_codemod.run.examples",
        "ddp_codemod.catalog.packages",
        "ddp_codemod.user_cache",
        "ddp_codemod.run.answer_cache",
        "ddp_codemod.catalog.schema",
    }


def test_the_check_for_writing_can_fail() -> None:
    assert list(writing_calls(ast.parse("from pathlib import Path\nPath('a').write_text('b')\nopen('a', 'wb')\n"))) == [2, 3]


def test_no_backend_framework_or_platform_is_named_in_the_engine() -> None:
    rules = load()
    frameworks = {surface.split(".")[0] for surface in rules.surfaces}
    names = set(rules.platforms) | set(rules.backends) | set(rules.surfaces) | set(rules.fixes) | frameworks
    # checks of a machine are named for what they look at
    engine = {module: tree for module, tree in TREES.items() if stage(module) != "ddp_codemod.machine"}
    found = [
        f"{module}:{node.lineno} {node.value}"
        for module, tree in engine.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.lower() in names
    ]
    assert found == []


def test_kinds_of_origins_are_no_texts() -> None:
    # replace() of msgspec takes anything: what mypy cannot see is seen here
    kinds = {kind.value for kind in OriginKind}
    leaves = {
        module: tree
        for module, tree in TREES.items()
        if stage(module) in ("ddp_codemod.dataflow", "ddp_codemod.policy", "ddp_codemod.impact")
    }
    given = [
        f"{module}:{node.lineno}"
        for module, tree in leaves.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "kind" and texts_of(keyword.value) & kinds
    ]
    assert given == []


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The groups of modules that reach each other."""

    def reached(module: str) -> set[str]:
        found: set[str] = set()
        open_ = [module]
        while open_:
            new = graph[open_.pop()] - found
            found |= new
            open_ += new
        return found

    reach = {module: reached(module) for module in graph}
    groups = {
        frozenset(other for other in reach[module] if module in reach[other]) for module in graph if module in reach[module]
    }
    return sorted((set(group) for group in groups), key=sorted)


def test_no_circle_of_files() -> None:
    # imports inside functions and under TYPE_CHECKING count
    graph: dict[str, set[str]] = {module: set() for module in MODULES}
    for module, _, imported in ours():
        if module != "ddp_codemod" and imported in graph:
            graph[module].add(imported)
    assert circles(graph) == []


def test_the_check_for_circles_can_fail() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"d"}, "e": {"a"}}
    assert circles(graph) == [{"b", "c"}, {"d"}]


def texts_of(node: ast.AST) -> set[str]:
    """The texts in an expression, with those of the names in it that stand for constants of any module."""
    parts = list(ast.walk(node))
    names = {
        part.id if isinstance(part, ast.Name) else part.attr for part in parts if isinstance(part, (ast.Name, ast.Attribute))
    }
    parts += [part for name in names for value in CONSTANTS.get(name, ()) for part in ast.walk(value)]
    return {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}


CONSTANTS: dict[str, list[ast.expr]] = {}
for tree in TREES.values():
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    CONSTANTS.setdefault(target.id, []).append(statement.value)


def keys_asked(tree: ast.AST) -> Iterator[int]:
    """Lines on which a reason is told by the key of its sentence: compared, looked up, or matched."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            whole: list[ast.AST] = [node.left, *node.comparators]
        elif isinstance(node, ast.Subscript):
            whole = [node.slice, node.value]
        elif isinstance(node, ast.Match):
            whole = [node.subject, *(case.pattern for case in node.cases)]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            whole = [node.func.value, *node.args]  # key.startswith("keep-"), KINDS.get(key)
        else:
            continue
        keyed = [part for part in whole if isinstance(part, ast.Attribute) and part.attr == "key"]
        about = [
            part
            for part in keyed
            if isinstance(part.value, ast.Attribute | ast.Name) and ast.unparse(part.value).endswith(REASONS)
        ]
        texts = {text for part in whole for text in texts_of(part)} if keyed else set()
        if about or texts & set(catalogue("en")):
            yield node.lineno


REASONS = ("reason", "why", "because", "message")


def test_no_decision_reads_the_key_of_a_sentence() -> None:
    # a sentence may be put otherwise without any edit becoming another; ``Reason.means`` is what may be asked
    told = ("ddp_codemod.messages", "ddp_codemod.cli", "ddp_codemod.servers", "ddp_codemod.write", "ddp_codemod.discover.config")
    found = [f"{module}:{line}" for module, tree in TREES.items() if not module.startswith(told) for line in keys_asked(tree)]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        'if finding.reason.key == "keep-right": pass',
        "kept = one.key in BOTH",
        "says = leaf.why.key.startswith(start)",
        "x = {}[site.reason.key]",
        'match note.message.key:\n    case "keep-right": pass',
    ],
)
def test_the_check_for_keys_can_fail(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CONSTANTS, "BOTH", [ast.parse('("keep-right", "other")', mode="eval").body])
    assert list(keys_asked(ast.parse(text))) == [1]
    assert list(keys_asked(ast.parse('if surface.key == "backend" or query.key in text: pass'))) == []


@pytest.mark.parametrize("path", list(MODULES.values()), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_file_is_longer_than_can_be_read(path: Path) -> None:
    assert path.read_text("utf-8").count("\n") <= 300


def modules_after(*args: str, cwd: Path) -> set[str]:
    code = (
        "import sys, json\nfrom ddp_codemod.cli import main\ncode = main(sys.argv[1:])\n"
        "print(json.dumps([code, sorted({name.split('.')[0] for name in sys.modules})]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *args], cwd=cwd, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    code_, names = json.loads(done.stdout.splitlines()[-1])
    assert code_ == 0, done.stderr
    return set(names)


HEAVY = {
    "torch",
    "rich",
    "git",
    "libcst",
    "gitdb",
    "yaml",
    "dask",
    "distributed",
    "mcp",
    "anyio",
    "pydantic",
    "pygls",
    "lsprotocol",
}


def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    assert not modules_after("--help", cwd=tmp_path) & HEAVY


@pytest.mark.parametrize("command", ["apply", "diff", "check", "scan"])
def test_a_run_without_candidates_loads_nothing_heavy(tmp_path: Path, command: str) -> None:
    (tmp_path / "train.py").write_text("print('no process group here')\n")
    assert not modules_after(command, ".", "--platform", "rocm", cwd=tmp_path) & HEAVY


@pytest.mark.parametrize("command", ["check", "scan"])
def test_commands_that_only_tell_never_load_libcst(tmp_path: Path, command: str) -> None:
    (tmp_path / "train.py").write_text('import torch.distributed as dist\n\ndist.init_process_group("gloo" if 1 else "nccl")\n')
    loaded = modules_after(command, ".", "--platform", "cuda", cwd=tmp_path)
    assert not loaded & HEAVY


def test_what_one_rule_needs_is_not_imported_for_the_others() -> None:
    code = "import sys, ddp_codemod.run.pipeline\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8")
    loaded = done.stdout.split()
    assert "ddp_codemod.run.pipeline" in loaded
    assert [name for name in loaded if name.startswith("ddp_codemod.single_process")] == []
