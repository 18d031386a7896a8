"""Ready-made requests that a user may choose in a client."""

from __future__ import annotations

from collections.abc import Mapping

import mcp_types as types

from ddp_codemod.catalog.load import load
from ddp_codemod.messages import text
from ddp_codemod.servers.mcp.answer import Refused, join_answer

PROMPTS: Mapping[str, tuple[tuple[str, bool], ...]] = {
    "port": (("platform", True), ("path", False)),
    "log": (("log", True),),
}  # each with its arguments, and whether they are needed
LONGEST = 20_000  # characters of a log; its end counts


def list_prompts(lang: str) -> list[types.Prompt]:
    """What there is to choose from."""
    return [
        types.Prompt(
            name=name,
            title=text(f"mcp-prompt-{name}-title", lang),
            description=text(f"mcp-prompt-{name}-what", lang),
            arguments=[
                types.PromptArgument(name=argument, description=text(f"mcp-prompt-argument-{argument}", lang), required=needed)
                for argument, needed in arguments
            ],
        )
        for name, arguments in PROMPTS.items()
    ]


def make_prompt(name: str, given: Mapping[str, str], writes: bool, lang: str) -> list[types.PromptMessage]:
    """The messages of one. Raises Refused for a prompt, platform or argument that does not exist."""
    if name not in PROMPTS:
        raise Refused(text("mcp-no-prompt", lang, names=", ".join(PROMPTS)))
    for argument, needed in PROMPTS[name]:
        if needed and not given.get(argument):
            raise Refused(text("mcp-prompt-lacks", lang, argument=argument))
    if name == "log":
        lines = given["log"][-LONGEST:].splitlines()
        message = join_answer([text("mcp-prompt-log", lang)], lines, lang, shown=len(lines))
    else:
        if given["platform"] not in load().platforms:
            raise Refused(text("mcp-prompt-platform", lang, names=", ".join(sorted(load().platforms))))
        last = text("mcp-prompt-port-apply" if writes else "mcp-prompt-port-tell", lang)
        where = [given["path"]] if given.get("path") else []
        message = join_answer([text("mcp-prompt-port", lang, platform=given["platform"]), last], where, lang)
    return [types.PromptMessage(role="user", content=types.TextContent(type="text", text=message))]
