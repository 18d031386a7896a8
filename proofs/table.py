"""The table of proofs in SECURITY.md, between its marks."""

from __future__ import annotations

import datetime
import platform

from proofs.proof import REPOSITORY

FILE = REPOSITORY / "SECURITY.md"
START, END = "<!-- proofs -->", "<!-- end of proofs -->"


def write(number: int, promise: str, measured: str) -> None:
    """Put a row into the table; the others stay."""
    text = FILE.read_text("utf-8")
    head, _, rest = text.partition(START)
    old, _, tail = rest.partition(END)
    table = {}
    for line in old.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if cells and cells[0].strip("| ").isdigit():
            table[int(cells[0].strip("| "))] = line
    day = datetime.date.today().isoformat()
    table[number] = f"| {number} | {promise} | {measured.replace('|', '/')} | {day} |"
    made = ["", "| | promise | measured | on |", "|---|---|---|---|", *(table[number] for number in sorted(table)), ""]
    made.append(f"Python {platform.python_version()}, {platform.system()}.")
    FILE.write_text(head + START + "\n".join([*made, END]) + tail, "utf-8")
