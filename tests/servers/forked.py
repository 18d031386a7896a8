"""Servers without their imports: one process has imported everything, and each server is a fork of it, with the streams that it was given.

    python forked.py serve SOCKET            the process that forks; it ends with its standard input
    python forked.py start SOCKET WORD...    what a client starts: ``ddp-codemod WORD...``, forked; its exit code is that of the fork

A fork starts with nothing done but imports, so it is as fresh as a process. ``test_life.py`` starts real ones.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import sys
from pathlib import Path

LOST = 70  # the fork ended without saying how


def serve(path: str) -> None:
    """Fork for each connection until standard input ends."""
    import ddp_codemod.cli
    import ddp_codemod.servers.lsp.server
    import ddp_codemod.servers.mcp.server  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system buries the forks
    with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as waiting:
        listener.bind(path)
        listener.listen(8)
        waiting.register(listener, selectors.EVENT_READ)
        waiting.register(sys.stdin, selectors.EVENT_READ)
        os.write(1, b"listening\n")  # not by print: the forks get its stream untouched
        while sys.stdin not in [key.fileobj for key, _ in waiting.select()]:
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0:
                    listener.close()
                    os._exit(become(connection))


def become(connection: socket.socket) -> int:
    """Be the command that was asked for, with the caller's streams; its exit code, which the caller is told."""
    from ddp_codemod.cli import main

    said, streams, _, _ = socket.recv_fds(connection, 1 << 20, 3)
    asked = json.loads(said)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):  # the old ones go by the old files
        stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the fork lives
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environ"])
    try:
        code = main(asked["words"])
    except BaseException:  # a fork that goes on would serve, too
        sys.excepthook(*sys.exc_info())
        code = LOST
    connection.sendall(bytes([code]))
    return code


def start(path: str, words: list[str]) -> int:
    """Have a fork made, give it this process' streams, and end as it ends."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        asked = {"words": words, "environ": dict(os.environ), "folder": str(Path.cwd())}
        socket.send_fds(connection, [json.dumps(asked).encode()], [0, 1, 2])
        for number in (0, 1, 2):
            os.close(number)  # they are the fork's now
        said = connection.recv(1)
        return said[0] if said else LOST


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        os._exit(start(sys.argv[2], sys.argv[3:]))
