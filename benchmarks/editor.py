"""``python benchmarks/editor.py FOLDER FILE [PLATFORM]``: how long an editor waits, for files of a project that is typed in.

A real client opens the file, types into it, asks for the actions and the hover of a line, and closes the server; each number is the
middle of so many rounds. From a key to the diagnostics 80 ms are the server's own wait until nothing more is typed.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

ROUNDS = 15


async def main(root: Path, name: str, platform: str) -> None:
    """Measure and print."""
    client, news = LanguageClient("bench", "1"), asyncio.Queue[int | None]()
    uri = (root / name).as_uri()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def published(params: types.PublishDiagnosticsParams) -> None:
        if params.uri == uri:
            news.put_nowait(params.version)

    begun = time.perf_counter()
    await client.start_io(sys.executable, "-m", "ddp_codemod", "lsp")
    folder = types.WorkspaceFolder(root.as_uri(), root.name)
    settings = {"platform": platform}
    await client.initialize_async(
        types.InitializeParams(types.ClientCapabilities(), workspace_folders=[folder], initialization_options=settings)
    )
    client.initialized(types.InitializedParams())
    text = (root / name).read_text("utf-8")
    client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "python", 1, text)))
    await news.get()
    print(f"start to the first diagnostics  {time.perf_counter() - begun:.3f} s")
    typed, asked, hovered = [], [], []
    document = types.TextDocumentIdentifier(uri)
    for number in range(2, ROUNDS + 2):
        begun = time.perf_counter()
        whole = types.TextDocumentContentChangeWholeDocument(text + f"# {number}\n")
        about = types.VersionedTextDocumentIdentifier(number, uri)
        client.text_document_did_change(types.DidChangeTextDocumentParams(about, [whole]))
        while await news.get() != number:
            pass
        typed.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        await client.text_document_hover_async(types.HoverParams(document, types.Position(0, 0)))
        hovered.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        everything = types.Range(types.Position(0, 0), types.Position(len(text), 0))
        found = await client.text_document_code_action_async(
            types.CodeActionParams(document, everything, types.CodeActionContext([]))
        )
        asked.append(time.perf_counter() - begun)
    for said, times in (("a key to the diagnostics", typed), ("hover", hovered), (f"{len(found or ())} actions", asked)):
        print(f"{said:<31} {statistics.median(times):.3f} s (at most {max(times):.3f})")
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]).resolve(), sys.argv[2], (sys.argv[3:] or ["rocm"])[0]))
