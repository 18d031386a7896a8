"""Where a value goes from where it starts: every expression that gives it, up to what the code does with it there."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ddp_codemod.dataflow.calls import is_read, names_of
from ddp_codemod.dataflow.def_use_arguments import SAME, Path, Step
from ddp_codemod.dataflow.def_use_tables import TableSteps
from ddp_codemod.dataflow.evaluator import TEXT_CHANGES
from ddp_codemod.dataflow.file_readers import WHOLE_TEXT, readers, texts
from ddp_codemod.dataflow.holders import holders
from ddp_codemod.dataflow.leaves import Leaf
from ddp_codemod.dataflow.names_read import converters, importers, is_looked_at, is_of_module, reads_of_word
from ddp_codemod.dataflow.reads import DefUse, Read
from ddp_codemod.dataflow.tracer import Tracer
from ddp_codemod.kinds import Meaning
from ddp_codemod.parse.document import Entry
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.parse.shell import Option, Script, Setting
from ddp_codemod.sites.scopes import owner, scope_of

MOST = 2_000  # steps for one value; one that goes further is taken for one that goes everywhere
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)


def reads_of(tracer: Tracer, leaf: Leaf, alike: Iterable[Leaf] = ()) -> DefUse:
    """The reads of what a leaf gives, worked out once for each place; ``alike`` start there too, on other ways."""
    known: dict[int, tuple[Leaf, DefUse]] = tracer.memory.setdefault("reads", {})
    if id(leaf.node) not in known:
        known[id(leaf.node)] = (leaf, DefUse(_Walk(tracer).follow(leaf, alike)))  # the leaf is kept, and with it the id
    return known[id(leaf.node)][1]


class _Walk(TableSteps):
    def __init__(self, tracer: Tracer) -> None:
        super().__init__(tracer)
        self._leaf: Leaf
        self._todo: list[Step] = []
        self._seen: set[tuple[int, str]] = set()
        self._words: set[tuple[str, Path]] = set()
        self._names: set[tuple[ast.AST, str, str, Path, bool]] = set()
        self._found: list[Read] = []

    def follow(self, leaf: Leaf, alike: Iterable[Leaf]) -> Iterator[Read | None]:
        """Every read of a leaf's value; None last where it was not followed to its end."""
        self._leaf = leaf
        hops = [hop for one in (leaf, *alike) for hop in one.way.passed]
        steps = (hop for hop in hops if hop.reason.means is Meaning.ARGUMENT)
        self._calls = {hop.place: dict(hop.reason.args)["name"] for hop in steps}
        self._ways = {hop.place for hop in hops}
        if isinstance(leaf.node, Entry):
            self._word(next((key for key in reversed(leaf.node.path) if not key.isdigit()), ""))
            path = tuple(int(key) if key.isdigit() else key for key in leaf.node.path)
            self._todo += [Step(module, call, call, key=path) for module, call in readers(self.tracer, leaf.module.name)]
            self._todo += [Step(module, call, ast.Name(WHOLE_TEXT)) for module, call in texts(self.tracer, leaf.module.name)]
        elif isinstance(leaf.node, (Option, Setting)):
            self._word(leaf.node.name.rpartition(".")[2])
            same = leaf.module.options if isinstance(leaf.module, Script) else ()
            for option in (one for one in same if one.start == leaf.node.start):  # which one variable gives
                self._word(option.name.rpartition(".")[2])
        elif isinstance(leaf.module, Module) and isinstance(leaf.node, ast.expr):
            self._todo.append(Step(leaf.module, leaf.node, leaf.node))
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
            self._step(step)
            yield from self._taken()
        yield from self._taken()

    def _taken(self) -> list[Read]:
        found, self._found = self._found, []
        return found

    def _go(self, at: Step, node: ast.expr, module: Module | None = None, derived: bool = False, key: Path = SAME) -> None:
        same = at.carrier if derived else node
        self._todo.append(replace(at, module=module or at.module, node=node, carrier=same, key=at.key if key is SAME else key))

    def _end(self, at: Step, ends: bool = False) -> None:
        self._found.append(Read(at.module, at.node, at.carrier, at.sure, bool(at.key), ends))

    def _step(self, at: Step) -> None:
        """What the code around an expression does with the value that it gives."""
        node, module = at.node, at.module
        around = module.parents.get(node)
        derived = node is not at.carrier
        if isinstance(around, ast.Starred) and at.key and isinstance(at.key[0], int):
            call = module.parents.get(around)
            if isinstance(call, ast.Call) and not self._after_star(call, call.args.index(around)):
                self._handed(at, call, call.args.index(around) + at.key[0], None, at.key[1:])
            else:
                self._end(at, ends=True)
        elif isinstance(around, ast.keyword):
            outer = module.parents[around]
            if around.arg is None and isinstance(outer, ast.Call) and at.key and isinstance(at.key[0], str):
                self._handed(at, outer, None, at.key[0], at.key[1:])
            elif at.key and around.arg == "default_factory":  # of a class: the field gets an object of it
                self._field(at, around)
            elif isinstance(outer, ast.Call):
                self._handed(at, outer, None, around.arg)
            else:
                self._end(at)
        elif isinstance(around, ast.Call) and node is not around.func:
            self._handed(at, around, around.args.index(node), None)
        elif at.key and isinstance(around, ast.Call):  # of a class: its objects hold what it holds
            self._go(at, around, derived=True)
        elif isinstance(around, ast.ClassDef) and node in around.bases and at.key:
            self._class(at, around)
        elif at.key and (_is_annotation(module, node) or self._looked_into(at, around)):
            return
        elif isinstance(around, ast.Attribute):
            self._attribute(at, around)
        elif isinstance(around, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and around.value is node:
            for target in around.targets if isinstance(around, ast.Assign) else [around.target]:
                self._stored(at, target)
            if isinstance(around, ast.NamedExpr):
                self._go(at, around, derived=derived)
        elif isinstance(around, ast.AugAssign) and around.target is node:
            return  # what is read is written at once, under the same name
        elif isinstance(around, ast.AugAssign) and around.value is node and isinstance(around.target, ast.Name):
            self._stored(at if at.key else replace(at, node=around.target, carrier=at.carrier), around.target)
        elif isinstance(around, ast.BoolOp) or (isinstance(around, ast.IfExp) and around.test is not node):
            self._go(at, around, derived=derived)
        elif isinstance(around, (ast.FormattedValue, ast.JoinedStr)) or (isinstance(around, ast.BinOp) and not at.key):
            self._go(at, around, derived=True)
        elif isinstance(around, ast.BinOp):
            self._go(at, around, derived=True, key=())
        elif isinstance(around, _DISPLAYS) and not isinstance(getattr(around, "ctx", None), ast.Store):
            self._listed(at, around)
        elif (isinstance(around, (ast.ListComp, ast.SetComp, ast.GeneratorExp)) and around.elt is node) or (
            isinstance(around, ast.DictComp) and around.value is node
        ):
            self._go(at, around, derived=True, key=("*", *at.key))
        elif isinstance(around, ast.Return):
            self._returned(at, around)
        elif isinstance(around, ast.arguments):
            self._default(at, around)
        elif isinstance(around, ast.Lambda):
            self._lambda(at, around)
        else:
            self._end(at)

    def _attribute(self, at: Step, around: ast.Attribute) -> None:
        call = at.module.parents.get(around)
        if isinstance(call, ast.Call) and call.func is around:
            if around.attr in TEXT_CHANGES and not call.args:
                self._go(at, call, derived=at.node is not at.carrier)
                return
        elif around.attr == "value":  # of a member of an enumeration, whose text this is
            self._go(at, around)
            return
        self._end(at)

    def _stored(self, at: Step, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._name(at, target)
        elif isinstance(target, ast.Attribute):
            self._word(target.attr, at.key)
        elif isinstance(target, ast.Subscript):
            key = target.slice.value if isinstance(target.slice, ast.Constant) else None
            if "os.environ" in self.tracer.resolver.names(at.module, target.value):
                self._end(at, ends=True)  # every process that is started from here may read it
            if isinstance(key, str):
                self._word(key, at.key)
            elif isinstance(target.value, ast.Name):
                self._stored(replace(at, key=("*", *at.key)), target.value)
            else:
                self._end(at)
        elif isinstance(target, (ast.Tuple, ast.List)) and at.key:
            for index, part in enumerate(target.elts):
                if at.key[0] in ("*", index):
                    self._stored(replace(at, key=at.key[1:]), part)
        else:
            self._end(at)

    def _name(self, at: Step, target: ast.Name) -> None:
        module = at.module
        home = owner(module, scope_of(module, target), target.id)
        if isinstance(home, ast.ClassDef):
            self._word(target.id, at.key)
            if is_looked_at(self.tracer, module, home):
                self._end(at, ends=True)
            self._class(replace(at, key=(target.id, *at.key)), home)
        if home is not None:
            self._reads(at, module, home, target.id)

    def _class(self, at: Step, made: ast.ClassDef) -> None:
        """Every place that reads a class which holds the value; what it makes holds it too, and so does what derives from it."""
        home = owner(at.module, scope_of(at.module, made), made.name)
        if home is not None:
            held = ast.Name(made.name)
            self._reads(replace(at, node=held, carrier=held), at.module, home, made.name)

    def _reads(self, at: Step, module: Module, home: ast.AST, name: str) -> None:
        """Every place that reads a name of a scope, here or where it is imported."""
        found, derived = 0, at.node is not at.carrier
        asked = (home, module.name, name, at.key, derived)
        if asked in self._names:
            return
        self._names.add(asked)
        for node in names_of(module, name):
            if is_read(module, node) and owner(module, scope_of(module, node), name) is home:
                found += 1
                self._go(at, node, module, derived)
        if not isinstance(home, ast.Module):
            return
        for other, word in importers(self.tracer, module, name):
            found += 1
            if word:
                self._reads(at, other, other.tree, word)
        for other, read in reads_of_word(self.tracer, name) if not derived else ():
            if isinstance(read, ast.Attribute) and is_of_module(self.tracer, other, read, module):
                found += 1
                self._go(at, read, other)
        if not found and not derived:  # read by its name, if at all: a file of settings
            self._word(name, at.key)

    def _word(self, word: str, key: Path = ()) -> None:
        """Every place that reads an attribute, a key or an option by this word; with a key, the table that holds the value."""
        word = word.lstrip("-").replace("-", "_")
        if not word or (word, key) in self._words:
            return
        self._words.add((word, key))
        for module, value in converters(self.tracer, word):
            self._end(Step(module, value, value, sure=False), ends=True)
        for module, node in reads_of_word(self.tracer, word):
            if isinstance(node, ast.arg):
                function = module.parents[module.parents[node]]
                own = ast.Name(word)
                self._reads(Step(module, own, ast.Name(word) if key else own, False, key), module, function, word)
            elif isinstance(node, ast.expr):
                held = ast.Name(word) if key else node  # a table is not the value, and is not evaluated as if it were
                self._todo.append(Step(module, node, held, False, key))
                if not key and any(one.node is self._leaf.node for one in self.tracer.evaluate(module, node)):
                    self._todo += [Step(home, made, made, key=path) for home, made, path in holders(self.tracer, module, node)]

    def _returned(self, at: Step, statement: ast.Return) -> None:
        function = scope_of(at.module, statement)
        if not isinstance(function, _FUNCTIONS):
            return
        if any(last_name(part) in ("property", "cached_property") for part in function.decorator_list):
            self._word(function.name)
        derived = at.node is not at.carrier
        for given in self.tracer.callers(at.module, function):
            self._go(at, given.call, given.module, derived)

    def _field(self, at: Step, node: ast.AST) -> None:
        for parent in at.module.ancestors(node):
            if isinstance(parent, (ast.Assign, ast.AnnAssign)):
                for target in parent.targets if isinstance(parent, ast.Assign) else [parent.target]:
                    self._stored(at, target)
                return
        self._end(at)


def _is_annotation(module: Module, node: ast.AST) -> bool:
    """Whether a name is said to be the type of something: ``x: C``, ``x: list[C] | None``, ``-> C``."""
    around = module.parents.get(node)
    while isinstance(around, (ast.Subscript, ast.Tuple, ast.BinOp)):
        node, around = around, module.parents.get(around)
    if isinstance(around, _FUNCTIONS):
        return around.returns is node
    return isinstance(around, (ast.arg, ast.AnnAssign)) and around.annotation is node
