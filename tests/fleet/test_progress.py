"""The line that says how far a run has come."""

from __future__ import annotations

from ddp_codemod.fleet.model import Outcome, Trouble
from ddp_codemod.fleet.progress import Progress, format_duration
from ddp_codemod.fleet.totals import Totals
from ddp_codemod.report.table import cut_to_width


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_rate_and_time_left_follow_the_clock() -> None:
    clock, sums = Clock(), Totals()
    progress = Progress(100, "en", clock)
    for number in range(10):
        clock.now += 2
        progress.step()
        sums.add(Outcome("a", "rocm", edits=number % 2, trouble=Trouble.CRASHED if number == 4 else None))
    line = progress.line(10, sums, bar=True)
    assert line == "[#.........] 10/100, 3 min left: 5 edited, 0 to review, 1 failed; 0.5/s"
    assert "每秒 0.5 个" in Progress.line(progress_in("zh", clock), 10, sums, bar=False)


def test_a_terminal_of_eighty_columns_shows_all_of_it() -> None:
    for lang in ("en", "zh"):
        progress = progress_in(lang, Clock())
        sums = Totals(edited=500, review=400, failed=10)
        line = progress.line(900, sums, bar=True)
        assert cut_to_width(line, 79) == line


def progress_in(lang: str, clock: Clock) -> Progress:
    progress = Progress(1000, lang, clock)
    for _ in range(10):
        clock.now += 2
        progress.step()
    return progress


def test_nothing_is_promised_before_anything_is_done() -> None:
    assert "– left" in Progress(5, "en", Clock()).line(0, Totals(), bar=False)


def test_a_plain_line_comes_now_and_then() -> None:
    clock = Clock()
    progress = Progress(5, "en", clock)
    due = []
    for _ in range(7):
        clock.now += 10
        due.append(progress.due())
    assert due == [False, False, True, False, False, True, False]


def test_lengths_of_time_read_well() -> None:
    assert [format_duration(seconds, "en") for seconds in (0.4, 99, 100, 5999, 6000, 360_000)] == [
        "0 s",
        "99 s",
        "2 min",
        "100 min",
        "1.7 h",
        "100.0 h",
    ]
