"""What ``explain`` says of a line about which nothing was found: why it is not changed, and what to do about that."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ddp_codemod.cli.run import Job
    from ddp_codemod.report.view import View


def explain_unported_line(job: Job, view: View, path: Path, line: int) -> list[str]:
    """One that names the device which the platform lacks, by what reaches it; any other by what it does not set."""
    from ddp_codemod.cli.settings import command_line
    from ddp_codemod.report.device_kinds import format_device_count

    found, device, place = view.survey, job.options.platform.device, f"{path}:{line}"
    name = Path(os.path.relpath(path.absolute(), found.root.absolute())).as_posix()
    if unread := [one for one in found.skipped if one.name == name]:
        return [view.say("explain-unread", place=place, why=view.reason(one.reason)) for one in unread]
    if device is None or device.replaces not in _read_statement(path, line).lower():
        scan = job.settings.again("scan", paths=(str(path),), platform=job.options.platform.id)
        outside = [format_device_count(view, "explain-unreached", 1, view.path(file)) for file in found.unreached]
        return [view.say("explain-nothing", place=place, command=scan), *outside]
    if not found.unreached:
        key = "explain-not-run" if found.devices is not None else "explain-without-entry-point"
        return [view.say(key, place=place, old=device.replaces, platform=found.platform)]
    vendor = found.devices.vendor if found.devices is not None else ""
    text = format_device_count(view, "explain-unreached-line", 1, place)
    if not vendor:
        return [text, view.say("explain-by-hand")]
    return [text, view.say("explain-by-hand-or-vendor", command=command_line(["ddp-codemod", "rules", "show", vendor]))]


def _read_statement(path: Path, line: int) -> str:
    """A line, with all lines of a call or assignment that it is a part of: one reads the first of them as the whole."""
    import ast

    from ddp_codemod.parse.python import parse_tree

    try:
        tree = parse_tree(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return read_line(path, line)
    kinds = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
    around = (
        node for node in ast.walk(tree) if isinstance(node, kinds) and node.lineno <= line <= (node.end_lineno or node.lineno)
    )
    first, last = min(((one.lineno, one.end_lineno or one.lineno) for one in around), default=(line, line))
    return "\n".join(read_line(path, at) for at in range(first, last + 1))


def read_line(path: Path, line: int) -> str:
    """A line of a file; "" where there is none."""
    lines = path.read_bytes().decode("utf-8", "replace").splitlines()
    return lines[line - 1] if 0 < line <= len(lines) else ""
