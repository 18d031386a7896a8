"""How a user starts what was edited."""

from __future__ import annotations

from msgspec import Struct


class Start(Struct, frozen=True):
    """A command that starts a program whose code is edited."""

    command: str
    name: str  # the program, script or installed command that it starts
    folder: str | None = ""  # that it is typed in, from the root; None for one that is installed
    counts: bool = False  # it starts a process for each device, and the platform has none
    placeholders: tuple[str, ...] = ()  # what the user has to replace in it
    source: tuple[str, int] = ("", 0)  # the file and line that say so; else it is read off the code
    count: tuple[str, str] = ("", "")  # the option by which it starts several processes there, and its value
    single: bool = False  # without the launcher that it has there, because the platform runs one process
    whole: bool = True  # else the user's own arguments may be missing, of which the source speaks
    trial: str = ""  # the command for a run that shows whether a group forms; "" where only its launcher knows one
