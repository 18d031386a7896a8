"""The files of a project: parsed once, searched by word, found by module name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath

from ddp_codemod.discover.files import read
from ddp_codemod.model import Skipped, Source
from ddp_codemod.parse.notebook import SUFFIX as NOTEBOOK
from ddp_codemod.parse.notebook import NotebookSource, read_notebook
from ddp_codemod.parse.python import Module, parse


class Project:
    """All Python files under a root. Nothing is parsed before someone asks for it."""

    def __init__(self, root: Path, files: Iterable[Path], framework_tops: Iterable[str] = ()) -> None:
        self.root = root
        self.names: list[str] = [path.relative_to(root).as_posix() for path in files]
        self.skipped: dict[str, Skipped] = {}
        self._known = set(self.names)
        self._folders = {str(parent) for name in self.names for parent in PurePosixPath(name).parents}
        self._bytes: dict[str, bytes] = {}
        self._modules: dict[str, Module | None] = {}
        self._mentions: dict[bytes, tuple[str, ...]] = {}
        self._found: dict[tuple[str, str], Module | None] = {}
        self._tops = frozenset(framework_tops)

    def data(self, name: str) -> bytes:
        """A file's bytes, kept for the run; b"" where it cannot be read."""
        if name not in self._bytes:
            try:
                self._bytes[name] = (self.root / name).read_bytes()
            except OSError:
                self._bytes[name] = b""
        return self._bytes[name]

    def module(self, name: str) -> Module | None:
        """The parsed file, or None where it cannot be handled (then ``skipped`` says why)."""
        if name not in self._modules:
            made: Source | Module | Skipped = read(self.root / name, self.root)
            if isinstance(made, Source) and name.endswith(NOTEBOOK):
                made = read_notebook(made)
            if isinstance(made, NotebookSource) and made.left_out is not None:
                self.skipped[name] = made.left_out
            if isinstance(made, Source):
                made = parse(made)
            if isinstance(made, Skipped):
                self.skipped[name] = made
                self._modules[name] = None
            else:
                self._modules[name] = made
        return self._modules[name]

    def mentioning(self, word: str) -> tuple[str, ...]:
        """Names of the files whose bytes hold the word."""
        key = word.encode()
        if key not in self._mentions:
            self._mentions[key] = tuple(name for name in self.names if key in self.data(name))
        return self._mentions[key]

    def select(self, wanted: Callable[[bytes], object], under: Sequence[str]) -> list[str]:
        """Names of the files under the given folders or files ("" is the root) that the byte test wants."""
        inside = [name for name in self.names if any(is_under(name, at) for at in under)]
        return [name for name in inside if wanted(self.data(name))]

    def find(self, dotted: str, importer: Module) -> Module | None:
        """The file that an import of ``dotted`` (with leading dots where relative) in ``importer`` reads, if it is the project's."""
        key = (dotted, importer.name)
        if key not in self._found:
            self._found[key] = self._find(dotted, PurePosixPath(importer.name).parent)
        return self._found[key]

    def _find(self, dotted: str, folder: PurePosixPath) -> Module | None:
        bare = dotted.lstrip(".")
        tail = PurePosixPath(*bare.split(".")) if bare else PurePosixPath()
        level = len(dotted) - len(bare)
        if level:
            for _ in range(level - 1):
                folder = folder.parent
            return self._file(folder / tail)
        top = bare.split(".")[0]
        for base in self._import_roots(folder, top):
            found = self._file(base / tail)
            if found is not None:
                return found
        return None

    def _import_roots(self, folder: PurePosixPath, top: str) -> Iterable[PurePosixPath]:
        """Folders that can stand on sys.path for a file in ``folder``: those around it that are no package, nearest first, and the root.

        A package's own folder counts too (a script in it sees its neighbours), but never for the top name of a framework:
        ``import lightning`` inside ``nemo/`` does not mean ``nemo/lightning``.
        """
        at = folder
        while True:
            plain = not self._is_package(at) or str(at) == "."
            if plain or (at == folder and top not in self._tops):
                yield at
            if plain:
                yield at / "src"
            if str(at) == ".":
                return
            at = at.parent

    def _is_package(self, folder: PurePosixPath) -> bool:
        return str(folder / "__init__.py") in self._known

    def _file(self, stem: PurePosixPath) -> Module | None:
        for name in (f"{stem}.py", str(stem / "__init__.py")):
            if name in self._known:
                return self.module(name)
        return None


def is_under(name: str, folder: str) -> bool:
    """Whether a file's name is the given one or lies in the given folder; "" and "." are the root."""
    return folder in ("", ".") or name == folder or name.startswith(folder + "/")
