"""Matches init_method URLs that need a query, such as ``env://?use_libuv=0``."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from msgspec.structs import replace

from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.model import Parameter
from ddp_codemod.catalog.objects import Query
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.values import Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Action, Reason
from ddp_codemod.parse.python import Module
from ddp_codemod.policy.argument_sources import collect_sources
from ddp_codemod.policy.bound_arguments import find_reader_of_bound
from ddp_codemod.policy.built_urls import append_query, head_of, is_query_off, lengthen_text
from ddp_codemod.policy.decide import add_omitted, may_clash
from ddp_codemod.policy.decide_environment import decide_variable_before_use, explain_unneeded_fix, find_value_before_call
from ddp_codemod.policy.decision_reasons import OMITTED
from ddp_codemod.policy.findings import Change, Context, Finding, NewKeyword, NewText, start, unreachable
from ddp_codemod.policy.other_uses import OtherUses
from ddp_codemod.policy.url_comparisons import find_url_comparison
from ddp_codemod.policy.url_in_mapping import add_url_to_mappings
from ddp_codemod.sites.surface_calls import Use

_MANY = 50  # places in files of settings with an address for one call


def decide_init_method(context: Context, use: Use, fix: Fix, backend: Finding | None = None) -> Finding | None:
    """Decide about the URL, the store or the variable through which the group finds its peers; None where there is nothing to say."""
    assert fix.query is not None
    roles = {parameter.role: parameter for parameter in use.surface.parameters}
    if fix.store is not None and set(use.surface.names) & set(fix.store.names):
        return _decide_own_store(context, use, fix)
    if "init_method" not in roles:
        if use.surface.id not in fix.environment_surfaces:
            return None
        result = start(context, use, None, None, [], [])
        never = unreachable(context, use)
        return result.keep(never) if never is not None else decide_variable_before_use(context, use, fix, result, backend)
    parameter = roles["init_method"]
    argument, sources = collect_sources(context, use, parameter)
    texts = [
        str(source.value.value) if isinstance(source.value, Known) else fix.query.default_url if source.kind == OMITTED else "?"
        for source in sources
    ]
    result = start(context, use, parameter, argument, sources, texts)
    never = unreachable(context, use)
    if never is not None:
        return result.keep(never)
    if backend is not None and _can_meet_without_store(context, backend):
        return result.keep(Reason.of("keep-no-store", value=", ".join(backend.resolves_to)))
    if backend is not None and backend.action is Action.REVIEW and {source.why for source in sources} == {backend.reason}:
        call = use.module.line(use.call)
        return result.keep(Reason.of("keep-said", origin=f"{use.module.name}:{call}"))  # both come through what is unpacked there
    if argument is None and use.spread and all(source.node is use.call and source.kind != OMITTED for source in sources):
        url = turn_off_query(fix.query.default_url, fix.query)
        changes = None if _is_variable_switched(context, use, fix, on=False) else add_url_to_mappings(backend, parameter, url)
        if changes and explain_unneeded_fix(context, use, fix, "query") is None:
            reason = Reason.of("edit-url", query=f"{fix.query.key}={fix.query.value}", value=fix.query.default_url)
            return result.edit(fix.id, fix.applicability == "safe", reason, changes)
    if "store" in roles and use.argument(roles["store"]) is not None:
        return _decide_store(context, use, roles["store"], fix, result)
    return _decide_url(context, use, parameter, fix, result, backend)


def _decide_url(context: Context, use: Use, parameter: Parameter, fix: Fix, finding: Finding, backend: Finding | None) -> Finding:
    query = fix.query
    assert query is not None
    switched_off = _is_variable_switched(context, use, fix, on=False)
    spared = (
        None
        if switched_off or _is_variable_switched(context, use, fix, on=True)
        else explain_unneeded_fix(context, use, fix, "query")
    )
    switched_off = switched_off or spared is not None
    changes: list[Change] = []
    swaps: list[tuple[Value, str | None, str]] = []  # addresses before and after
    blocked: Reason | None = None
    for source in finding.possible:
        value = source.value
        if source.kind == OMITTED or (isinstance(value, Known) and value.value is None):
            if switched_off or _is_for_older_torch(source, query) or _has_store(use, source):
                continue
            if source.kind == OMITTED:
                if parameter.add != "keyword":
                    continue
                added = add_omitted(source, parameter.name, f'"{turn_off_query(query.default_url, query)}"')
                changes += [added] if added is not None else []
                if added is None:
                    blocked = blocked or _explain_manual_query(source.text, query)
            elif source.kind == OriginKind.LITERAL:
                changes.append(NewText(source, turn_off_query(query.default_url, query)))
                swaps.append((source, None, turn_off_query(query.default_url, query)))
        elif isinstance(value, Known) and isinstance(value.value, str):
            wanted = turn_off_query(value.value, query, switched_off)
            if wanted != value.value:  # what is put together from names, ``f"tcp://{host}:{port}"``, stays so
                built = isinstance(source.node, ast.expr) and not isinstance(source.node, ast.Constant)
                changes.append((append_query(source, query) if built else None) or NewText(source, wanted))
                swaps.append((source, value.value, wanted))
        elif source.kind != OriginKind.PARAMETER:
            scheme = head_of(source)
            if (scheme is not None and scheme not in query.schemes) or switched_off or is_query_off(context.facts, source, query):
                continue
            spliced = append_query(source, query)
            if spliced is not None:
                changes.append(spliced)
                swaps.append((source, *lengthen_text(source, query)))
            else:
                spread = source.node is use.call and use.spread
                text = f"**{use.module.text(use.spread[0])}" if spread else source.text
                blocked = blocked or _explain_manual_query(text, query)
    settings = {
        change.source.place for change in changes if isinstance(change, NewText) and not isinstance(change.source.module, Module)
    }
    if len(settings) > _MANY and fix.environment is not None:
        return decide_variable_before_use(context, use, fix, finding, backend)  # one line does what hundreds would
    where = find_url_comparison(context, use, changes) if fix.environment is not None else None
    key = "edit-environment-compared" if where is not None else "edit-environment-used"
    if fix.environment is not None and (where := where or _find_other_use_of_address(context, finding, swaps)) is not None:
        found = decide_variable_before_use(context, use, fix, finding, backend)
        why = Reason.of(key, variable=fix.environment.name, value=fix.environment.value, origin=where)
        return replace(found, reason=why) if found.action is Action.EDIT else found
    if changes:
        known = [text for text in finding.resolves_to if "://" in text]
        leads = known[0] if known else " ".join(_format_built_address(finding.possible, query).split())
        reason = Reason.of("edit-url", query=f"{query.key}={query.value}", value=leads)
        safe = fix.applicability == "safe" and not any(map(may_clash, changes))
        return finding.edit(fix.id, safe, reason, changes)
    if blocked is not None:
        return finding.review(fix.id, blocked)
    if spared is not None:
        return finding.keep(spared)
    if switched_off:
        assert fix.environment is not None
        return finding.keep(Reason.of("keep-environment-set", variable=fix.environment.name, value=fix.environment.value))
    return finding.keep(Reason.of("keep-url", value=", ".join(finding.resolves_to)))


def _has_store(use: Use, source: Value) -> bool:
    """Whether a call that omits the address hands a store on, beside which none may be passed."""
    names = {parameter.name for parameter in use.surface.parameters if parameter.role == "store"}
    return isinstance(source.node, ast.Call) and any(keyword.arg in names for keyword in source.node.keywords)


def _explain_manual_query(text: str, query: Query) -> Reason:
    return Reason.of("review-url", text=" ".join(text.split()), query=f"{query.key}={query.value}")


def _find_other_use_of_address(context: Context, finding: Finding, swaps: Iterable[tuple[Value, str | None, str]]) -> str | None:
    """Where an address that is to be changed is used for something else, FILE:LINE."""
    uses = OtherUses(context, [finding])
    found = (uses.of(source, new, old) for source, old, new in swaps if source.node is not finding.argument)
    bound = (find_reader_of_bound(uses, finding, source, new, old) for source, old, new in swaps)
    other = next(filter(None, (*found, *bound)), None)
    return f"{other.name}:{other.line}" if other is not None else None


def _can_meet_without_store(context: Context, backend: Finding) -> bool:
    """Whether the processes of all groups that a call can make find each other without a store."""
    known = [context.rules.backends.get(text) for text in backend.resolves_to]
    return bool(known) and all(one is not None and not one.store for one in known)


def _format_built_address(sources: Iterable[Value], query: Query) -> str:
    """The source text of an address that is put together."""
    return next((source.text for source in sources if head_of(source) in query.schemes), query.default_url)


def _is_variable_switched(context: Context, use: Use, fix: Fix, on: bool) -> bool:
    """Whether the code has set the variable to an on or off value before; the query of the URL still wins over it."""
    if fix.environment is None or fix.query is None:
        return False
    value = find_value_before_call(context, use, fix.environment.name)
    return isinstance(value, Known) and (str(value.value) in fix.query.on) is on


def turn_off_query(url: str, query: Query, switched_off: bool = False) -> str:
    """The URL with the query parameter turned off; unchanged where it is off already or the scheme does not take it."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in query.schemes:
        return url
    address, mark, given = rest.partition("?")
    items = given.split("&") if mark and given else []
    for index, item in enumerate(items):
        key, _, value = item.partition("=")
        if key == query.key:
            if value not in query.on:
                return url
            items[index] = f"{query.key}={query.value}"
            break
    else:
        if switched_off:
            return url
        items.append(f"{query.key}={query.value}")
    return f"{scheme}://{address}?{'&'.join(items)}"


def _is_for_older_torch(source: Value, query: Query) -> bool:
    """Whether nothing is passed here because a test of the version gives an address with the parameter turned off on the other side."""
    outer = source.outer
    if not isinstance(outer, ast.IfExp) or "version" not in ast.unparse(outer.test).lower():
        return False
    other = outer.body if source.node is outer.orelse else outer.orelse
    texts = [part.value for part in ast.walk(other) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return any(query.key in text and turn_off_query(text, query) == text for text in texts)


def _decide_store(context: Context, use: Use, parameter: Parameter, fix: Fix, finding: Finding) -> Finding:
    """A store of its own: the query does not reach it, only the keyword of its class does."""
    store = fix.store
    argument = use.argument(parameter)
    assert argument is not None
    if store is None:
        return finding.keep(Reason.of("keep-store", text=use.module.text(argument)))
    if (spared := explain_unneeded_fix(context, use, fix, "store")) is not None:
        return finding.keep(spared)
    changes: list[Change] = []
    for source in context.tracer.evaluate(use.module, argument):
        module, node = source.code
        if isinstance(source.value, Known) and source.value.value is None:
            continue
        if not isinstance(node, ast.Call):
            return finding.review(
                fix.id, Reason.of("review-store", text=use.module.text(argument), keyword=store.keyword, value=store.value)
            )
        if set(context.tracer.resolver.names(module, node.func)) & set(store.names):
            if not any(keyword.arg == store.keyword for keyword in node.keywords):
                changes.append(NewKeyword(module, node, store.keyword, store.value))
    if changes:
        known = bool(store.known_to) and context.versions.holds(store.known_to, use.module.name) is True
        safe = known and fix.applicability == "safe"
        return finding.edit(fix.id, safe, Reason.of("edit-store", keyword=store.keyword, value=store.value), changes)
    return finding.keep(Reason.of("keep-store", text=use.module.text(argument)))


def _decide_own_store(context: Context, use: Use, fix: Fix) -> Finding:
    """A store that the code opens, whoever it is for."""
    store = fix.store
    assert store is not None
    parameter = next(parameter for parameter in use.surface.parameters if parameter.name == store.keyword)
    argument = use.argument(parameter)
    result = start(context, use, parameter, argument, [], [])
    spared = unreachable(context, use) or explain_unneeded_fix(context, use, fix, "store")
    given = context.facts.fold(use.module, argument) if argument is not None else None
    shown = use.module.text(use.call.func)
    if spared is not None or (isinstance(given, Known) and not given.value):
        return result.keep(spared or Reason.of("keep-store", text=shown))
    if argument is not None or use.spread:
        return result.review(fix.id, Reason.of("review-store", text=shown, keyword=store.keyword, value=store.value))
    known = bool(store.known_to) and context.versions.holds(store.known_to, use.module.name) is True
    reason = Reason.of("edit-store", keyword=store.keyword, value=store.value)
    change = NewKeyword(use.module, use.call, store.keyword, store.value)
    return result.edit(fix.id, known and fix.applicability == "safe", reason, [change])
