"""Draws the terminal of the READMEs: an SVG of what the tool prints, with selectable text, for light and dark pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from session import session

from ddp_codemod.report.table import count_cells

FILES = {"en": Path(__file__).parents[1] / "terminal.svg", "zh": Path(__file__).parents[1] / "terminal.zh-CN.svg"}
PROJECT, COMMAND = "fixtures/tts-spawn/project", "ddp-codemod apply ./TTS --platform rocm"
CELL, LINE, LEFT, TOP = 7.8, 19, 20, 52  # pixels: of a character, of a line, and where the first one stands
STYLES = {"1": "bold", "31": "old", "32": "new", "36": "hunk"}
CUT = "..."
_SGR = re.compile(r"\x1b\[(\d+)m")
_HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" xml:space="preserve" role="img" aria-labelledby="title description">
<title id="title">{command}</title>
<desc id="description">{description}</desc>
<style>
  text {{ font: 13px ui-monospace, "SFMono-Regular", Menlo, Consolas, "DejaVu Sans Mono", "Noto Sans Mono CJK SC", monospace }}
  svg {{ color-scheme: light dark }} text {{ white-space: pre; fill: #1f2328 }} .bold {{ font-weight: 700 }}
  .page {{ fill: #f6f8fa; stroke: #d1d9e0 }} .dot {{ fill: #d1d9e0 }} .old {{ fill: #a40e26 }} .new {{ fill: #116329 }} .hunk {{ fill: #0a5a8a }}
  @media (prefers-color-scheme: dark) {{
    text {{ fill: #f0f6fc }} .page {{ fill: #151b23; stroke: #3d444d }} .dot {{ fill: #3d444d }}
    .old {{ fill: #ff9492 }} .new {{ fill: #7ee787 }} .hunk {{ fill: #79c0ff }}
  }}
</style>
<rect class="page" x="0.5" y="0.5" width="{inner}" height="{tall}" rx="8"/>
<circle class="dot" cx="24" cy="20" r="6"/><circle class="dot" cx="44" cy="20" r="6"/><circle class="dot" cx="64" cy="20" r="6"/>
"""


def drawn(lang: str) -> str:
    """The picture in a language."""
    with session(lang) as started:
        started.bring(PROJECT, "TTS")
        code, output = started.run(f"{COMMAND} --color always")
    assert code == 0, output
    lines = [f"\x1b[1m$ {COMMAND}\x1b[0m", *shortened(output.rstrip("\n").split("\n"))]
    width = round(2 * LEFT + CELL * max(count_cells(_SGR.sub("", line)) for line in lines))
    height = TOP + LINE * len(lines)
    head = _HEAD.format(
        width=width,
        height=height,
        inner=width - 1,
        tall=height - 1,
        command=COMMAND,
        description=escape(_SGR.sub("", " ".join(lines[1:4]))),
    )
    body = (
        f'<text x="{LEFT}" y="{TOP + LINE * at}">{"".join(_runs(line))}</text>' for at, line in enumerate(lines) if line.strip()
    )
    return head + "\n".join(body) + "\n</svg>\n"


def shortened(lines: list[str]) -> Iterator[str]:
    """What happened and why, and the patch of the last file."""
    blank = [at for at, line in enumerate(lines) if not line]
    yield from lines[: blank[1]]
    yield from ("", CUT)
    yield from lines[max(at for at, line in enumerate(lines) if "diff --git" in line) :]


def _runs(line: str) -> Iterator[str]:
    """The parts of a line, each with its style."""
    style = ""
    for at, part in enumerate(_SGR.split(line)):
        if at % 2:
            style = STYLES.get(part, "")
        elif part:
            yield f'<tspan class="{style}">{escape(part, quote=False)}</tspan>' if style else escape(part, quote=False)
