"""The SDK's own client, which starts a server as a user's client does."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import psutil
from mcp import Client, StdioServerParameters, stdio_client

TRAIN = 'import torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
SCRIPT = Path(sys.executable).with_name("ddp-codemod.exe" if sys.platform == "win32" else "ddp-codemod")
COMMAND = [str(SCRIPT)] if SCRIPT.is_file() else [sys.executable, "-m", "ddp_codemod"]
FORKED = Path(__file__).with_name("forked.py")
forks: list[psutil.Process] = []  # the process that forks servers for these tests; it is no server


class Started:
    """How servers are started in one test: by their command, or, with a socket, as forks (see ``forked.py``)."""

    def __init__(self, home: Path, socket: Path | None = None) -> None:
        self.home = home
        self.command = [sys.executable, "-I", "-S", str(FORKED), "start", str(socket)] if socket else COMMAND
        self.environ = {
            **dict.fromkeys(("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"), str(home)),
            **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(home / "tmp")),
            "PYTHONPATH": os.pathsep.join(sys.path),
            "LANG": "C.UTF-8",
        }

    def talk(
        self,
        said: Callable[[Client], Awaitable[Any]],
        *arguments: object,
        roots: Sequence[Path] | None = None,
        mode: str = "auto",
    ) -> Any:
        """Start ``ddp-codemod mcp ARGUMENTS`` and let a client talk to it; what the talk gives."""

        async def list_roots(_: Any) -> types.ListRootsResult:
            return types.ListRootsResult(roots=[types.Root(uri=path.as_uri()) for path in roots or ()])

        async def session() -> Any:
            how = StdioServerParameters(
                command=self.command[0],
                args=[*self.command[1:], "mcp", *map(str, arguments)],
                env=self.environ,
                cwd=self.home,
            )
            with anyio.fail_after(120):
                roots_callback = list_roots if roots is not None else None
                # not `how` itself: the client of mcp 2.0.0 takes no parameters
                async with Client(stdio_client(how), mode=mode, list_roots_callback=roots_callback) as client:
                    return await said(client)

        return anyio.run(session)

    def ask(self, tool: str, given: dict[str, Any], *arguments: object, **how: Any) -> types.CallToolResult:
        """One call of one tool."""

        async def said(client: Client) -> types.CallToolResult:
            return await client.call_tool(tool, given)

        result: types.CallToolResult = self.talk(said, *arguments, **how)
        return result


def words(result: types.CallToolResult) -> str:
    """The text of an answer."""
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


def own_words(result: types.CallToolResult) -> str:
    """What of the text is the server's: all lines but the quoted ones."""
    return "\n".join(line for line in words(result).split("\n") if not line.startswith("> "))


def children() -> list[psutil.Process]:
    """Every process that a test has started."""
    return [one for one in psutil.Process().children(recursive=True) if one not in forks]


def memory() -> int:
    """What the server takes, in bytes: the largest of the processes that were started."""
    sizes = []
    for one in children():
        with contextlib.suppress(psutil.NoSuchProcess):
            sizes.append(one.memory_info().rss)
    return max(sizes)
