"""``-o FILE``: what a command prints, in a file of the user's naming."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ddp_codemod.cli.errors import make_failure


def write_to_file(path: Path, command: Callable[[], Any]) -> Any:
    """Run a command, and write what it gives as UTF-8 once it has ended: the whole of it, or nothing. Raises Failure.

    A shell's ``>`` may write something else than the bytes: PowerShell's writes UTF-16.
    """
    from ddp_codemod.write.document import write_new

    if not path.parent.is_dir():  # before the work, which may change files
        raise make_failure("output-folder", path=path, folder=path.parent)
    held = io.BytesIO()
    stream, given = sys.stdout, io.TextIOWrapper(held, "utf-8", "backslashreplace", newline="\n")
    sys.stdout = given
    try:
        result = command()
        given.flush()
    finally:
        sys.stdout = stream
    try:
        write_new(path, held.getvalue())
    except OSError as why:
        raise make_failure("output-failed", path=path, why=why.strerror or why) from None
    return result
