"""The tables and the plot."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from correctness import Score
from timing import Timed
from tools import OTHERS, OURS

TOP = Path(__file__).parents[1]
BEGIN, END = "<!-- benchmark -->", "<!-- /benchmark -->"


@dataclass(frozen=True)
class Results:
    """What one run measured: scores by tool, times by corpus and command, megabytes by corpus."""

    scores: Mapping[str, Score]
    times: Mapping[str, Mapping[str, Timed]]
    sizes: Mapping[str, float]

    def score(self, name: str) -> Score | None:
        """The score of the tool that a command belongs to."""
        if any(name.endswith(f", {platform}") for platform in OTHERS):
            return None  # the projects say what is right on one platform
        if name.startswith(OURS):
            return next((made for tool, made in self.scores.items() if tool.startswith(OURS)), None)
        return self.scores.get(name)


def correctness(scores: Mapping[str, Score]) -> str:
    """What each tool makes of the small projects, as Markdown."""
    lines = ["| tool | places changed as they should be | projects with a wrong change | spoilt projects that had to stay |"]
    lines.append("|---|---|---|---|")
    for name, made in scores.items():
        lines.append(f"| {name} | {made.right} of {made.places} | {made.wrong} | {made.spoilt} of {made.to_stay} |")
    return "\n".join(lines)


def tables(results: Results) -> str:
    """All that was timed, as Markdown."""
    parts = [part for corpus in results.times for part in (*_times(results, corpus), "")]
    return "\n".join([*parts, *_growth(results)])


def _times(results: Results, corpus: str) -> Iterator[str]:
    """Median and minimum seconds, processor, memory, the ratio to our first command, and how right the tool is."""
    measured = results.times[corpus]
    ours = next((timed for name, timed in measured.items() if name.startswith(OURS) and timed.wall), None)
    yield f"**{corpus}**"
    yield ""
    yield "| command | median | minimum | processor | memory | times ours | right | wrong |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, timed in measured.items():
        made = results.score(name) if corpus in results.sizes else None
        right = f"{made.right} of {made.places} | {made.wrong + made.spoilt}" if made else " | "
        if timed.failed:
            yield f"| {name} | {timed.failed} | | | | | {right} |"
            continue
        ratio = f"{timed.middle / ours.middle:.2f}" if ours else ""
        cpu = f"{min(timed.cpu):.2f} s"
        yield f"| {name} | {timed.middle:.3f} s | {timed.best:.3f} s | {cpu} | {timed.peak:.0f} MiB | {ratio} | {right} |"


def _growth(results: Results) -> Iterator[str]:
    """Time per megabyte, and what the second core gives, corpus by corpus."""
    yield "| corpus | MB | our check, s | ms per MB | ast-grep, ms per MB | one core / all |"
    yield "|---|---|---|---|---|---|"
    for corpus, size in sorted(results.sizes.items(), key=lambda pair: pair[1]):
        measured = results.times[corpus]
        check, alone, other = (measured.get(name) for name in (f"{OURS} check", f"{OURS} check (one core)", "ast-grep"))
        if check is None or not check.wall:
            continue
        gain = f"{alone.middle / check.middle:.2f}" if alone and alone.wall else ""
        peer = f"{other.middle * 1000 / size:.0f}" if other and other.wall else ""
        yield f"| {corpus} | {size:.1f} | {check.middle:.3f} | {check.middle * 1000 / size:.0f} | {peer} | {gain} |"


def plot(found: Mapping[str, Mapping[str, Timed]]) -> str:
    """Bars of the medians on a logarithmic scale, one group a corpus, as SVG for light and dark pages."""
    rows: list[tuple[str, float | None]] = []
    for corpus, measured in found.items():
        rows.append((corpus, None))
        rows += sorted(((name, timed.middle) for name, timed in measured.items() if timed.wall), key=lambda row: row[1])
    low = min((value for _, value in rows if value), default=0.01)
    high = max((value for _, value in rows if value), default=1.0)
    scale = 380 / max(math.log10(high / low), 0.1)
    parts = []
    for index, (name, value) in enumerate(rows):
        y = 20 * index + 20
        if value is None:
            parts.append(f'<text x="0" y="{y}" font-weight="bold">{escape(name)}</text>')
            continue
        width = 12 + scale * math.log10(value / low)
        colour = "#2563eb" if name.startswith(OURS) else "#9ca3af"
        parts.append(f'<text x="220" y="{y}" text-anchor="end">{escape(name)}</text>')
        parts.append(f'<rect x="230" y="{y - 11}" width="{width:.0f}" height="13" fill="{colour}"/>')
        parts.append(f'<text x="{236 + width:.0f}" y="{y}">{value:.3g} s</text>')
    style = "text{font:12px sans-serif;fill:#1f2937}@media(prefers-color-scheme:dark){text{fill:#e5e7eb}}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 {20 * len(rows) + 20}" role="img"><style>{style}</style>'
    return head + "".join(parts) + "</svg>\n"


def write(results: Results) -> None:
    """Put the tables between their marks on both pages, and the plot beside the other pictures."""
    (TOP / "docs" / "benchmark.svg").write_text(plot(results.times), "utf-8")
    made = f"{correctness(results.scores)}\n\n![Median seconds of each command on each tree](benchmark.svg)\n\n(The bars have a logarithmic scale.)\n\n{tables(results)}"
    for name in ("docs/benchmark.md", "docs/benchmark.zh-CN.md"):
        text = (TOP / name).read_text("utf-8")
        before, rest = text.split(BEGIN, 1)
        _, after = rest.split(END, 1)
        (TOP / name).write_text(f"{before}{BEGIN}\n{made}\n{END}{after}", "utf-8")
