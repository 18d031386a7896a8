"""Where a new statement of a finding goes, and how it is written there."""

from __future__ import annotations

import ast

from ddp_codemod.edits.insert import insert_before_statement, insert_behind_statement, insert_in_class
from ddp_codemod.edits.spans import Insertion
from ddp_codemod.model import Reason
from ddp_codemod.policy.findings import PACKAGE, VALUE, NewStatement


def place_statement(change: NewStatement, package: str, value: str, test: str = "") -> Insertion | Reason:
    """The place and text of a statement, with what stands for its package and its value; why there is none, if so.

    ``test``: a condition under which it is run, beside one of its own.
    """
    tests = " and ".join(part for part in (test, change.under) if part)
    text = f"if {tests}:\n\t{change.text}" if tests else change.text
    source, text = change.module.source, text.replace(PACKAGE, package).replace(VALUE, value)
    if change.where == "inside":
        assert isinstance(change.node, ast.ClassDef)
        return insert_in_class(source, change.node, text)
    place = insert_before_statement if change.where == "before" else insert_behind_statement
    return place(source, change.module.parents, change.node, text)
