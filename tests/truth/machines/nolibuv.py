"""Makes this process's torch one that was built without libuv: its answer to "was I built with it?" becomes no.

The function that answers is called directly inside libtorch_cpu.so (a preloaded library does not get between), so its first
instructions are overwritten in memory. Linux on x86-64 and arm64.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
from pathlib import Path

NAME = b"\0_ZN4c10d6detail35is_libuv_tcpstore_backend_availableEv\0"
RETURN_FALSE = {"x86_64": bytes.fromhex("31c0c3"), "aarch64": bytes.fromhex("00008052c0035fd6")}
SYMBOL_TABLES = (2, 11)  # SHT_SYMTAB, SHT_DYNSYM


def install() -> None:
    """Overwrite the function; LookupError where this torch does not name it."""
    import torch

    library = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    code = RETURN_FALSE[platform.machine()]
    address = _loaded_at(library) + _offset(library)
    page = mmap.PAGESIZE
    start = address - address % page
    libc = ctypes.CDLL(None, use_errno=True)
    everything = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    if libc.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(2 * page), everything):
        raise OSError(ctypes.get_errno(), "mprotect refused")
    ctypes.memmove(address, code, len(code))


def _loaded_at(library: Path) -> int:
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, _rights, offset, *_device, path = line.split(maxsplit=5)
        if offset.strip("0") == "" and path.strip() == str(library.resolve()):
            return int(span.partition("-")[0], 16)
    raise LookupError(f"{library} is not loaded")


def _offset(library: Path) -> int:
    """Where the function lies, from the ELF symbol tables."""
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        table, entry_size, entries = *struct.unpack_from("<Q", data, 0x28), *struct.unpack_from("<HH", data, 0x3A)
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * entry_size) for i in range(entries)]
        for _name, kind, _flags, _address, start, size, link, *_rest in sections:
            if kind not in SYMBOL_TABLES:
                continue
            strings, length = sections[link][4:6]
            found = data.find(NAME, strings, strings + length)
            for at in range(start, start + size, 24) if found >= 0 else ():
                name, _info, _other, section, value = struct.unpack_from("<IBBHQ", data, at)
                if name == found + 1 - strings and section:
                    return int(value)
    raise LookupError("this build of torch does not name the function")


if __name__ == "__main__":
    install()
    import torch.distributed as dist

    dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)  # raises now
