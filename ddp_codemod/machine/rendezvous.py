"""Where the ranks of a trial meet: as the code says, or, where that is another machine's place, somewhere on this one, and said so."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ddp_codemod.machine.processes import find_free_port


@dataclass(frozen=True)
class Rendezvous:
    """The init_method to try. ``written``: it stands for this one, which was not tried; ``missing``: no such folder is here."""

    url: str | None
    written: str = ""
    missing: str = ""


def plan_rendezvous(init_method: str | None, folder: str) -> Rendezvous:
    """The same kind of URL with the same query, at a free port or in a scratch folder of our own."""
    if init_method is None:
        return Rendezvous(None)
    scheme, _, rest = init_method.partition("://")
    query = "?" + rest.partition("?")[2] if "?" in rest else ""
    if scheme == "tcp":
        url = f"tcp://127.0.0.1:{find_free_port()}{query}"
        return Rendezvous(url, "" if _is_here(rest) else init_method)
    if scheme == "file":
        place = Path(unquote(rest.partition("?")[0]))
        if not place.parent.is_dir():
            return Rendezvous(None, init_method, str(place.parent))
        return Rendezvous((Path(folder) / "meeting").as_uri() + query, init_method)
    return Rendezvous(init_method)


def _is_here(rest: str) -> bool:
    """Whether the address is this machine's own loopback or name."""
    try:
        host = urlsplit(f"tcp://{rest}").hostname or ""
    except ValueError:
        return False
    if host.lower() in ("localhost", socket.gethostname().lower()):
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_loopback
