"""The files of a project: parsed once, searched by word, found by module name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path, PurePosixPath

from ddp_codemod.discover.files import MAX_BYTES as MOST
from ddp_codemod.discover.files import read, read_loosely, read_text
from ddp_codemod.model import Reason, Skipped, Source
from ddp_codemod.parse.config import parse_config
from ddp_codemod.parse.document import Document
from ddp_codemod.parse.grammar import MAX_BYTES
from ddp_codemod.parse.notebook import SUFFIX as NOTEBOOK
from ddp_codemod.parse.notebook import NotebookSource, read_notebook
from ddp_codemod.parse.python import Module, parse
from ddp_codemod.parse.shell import Script, parse_shell, script_of
from ddp_codemod.parse.shell_kinds import WINDOWS
from ddp_codemod.sites.words import held, pattern_of


class Project:
    """All Python files under a root. Nothing is parsed before someone asks for it."""

    def __init__(
        self,
        root: Path,
        files: Iterable[Path],
        framework_tops: Iterable[str] = (),
        configs: Iterable[Path] = (),
        launchers: Iterable[Path] = (),
    ) -> None:
        self.root = root
        self.names: list[str] = [path.relative_to(root).as_posix() for path in files]
        self.configs: list[str] = [path.relative_to(root).as_posix() for path in configs]
        self.skipped: dict[str, Skipped] = {}
        self.launchers: list[str] = [path.relative_to(root).as_posix() for path in launchers]
        self._documents: dict[str, Document | None] = {}
        self._holding: dict[str, list[Document]] = {}
        self._scripts: dict[str, Script | None] = {}
        self._known = set(self.names)
        self._folders = {str(parent) for name in self.names for parent in PurePosixPath(name).parents}
        self._bytes: dict[str, bytes] = {}
        self._modules: dict[str, Module | None] = {}
        self._sources: dict[str, Source] = {}
        self._programs: dict[str, tuple[Module, ...]] = {}
        self._commands: dict[str, tuple[Script, ...]] = {}
        self._mentions: dict[bytes, tuple[str, ...]] = {}
        self._held: dict[tuple[str, re.Pattern[bytes]], bool] = {}
        self._found: dict[tuple[str, str], str | None] = {}
        # what an import can begin with, if it means the project
        self._importable = {part for name in self.names for part in name.removesuffix(".py").split("/")}
        self._tops = frozenset(framework_tops)

    def data(self, name: str) -> bytes:
        """A file's bytes, kept for the run; b"" where it cannot be read, and the start of a file that is too large."""
        if name not in self._bytes:
            try:
                with (self.root / name).open("rb") as file:
                    self._bytes[name] = data = file.read(MOST)
            except OSError:
                self._bytes[name] = data = b""
            if len(data) == MOST and name in self._known:
                self.skipped.setdefault(name, Skipped(name, Reason.of("skipped-too-large", limit=MOST // 1_000_000), False))
        return self._bytes[name]

    def module(self, name: str) -> Module | None:
        """The parsed file, or None where it cannot be handled (then ``skipped`` says why)."""
        if name not in self._modules:
            made: Source | Module | Skipped = read(self.root / name, self.root)
            if isinstance(made, Source) and name.endswith(NOTEBOOK):
                made = read_notebook(made)
            if isinstance(made, Source):
                self._sources[name] = made
                own, *others = made.views() if isinstance(made, NotebookSource) else [made]
                made = parse(own)
                self._programs[name] = tuple(part for view in others if isinstance(part := parse(view), Module))
            if isinstance(made, Skipped):
                self.skipped[name] = made
                self._modules[name] = None
            else:
                self._modules[name] = made
        return self._modules[name]

    def programs(self, name: str) -> list[Module]:
        """The parsed file, and the programs that it writes or starts if it is a notebook; their places are the file's too."""
        module = self.module(name)
        return [*([module] if module else ()), *self._programs.get(name, ())]

    def unread(self, name: str, wanted: Callable[[bytes], object]) -> None:
        """Name the first cell of a notebook that was not read, of those that the byte test wants."""
        source = self.source(name)
        for cell, why in source.left_out if isinstance(source, NotebookSource) else ():
            if wanted(cell.encode("utf-8", "replace")):
                self.skipped.setdefault(name, why)

    def mentions(self, word: str) -> bool:
        """Whether any file holds the word as a whole name; looks no further than the first that does."""
        key, pattern = word.encode(), pattern_of([word])
        return any(key in data and any(held(pattern, data)) for data in map(self.data, self.names))

    def deriving(self, word: str) -> tuple[str, ...]:
        """Names of the files that may hold a class with the word among its bases."""
        header = re.compile(rb"\bclass\s(?:[^)]|\)(?!\s*:))*?\b" + re.escape(word.encode()) + rb"\b")
        return tuple(name for name in self.mentioning(word) if header.search(self.data(name)))

    def holds(self, name: str, pattern: re.Pattern[bytes]) -> bool:
        """Whether a file's bytes hold what a pattern is about; asked once of each."""
        key = (name, pattern)
        if key not in self._held:
            self._held[key] = pattern.search(self.data(name)) is not None
        return self._held[key]

    def calling(self, word: str) -> tuple[str, ...]:
        """Names of the files that may call something by the word itself."""
        call = re.compile(re.escape(word.encode()) + rb"[\s)]*\(")
        return tuple(name for name in self.mentioning(word) if call.search(self.data(name)))

    def mentioning(self, word: str) -> tuple[str, ...]:
        """Names of the files whose bytes hold the word as a whole name."""
        key = word.encode()
        if key not in self._mentions:
            pattern = pattern_of([word])
            having = (name for name in self.names if key in self.data(name))
            self._mentions[key] = tuple(name for name in having if any(held(pattern, self.data(name))))
        return self._mentions[key]

    def documents(self, word: str) -> list[Document]:
        """The configuration files whose bytes hold the word, parsed; those that cannot be read are left out."""
        if word not in self._holding:
            there = (self._document(name) for name in self._small_configs if word.encode() in self.data(name))
            self._holding[word] = [document for document in there if document is not None]
        return self._holding[word]

    @cached_property
    def _small_configs(self) -> list[str]:
        """The configuration files that are worth reading: data comes in the same formats."""
        return [name for name in self.configs if (self.root / name).stat().st_size <= MAX_BYTES]

    def _document(self, name: str) -> Document | None:
        if name not in self._documents:
            source = read_text(self.root / name, self.root)
            made = parse_config(source) if isinstance(source, Source) else source
            self._documents[name] = made if isinstance(made, Document) else None
        return self._documents[name]

    def scripts(self, word: str) -> list[Script]:
        """The launch files whose bytes hold the word, parsed; those that cannot be read are left out."""
        found: list[Script] = []
        for name in self.launchers:
            windows = name.lower().endswith(tuple(WINDOWS))
            if word.encode() in self.data(name) or (windows and word.encode("utf-16-le") in self.data(name)):
                if name not in self._scripts:
                    source = (read_loosely if windows else read_text)(self.root / name, self.root)
                    made = parse_shell(source) if isinstance(source, Source) else source
                    self._note_parser(made)
                    self._scripts[name] = made if isinstance(made, Script) else None
                if (script := self._scripts[name]) is not None:
                    found.append(script)
        for name in self.names:
            if name.endswith(NOTEBOOK) and word.encode() in self.data(name):
                found += self._cells(name)
        return found

    def _cells(self, name: str) -> tuple[Script, ...]:
        """The shell commands of a notebook, each read by a shell of its own."""
        if name not in self._commands:
            self.module(name)
            source = self._sources.get(name)
            views = source.commands() if isinstance(source, NotebookSource) else []
            self._commands[name] = tuple(script_of(view) for view in views)
        return self._commands[name]

    def _note_parser(self, made: object) -> None:
        """Name a file that a reader of ours gives up on; one that is no text, or not of its kind, is none of the project's."""
        if isinstance(made, Skipped) and made.reason.key == "skipped-parser":
            self.skipped.setdefault(made.name, made)

    def started(self, program: str) -> list[str]:
        """The files of the project that a program of a launch file, a script or a dotted module, can be."""
        path = program if program.endswith(".py") else f"{program.replace('.', '/')}.py"
        path = path.removeprefix("./")
        found = [name for name in self.names if name == path or name.endswith(f"/{path}") or path.endswith(f"/{name}")]
        return [*found, *(name for name in self.mentioning(path) if name.endswith(NOTEBOOK) and self._writes(name, path))]

    def _writes(self, name: str, path: str) -> bool:
        """Whether a cell of a notebook writes a file."""
        self.module(name)
        source = self._sources.get(name)
        return isinstance(source, NotebookSource) and any(part == f"file {path}" for part, _, _ in source.programs)

    def source(self, name: str) -> Source | None:
        """The text of a file that was looked into, as edits take it."""
        known = self._documents.get(name) or self._scripts.get(name) or (self.module(name) if name in self._known else None)
        return self._sources.get(name, known.source) if known else None

    def find(self, dotted: str, importer: Module) -> Module | None:
        """The file that an import of ``dotted`` (with leading dots where relative) in ``importer`` reads, if it is the project's."""
        name = self.file(dotted, importer.name.rpartition("/")[0] or ".")
        return self.module(name) if name is not None else None

    def file(self, dotted: str, folder: str) -> str | None:
        """The name of the file that an import of ``dotted`` in a file of this folder reads, if it is the project's."""
        key = (dotted, folder)
        if key not in self._found:
            self._found[key] = self._find(dotted, PurePosixPath(folder))
        return self._found[key]

    def _find(self, dotted: str, folder: PurePosixPath) -> str | None:
        bare = dotted.lstrip(".")
        level = len(dotted) - len(bare)
        if not level and bare.partition(".")[0] not in self._importable:
            return None
        tail = PurePosixPath(*bare.split(".")) if bare else PurePosixPath()
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

    def package(self, name: str) -> str:
        """The folder of the outermost package that a file lies in; the file itself where it lies in none."""
        top, at = name, PurePosixPath(name).parent
        while self._is_package(at) and str(at) != ".":
            top, at = str(at), at.parent
        return top

    def _is_package(self, folder: PurePosixPath) -> bool:
        return str(folder / "__init__.py") in self._known

    def _file(self, stem: PurePosixPath) -> str | None:
        return next((name for name in (f"{stem}.py", str(stem / "__init__.py")) if name in self._known), None)


def is_under(name: str, folder: str) -> bool:
    """Whether a file's name is the given one or lies in the given folder; "" and "." are the root."""
    return folder in ("", ".") or name == folder or name.startswith(folder + "/")
