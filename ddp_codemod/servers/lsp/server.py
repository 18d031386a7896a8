"""The server: what the editor opens, changes and asks on one side, surveys in threads on the other."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import tokenize
from collections.abc import Mapping
from io import BufferedWriter, BytesIO, FileIO
from pathlib import Path
from typing import Any

import msgspec
from lsprotocol import types
from msgspec import Struct
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from ddp_codemod import __version__
from ddp_codemod.discover.unsaved import use_unsaved_texts
from ddp_codemod.messages import text
from ddp_codemod.model import Survey
from ddp_codemod.request import EnvIn, PlanError, Style, survey_request
from ddp_codemod.servers.lsp.actions import KINDS, find_actions
from ddp_codemod.servers.lsp.findings import NAME, Findings
from ddp_codemod.servers.quoting import clean_text, quote_survey
from ddp_codemod.servers.roots import OutsideRoots, Roots
from ddp_codemod.servers.work import Job, Work

QUIET = 0.08  # seconds without a key, before a survey is worth it


class ClientSettings(Struct, frozen=True, rename="kebab"):
    """What the client's settings say; without a platform the project's pyproject.toml does."""

    platform: str | None = None
    rules: tuple[str, ...] = ()
    style: Style = "pin"
    env_in: EnvIn = "python"
    torch_version: str | None = None


class Editor:
    """One editor: its folders and texts, and the latest findings of each project."""

    def __init__(self, server: LanguageServer, lang: str, rule_folders: tuple[Path, ...]) -> None:
        self.server, self.lang, self.rule_folders = server, lang, rule_folders
        self.wishes = ClientSettings()
        self.work = Work()
        self.findings: dict[Path, Findings] = {}
        self._stale: set[Path] = set()
        self._shown: dict[Path, set[str]] = {}  # names of the files that have diagnostics now
        self._told = ""
        self._later: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()

    def wish(self, settings: Any) -> None:
        """Take the client's settings, whether they are under the server's name or by themselves."""
        mine = settings.get(NAME, settings) if isinstance(settings, Mapping) else settings
        try:
            self.wishes = msgspec.convert(mine or {}, ClientSettings)
        except msgspec.ValidationError as why:
            self.tell(text("lsp-settings", self.lang, why=why))
        self._stale |= self.findings.keys()

    def tell(self, message: str) -> None:
        """Say what is in the way, once."""
        if message != self._told:
            self._told = message
            self.server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, clean_text(message, 1000)))

    def root_of(self, uri: str) -> Path | None:
        """The project of a file in one of the editor's folders; None for others."""
        path = to_fs_path(uri)
        folders = [to_fs_path(one.uri) for one in self.server.workspace.folders.values()] or [self.server.workspace.root_path]
        roots = Roots.of(*(Path(folder) for folder in folders if folder))
        try:
            return roots.project([path]).root if path else None
        except (OutsideRoots, ValueError):
            return None

    def changed(self, uri: str, saved: bool = False) -> None:
        """A text is another: look again once nothing is typed for a moment, at once where it was saved."""
        if (root := self.root_of(uri)) is None:
            return
        self._stale.add(root)
        if self._later is not None:
            self._later.cancel()
        self._later = asyncio.create_task(self._schedule_survey(root, saved))

    async def _schedule_survey(self, root: Path, saved: bool) -> None:
        await asyncio.sleep(0 if saved else QUIET)
        await self.fresh(root, saved)

    async def fresh(self, root: Path, saved: bool = False) -> Findings | None:
        """The findings for the texts as they are now, which the editor is shown; None where the project cannot be looked through."""
        async with self._turn:
            if root in self.findings and root not in self._stale:
                if saved:
                    self._publish_diagnostics(root, everywhere=True)
                return self.findings[root]
            self._stale.discard(root)
            texts = self._collect_texts()

            def function(_: Job[Survey]) -> Survey:
                with use_unsaved_texts(texts):
                    return quote_survey(self._survey_project(root))

            try:
                survey = await self.work.run(function, _ignore_progress)
            except asyncio.CancelledError:
                self._stale.add(root)
                raise
            except (PlanError, OSError, ValueError) as why:
                self.tell(str(why))
                self.findings.pop(root, None)
                self._publish_diagnostics(root, everywhere=True)
                return None
            self._told = ""
            self.findings[root] = Findings(survey, self.server.workspace.position_codec, self.lang)
            self._publish_diagnostics(root, saved)
            return self.findings[root]

    def _survey_project(self, root: Path) -> Survey:
        wishes = self.wishes
        return survey_request(
            [root], wishes.platform, rules=wishes.rules, rule_folders=self.rule_folders, torch_version=wishes.torch_version,
            style=wishes.style, env_in=wishes.env_in, root=root,
        )  # fmt: skip

    def _collect_texts(self) -> dict[str, bytes]:
        documents = self.server.workspace.text_documents.values()
        return {os_path(path): encode_source(one.source) for one in documents if (path := to_fs_path(one.uri))}

    def _publish_diagnostics(self, root: Path, everywhere: bool) -> None:
        """Hand the editor the diagnostics of its open files, and where it is time of all files."""
        found = self.findings[root].diagnostics() if root in self.findings else {}
        names = {self.name_of(root, one.uri) for one in self.server.workspace.text_documents.values()} - {None}
        shown = self._shown.setdefault(root, set())
        wanted = set(found) if everywhere else set(found) & (names | shown)
        for name in sorted(wanted | shown):
            document = self.document(root, name)
            params = types.PublishDiagnosticsParams(document.uri, found.get(name, []) if name in wanted else [], document.version)
            self.server.text_document_publish_diagnostics(params)
        self._shown[root] = wanted

    def name_of(self, root: Path, uri: str) -> str | None:
        """A file by its name in a project."""
        path = to_fs_path(uri)
        real = Path(os_path(path)) if path else None
        return real.relative_to(root).as_posix() if real is not None and real.is_relative_to(root) else None

    def document(self, root: Path, name: str) -> types.OptionalVersionedTextDocumentIdentifier:
        """A file as the client knows it, with the version that it holds open."""
        for one in self.server.workspace.text_documents.values():
            if self.name_of(root, one.uri) == name:
                return types.OptionalVersionedTextDocumentIdentifier(one.uri, one.version)
        return types.OptionalVersionedTextDocumentIdentifier(from_fs_path(str(root / name)) or "")


async def _ignore_progress(done: float, total: float | None, said: str) -> None:
    """Nobody is told of what takes a part of a second."""


def os_path(path: str) -> str:
    """A path with its links resolved, as the roots are."""
    return os.path.realpath(path)


def encode_source(source: str) -> bytes:
    """The bytes of a text as the editor would save it: in the encoding that its first lines name, else in UTF-8."""
    plain = source.encode("utf-8", "surrogatepass")
    try:
        return source.encode(tokenize.detect_encoding(BytesIO(plain).readline)[0])
    except (SyntaxError, LookupError, UnicodeError):
        return plain


def make_server(lang: str, rule_folders: tuple[Path, ...] = ()) -> tuple[LanguageServer, Editor]:
    """A server, not started yet."""
    server = LanguageServer(NAME, __version__)
    editor = Editor(server, lang, rule_folders)

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        editor.wish(params.initialization_options)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def configured(params: types.DidChangeConfigurationParams) -> None:
        editor.wish(params.settings)
        for one in list(server.workspace.text_documents):
            editor.changed(one, saved=True)

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        editor.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        editor.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        editor.changed(params.text_document.uri, saved=True)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        editor.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        root, findings = await current(params.text_document.uri)
        name = editor.name_of(root, params.text_document.uri) if root else None
        message = findings.hover(name, params.position.line + 1) if findings and name else None
        return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, message)) if message else None

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=list(KINDS)))
    async def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        root, findings = await current(params.text_document.uri)
        name = editor.name_of(root, params.text_document.uri) if root else None
        if root is None or findings is None or name is None:
            return []
        lines, kinds = params.range, params.context.only
        return list(find_actions(findings, lambda one: editor.document(root, one), name, lines.start.line, lines.end.line, kinds))

    async def current(uri: str) -> tuple[Path | None, Findings | None]:
        root = editor.root_of(uri)
        return root, await editor.fresh(root) if root else None

    return server, editor


def serve(lang: str, rule_folders: tuple[Path, ...]) -> None:
    """Answer on standard input and output until the client closes them."""
    logging.disable(logging.WARNING)
    server, editor = make_server(lang, rule_folders)
    # the client's line is ours alone: what else is printed, by whatever runs here, goes to standard error
    line = BufferedWriter(FileIO(os.dup(sys.stdout.fileno()), "w"))
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        server.start_io(sys.stdin.buffer, line)
    finally:
        editor.work.close()
