"""The kinds that decisions ask for: what a reason means to the program, and where a value starts."""

from __future__ import annotations

from enum import Enum


class Meaning(Enum):
    """What a reason means to the program itself, which never asks for the sentence: that is the reader's."""

    UNREACHABLE = "unreachable"  # of a site: the platform never runs it
    ELSEWHERE = "elsewhere"  # ... no group forms there, or another site decides
    FOREIGN = "foreign"  # ... it holds for every call of this framework alike
    CONDITION = "condition"  # of an entry: a condition, or a try, keeps its group
    MIGRATED = "migrated"  # ... the vendor's own module, which the entry points import, sees to it
    ALONE = "alone"  # ... its framework makes no group where one process is started; "command" starts one
    GIVEN_AT_START = "given-at-start"  # of a value: who starts the program gives it
    ARGUMENT = "argument"  # of a step: a call of a function of the project hands the value on
    NAMED = "named"  # ... a name of the code is bound to it
    FALLBACK = "fallback"  # ... it is what is taken where a name is missing
    PART = "part"  # ... it is a part of a text that is put together
    TRANSLATED = "translated"  # ... a call takes another name in place of this one
    PLACE = "place"  # ... nothing but where a line is put
    IMPORT = "import"  # of an edit: it adds a name that a change beside it uses
    HELPER = "helper"  # ... a function that they use
    UNUSED = "unused"  # ... it takes out an import that they leave unused
    CHOICES = "choices"  # ... it lets a list take the new name
    WARNING = "warning"  # ... it says at run time that a name which somebody typed is changed
    GIVEN_UP = "given-up"  # of a file: a reader of ours gives up on one of its kind
    APART = "apart"  # ... of a folder: another repository, or a project with a platform of its own
    NO_TEXT = "no-text"  # ... what it holds is no text, or none in UTF-8


class OriginKind(str, Enum):
    """What an expression is that a value starts from."""

    LITERAL = "literal"
    ASSIGNMENT = "assignment"
    ARGUMENT = "argument"
    SUBCLASS_ARGUMENT = "subclass-argument"  # what a class of the project hands to its base, or gives a field of it
    PARAMETER_DEFAULT = "parameter-default"
    FIELD_DEFAULT = "field-default"
    OPTION_DEFAULT = "option-default"
    ENVIRONMENT_DEFAULT = "environment-default"
    KEY = "key"  # an entry of a mapping in a program
    KEY_DEFAULT = "key-default"  # what is taken where the mapping has none
    LOOP = "loop"
    RETURN = "return"
    ENUM = "enum"  # an attribute of torch's own enumeration of backends
    MEMBER = "member"  # of an enumeration of the project
    CONFIG_KEY = "config-key"
    COMMAND_LINE = "command-line"
    LAUNCH = "launch"
    LAUNCH_VARIABLE = "launch-variable"
    OMITTED = "omitted"  # nothing is passed: the call itself
    PLATFORM_DEFAULT = "platform-default"  # torch is asked what it picks
    CURRENT = "current"  # the backend of a group that exists
    OBJECT = "object"  # no text, but what a name stands for
    PARAMETER = "parameter"  # nobody in the project calls the function
    CLASS = "class"  # a class of the project that is called: its own business
    PARTIAL = "partial"
    HANDED_ON = "handed-on"
    AT_CALL = "at-call"  # the argument itself, where what gives it has to stay as it is
    UNKNOWN = "unknown"

    def __str__(self) -> str:
        """The word for it, as messages and JSON have it."""
        return self.value


class GroupMatch(str, Enum):
    """How a group that a run made relates to what reading found."""

    AGREES = "agrees"  # the site is known, and the value is one of those found for it
    TYPED = "set-at-launch"  # the site is known; the start of this run gave a value that the code does not have
    UNDECIDED = "undecided"  # the site is known; what it passes does not decide, or was not asked for
    PLACE = "not-found"  # no site is known there
    OPEN = "unknown-value"  # the site is known; where its value comes from is not
    VALUE = "other-value"  # the site is known; the value is none of those found for it
    OTHER_MACHINE = "other-machine"  # ... and this machine is none of the platform that was read for
    LEFT_TO_TORCH = "torch-default"  # a library makes a group and names no backend
    IGNORED = "ignored"  # a comment in the code, or the configuration, tells the tool to leave it alone
    OUTSIDE = "outside"  # no line of the project is on the stack
