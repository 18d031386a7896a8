"""The command line: one module a command, which parses flags, calls the pipeline and picks a report."""

from ddp_codemod.cli.main import main

__all__ = ["main"]
