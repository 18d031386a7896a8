"""The files of a project: parsed once, searched by word, found by module name."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Union

from ddp_codemod.discover.file_digests import MAX_BYTES as MOST
from ddp_codemod.discover.files import read, read_loosely, read_text
from ddp_codemod.discover.kinds import NOTEBOOK, WINDOWS
from ddp_codemod.kinds import Meaning
from ddp_codemod.model import Reason, Skipped, Source
from ddp_codemod.parse.document import Document
from ddp_codemod.parse.grammar import MAX_BYTES
from ddp_codemod.parse.python import Module, passing_tree
from ddp_codemod.parse.scripts import read_script
from ddp_codemod.parse.shell import Script, ScriptParts
from ddp_codemod.sites.entry_points import find_entry_points
from ddp_codemod.sites.file_texts import FileTexts
from ddp_codemod.sites.import_roots import ImportRoots
from ddp_codemod.sites.parsed_files import parse_launcher, parse_program, parse_settings
from ddp_codemod.sites.word_search import contains_text, has_any_text, has_word

if TYPE_CHECKING:
    from ddp_codemod.parse.notebook import NotebookSource


_Texts = tuple[tuple[str, ...], Union[re.Pattern[bytes], None]]  # and what is behind one of them


class Project(ImportRoots):
    """All Python files under a root. Nothing is parsed before someone asks for it."""

    def __init__(
        self,
        root: Path,
        files: Iterable[Path],
        framework_tops: Iterable[str] = (),
        configs: Iterable[Path] = (),
        launchers: Iterable[Path] = (),
        natives: Iterable[Path] = (),
        read: FileTexts | None = None,  # the same files, of which some were read already
    ) -> None:
        super().__init__(root, files)
        self.configs: list[str] = [path.relative_to(root).as_posix() for path in configs]
        self.skipped: dict[str, Skipped] = {}
        self.unfit: dict[str, Skipped] = {}  # files of configuration or launches that are not of their kind
        self.launchers: list[str] = [path.relative_to(root).as_posix() for path in launchers]
        self.natives: list[str] = [path.relative_to(root).as_posix() for path in natives]
        self._documents: dict[str, Document | None] = {}
        self._holding: dict[tuple[str, bytes | None, tuple[str, ...] | None], list[Document]] = {}
        self._starting: dict[str, list[str]] = {}
        self._scripts: dict[str, Script | None] = {}
        self._manifests: dict[str, Script | None] = {}
        self._launching: dict[_Texts, list[Script]] = {}  # by what was asked for
        self._stating: dict[_Texts, list[Script]] = {}
        self._known = set(self.names)
        self._modules: dict[str, Module | None] = {}
        self._sources: dict[str, Source] = {}
        self._programs: dict[str, tuple[Module, ...]] = {}
        self._commands: dict[str, tuple[Script, ...]] = {}
        self._found: dict[tuple[str, str], str | None] = {}
        # what an import can begin with, if it means the project
        self._importable = {part for name in self.names for part in name.removesuffix(".py").split("/")}
        self._tops = frozenset(framework_tops)
        self.deepest: int | None = None  # levels of a tree; a file with more is skipped
        for name, data in (read.taken() if read else {}).items():
            self.take(name, data)

    def note_truncated(self, name: str) -> None:
        """Name a file of which only the start is looked at."""
        if name in self._known:
            self.skipped.setdefault(name, Skipped(name, Reason.of("skipped-too-large", limit=MOST // 1_000_000), False))

    def is_parsed(self, name: str) -> bool:
        """Whether a file was parsed already."""
        return self._modules.get(name) is not None

    def module(self, name: str) -> Module | None:
        """The parsed file, or None where it cannot be handled (then ``skipped`` says why)."""
        if name not in self._modules:
            made: Source | Module | Skipped = read(self.root / name, self.root, self.data(name))
            if isinstance(made, Source):
                parsed = parse_program(self._folder, made, self.deepest)
                made, self._programs[name] = parsed.own, parsed.others
                if parsed.source is not None:
                    self._sources[name] = parsed.source
            if isinstance(made, Skipped):
                self.skipped[name] = made
            self._modules[name] = made if isinstance(made, Module) else None
        return self._modules[name]

    def programs(self, name: str) -> list[Module]:
        """The parsed file, and the programs that it writes or starts if it is a notebook; their places are the file's too."""
        module = self.module(name)
        return [*([module] if module else ()), *self._programs.get(name, ())]

    def parse_once(self, name: str) -> ast.Module | None:
        """The tree of a file for one look at it; None where it is a notebook, or no program that can be handled."""
        return passing_tree(self.data(name), self.deepest) if not name.endswith(NOTEBOOK) else None

    def take_apart(self) -> None:
        """Free the trees: the collector alone takes far longer to find out that nobody needs them."""
        for module in (*filter(None, self._modules.values()), *(part for made in self._programs.values() for part in made)):
            module.take_apart()

    def unread(self, name: str, wanted: Callable[[bytes], object]) -> None:
        """Name the first cell of a notebook that was not read, of those that the byte test wants."""
        source = self._read_notebook(name)
        for cell, why in source.skipped_cells if source else ():
            if wanted(cell.encode("utf-8", "replace")):
                self.skipped.setdefault(name, why)

    def documents(self, word: str, pattern: bytes | None = None, among: tuple[str, ...] | None = None) -> list[Document]:
        """The configuration files whose bytes hold the word, and what a pattern is about; those that cannot be read are omitted.

        So are those that bind parameters, which are no keys: ``bindings``.
        """
        return [document for document in self._find_documents(word, pattern, among) if not document.binds]

    def bindings(self, word: str, pattern: bytes | None = None, among: tuple[str, ...] | None = None) -> list[Document]:
        """The files of the same kinds that bind parameters of functions."""
        return [document for document in self._find_documents(word, pattern, among) if document.binds]

    def _find_documents(self, word: str, pattern: bytes | None, among: tuple[str, ...] | None) -> list[Document]:
        key = (word, pattern, among)
        if key not in self._holding:
            names = self.small_configs if among is None else among
            wanted = (name for name in names if contains_text(self.data(name), word.encode()))
            there = (self._parse_document(name) for name in wanted if pattern is None or re.search(pattern, self.data(name)))
            self._holding[key] = [document for document in there if document is not None]
        return self._holding[key]

    @cached_property
    def small_configs(self) -> list[str]:
        """The configuration files that are worth reading: data comes in the same formats."""
        return [name for name in self.configs if (self.root / name).stat().st_size <= MAX_BYTES]

    def _parse_document(self, name: str) -> Document | None:
        if name not in self._documents:
            source = read_text(self.root / name, self.root, self.data(name))
            made = parse_settings(self._folder, source) if isinstance(source, Source) else source
            self._note_parser(made)
            self._documents[name] = made if isinstance(made, Document) else None
        return self._documents[name]

    def scripts(self, *texts: str, behind: re.Pattern[bytes] | None = None) -> list[Script]:
        """The launch files whose bytes hold one of the texts, with this ``behind`` it; parsed, without those that cannot be read."""
        if (texts, behind) not in self._launching:
            self._launching[texts, behind] = self._find_scripts(texts, behind)
        return self._launching[texts, behind]

    def _find_scripts(self, texts: tuple[str, ...], behind: re.Pattern[bytes] | None) -> list[Script]:
        found = list[Script]()
        plain = [text.encode("utf-8", "surrogateescape") for text in texts]  # a name of a file need not be one of UTF-8
        wide = [text.encode("utf-16-le", "surrogatepass") for text in texts]
        for name in self.launchers:
            data, windows = self.data(name), name.lower().endswith(tuple(WINDOWS))
            if has_any_text(data, plain, behind) or (windows and has_any_text(data, wide)):
                found += [script] if (script := self.script(name)) is not None else []
        for name in self._notebooks:
            if has_any_text(self.data(name), plain, behind):
                found += self._read_shell_cells(name)
        return found

    def script(self, name: str) -> Script | None:
        """A launch file, parsed; None where it cannot be read."""
        if name not in self._scripts:
            read = read_loosely if name.lower().endswith(tuple(WINDOWS)) else read_text
            source = read(self.root / name, self.root, self.data(name))
            made = parse_launcher(self._folder, source) if isinstance(source, Source) else source
            self._note_parser(made)
            self._scripts[name] = made if isinstance(made, Script) else None
        return self._scripts[name]

    def manifests(self, *texts: str, behind: re.Pattern[bytes] | None = None) -> list[Script]:
        """The commands that configuration files hold whose bytes hold one of the texts, with this ``behind`` it."""
        if (texts, behind) not in self._stating:
            plain = [text.encode("utf-8", "surrogateescape") for text in texts]
            names = [name for name in self._configs_with_commands if has_any_text(self.data(name), plain, behind)]
            self._stating[texts, behind] = [script for name in names if (script := self._read_manifest(name)) is not None]
        return self._stating[texts, behind]

    @cached_property
    def _configs_with_commands(self) -> list[str]:
        """The configuration files that may hold commands."""
        from ddp_codemod.parse.manifest import MAY_HOLD

        return [name for name in self.small_configs if MAY_HOLD.search(self.data(name))]

    def _read_manifest(self, name: str) -> Script | None:
        if name not in self._manifests:
            from ddp_codemod.parse import manifest

            document = self._parse_document(name)
            self._manifests[name] = manifest.read(document) if document is not None else None
        return self._manifests[name]

    def _read_shell_cells(self, name: str) -> tuple[Script, ...]:
        """The shell commands of a notebook, each read by a shell of its own."""
        if name not in self._commands:
            source = self._read_notebook(name)
            self._commands[name] = tuple(read_script(view) for view in (source.commands() if source else ()))
        return self._commands[name]

    def native(self, name: str) -> Source | None:
        """The text of a file of C, C++ or CUDA, read anew each time: such files are large, and few are asked for."""
        made = read_loosely(self.root / name, self.root)
        return made if isinstance(made, Source) else None

    def text(self, name: str) -> Script | None:
        """Any text file, as one in which nothing is started; None for what is no text."""
        if name not in self._scripts:
            source = read_text(self.root / name, self.root)
            self._scripts[name] = Script(source, "text", ScriptParts((), (), (), ())) if isinstance(source, Source) else None
        return self._scripts[name]

    def _read_notebook(self, name: str) -> NotebookSource | None:
        if not name.endswith(NOTEBOOK):
            return None
        from ddp_codemod.parse.notebook import NotebookSource

        self.module(name)
        source = self._sources.get(name)
        return source if isinstance(source, NotebookSource) else None

    def _note_parser(self, made: object) -> None:
        """Name a file that a reader of ours gives up on; one that is no text, or not of its kind, counts by what it holds."""
        if isinstance(made, Skipped):
            (self.skipped if made.reason.means is Meaning.GIVEN_UP else self.unfit).setdefault(made.name, made)

    def started(self, program: str) -> list[str]:
        """The files of the project that a program of a launch file, a script, a dotted module or a command, can be."""
        if program not in self._starting:
            path = (program if program.endswith(".py") else f"{program.replace('.', '/')}.py").removeprefix("./")
            last = path.rpartition("/")[2]
            found = [
                name
                for name in self._files_by_last_part.get(last, ())
                if f"/{name}".endswith(f"/{path}") or path.endswith(f"/{name}")
            ]
            main = f"{program.replace('.', '/')}/__main__.py"  # python -m package
            found += [name for name in self._files_by_last_part.get("__main__.py", ()) if f"/{name}".endswith(f"/{main}")]
            written = (
                name
                for name in self._notebooks
                if has_word(self.data(name), path.encode()) and self._has_writing_cell(name, path)
            )
            self._starting[program] = [*found, *written] or self.entry_points.get(program, [])
        return self._starting[program]

    @cached_property
    def entry_points(self) -> dict[str, list[str]]:
        """The files that the commands run which the project installs, by the command's name."""
        return find_entry_points(self.root, self.file, [*self.configs, *self.names])

    @cached_property
    def commands(self) -> frozenset[str]:
        """The files that the commands run which the project installs."""
        return frozenset(name for names in self.entry_points.values() for name in names)

    @cached_property
    def _files_by_last_part(self) -> dict[str, list[str]]:
        """The files by the last part of their names."""
        found: dict[str, list[str]] = {}
        for name in self.names:
            found.setdefault(name.rpartition("/")[2], []).append(name)
        return found

    @cached_property
    def _notebooks(self) -> list[str]:
        return [name for name in self.names if name.endswith(NOTEBOOK)]

    def _has_writing_cell(self, name: str, path: str) -> bool:
        """Whether a cell of a notebook writes a file."""
        source = self._read_notebook(name)
        return source is not None and any(part == f"file {path}" for part, _, _ in source.programs)

    def source(self, name: str) -> Source | None:
        """The text of a file that was looked into, as edits take it."""
        known = self._documents.get(name) or self._scripts.get(name) or (self.module(name) if name in self._known else None)
        if known is None:
            return self.native(name) if name in self.natives else None
        return self._sources.get(name, known.source)

    def find(self, dotted: str, importer: Module) -> Module | None:
        """The file that an import of ``dotted`` (with leading dots where relative) in ``importer`` reads, if it is the project's."""
        name = self.file(dotted, importer.name.rpartition("/")[0] or ".")
        return self.module(name) if name is not None else None
