"""The kinds of files that a survey reads, by the ends of their names."""

from __future__ import annotations

NOTEBOOK = ".ipynb"
PROGRAMS = (".py", NOTEBOOK)
CONFIGS = (".yaml", ".yml", ".toml", ".json", ".ini", ".cfg")
SHELL = (".sh", ".bash", ".slurm", ".sbatch", ".dockerfile", ".mk")
# launch files of Windows, which are read and never edited
WINDOWS = {".bat": "batch", ".cmd": "batch", ".ps1": "powershell"}
LAUNCHERS = (
    *SHELL,
    *("Dockerfile", "dockerfile", "Containerfile", "Makefile", "makefile"),
    *WINDOWS,
    *(suffix.upper() for suffix in WINDOWS),
)
