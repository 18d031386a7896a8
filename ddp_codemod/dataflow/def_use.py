"""Where a value goes from where it starts: every expression that gives it, up to what the code does with it there."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ddp_codemod.dataflow import shared_reads
from ddp_codemod.dataflow.annotations import is_type_of_something
from ddp_codemod.dataflow.def_use_arguments import PARTS, SAME, Path, WalkStep
from ddp_codemod.dataflow.def_use_tables import TableSteps
from ddp_codemod.dataflow.file_readers import WHOLE_TEXT, find_readers, find_text_reads
from ddp_codemod.dataflow.holders import find_holders
from ddp_codemod.dataflow.name_reads import (
    find_converters,
    find_importers,
    find_reads_in_scope,
    find_reads_of_word,
    find_scope_tables,
    find_star_importers,
    is_class_inspected,
    is_module_attribute,
)
from ddp_codemod.dataflow.reads import DefUse, Read
from ddp_codemod.dataflow.references import find_entry_references
from ddp_codemod.dataflow.text_fields import leaves_out
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.dataflow.values import Value
from ddp_codemod.kinds import Meaning
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.parse.shell import Option, Script, Setting
from ddp_codemod.sites.scopes import bindings, owner_scope, scope_of

MOST = 2_000  # steps for one value; one that goes further counts as one that goes everywhere
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)


def find_reads(tracer: Tracer, source: Value, alike: Iterable[Value] = ()) -> DefUse:
    """The reads of what a source gives, worked out once for each place; ``alike`` start there too, on other ways."""
    known: dict[int, tuple[Value, DefUse]] = tracer.memory.setdefault("reads", {})
    if id(source.node) not in known:  # the source is kept, and with it the id
        known[id(source.node)] = (source, DefUse(_DefUseWalk(tracer).follow(source, alike)))
    return known[id(source.node)][1]


class _DefUseWalk(TableSteps):
    def __init__(self, tracer: Tracer) -> None:
        super().__init__(tracer)
        self._source: Value
        self._todo: list[WalkStep] = []
        self._seen: set[tuple[int, str]] = set()
        self._words: set[tuple[str, Path]] = set()
        self._names: set[tuple[ast.AST, str, str, Path, bool]] = set()
        self._found: list[Read] = []

    def follow(self, source: Value, alike: Iterable[Value]) -> Iterator[Read | None]:
        """Every read of a source's value; None last where it was not followed to its end."""
        self._source = source
        passed = [step for one in (source, *alike) for step in one.trace.passed]
        calls = (step for step in passed if step.reason.means is Meaning.ARGUMENT)
        self._calls = {step.place: dict(step.reason.args)["name"] for step in calls}
        self._traces = {step.place for step in passed}
        for module, function, name, key in shared_reads.find_forwarded_keywords(self.tracer, passed):
            held = ast.Name(name)
            self._follow_name_reads(WalkStep(module, held, held, key=(key,)), module, function, name)
        if isinstance(source.node, Entry):
            self._follow_word(next((key for key in reversed(source.node.path) if not key.isdigit()), ""))
            if isinstance(source.module, Document):
                for one in find_entry_references(self.tracer, source.module, source.node):
                    self._follow_word(one.key)
            path = tuple(int(key) if key.isdigit() else key for key in source.node.path)
            self._todo += [
                WalkStep(module, call, call, key=path) for module, call in find_readers(self.tracer, source.module.name)
            ]
            self._todo += [
                WalkStep(module, call, ast.Name(WHOLE_TEXT)) for module, call in find_text_reads(self.tracer, source.module.name)
            ]
        elif isinstance(source.node, (Option, Setting)):
            self._follow_word(source.node.name.rpartition(".")[2])
            if isinstance(source.module, Script):
                for option in shared_reads.find_settings_beside(source.module, source.node):
                    self._follow_word(option.name.rpartition(".")[2])
                texts = shared_reads.find_command_texts(self.tracer, source.module, source.node)
                self._todo += [WalkStep(module, text, ast.Name(WHOLE_TEXT), made=True) for module, text in texts]
                tables = shared_reads.find_environment_tables(self.tracer, source.module, source.node)
                self._todo += [WalkStep(module, table, table, key=(source.node.name,)) for module, table in tables]
        elif isinstance(source.module, Module) and isinstance(source.node, ast.expr):
            self._todo.append(WalkStep(source.module, source.node, source.node))
        elif isinstance(source.module, Module) and isinstance(source.node, ast.AugAssign):  # ``url += port``
            self._follow_store(WalkStep(source.module, source.node.target, source.node.target), source.node.target)
        else:
            yield None
        while self._todo:
            step = self._todo.pop()
            seen = (id(step.node), str(step.key))
            if seen in self._seen:
                continue
            self._seen.add(seen)
            if len(self._seen) > MOST:
                yield None
                return
            self._follow_parent(step)
            yield from self._drain_found()
        yield from self._drain_found()

    def _drain_found(self) -> list[Read]:
        found, self._found = self._found, []
        return found

    def _enqueue(
        self, at: WalkStep, node: ast.expr, module: Module | None = None, derived: bool = False, key: Path = SAME
    ) -> None:
        same = at.carrier if derived or at.made else node
        self._todo.append(replace(at, module=module or at.module, node=node, carrier=same, key=at.key if key is SAME else key))

    def _record_read(self, at: WalkStep, ends: bool = False) -> None:
        self._found += [Read(at.module, at.node, at.carrier, at.sure, bool(at.key), ends)] if at.key[:1] not in PARTS else []

    def _follow_parent(self, at: WalkStep) -> None:
        """What the code around an expression does with the value that it gives."""
        node, module = at.node, at.module
        around = module.parents.get(node)
        derived = node is not at.carrier
        if isinstance(around, ast.Starred) and at.key and isinstance(at.key[0], int):
            call = module.parents.get(around)
            if isinstance(call, ast.Call) and not self._is_after_star(call, call.args.index(around)):
                self._follow_argument(at, call, call.args.index(around) + at.key[0], None, at.key[1:])
            else:
                self._record_read(at, ends=True)
        elif isinstance(around, ast.keyword):
            outer = module.parents[around]
            if around.arg is None and isinstance(outer, ast.Call) and at.key and isinstance(at.key[0], str):
                self._follow_argument(at, outer, None, at.key[0], at.key[1:])
            elif at.key and around.arg == "default_factory":  # of a class: the field gets an object of it
                self._follow_enclosing_assignment(at, around)
            elif isinstance(outer, ast.Call):
                self._follow_argument(at, outer, None, around.arg)
            else:
                self._record_read(at)
        elif isinstance(around, ast.Call) and node is not around.func:
            self._follow_argument(at, around, around.args.index(node), None)
        elif at.key and isinstance(around, ast.Call):  # of a class: its objects hold what it holds
            self._enqueue(at, around, derived=True)
        elif isinstance(around, ast.ClassDef) and node in around.bases and at.key:
            self._follow_class(at, around)
        elif at.key and (is_type_of_something(module, node) or self._follow_table_lookup(at, around)):
            return
        elif isinstance(around, ast.Attribute):
            self._follow_attribute(at, around)
        elif isinstance(around, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and around.value is node:
            for target in around.targets if isinstance(around, ast.Assign) else [around.target]:
                self._follow_store(at, target)
            if isinstance(around, ast.NamedExpr):
                self._enqueue(at, around, derived=derived)
        elif isinstance(around, ast.AugAssign) and around.target is node:
            return  # what is read is written at once, under the same name
        elif isinstance(around, ast.AugAssign) and around.value is node and isinstance(around.target, ast.Name):
            self._follow_store(at if at.key else replace(at, node=around.target, carrier=at.carrier), around.target)
        elif isinstance(around, ast.BoolOp) or (isinstance(around, ast.IfExp) and around.test is not node):
            self._enqueue(at, around, derived=derived)
        elif isinstance(around, (ast.FormattedValue, ast.JoinedStr)) or (isinstance(around, ast.BinOp) and not at.key):
            self._enqueue(at, around, derived=True, key=())  # the text of an object says all that it holds
        elif isinstance(around, ast.BinOp):
            if not leaves_out(around, at.key[0]):
                self._enqueue(at, around, derived=True, key=())
        elif isinstance(around, _DISPLAYS) and not isinstance(getattr(around, "ctx", None), ast.Store):
            self._follow_container(at, around)
        elif (isinstance(around, (ast.ListComp, ast.SetComp, ast.GeneratorExp)) and around.elt is node) or (
            isinstance(around, ast.DictComp) and around.value is node
        ):
            self._enqueue(at, around, derived=True, key=("*", *at.key))
        elif isinstance(around, ast.Return):
            self._follow_return(at, around)
        elif isinstance(around, ast.arguments):
            self._follow_default(at, around)
        elif isinstance(around, ast.Lambda):
            self._follow_lambda(at, around)
        else:
            self._record_read(at)

    def _follow_store(self, at: WalkStep, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._follow_name_store(at, target)
        elif isinstance(target, ast.Attribute):
            self._follow_attribute_store(at, target.value, target.attr)
        elif isinstance(target, ast.Subscript):
            key = target.slice.value if isinstance(target.slice, ast.Constant) else None
            if "os.environ" in self.tracer.resolver.names(at.module, target.value):
                self._record_read(at, ends=True)  # every process that is started from here may read it
            if isinstance(key, str):
                self._follow_word(key, at.key)
                self._follow_mapping_store(replace(at, key=(key, *at.key)), target.value)
            elif isinstance(target.value, ast.Name):
                self._follow_store(replace(at, key=("*", *at.key)), target.value)
            else:
                self._record_read(at)
        elif isinstance(target, (ast.Tuple, ast.List)) and at.key:
            for index, part in enumerate(target.elts):
                if at.key[0] in ("*", index):
                    self._follow_store(replace(at, key=at.key[1:]), part)
        else:
            self._record_read(at)

    def _follow_name_store(self, at: WalkStep, target: ast.Name) -> None:
        module = at.module
        home = owner_scope(module, scope_of(module, target), target.id)
        if isinstance(home, ast.ClassDef):
            self._follow_word(target.id, at.key)
            if is_class_inspected(self.tracer, module, home):
                self._record_read(at, ends=True)
            self._follow_class(replace(at, key=(target.id, *at.key)), home)
        if home is not None:
            self._follow_name_reads(at, module, home, target.id)

    def _follow_class(self, at: WalkStep, made: ast.ClassDef) -> None:
        """Every place that reads a class which holds the value; what it makes holds it too, and so does what derives from it."""
        for function in made.body:  # which may look at the whole object: ``asdict(self)``
            own = [*function.args.posonlyargs, *function.args.args][:1] if isinstance(function, _FUNCTIONS) else []
            if own and not any(last_name(part) in ("staticmethod", "classmethod") for part in function.decorator_list):  # type: ignore[attr-defined]
                held = ast.Name(own[0].arg)
                self._follow_name_reads(replace(at, node=held, carrier=held), at.module, function, own[0].arg)
        home = owner_scope(at.module, scope_of(at.module, made), made.name)
        if home is not None:
            held = ast.Name(made.name)
            self._follow_name_reads(replace(at, node=held, carrier=held), at.module, home, made.name)

    def _follow_name_reads(self, at: WalkStep, module: Module, home: ast.AST, name: str) -> None:
        """Every place that reads a name of a scope, here or where it is imported."""
        found, derived = 0, at.node is not at.carrier
        asked = (home, module.name, name, at.key, derived)
        if asked in self._names:
            return
        self._names.add(asked)
        given = home is module.tree and name not in bindings(module, home)  # by a star import, or by a function: no scope has it
        for node in find_reads_in_scope(module, name, None if given else home):
            found += 1
            self._enqueue(at, node, module, derived)
        for other, table in find_scope_tables(self.tracer, module, home) if not derived else ():
            self._enqueue(at, table, other, key=(name, *at.key))
            if isinstance(table, ast.Call) and last_name(table.func) == "getmembers":  # pairs, in whatever hands
                self._record_read(WalkStep(other, table, table, sure=False), ends=True)
        if not isinstance(home, ast.Module):
            return
        for other, word in find_importers(self.tracer, module, name):
            found += 1
            if word:
                self._follow_name_reads(at, other, other.tree, word)
        for other in find_star_importers(self.tracer, module, name):
            found += 1
            self._follow_name_reads(at, other, other.tree, name)
        for other, read in find_reads_of_word(self.tracer, name) if not derived else ():
            if isinstance(read, ast.Attribute) and is_module_attribute(self.tracer, other, read, module):
                found += 1
                self._enqueue(at, read, other)
        if not found and not derived:  # read by its name, if at all: a file of settings
            self._follow_word(name, at.key)

    def _follow_word(self, word: str, key: Path = ()) -> None:
        """Every place that reads an attribute, a key or an option by this word; with a key, the table that holds the value."""
        word = word.lstrip("-").replace("-", "_")
        if not word or (word, key) in self._words:
            return
        self._words.add((word, key))
        for module, value in find_converters(self.tracer, word):
            self._record_read(WalkStep(module, value, value, sure=False), ends=True)
        for module, node in find_reads_of_word(self.tracer, word):
            if isinstance(node, ast.arg):
                function = module.parents[module.parents[node]]
                own = ast.Name(word)
                self._follow_name_reads(WalkStep(module, own, ast.Name(word) if key else own, False, key), module, function, word)
            elif isinstance(node, ast.expr):
                held = ast.Name(word) if key else node  # a table is not the value, and is not evaluated as if it were
                self._todo.append(WalkStep(module, node, held, False, key))
                if not key and any(one.node is self._source.node for one in self.tracer.evaluate(module, node)):
                    self._todo += [
                        WalkStep(home, made, made, key=path) for home, made, path in find_holders(self.tracer, module, node)
                    ]

    def _follow_return(self, at: WalkStep, statement: ast.Return) -> None:
        function = scope_of(at.module, statement)
        if not isinstance(function, _FUNCTIONS):
            return
        if any(last_name(part) in ("property", "cached_property") for part in function.decorator_list):
            self._follow_word(function.name)
        derived = at.node is not at.carrier
        for given in self.tracer.callers_of(at.module, function):
            self._enqueue(at, given.call, given.module, derived)

    def _follow_enclosing_assignment(self, at: WalkStep, node: ast.AST) -> None:
        for parent in at.module.ancestors(node):
            if isinstance(parent, (ast.Assign, ast.AnnAssign)):
                for target in parent.targets if isinstance(parent, ast.Assign) else [parent.target]:
                    self._follow_store(at, target)
                return
        self._record_read(at)
