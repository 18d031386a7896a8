# ruff: noqa
"""Says that the machine is one with Windows, where MACHINE does, to what is imported after the standard library."""

import os

if os.environ.get("MACHINE") == "windows":
    import asyncio, concurrent.futures, ctypes.util, getpass, importlib.metadata, logging.handlers, multiprocessing.pool
    import pathlib, platform, runpy, shutil, socket, subprocess, sys, tempfile, unittest, uuid

    for name in ("click", "typer", "rich.console", "absl.flags", "fire", "yaml"):  # what looks for Windows on import
        try:
            __import__(name)
        except ImportError:
            pass
    pathlib.WindowsPath = pathlib.PosixPath  # what Path() makes there
    platform.system = lambda: "Windows"
    os.name, sys.platform = "nt", "win32"
