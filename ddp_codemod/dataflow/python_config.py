"""Values that start in Python files which a project reads as configuration: what they assign at their top are the keys."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from msgspec.structs import replace

from ddp_codemod.dataflow.calls import index_calls
from ddp_codemod.dataflow.fold import Known
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Trace, Value
from ddp_codemod.kinds import OriginKind
from ddp_codemod.model import Reason
from ddp_codemod.sites.key_path_uses import is_settings
from ddp_codemod.sites.scopes import bindings


def trace_settings(tracer: Tracer, keys: Sequence[str], trace: Trace) -> list[Value]:
    """The values under a path of keys in the Python files that the project reads as configuration.

    The keys may go through an object first: ``self.cfg.dist_params`` reads ``dist_params``.
    """
    found: list[Value] = []
    for start in range(len(keys) - 1):
        for name in tracer.resolver.project.mentioning(keys[start]) if _has_reader_calls(tracer) else ():
            module = tracer.resolver.project.module(name)
            for binding in bindings(module, module.tree).get(keys[start], ()) if module and is_settings(module) else ():
                if module is None or binding.kind != "value" or binding.value is None:
                    continue
                place = module.place(binding.node)
                step = trace.step(place, Reason.of("hop-config", name=".".join(keys[start:]), file=name))
                for source in tracer.descend(module, binding.value, keys[start + 1 :], step):
                    if isinstance(source.value, Known) and tracer.could_be_value(str(source.value.value)):
                        found.append(
                            replace(source, kind=OriginKind.CONFIG_KEY if source.kind == OriginKind.KEY else source.kind)
                        )
    return found


def _has_reader_calls(tracer: Tracer) -> bool:
    """Whether the project calls something that reads such files."""
    if tracer.reads_settings is None:
        readers = {name for idioms in tracer.idioms for name in idioms.config_readers}
        tracer.reads_settings = any(
            _is_reader_called(tracer, method, readers) for method in {name.rpartition(".")[2] for name in readers}
        )
    return tracer.reads_settings


def _is_reader_called(tracer: Tracer, method: str, readers: set[str]) -> bool:
    for name in tracer.resolver.project.mentioning(method):
        module = tracer.resolver.project.module(name)
        for call in index_calls(module).get(method, ()) if module else ():
            if module and isinstance(call.func, ast.Attribute) and readers & set(tracer.resolver.names(module, call.func)):
                return True
    return False
