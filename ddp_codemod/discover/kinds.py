"""The kinds of files that a survey reads, by the ends of their names."""

from __future__ import annotations

from pathlib import PurePosixPath

NOTEBOOK = ".ipynb"
PROGRAMS = (".py", NOTEBOOK)
# by the module of parse/ that reads them
CONFIGS = {".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".json": "json", ".ini": "ini", ".cfg": "ini", ".gin": "gin"}
SHELL = (
    *(".sh", ".bash", ".ksh", ".zsh", ".dockerfile", ".mk"),
    *(".bsub", ".lsf", ".pbs", ".qsub", ".sbatch", ".sge", ".slurm"),  # jobs of clusters
)
# launch files of Windows, which are read and never edited
WINDOWS = {".bat": "batch", ".cmd": "batch", ".ps1": "powershell"}
GUIDES = (".md", ".rst", ".markdown", ".MD", ".RST")  # read for the commands that they say to type, and never edited
LAUNCHERS = (
    *SHELL,
    *GUIDES,
    *("Dockerfile", "dockerfile", "Containerfile", "Makefile", "makefile"),
    *WINDOWS,
    *(suffix.upper() for suffix in WINDOWS),
)
# read for calls of a library that makes groups itself, and never edited
NATIVE = (".c", ".cc", ".cpp", ".cu", ".cuh", ".cxx", ".h", ".hpp")
TESTS = ("test", "tests")  # folders
ASIDE = ("benchmark", "benchmarks", "third_party", "vendor")  # folders of what serves the makers of a project, or is others'


def is_test(name: str) -> bool:
    """Whether a file is one that a test runner collects, or lies beside those, by its path."""
    path = PurePosixPath(name)
    own = path.name == "conftest.py" or path.stem.startswith("test_") or path.stem.endswith("_test")
    return own or is_in_test_folder(name)


def is_in_test_folder(name: str) -> bool:
    """Whether a file, of any kind, lies in a folder of tests: ``test_flip.yaml`` elsewhere may be for an evaluation."""
    return any(folder in TESTS for folder in PurePosixPath(name).parts[:-1])


def is_aside(name: str) -> bool:
    """Whether a file lies in a folder of measurements, of others' code, or of tools, whose name begins with a dot."""
    return any(folder in ASIDE or folder.startswith(".") for folder in PurePosixPath(name).parts[:-1])
