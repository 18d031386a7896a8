"""Uses of a backend's name for something besides the group: where one is known, what gives the name has to stay as it is."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable

from msgspec import Struct

from ddp_codemod.dataflow.def_use import find_reads
from ddp_codemod.dataflow.file_readers import WHOLE_TEXT, find_launch_readers, list_parser_names
from ddp_codemod.dataflow.fold import UNKNOWN, FoldResult, Known, fold, truth
from ddp_codemod.dataflow.reads import Read
from ddp_codemod.dataflow.references import find_entry_references, find_script_reference
from ddp_codemod.dataflow.values import Value
from ddp_codemod.model import Action, Place
from ddp_codemod.parse.document import Document, Entry
from ddp_codemod.parse.python import Module, last_name
from ddp_codemod.parse.shell import Script
from ddp_codemod.policy.compared_groups import is_group_asked
from ddp_codemod.policy.findings import Context, Finding
from ddp_codemod.policy.shown_texts import ShownTexts
from ddp_codemod.sites.entities import External
from ddp_codemod.sites.surface_calls import Use

_LOOKING = frozenset({"isinstance", "hasattr", "type", "callable", "id"})  # builtins to which one text is as good as another
_SAYING = frozenset({"help", "metavar", "description", "desc", "epilog", "doc"})  # keywords of texts for a reader
_OF_KEYS = (ast.Is, ast.IsNot, ast.In, ast.NotIn)  # ``args is None``, ``"lr" in args``
_DEF, _ANY = re.compile(rb"\bdef[ \t]+\Z"), re.compile(rb"")  # around a name that a function is passed
_ADDRESS = "://"  # in a text that says where processes meet, and in no backend's name
OPEN_END = "\0"  # in a text of which only the beginning is known: stands for the rest
_IDLE = (ast.Pass, ast.Global, ast.Nonlocal)


class Swap(Struct, frozen=True):
    """A value before an edit, which is a text or None, and the text after it."""

    old: str | None
    new: str


class OtherUse(Struct, frozen=True, eq=False):
    """A place at which a value is used for something besides the group."""

    name: str  # of the file
    line: int
    text: str
    sure: bool = True  # else nothing but a name, or a limit, leads there


class OtherUses:
    """Answers for one run which values are used for something else; ``findings`` say what the groups are passed."""

    def __init__(self, context: Context, findings: Iterable[Finding]) -> None:
        self.context = context
        self._groups: set[int] = set()  # the arguments that give groups their backends, and the calls themselves
        self._addresses: set[int] = set()  # of these the arguments that say where the processes meet
        self._alike: dict[int, list[Value]] = {}
        self._reviewed: dict[Place, str] = {}  # values that a library takes which does not know the platform's name
        for finding in findings:
            if finding.action is Action.REVIEW and not isinstance(finding.use, Use):  # a key, an option or a variable
                self._reviewed |= {source.place: finding.use.surface.id for source in finding.possible}
            for source in finding.possible:
                self._alike.setdefault(id(source.node), []).append(source)
            parameters = finding.use.surface.parameters if isinstance(finding.use, Use) else ()
            if isinstance(finding.use, Use) and finding.use.guard and not finding.use.is_exact:
                continue  # what it is passed may go to something else
            if finding.argument is not None:
                self._groups.add(id(finding.argument))
                if any(one.name == finding.parameter and one.role != "backend" for one in parameters):
                    self._addresses.add(id(finding.argument))
            if isinstance(finding.use, Use) and isinstance(finding.use.call, ast.Call):
                self._groups |= {id(finding.use.call), *map(id, finding.use.spread)}
        self._shown = ShownTexts(context)
        self._to_code = frozenset(name for idioms in context.rules.idioms for name in idioms.shows_to_code)
        self._parses = list_parser_names(context.tracer)
        names = context.tracer.resolver.project.names
        self._folders = frozenset(part.removesuffix(".py") for name in names for part in name.split("/"))  # imported however

    def of(self, source: Value, text: str, old: str | None = None) -> OtherUse | None:
        """The first use of a source's value which another text would change; None where there is none.

        ``old`` is what is known of a text that is put together.
        """
        value = source.value.value if isinstance(source.value, Known) else old
        if not isinstance(value, str) and (value is not None or not isinstance(source.value, Known)):
            return None
        script = source.module if isinstance(source.module, Script) else None
        if script is not None and (said := find_script_reference(self.context.tracer, script, source.node)) is not None:
            return OtherUse(source.module.name, said.line, said.text)
        if isinstance(source.module, Document) and isinstance(source.node, Entry):
            for one in find_entry_references(self.context.tracer, source.module, source.node):
                if not one.key:
                    return OtherUse(one.source.name, one.line, one.text)
            for launch, start, line in find_launch_readers(self.context.tracer, source.module.name):
                return OtherUse(launch.name, launch.source.position(start)[0], line)
        start = source.module.source.position(source.place.start)[0]
        if source.place in self._reviewed:
            return OtherUse(source.module.name, start, self._reviewed[source.place])
        swap = Swap(value, text)
        found = find_reads(self.context.tracer, source, self._alike.get(id(source.node), ()))
        for read in found:
            if not self.is_harmless(read, swap) and self._can_arrive(source, read):
                return OtherUse(read.module.name, read.module.line(read.node), self._format_context(read), read.sure)
        return OtherUse(source.module.name, start, source.text, False) if found.lost else None

    def is_shown(self, module: Module, call: ast.Call) -> bool:
        """Whether a call only shows what it is passed."""
        return self._shown.is_shown(module, call)

    def _format_context(self, read: Read) -> str:
        """The code around a read, on one line."""
        at: ast.AST = read.node
        for parent in read.module.ancestors(read.node):
            if not isinstance(parent, (ast.expr, ast.keyword)) or isinstance(parent, ast.Lambda):
                break
            at = parent if isinstance(parent, ast.expr) else at
        return read.module.short_text(at)

    def _can_arrive(self, source: Value, read: Read) -> bool:
        """Whether a source's value can be what is read; asked where nothing but a word leads there."""
        if read.sure:
            return True
        if getattr(read.carrier, "lineno", None) is None:
            return True  # the text of a file, or a table: neither is the value itself, which could be looked for
        found = self.context.tracer.evaluate(read.module, read.carrier)
        if any(one.node is source.node or one.place == source.place for one in found):
            return True
        return not found.closed

    def _is_handed_whole(self, read: Read) -> bool:
        """Whether code of the project takes the object that holds the value: its reads are found by the value's name."""
        around = read.module.parents.get(read.node)
        call = read.module.parents.get(around) if isinstance(around, (ast.keyword, ast.Starred)) else around
        if not read.inside or not isinstance(call, ast.Call) or call.func is read.node:
            return False
        found = self.context.tracer.resolver.resolve(read.module, call.func)
        if not found and isinstance(call.func, ast.Attribute) and not self._is_defined(call.func.attr):
            return False
        plain = isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id)
        outside = [one.name.partition(".")[0] for one in found if isinstance(one, External)]
        known = self._shown.packages | self._folders
        return not plain and known.issuperset(outside)

    def _is_defined(self, name: str) -> bool:
        """Whether a file of the project defines a function of a name."""
        return bool(self.context.tracer.resolver.project.holding(name, _DEF, _ANY))

    def is_harmless(self, read: Read, swap: Swap) -> bool:
        """Whether the program does the same with both texts where it is read."""
        module, node = read.module, read.node
        around = module.parents.get(node)
        if isinstance(around, ast.Call) and any(last_name(part) == "stdin" for part in around.args):
            return False  # another program reads it
        if self._is_handed_whole(read):
            return True
        # a text with the name in it: as an address, it is another one then
        address = swap.old is not None and _ADDRESS in swap.old
        made = node is not read.carrier and not read.inside and not address
        met = self._addresses if made else ()
        if id(node) in self._groups and id(node) not in met:
            return True
        if id(around) in self._groups and not made and (address or id(around) not in self._addresses):
            return True
        if isinstance(around, ast.keyword):
            if around.arg in _SAYING:
                return True
            parameter, around = around.arg, module.parents.get(around)
            if not isinstance(around, ast.Call):
                return False
            shown = parameter not in self._to_code and self._shown.is_shown(module, around)
            return (id(around) in self._groups and not made) or shown or self._is_for_group(module, around, node, parameter, made)
        if read.ends:
            return False
        if isinstance(around, ast.Call):
            last = last_name(around.func)
            whole_text = isinstance(read.carrier, ast.Name) and read.carrier.id == WHOLE_TEXT
            looking = last == "setattr" or (last in _LOOKING and swap.old is not None)  # what reads that is found by its name
            if looking or self._shown.is_shown(module, around) or (whole_text and last in self._parses):
                return True
            return self._is_for_group(module, around, node, None, made)
        if isinstance(around, ast.Attribute):
            return self._has_same_affixes(module, around, swap) or self._shown.is_result_shown(module, around)
        if isinstance(around, ast.Expr):
            return True  # a message is only shown
        if isinstance(around, (ast.If, ast.IfExp, ast.While, ast.Assert)) and not read.inside:
            return swap.old is not None  # both texts are true
        if isinstance(around, ast.UnaryOp):
            return isinstance(around.op, ast.Not) and swap.old is not None
        if isinstance(around, ast.comprehension):
            return node is not around.iter
        if isinstance(around, ast.Compare) and read.inside:
            asked = around.left if isinstance(around.left, ast.Constant) else around.comparators[-1]
            return len(around.ops) == 1 and isinstance(around.ops[0], _OF_KEYS) and isinstance(asked, ast.Constant)
        if isinstance(around, ast.Compare):
            return node is read.carrier and self._is_same_choice(module, around, node, swap)
        return False

    def _has_same_affixes(self, module: Module, attribute: ast.Attribute, swap: Swap) -> bool:
        """Whether ``startswith`` and ``endswith`` say the same of both texts."""
        call = module.parents.get(attribute)
        asked = call.args[0] if isinstance(call, ast.Call) and call.func is attribute and call.args else None
        if (
            attribute.attr not in ("startswith", "endswith")
            or not isinstance(asked, ast.Constant)
            or not isinstance(asked.value, str)
            or swap.old is None
        ):
            return False
        if OPEN_END in swap.old and (attribute.attr == "endswith" or "?" in asked.value):
            return False
        return bool(getattr(swap.old, attribute.attr)(asked.value)) is bool(getattr(swap.new, attribute.attr)(asked.value))

    def _is_for_group(self, module: Module, call: ast.Call, node: ast.expr, keyword: str | None, made: bool) -> bool:
        """Whether an argument is the backend of a group, or, unless a text was ``made`` of the name, where its processes meet."""
        use = self.context.tracer.finder.use(module, call)
        parameters = use.surface.parameters if use is not None else ()
        if use is not None and keyword is None and any(part.arg is None and part.value is node for part in call.keywords):
            return True
        return use is not None and any(use.argument(one) is node for one in parameters if one.role == "backend" or not made)

    def _is_same_choice(self, module: Module, compare: ast.Compare, asked: ast.expr, swap: Swap) -> bool:
        """Whether a comparison has the same outcome for both texts, or decides nothing but what is shown and what the group gets."""
        if is_group_asked(self.context.tracer, module, compare, asked):
            return True
        if not isinstance(compare.ops[0], (ast.Is, ast.IsNot)):
            outcomes = [self._evaluate_test(module, compare, asked, value) for value in (swap.old, swap.new)]
            if outcomes[0] is not None and outcomes[0] is outcomes[1]:
                return True
        elif swap.old is not None:
            return isinstance(compare.comparators[-1], ast.Constant) and compare.comparators[-1].value is None
        test: ast.AST = compare
        around = module.parents.get(test)
        while isinstance(around, (ast.BoolOp, ast.UnaryOp)):
            test, around = around, module.parents.get(around)
        if isinstance(around, (ast.IfExp, ast.If)) and around.test is test:
            before, after = (self._evaluate_test(module, around.test, asked, value) for value in (swap.old, swap.new))
            if before is not None and before is after:
                return True
            if isinstance(around, ast.If):
                return all(self._is_idle(module, part, asked) for part in (*around.body, *around.orelse))
            return self._is_same_value(module, around, asked, swap)
        return False

    def _is_same_value(self, module: Module, node: ast.IfExp, asked: ast.expr, swap: Swap) -> bool:
        """Whether a conditional expression gives the same, but for the backend's name, whatever else is true."""
        if self._is_group_argument(module, node):
            return True
        text = ast.dump(asked)
        given = []
        for value in (swap.old, swap.new):
            taken = self._evaluate_test(module, node.test, asked, value)
            if taken is None:
                return False
            part = node.body if taken else node.orelse
            given.append(value if ast.dump(part) == text else part.value if isinstance(part, ast.Constant) else part)
        return given[0] == given[1]

    def _is_group_argument(self, module: Module, node: ast.AST) -> bool:
        around = module.parents.get(node)
        return id(node) in self._groups or (isinstance(around, ast.IfExp) and self._is_group_argument(module, around))

    def _evaluate_test(self, module: Module, test: ast.expr, asked: ast.expr, value: str | None) -> bool | None:
        text = ast.dump(asked)
        start, is_open, _ = (value or "").partition(OPEN_END)
        if is_open and any(isinstance(one, ast.Constant) and str(one.value).startswith(start) for one in ast.walk(test)):
            return None  # it may be this very text

        def look(part: ast.expr) -> FoldResult:
            if part is asked or ast.dump(part) == text:
                return Known(value)
            known = self.context.facts.fold(module, part) if isinstance(part, (ast.Name, ast.Attribute, ast.Call)) else None
            return known if isinstance(known, Known) else UNKNOWN

        return truth(fold(test, look))

    def _is_idle(self, module: Module, statement: ast.stmt, asked: ast.expr) -> bool:
        """Whether a statement shows something, makes a group, or gives the value another backend's name."""
        if isinstance(statement, _IDLE):
            return True
        if isinstance(statement, ast.Expr):
            call = statement.value
            if isinstance(call, ast.Constant) or id(call) in self._groups:
                return True
            return (
                isinstance(call, ast.Call)
                and self._shown.is_shown(module, call)
                and last_name(call.func) not in ("exit", "error", "fail")
            )
        if isinstance(statement, ast.Assign):
            same = all(ast.unparse(target) == ast.unparse(asked) for target in statement.targets)
            value = statement.value
            return same and isinstance(value, ast.Constant) and str(value.value).lower() in self.context.rules.backends
        if isinstance(statement, ast.If):
            return all(self._is_idle(module, part, asked) for part in (*statement.body, *statement.orelse))
        return False
