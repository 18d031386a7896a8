"""The server itself: requests of the protocol on one side, tools in threads on the other."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from msgspec import Struct

from ddp_codemod import __version__
from ddp_codemod.catalog.load import load
from ddp_codemod.cli.errors import Failure
from ddp_codemod.messages import render, text
from ddp_codemod.servers.mcp import prompts, requests
from ddp_codemod.servers.mcp.answer import Answer, Refused, join_answer
from ddp_codemod.servers.mcp.projects import Call
from ddp_codemod.servers.mcp.tools import TOOLS, describe_tools
from ddp_codemod.servers.quoting import quote_reason
from ddp_codemod.servers.roots import OutsideRoots, Roots
from ddp_codemod.servers.work import Job, Work

Context = ServerRequestContext[Any, Any]
ROOTS = "roots"


class Start(Struct, frozen=True):
    """What the server was started with."""

    folders: tuple[Path, ...] = ()
    writes: bool = False
    commands: bool = False  # whether it may run what a client says
    python: str | None = None
    rule_folders: tuple[Path, ...] = ()
    lang: str = "en"


class Tools:
    """Answers the requests of one client."""

    def __init__(self, start: Start) -> None:
        self.start, self.work = start, Work()
        self.roots = Roots.of(*start.folders)

    def server(self) -> Server[Any]:
        """The protocol's side."""
        return Server(
            "ddp-codemod",
            version=__version__,
            instructions=text("mcp-instructions", self.start.lang),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
            on_completion=self._complete_argument,
        )

    async def _list_tools(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=describe_tools(self.start.writes, self.start.commands, self.start.lang))

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool, lang = TOOLS.get(params.name), self.start.lang
        try:
            if tool is None:
                raise MCPError(types.INVALID_PARAMS, text("mcp-no-tool", lang, names=", ".join(TOOLS)))
            if tool.writes and not self.start.writes:
                raise Refused(text("mcp-read-only", lang))
            if tool.commands and not self.start.commands:
                raise Refused(text("mcp-no-commands", lang))
            given = requests.read_arguments(tool.takes, params.arguments)
            roots = await self._find_roots(context, params)
            if roots is None:
                return types.InputRequiredResult(input_requests={ROOTS: types.ListRootsRequest()})
            does = partial(tool.does, python=self.start.python) if tool.runs else tool.does

            def function(job: Job[Answer]) -> Answer:
                return does(Call(roots, job, self.start.rule_folders, lang), given)

            answer = await self.work.run(function, context.session.report_progress)
        except msgspec.ValidationError as why:
            assert tool is not None
            said = text("mcp-bad-argument", lang, tool=params.name, names=", ".join(tool.takes.__struct_encode_fields__) or "-")
            return _make_failure(said, [str(why)], lang)
        except OutsideRoots as why:
            return _make_failure(render(quote_reason(why.reason), lang), [], lang)
        except Refused as why:
            return _make_failure(why.said, why.quoted, lang)
        except Failure as why:  # of the command line's functions
            return _make_failure(text("mcp-refused", lang), [render(quote_reason(why.reason), lang), *why.lines], lang)
        except (OSError, ValueError) as why:
            return _make_failure(text("mcp-refused", lang), [str(why)], lang)
        said = join_answer(answer.said, answer.quoted, lang, answer.shown)
        # clients show a model one of the two
        made = {"notice": text("mcp-report", lang), "text": list(answer.said), **answer.document}
        return types.CallToolResult(content=[types.TextContent(type="text", text=said)], structured_content=made)

    async def _find_roots(self, context: Context, params: types.CallToolRequestParams) -> Roots | None:
        """The folders that the server was started with and those that the client names; None where it has to be asked first."""
        capabilities = context.session.client_capabilities
        if capabilities is None or capabilities.roots is None:
            return self.roots
        if (params.input_responses or {}).get(ROOTS) is not None:
            answered = types.ListRootsResult.model_validate(params.input_responses[ROOTS], from_attributes=True)  # type: ignore[index]
        elif context.session.can_send_request:
            answered = await context.session.list_roots()
        else:
            return None
        return self.roots.with_uris(str(root.uri) for root in answered.roots)

    async def _list_prompts(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=prompts.list_prompts(self.start.lang))

    async def _get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            messages = prompts.make_prompt(params.name, params.arguments or {}, self.start.writes, self.start.lang)
        except Refused as why:
            raise MCPError(types.INVALID_PARAMS, why.said) from None
        return types.GetPromptResult(messages=messages)

    async def _complete_argument(self, _: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        known = sorted(load().platforms) if params.argument.name == "platform" else []
        fitting = [ident for ident in known if ident.startswith(params.argument.value)]
        return types.CompleteResult(completion=types.Completion(values=fitting[:100], total=len(fitting), has_more=False))


def _make_failure(message: str, quoted_lines: Sequence[str], lang: str) -> types.CallToolResult:
    shown = join_answer([message], [line for one in quoted_lines for line in one.splitlines()], lang)
    return types.CallToolResult(content=[types.TextContent(type="text", text=shown)], is_error=True)


def serve(start: Start) -> None:
    """Answer on standard input and output until the client closes them."""
    warnings.simplefilter("ignore", MCPDeprecationWarning)  # roots are still what clients have
    logging.disable(logging.WARNING)
    tools = Tools(start)
    load()

    async def main() -> None:
        server = tools.server()
        async with stdio_server() as (reads, writes):
            await server.run(reads, writes, server.create_initialization_options())

    try:
        anyio.run(main)
    finally:
        tools.work.close()
