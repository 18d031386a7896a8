"""The command line: one module a command, which parses flags, calls the pipeline and picks a report."""

from ddp_codemod.cli.late import put_off

put_off()  # before click comes

from ddp_codemod.cli.main import main  # noqa: E402

__all__ = ["main"]
