"""``python -m libcst.tool codemod -x ddp_codemod.codemods.port.PortCommand --platform ID --no-format .``"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import libcst
from libcst.codemod import CodemodCommand, CodemodContext, SkipFile

from ddp_codemod.codemods.project import SUFFIX, Project
from ddp_codemod.request import Style


class PortCommand(CodemodCommand):
    """Ports each file as ``ddp-codemod apply`` would.

    In LibCST's tool, it reads the whole project once and traces values across files. ``PortCommand(context, platform="rocm")``
    ports each file, or a text without a file, separately.
    """

    DESCRIPTION = "Port PyTorch process groups to another platform: backends, init_method, stores."

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        """Declare the options of ``ddp-codemod`` that decide what changes; they all fill one object."""
        project = Project(scope=(".",))
        given: list[str] = []

        def platform(value: str) -> None:
            project.platform = value

        def rule(value: str) -> None:
            project.rules = (*project.rules, value)

        def unsafe(_: object) -> None:
            project.unsafe = True

        def style(value: Style) -> None:
            project.style = value

        def scope(value: str) -> None:
            given.append(value)
            project.scope = tuple(given)

        add = arg_parser.add_argument
        add(
            "--platform",
            metavar="ID",
            action=_make_action(platform),
            help="the target (ddp-codemod platforms); else pyproject.toml's",
        )
        add("--rule", metavar="ID", action=_make_action(rule), help="also apply this rule")
        add("--unsafe", nargs=0, action=_make_action(unsafe), help="also apply unsafe fixes")
        add(
            "--style",
            choices=get_args(Style),
            action=_make_action(style),
            help="portable: conditions that keep the old value elsewhere",
        )
        add(
            "--scope",
            metavar="PATH",
            action=_make_action(scope),
            help="files and folders to read and change, as for ddp-codemod diff (default: .)",
        )
        arg_parser.set_defaults(project=project)

    def __init__(
        self,
        context: CodemodContext,
        project: Project | None = None,
        *,
        platform: str | None = None,
        rules: Iterable[str] = (),
        unsafe: bool = False,
        style: Style = "pin",
    ) -> None:
        super().__init__(context)
        self.project = project or Project(platform, rules=tuple(rules), unsafe=unsafe, style=style)

    def transform_module_impl(self, tree: libcst.Module) -> libcst.Module:
        """The ported module; SkipFile if the file has changed since ddp-codemod read it."""
        name = self.context.filename
        if name is None:
            with TemporaryDirectory(prefix="ddp-codemod-") as folder:
                path = Path(folder, f"stdin{SUFFIX}")
                path.write_bytes(tree.bytes)
                change = self.project.alone(str(path))
        elif self.project.scope:
            change = self.project.changes.get(str(Path(name).resolve()))
        else:
            change = self.project.alone(name)
        if change is None:
            return tree
        if change.before != tree.bytes:
            raise SkipFile("the file has changed since ddp-codemod read it; run this codemod before others")
        return libcst.parse_module(change.after, config=tree.config_for_parsing)


def _make_action(keep: Callable[[Any], None]) -> type[argparse.Action]:
    """An action that hands its value on."""

    class Keep(argparse.Action):
        def __call__(self, parser: object, namespace: object, values: Any, option_string: str | None = None) -> None:
            keep(values)

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **{**kwargs, "dest": argparse.SUPPRESS, "default": argparse.SUPPRESS})

    return Keep
