"""The summary page in a real Chromium."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ddp_codemod.fleet.model import Count, Outcome, Trouble
from ddp_codemod.fleet.overview import render_overview

selenium = pytest.importorskip("selenium", reason="selenium is not installed: make browser")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.support.ui import Select  # noqa: E402

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="chromium or chromedriver is not installed: make browser")

EVIL = '<img src=x onerror=document.title="owned">'
GOOD = Outcome(
    "https://e.org/a?b=1", "rocm", commit="c" * 40, folder="repositories/a b#1/x", edits=2, review=1, page=True, seconds=1.0
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for flag in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        f"--user-data-dir={tmp_path_factory.mktemp('p')}",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    driver.set_window_size(1400, 900)
    yield driver
    driver.quit()


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Any:
    outcomes = [
        GOOD,
        Outcome(EVIL, "rocm", trouble=Trouble.TIMED_OUT, detail=EVIL),
        *(replace(GOOD, repository=f"https://e.org/{n:03}", edits=0, review=0, page=False) for n in range(300)),
        Outcome(
            "https://e.org/z",
            "rocm",
            folder="f",
            review=2,
            sites=(Count(EVIL, "backend", "edit", 3), Count("torch", "store", "keep", 1)),
        ),
    ]
    path = tmp_path / "index.html"
    path.write_bytes(render_overview(outcomes, "en"))
    result = tmp_path / "repositories" / "a b#1" / "x" / "review.html"
    result.parent.mkdir(parents=True)
    result.write_text("<title>its page</title>")
    browser.get_log("browser")
    browser.get(path.as_uri())
    return browser


def rows(page: Any) -> list[str]:
    return [
        row.find_element(By.CSS_SELECTOR, ".name").text
        for row in page.find_elements(By.CSS_SELECTOR, "tbody tr")
        if row.find_elements(By.CSS_SELECTOR, ".name")
    ]


def test_it_is_drawn_without_an_error_and_runs_nothing_of_a_repository(page: Any) -> None:
    assert page.get_log("browser") == []
    assert page.title == "ddp-codemod fleet"
    assert page.find_elements(By.TAG_NAME, "img") == []
    assert len(page.find_elements(By.CSS_SELECTOR, "svg rect")) == 2
    assert rows(page)[:3] == [EVIL, "https://e.org/z", "https://e.org/a?b=1"]


def test_rows_come_a_screenful_at_a_time(page: Any) -> None:
    assert len(rows(page)) == 200
    assert page.find_element(By.CSS_SELECTOR, ".count").text == "200 of 303"
    page.find_elements(By.XPATH, "//button[text()='Show more']")[0].click()
    assert len(rows(page)) == 303


def test_a_filter_a_search_and_a_failure_s_name_narrow_the_list(page: Any) -> None:
    page.find_element(By.XPATH, "//section//button[text()='timed out']").click()
    assert rows(page) == [EVIL]
    Select(page.find_element(By.TAG_NAME, "select")).select_by_visible_text("to review")
    assert rows(page) == ["https://e.org/z"]
    Select(page.find_element(By.TAG_NAME, "select")).select_by_visible_text("all states")
    page.find_element(By.CSS_SELECTOR, "input[type=search]").send_keys("E.ORG/29")
    assert rows(page) == [f"https://e.org/{n}" for n in range(290, 300)]


def test_a_heading_sorts(page: Any) -> None:
    page.find_element(By.XPATH, "//thead//button[text()='Changes']").click()
    assert rows(page)[0] == "https://e.org/a?b=1"
    assert page.find_element(By.CSS_SELECTOR, "th[aria-sort=descending]").text == "Changes"
    page.find_element(By.XPATH, "//thead//button[text()='Changes']").click()
    assert rows(page)[0] != "https://e.org/a?b=1"
    assert page.find_element(By.CSS_SELECTOR, "th[aria-sort=ascending]").text == "Changes"
    page.find_element(By.XPATH, "//thead//button[text()='Repository']").click()
    assert rows(page)[:2] == [EVIL, "https://e.org/000"]
    page.find_element(By.XPATH, "//thead//button[text()='To review']").click()
    assert rows(page)[:3] == [EVIL, "https://e.org/z", "https://e.org/a?b=1"]


def test_a_repository_opens_its_own_page(page: Any) -> None:
    place = page.current_url
    for name in ("page", "https://e.org/a?b=1"):
        page.get(place)
        page.find_element(By.LINK_TEXT, name).click()
        assert page.title == "its page"


def test_what_failed_says_why_in_the_room_of_the_numbers_and_leads_nowhere(page: Any) -> None:
    row = page.find_element(By.CSS_SELECTOR, ".scroll tbody tr")
    assert [cell.text for cell in row.find_elements(By.TAG_NAME, "td")] == [f"{EVIL}\nrocm", f"timed out\n{EVIL}", "0.0", ""]
    assert row.find_elements(By.TAG_NAME, "a") == []


def test_a_narrow_screen_shows_all_without_scrolling_sideways(page: Any, browser: Any) -> None:
    """But for the table, which scrolls by itself."""
    browser.set_window_size(500, 900)
    browser.refresh()
    try:
        assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")
        assert page.get_log("browser") == []
    finally:
        browser.set_window_size(1400, 900)
