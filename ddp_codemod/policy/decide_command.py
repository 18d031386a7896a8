"""Matches the backend that a command gives to a framework's own program, or leaves to it."""

from __future__ import annotations

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.model import Parameter
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.parse.shell import Option, Script
from ddp_codemod.policy.decide import decide_site
from ddp_codemod.policy.decision_reasons import text_of
from ddp_codemod.policy.default_argument import build_default_arguments, is_default_wrong, pick_default_backend
from ddp_codemod.policy.findings import Context, Finding, Splice, start
from ddp_codemod.sites.command_uses import CommandedUse


def decide_command(context: Context, use: CommandedUse, parameter: Parameter, fix: Fix) -> Finding:
    """Decide about a backend that is, or is omitted, in a command."""
    given = use.given(parameter)
    if given:
        sources = [Value(use.module, option, OriginKind.COMMAND_LINE, Known(option.value)) for option in given]
        result = start(context, use, parameter, given[0], sources, (text_of(context, source, parameter) for source in sources))
        return decide_site(context, result, parameter, fix)
    result = start(context, use, parameter, None, [], [pick_default_backend(context, parameter)])
    if not is_default_wrong(context, parameter):
        return result.keep(Reason.of("keep-omitted", parameter=parameter.name))
    wanted = f"{parameter.option}{'' if parameter.option.endswith('=') else ' '}{context.platform.backend.wanted}"
    arguments = build_default_arguments(context, parameter, parameter.option.rstrip("="))
    there = _locate_insertion(use, parameter, wanted)
    if there is None or not use.module.editable:
        return result.review(fix.id, Reason.of("review-command", program=use.call.name, text=wanted, **arguments))
    safe = fix.applicability == "safe" and parameter.add_applicability == "safe"
    reason = Reason.of("edit-command", program=use.call.name, text=wanted, **arguments)
    return result.edit(fix.id, safe, reason, [Splice(use.module, *there, use.module.place(use.call))])


def _locate_insertion(use: CommandedUse, parameter: Parameter, wanted: str) -> tuple[int, str] | None:
    """Where the option goes in, and the text: behind the program, so that what comes later on the command still wins.

    Overrides are together, as the program reads them: another one goes before the first; None where there is none.
    """
    if not parameter.option.endswith("="):
        return use.call.end, f" {wanted}"
    first = next((option for option in use.overrides if option.override and not option.away), None)
    begin = _locate_override(use.module, first) if first is not None else None
    return None if begin is None else (begin, f"{wanted} ")


def _locate_override(script: Script, option: Option) -> int | None:
    """Where the word of an override begins; None where its name is not before its value."""
    text = script.source.text[: option.start].rstrip("\"'")
    if not text.endswith(f"{option.name}="):
        return None
    begin = len(text.removesuffix(f"{option.name}=").rstrip("+\"'"))
    return begin if script.source.text[begin - 1 : begin].isspace() else None
