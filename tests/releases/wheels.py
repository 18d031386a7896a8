"""Fetches the wheel of a release and reads, without running or installing any of it, what the rule data speaks of."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BACKENDS = "torch.distributed.backends"  # the group of entry points under which torch 2.14 and newer keep theirs


class Unfetched(Exception):
    """A release that pip could not fetch as a wheel; the text is pip's last line."""


@dataclass
class Package:
    """The Python sources of a wheel, by module."""

    name: str
    version: str
    sources: dict[str, str]
    entry_points: str = ""
    _trees: dict[str, ast.Module] = field(default_factory=dict)

    def tree(self, module: str) -> ast.Module:
        """The syntax of a module."""
        if module not in self._trees:
            self._trees[module] = ast.parse(self.sources[module])
        return self._trees[module]

    def definitions(self, name: str, below: str) -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef]]:
        """What modules at or below a dotted name define under a name, at their top or in a class."""
        wanted = re.compile(rf"^[ \t]*(?:class|def)[ \t]+{re.escape(name)}\b", re.M)
        for module, text in sorted(self.sources.items()):
            if f"{module}.".startswith(f"{below}.") and wanted.search(text):
                for node in ast.walk(self.tree(module)):
                    if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name == name:
                        yield module, node


def fetched(pin: str) -> Package:
    """The sources of a release, ``name==version`` or the newest of a name. Raises Unfetched."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--only-binary",
            ":all:",
            "--dest",
            folder,
            pin,
        ]
        ran = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
        if ran.returncode:
            raise Unfetched((ran.stderr.strip() or "no reason").splitlines()[-1])
        (wheel,) = Path(folder).iterdir()
        name, version = wheel.name.split("-")[:2]
        version = version.partition("+")[0]
        if "==" not in pin and version != (newest := _newest(pin)):
            raise Unfetched(f"the newest release, {newest}, has none")
        sources: dict[str, str] = {}
        entry_points = ""
        with zipfile.ZipFile(wheel) as archive:
            for member in archive.namelist():
                if member.endswith((".py", ".pyi")):
                    module = member.rpartition(".")[0].replace("/", ".").removesuffix(".__init__")
                    sources[module] = sources.get(module, "") or archive.read(member).decode("utf-8", "replace")
                elif member.endswith(".dist-info/entry_points.txt"):
                    entry_points = archive.read(member).decode()
    return Package(name, version, sources, entry_points)


def _newest(name: str) -> str:
    """The newest release of a package, of whatever kind. Raises Unfetched."""
    ran = subprocess.run([sys.executable, "-m", "pip", "index", "versions", name], capture_output=True, text=True)
    said = re.match(r"\S+ \((.+)\)", ran.stdout)
    if said is None:
        raise Unfetched((ran.stderr.strip() or "no such package").splitlines()[-1])
    return said[1]


def facts(package: Package, wanted: Iterable[str]) -> dict[str, Any]:
    """What a release has of the qualified names (``a.*.B`` stands for any depth), its backends, and their devices."""
    found: dict[str, Any] = {}
    for name in sorted(set(wanted)):
        head, _, last = name.rpartition(".")
        below = head.partition(".*")[0]
        # what is written in C has its signature in the stubs of a module of its own
        places = (below, f"{below.partition('.')[0]}._C")
        made = next(
            filter(None, ([signature(package, module, node) for module, node in package.definitions(last, at)] for at in places)),
            [],
        )
        if made:
            found[name] = sorted(made, key=repr)
    names, devices = _backends(package)
    return {"package": package.name, "version": package.version, "names": found, "backends": names, "devices": devices}


def signature(package: Package, module: str, node: ast.ClassDef | ast.FunctionDef) -> dict[str, Any]:
    """The parameters that may be given by position, with their defaults, those by keyword only, and whether it takes others too."""
    method = isinstance(node, ast.ClassDef)
    function = _initialiser(package, module, node) if isinstance(node, ast.ClassDef) else node
    if isinstance(function, tuple):
        return {"position": _fields(package, *function), "keyword": {}, "open": False}
    if function is None:
        return {"position": [], "keyword": {}, "open": True}
    given = function.args
    by_position = [*given.posonlyargs, *given.args]
    defaults = [*[None] * (len(by_position) - len(given.defaults)), *given.defaults]
    rows = [[part.arg, _default(value)] for part, value in zip(by_position, defaults, strict=True)]
    if method or (rows and rows[0][0] in ("self", "cls")):
        rows = rows[1:]
    keyword = {part.arg: _default(value) for part, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)}
    return {"position": rows, "keyword": keyword, "open": given.kwarg is not None or given.vararg is not None}


def _default(value: ast.expr | None) -> str | None:
    """A default as far as it is compared: a constant or a name; "..." for what is worked out."""
    if value is None:
        return None
    return ast.unparse(value) if isinstance(value, (ast.Constant, ast.Attribute, ast.Name)) else "..."


Class = tuple[str, ast.ClassDef]


def _parents(package: Package, module: str, node: ast.ClassDef) -> Iterator[Class]:
    """The bases of a class that the wheel has: in its own module, else where that imports the name from."""
    for base in node.bases:
        name = ast.unparse(base).rpartition(".")[2]
        places = [module]
        for part in ast.walk(package.tree(module)):
            if isinstance(part, ast.ImportFrom) and any((alias.asname or alias.name) == name for alias in part.names):
                above = ".".join(module.split(".")[: -part.level]) + "." if part.level else ""
                places.append(f"{above}{part.module or ''}".rstrip("."))
        found = (one for at in places for one in package.definitions(name, at) if isinstance(one[1], ast.ClassDef))
        yield from ((at, made) for at, made in list(found)[:1] if isinstance(made, ast.ClassDef) and made is not node)


def _initialiser(package: Package, module: str, node: ast.ClassDef, deep: int = 5) -> ast.FunctionDef | Class | None:
    """The function that makes an object, or the class where its fields do; None where that is not in the wheel."""
    own = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
    if own:
        return own[-1]
    if any("dataclass" in ast.unparse(part) for part in node.decorator_list):
        return module, node
    for at, parent in _parents(package, module, node) if deep else ():
        if (found := _initialiser(package, at, parent, deep - 1)) is not None:
            return found
    return None


def _fields(package: Package, module: str, node: ast.ClassDef) -> list[list[str | None]]:
    """The fields of a dataclass in their order, those of its bases first."""
    rows: dict[str, str | None] = {}
    for at, parent in _parents(package, module, node):
        rows.update({str(name): value for name, value in _fields(package, at, parent)})
    for part in node.body:
        if (
            isinstance(part, ast.AnnAssign)
            and isinstance(part.target, ast.Name)
            and "ClassVar" not in ast.unparse(part.annotation)
        ):
            rows[part.target.id] = _default(_of_field(part.value))
    return [[name, value] for name, value in rows.items()]


def _of_field(value: ast.expr | None) -> ast.expr | None:
    """What a field of a dataclass is where it is left out: ``field(default=...)`` says it inside."""
    if isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] == "field":
        return next((keyword.value for keyword in value.keywords if keyword.arg == "default"), value)
    return value


def _backends(package: Package) -> tuple[list[str], dict[str, str]]:
    """The names of backends that torch's own enum and entry points have, and what it takes for each type of device."""
    names: set[str] = set()
    devices: dict[str, str] = {}
    for _, node in package.definitions("Backend", "torch.distributed.distributed_c10d"):
        texts: dict[str, str] = {}
        for part in node.body:
            target = part.targets[0] if isinstance(part, ast.Assign) else part.target if isinstance(part, ast.AnnAssign) else None
            value = part.value if isinstance(part, (ast.Assign, ast.AnnAssign)) else None
            if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
                texts[target.id] = value.value
            elif isinstance(target, ast.Name) and target.id == "default_device_backend_map" and isinstance(value, ast.Dict):
                pairs = zip(value.keys, value.values, strict=True)
                devices = {str(getattr(key, "value", "")): texts.get(ast.unparse(one), ast.unparse(one)) for key, one in pairs}
        names |= set(texts.values())
    group = package.entry_points.partition(f"[{BACKENDS}]")[2].partition("\n[")[0]
    names |= {line.partition("=")[0].strip() for line in group.splitlines() if "=" in line}
    return sorted(names), devices
