"""The tools by name: what each takes and gives, as a client is shown it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import mcp_types as types
from msgspec import Struct

from ddp_codemod.messages import text
from ddp_codemod.report import checkup, diagnosis, trials
from ddp_codemod.report import json as survey
from ddp_codemod.servers.mcp import machines, projects, requests, runs
from ddp_codemod.servers.mcp.answer import Answer

_ALWAYS = ("notice", "text")  # the parts of every answer
_TEXT = {"type": "string"}
_OWN_TEXT = {"type": "array", "items": {"type": "string"}, "description": "sentences of the server's own"}
_COUNT = {"type": "integer", "minimum": 0}
_PART = {
    "offset": _COUNT,
    "total": _COUNT,
    "next": {"type": ["integer", "null"], "description": "offset of the next part; null: this is the last"},
}
_PAGE = {"page": {"type": "object", "required": [*_PART, "returned"], "properties": {**_PART, "returned": _COUNT}}}
_PATCH = {
    "patch": {
        "type": "object",
        "required": [*_PART, "lines"],
        "properties": {**_PART, "lines": {"type": "array", "items": _TEXT}},
    }
}
_ROOT = {"root": {**_TEXT, "description": "the project's folder; paths are relative to it"}}
_STEP = {name: {"type": "integer"} if name == "line" else _TEXT for name in ("path", "line", "source", "message")}
_STEPS = {"steps": {"type": "array", "items": {"type": "object", "required": [*_STEP], "properties": _STEP}}}
_DIGEST = {"digest": {"type": ["string", "null"], "description": "of the plan; null where nothing changes"}, "files": _COUNT}
_WRITTEN = {"written": {"type": "array", "items": _TEXT}, "digest": _TEXT, "undo": {"type": "object"}}
_RESTORED = {"restored": {"type": "array", "items": _TEXT}}


class Tool(Struct, frozen=True):
    """One tool. ``schema``: of the published report inside its answer; ``more``: what is beside that."""

    takes: type[Struct]
    does: Callable[..., Answer]
    schema: Any = None
    more: dict[str, Any] = {}
    writes: bool = False
    runs: bool = False  # a Python, which may be named when the server starts
    commands: bool = False  # runs what a client says


TOOLS = {
    "scan": Tool(requests.Scan, projects.scan, survey.SCHEMA, {**_ROOT, **_PAGE}),
    "explain": Tool(requests.Explain, projects.explain, survey.SCHEMA, {**_ROOT, **_STEPS}),
    "check": Tool(requests.Check, projects.check, survey.SCHEMA, {**_ROOT, **_PAGE}),
    "diff": Tool(requests.Diff, projects.diff, survey.SCHEMA, {**_ROOT, **_PAGE, **_PATCH, **_DIGEST}),
    "diagnose": Tool(requests.Diagnose, machines.diagnose, diagnosis.SCHEMA),
    "doctor": Tool(requests.Doctor, machines.doctor, checkup.SCHEMA, runs=True),
    "verify": Tool(requests.Verify, machines.verify, trials.SCHEMA, _ROOT, runs=True),
    "verify_run": Tool(requests.VerifyRun, runs.verify_run, trials.SCHEMA, _ROOT, runs=True, commands=True),
    "apply": Tool(requests.Apply, projects.apply, None, {**_ROOT, **_WRITTEN}, writes=True),
    "undo": Tool(requests.Undo, projects.take_back, None, {**_ROOT, **_RESTORED}, writes=True),
}


def describe_tools(writes: bool, commands: bool, lang: str) -> list[types.Tool]:
    """What a client is shown: the tools that write, and the one that runs commands, only where they may."""
    may = (one for one in TOOLS.items() if (writes or not one[1].writes) and (commands or not one[1].commands))
    return [_describe_tool(name, tool, lang) for name, tool in may]


def _describe_tool(name: str, tool: Tool, lang: str) -> types.Tool:
    return types.Tool(
        name=name,
        title=text(f"mcp-tool-{name}-title", lang),
        description=text(f"mcp-tool-{name}", lang),
        input_schema=requests.schema_of(tool.takes, lang),
        output_schema=_make_announced_schema(name),
        annotations=_make_annotations(tool),
    )


def _make_annotations(tool: Tool) -> types.ToolAnnotations:
    """What a client may think of a tool; those that mean nothing where a tool only reads are omitted."""
    if tool.writes or tool.commands:
        return types.ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=tool.commands)
    return types.ToolAnnotations(read_only_hint=True, open_world_hint=False)


def _make_announced_schema(name: str) -> dict[str, Any]:
    """What a client is told of an answer: the names of its parts. ``output`` says what is in them, and so do the published schemas."""
    parts = {part: {"type": one["type"]} for part, one in schema_of_output(name)["properties"].items() if part not in _ALWAYS}
    return {"type": "object", "required": [*_ALWAYS], "properties": parts}


@cache
def schema_of_output(name: str) -> dict[str, Any]:
    """The schema of a tool's answer: the published one under ``report``, and what is beside it."""
    tool = TOOLS[name]
    properties = {"notice": _TEXT, "text": _OWN_TEXT, **tool.more}
    shared: dict[str, Any] = {}
    if tool.schema is not None:
        report = json.loads(tool.schema.read_text("utf-8"))
        shared = report.pop("$defs", {})  # references are looked up from the top
        report.pop("$schema")
        properties["report"] = {**report, "description": text("mcp-report")}
    result = {"type": "object", "additionalProperties": False, "required": sorted(properties), "properties": properties}
    return {**result, "$defs": shared} if shared else result
