"""The tables and the plot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from correctness import Score
from timing import Timed

TOP = Path(__file__).parents[1]
BEGIN, END = "<!-- benchmark -->", "<!-- /benchmark -->"


def correctness(scores: Mapping[str, Score]) -> str:
    """What each tool makes of the small projects, as Markdown."""
    lines = ["| tool | places changed as they should be | projects with a wrong change | spoilt projects that had to stay |"]
    lines.append("|---|---|---|---|")
    for name, made in scores.items():
        lines.append(f"| {name} | {made.right} of {made.places} | {made.wrong} | {made.spoilt} of {made.to_stay} |")
    return "\n".join(lines)


def times(found: Mapping[str, Mapping[str, Timed]], start: str) -> str:
    """Minimum and median seconds, and the ratio of the medians to the first of our commands, as Markdown."""
    parts = []
    for corpus, measured in found.items():
        ours = next((timed for name, timed in measured.items() if name.startswith("ddp-codemod")), None)
        parts += [
            f"**{corpus}**",
            "",
            "| command | median | minimum | processor | memory | times ours |",
            "|---|---|---|---|---|---|",
        ]
        for name, timed in measured.items():
            if timed.failed:
                parts.append(f"| {name} | {timed.failed} | | | | |")
                continue
            ratio = f"{timed.middle / ours.middle:.2f}" if ours and ours.wall else ""
            cpu = f"{min(timed.cpu):.2f} s"
            parts.append(f"| {name} | {timed.middle:.3f} s | {timed.best:.3f} s | {cpu} | {timed.peak:.0f} MiB | {ratio} |")
        parts.append("")
    return "\n".join(parts)


def plot(found: Mapping[str, Mapping[str, Timed]]) -> str:
    """Bars of the medians on a logarithmic scale, one group a corpus, as SVG for light and dark pages."""
    rows: list[tuple[str, float | None]] = []
    for corpus, measured in found.items():
        rows.append((corpus, None))
        rows += sorted(((name, timed.middle) for name, timed in measured.items() if timed.wall), key=lambda row: row[1])
    low = min((value for _, value in rows if value), default=0.01)
    high = max((value for _, value in rows if value), default=1.0)
    scale = 420 / max(math.log10(high / low), 0.1)
    parts = []
    for index, (name, value) in enumerate(rows):
        y = 20 * index + 20
        if value is None:
            parts.append(f'<text x="0" y="{y}" font-weight="bold">{name}</text>')
            continue
        width = 12 + scale * math.log10(value / low)
        colour = "#2563eb" if name.startswith("ddp-codemod") else "#9ca3af"
        parts.append(f'<text x="150" y="{y}" text-anchor="end">{name}</text>')
        parts.append(f'<rect x="160" y="{y - 11}" width="{width:.0f}" height="13" fill="{colour}"/>')
        parts.append(f'<text x="{166 + width:.0f}" y="{y}">{value:.3g} s</text>')
    style = "text{font:12px sans-serif;fill:#1f2937}@media(prefers-color-scheme:dark){text{fill:#e5e7eb}}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 {20 * len(rows) + 20}" role="img"><style>{style}</style>'
    return head + "".join(parts) + "</svg>\n"


def write(scores: Mapping[str, Score], found: Mapping[str, Mapping[str, Timed]], start: str) -> None:
    """Put the tables between their marks in both READMEs, and the plot beside the other pictures."""
    (TOP / "docs" / "benchmark.svg").write_text(plot(found), "utf-8")
    tables = f"{correctness(scores)}\n\n![](docs/benchmark.svg)\n\n{times(found, start)}"
    for name in ("README.md", "README.zh-CN.md"):
        text = (TOP / name).read_text("utf-8")
        before, rest = text.split(BEGIN, 1)
        _, after = rest.split(END, 1)
        (TOP / name).write_text(f"{before}{BEGIN}\n{tables}\n{END}{after}", "utf-8")
