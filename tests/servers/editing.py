"""An editor: pygls' own client, which keeps the texts that it has open and makes the edits that it is given."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient
from talking import Started


class Editor:
    """One editor with one server."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.client = LanguageClient("editor", "1")
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.shown: dict[str, list[types.Diagnostic]] = {}
        self.said: list[str] = []
        self._news = asyncio.Event()

        @self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            name = Path(params.uri).name
            if params.version is None or params.version == self.versions.get(name):
                self.shown[name] = list(params.diagnostics)
            self._news.set()

        @self.client.feature(types.WINDOW_SHOW_MESSAGE)
        def said(params: types.ShowMessageParams) -> None:
            self.said.append(params.message)
            self._news.set()

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    async def until(self, holds: Callable[[], Any]) -> None:
        """Wait for what the server is to say."""
        async with asyncio.timeout(60):
            while not holds():
                self._news.clear()
                await self._news.wait()

    def open(self, name: str, text: str | None = None) -> None:
        """Open a file, perhaps with a text that the disk does not have."""
        self.texts[name] = (self.root / name).read_text("utf-8") if text is None else text
        self.versions[name] = 1
        item = types.TextDocumentItem(self.uri(name), "python", 1, self.texts[name])
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def type(self, name: str, text: str) -> None:
        """Put another text into an open file."""
        self.texts[name] = text
        self.versions[name] += 1
        about = types.VersionedTextDocumentIdentifier(self.versions[name], self.uri(name))
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(about, [whole]))

    def save(self, name: str) -> None:
        (self.root / name).write_text(self.texts[name], "utf-8")
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(self.uri(name))))

    async def actions(self, name: str, line: int, only: list[str] | None = None) -> list[types.CodeAction]:
        at = types.Range(types.Position(line, 0), types.Position(line, 0))
        asked = types.CodeActionParams(types.TextDocumentIdentifier(self.uri(name)), at, types.CodeActionContext([], only=only))
        found = await self.client.text_document_code_action_async(asked)
        assert all(isinstance(one, types.CodeAction) for one in found or ())
        return list(found or ())  # type: ignore[arg-type]

    async def hover(self, name: str, line: int) -> str:
        asked = types.HoverParams(types.TextDocumentIdentifier(self.uri(name)), types.Position(line, 0))
        found = await self.client.text_document_hover_async(asked)
        return found.contents.value if found else ""  # type: ignore[union-attr]

    def made(self, action: types.CodeAction) -> dict[str, str]:
        """The texts that an action gives, by file, as an editor would make them."""
        assert action.edit is not None
        texts = {}
        for change in action.edit.document_changes or ():
            assert isinstance(change, types.TextDocumentEdit)
            name = Path(change.text_document.uri).name
            assert change.text_document.version == self.versions.get(name)
            text = self.texts.get(name) or (self.root / name).read_text("utf-8")
            for edit in reversed(change.edits):
                start, end = (offset(text, at) for at in (edit.range.start, edit.range.end))
                text = text[:start] + edit.new_text + text[end:]
            texts[name] = text
        return texts


def offset(text: str, at: types.Position) -> int:
    """Where a position is in a text: its column counts UTF-16 units."""
    lines = [*text.splitlines(keepends=True), ""]
    line = lines[at.line].encode("utf-16-le")[: at.character * 2].decode("utf-16-le")
    return len("".join(lines[: at.line])) + len(line)


def edit(server: Started, root: Path, typed: Callable[[Editor], Awaitable[Any]], settings: Any = None, *arguments: str) -> Any:
    """Start ``ddp-codemod lsp``, let an editor do something with it, and end it as an editor does; what the editor gives."""

    async def session() -> Any:
        editor = Editor(root)
        environ = {**server.environ, "PATH": "/usr/bin:/bin"}
        await editor.client.start_io(server.command[0], *server.command[1:], "lsp", *arguments, env=environ)
        folder = types.WorkspaceFolder(root.as_uri(), root.name)
        capabilities = types.ClientCapabilities()
        params = types.InitializeParams(capabilities, workspace_folders=[folder], initialization_options=settings)
        async with asyncio.timeout(120):
            await editor.client.initialize_async(params)
            editor.client.initialized(types.InitializedParams())
            try:
                return await typed(editor)
            finally:
                await editor.client.shutdown_async(None)
                editor.client.exit(None)
                process = editor.client._server
                assert process is not None
                assert await process.wait() == 0
                await editor.client.stop()

    return asyncio.run(session())
