"""Where a value goes that a list, a table or an object holds: what is looked up there, what runs over it, what is put into it."""

from __future__ import annotations

import ast

from msgspec.structs import replace

from ddp_codemod.dataflow.additions import find_filled_key
from ddp_codemod.dataflow.callees import callees_of
from ddp_codemod.dataflow.def_use_arguments import ArgumentSteps, WalkStep
from ddp_codemod.dataflow.evaluator import LOOK_UPS, TEXT_CHANGES

_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)


class TableSteps(ArgumentSteps):
    """The part of the walk that knows what holds the value."""

    def _follow_table_lookup(self, at: WalkStep, around: ast.AST | None) -> bool:
        """Whether the list or table that holds the value is one of those that the walk looks into, which is then done."""
        first, rest = at.key[0], at.key[1:]
        if isinstance(around, ast.Subscript) and around.value is at.node:
            key = around.slice.value if isinstance(around.slice, ast.Constant) else None
            copied = at.module.parents.get(around)
            if isinstance(copied, ast.DictComp) and copied.value is around and ast.dump(copied.key) == ast.dump(around.slice):
                self._enqueue(at, copied, derived=True)  # ``{k: config[k] for k in names}`` has the same entries
            elif isinstance(around.slice, ast.Slice):
                lower = around.slice.lower.value if isinstance(around.slice.lower, ast.Constant) else None
                if not (isinstance(first, int) and isinstance(lower, int) and first < lower):  # ``steps[1:]`` lacks the first
                    self._enqueue(at, around, derived=True, key=("*", *rest))
            elif isinstance(around.ctx, ast.Load) and (key is None or first in ("*", key)):
                self._enqueue(at, around, key=rest)
            return True
        if (
            isinstance(around, ast.Attribute)
            and isinstance(call := at.module.parents.get(around), ast.Call)
            and call.func is around
        ):
            key = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
            if around.attr in LOOK_UPS and call.args:
                if key is None or first in ("*", key):
                    self._enqueue(at, call, key=rest)
                return True
            if around.attr in ("append", "add", "extend", "insert"):
                return True
            if around.attr in ("values", "items"):
                self._enqueue(at, call, key=("*", *rest) if around.attr == "values" else ("*", 1, *rest))
                return True
            if around.attr in ("copy", "_asdict", "to_dict", "dict", "model_dump"):
                self._enqueue(at, call)
                return True
            for home, function, skip in callees_of(self.tracer, at.module, call):  # a method sees the whole object
                if skip and (own := [*function.args.posonlyargs, *function.args.args][:1]):
                    self._follow_name_reads(at, home, function, own[0].arg)
            return isinstance(first, str) and first != "*"  # of a table: it gives none of its entries
        if isinstance(around, ast.Attribute):
            if first in ("*", around.attr, f".{around.attr}") and isinstance(around.ctx, ast.Load):
                self._enqueue(at, around, key=rest)
            elif around.attr == "__dict__":
                self._enqueue(at, around)
            return True
        if isinstance(around, _LOOPS) and around.iter is at.node:
            if not isinstance(first, str) or first == "*":  # what runs over a table has its keys
                self._follow_loop(replace(at, key=rest), around, around.target)
            return True
        return False

    def _follow_loop(self, at: WalkStep, around: ast.AST, target: ast.expr) -> None:
        """What a loop, or a comprehension, calls the value."""
        if isinstance(target, (ast.Tuple, ast.List)):
            known = at.key[0] if at.key and isinstance(at.key[0], int) else None
            for index, part in enumerate(target.elts):
                if known in (None, index):
                    self._follow_loop(at if known is None else replace(at, key=at.key[1:]), around, part)
        elif isinstance(around, ast.comprehension) and isinstance(target, ast.Name):  # its names are those of what it is in
            self._follow_name_reads(at, at.module, at.module.parents[around], target.id)
        else:
            self._follow_store(at, target)

    def _follow_container(self, at: WalkStep, around: ast.expr) -> None:
        """The value is put into a list or a table."""
        if isinstance(around, ast.Dict) and at.node in around.keys:
            self._record_read(at, ends=True)
            return
        if at.node is not at.carrier and not at.key:
            at = replace(at, made=True)
        key: object = "*"
        if isinstance(around, ast.Dict):
            place = around.keys[around.values.index(at.node)]
            if place is None and at.key:  # ``{**args}`` has the same entries
                self._enqueue(at, around, derived=True)
                return
            key = place.value if isinstance(place, ast.Constant) else "*"
        elif isinstance(around, (ast.List, ast.Tuple)) and not any(isinstance(part, ast.Starred) for part in around.elts):
            key = around.elts.index(at.node)
            before = around.elts[key - 1] if key else None
            option = before.value if isinstance(before, ast.Constant) else None
            if isinstance(option, str) and option.startswith("--") and not at.made:
                self._follow_word(option)  # the words of a command: the option takes the value
                return
        self._enqueue(at, around, derived=True, key=(key, *at.key))

    def _follow_attribute(self, at: WalkStep, around: ast.Attribute) -> None:
        call = at.module.parents.get(around)
        if isinstance(call, ast.Call) and call.func is around:
            if around.attr in TEXT_CHANGES and not call.args:
                self._enqueue(at, call, derived=at.node is not at.carrier)
                return
        elif around.attr == "value":  # of a member of an enumeration, whose text this is
            self._enqueue(at, around)
            return
        self._record_read(at)

    def _follow_filled(self, at: WalkStep, call: ast.Call, position: int | None, keyword: str | None) -> None:
        key = find_filled_key(call, position, keyword, at.key)
        if key and isinstance(call.func, ast.Attribute):
            self._follow_mapping_store(replace(at, key=key), call.func.value)

    def _follow_mapping_store(self, at: WalkStep, mapping: ast.expr) -> None:
        """Go on with what reads a mapping that got the value under a key."""
        if isinstance(mapping, (ast.Name, ast.Attribute)) and "os.environ" not in self.tracer.resolver.names(at.module, mapping):
            self._follow_store(at, mapping)

    def _follow_lambda(self, at: WalkStep, around: ast.Lambda) -> None:
        """What a function without a name gives: the default of a field, or the call's own business."""
        given = at.module.parents.get(around)
        if isinstance(given, ast.keyword) and given.arg == "default_factory":
            self._follow_enclosing_assignment(at, around)
        else:
            self._record_read(at)
