"""The fixtures, copied out of this repository: in it, a project's guides and scripts would be those of the whole repository."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path

_FOLDER = Path(tempfile.mkdtemp(prefix="ddp-codemod-fixtures-")).resolve()
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
FIXTURES = Path(shutil.copytree(Path(__file__).parents[1] / "fixtures", _FOLDER / "fixtures"))
