"""The page of ``review --html`` in a real Chromium: what it hands over, what it runs, how it reads."""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.cli import main
from ddp_codemod.edits.render import render
from ddp_codemod.edits.units import build_units, select_units
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey
from tests.outside import FIXTURES

selenium = pytest.importorskip("selenium", reason="selenium is not installed: make browser")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVER = shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="chromium or chromedriver is not installed: make browser")

HEAD = "import torch.distributed as dist\n"
CALL = 'dist.init_process_group("nccl")\n'
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--force-color-profile=srgb",
)  # fmt: skip
Driver = Any
Tree = dict[str, bytes]


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, downloads: Path) -> Iterator[Driver]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.add_experimental_option(
        "prefs", {"download.default_directory": str(downloads), "download.prompt_for_download": False}
    )
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=DRIVER))
    driver.set_window_size(1400, 900)
    yield driver
    driver.quit()


@pytest.fixture
def page(browser: Driver, tmp_path: Path) -> Callable[..., Driver]:
    """Make the page of a project, and open it."""

    def make(root: Path, *words: str, platform: str = "rocm") -> Driver:
        path = tmp_path / "review.html"
        path.unlink(missing_ok=True)
        assert main(["review", str(root), "--html", str(path), "--platform", platform, *words]) in (0, 1)
        browser.get_log("browser")
        browser.get(path.as_uri())
        return browser

    return make


def notebook(*cells: str) -> str:
    made = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": cell.splitlines(True)}
        for cell in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def tree(root: Path) -> Tree:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def button(driver: Driver, at: int, kind: str) -> Any:
    return driver.find_element(By.CSS_SELECTOR, f"#u{at} .{kind}")


def patch(driver: Driver) -> bytes:
    """The bytes that the page hands over, taken from the link that it makes."""
    got = driver.execute_async_script(
        """const done = arguments[0], real = URL.createObjectURL;
        URL.createObjectURL = (blob) => { blob.arrayBuffer().then((data) => done(btoa(Array.from(new Uint8Array(data), (c) => String.fromCharCode(c)).join("")))); return "#"; };
        document.getElementById("save").click(); URL.createObjectURL = real;"""
    )
    return base64.b64decode(got)


def choose(driver: Driver, wanted: set[int]) -> None:
    driver.execute_script(
        "for (const card of document.querySelectorAll('article')) card.querySelector(arguments[0].includes(Number(card.id.slice(1))) ? '.yes' : '.no').click()",
        sorted(wanted),
    )


def applied(root: Path, data: bytes, tmp_path: Path) -> Tree:
    """What git makes of a copy of the project."""
    copy = tmp_path / f"copy{random.random()}"
    shutil.copytree(root, copy)
    subprocess.run(["git", "apply", "--check", "-"], cwd=copy, input=data, check=True)
    subprocess.run(["git", "apply", "-"], cwd=copy, input=data, check=True)
    made = tree(copy)
    shutil.rmtree(copy)
    return made


def expected(root: Path, platform: str, chosen: set[int], *fixes: str) -> Tree:
    """What the engine makes of the same choice."""
    rules = load()
    found = survey(Options((root,), rules.platforms[platform], rules, fixes, root))
    everything = build_units(found)
    taken = [unit for unit in everything if unit.number - 1 in chosen]
    return tree(root) | {change.name: change.after for change in render(select_units(found, taken), unsafe=True).changes}


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """Files that a patch can go wrong on."""
    root = tmp_path / "odd"
    root.mkdir()
    (root / "pyproject.toml").touch()
    files = {
        "crlf.py": ((HEAD + "\n" * 4 + CALL) * 3).replace("\n", "\r\n"),
        "end.py": HEAD + CALL + "\n" * 3 + CALL.rstrip(),
        "one line.py": HEAD + "import a; " + CALL.rstrip() + "; " + CALL + "x = 1\n" + CALL,
        "gaps.py": HEAD + "".join(f"{CALL}" + "".join(f"x = {row}\n" for row in range(gap)) for gap in range(12)),
        "名字.py": HEAD + '名 = "nccl"\ndist.init_process_group(名)\n',
        "a\"b'<i>&.py": HEAD + CALL,
        "n.ipynb": notebook(HEAD + "x = 1", CALL + "y = 'é'\n" + CALL.rstrip()),
        "run.sh": "#!/bin/sh\ntorchrun launch.py --b nccl\n",
        "launch.py": "import argparse\n"
        + HEAD
        + "p = argparse.ArgumentParser()\np.add_argument('--b')\na = p.parse_args()\ndist.init_process_group(a.b)\n",
        "first.py": CALL.replace("dist", "__import__('torch.distributed')") + HEAD + CALL,
    }
    for name, text in files.items():
        (root / name).write_bytes(text.encode("utf-8"))
    (root / "gbk.py").write_bytes(("# -*- coding: gbk -*-\n" + HEAD + '名 = "nccl"\ndist.init_process_group(名)\n').encode("gbk"))
    (root / "bom.py").write_bytes(b"\xef\xbb\xbf" + (HEAD + CALL).encode())
    return root


def test_open_reject_one_download_apply(
    project: Callable[..., Path], page: Callable[..., Driver], downloads: Path, tmp_path: Path
) -> None:
    root = project(a=HEAD + CALL + "\n" * 9 + CALL, b=HEAD + CALL)
    driver = page(root)
    assert [card.get_attribute("data-taken") for card in driver.find_elements(By.TAG_NAME, "article")] == ["yes"] * 3
    assert "3 of 3 accepted" in driver.find_element(By.CLASS_NAME, "count").text
    button(driver, 1, "no").click()
    assert "2 of 3 accepted" in driver.find_element(By.CLASS_NAME, "count").text
    driver.find_element(By.ID, "save").click()
    file = downloads / "ddp-codemod.patch"
    WebDriverWait(driver, 30, 0.05).until(lambda _: file.exists())
    data = file.read_bytes()
    file.unlink()
    subprocess.run(["git", "apply", "--check", "-"], cwd=root, input=data, check=True)
    subprocess.run(["git", "apply", "-"], cwd=root, input=data, check=True)
    assert tree(root) == {
        "a.py": (HEAD + CALL.replace("nccl", "gloo") + "\n" * 9 + CALL).encode(),
        "b.py": (HEAD + CALL.replace("nccl", "gloo")).encode(),
    }
    assert driver.get_log("browser") == []


def test_everything_accepted_is_the_patch_of_diff(odd: Path, page: Callable[..., Driver], capfdbinary: Any) -> None:
    for root, platform, words in (
        (odd, "rocm", ()),
        (odd, "cuda", ("--rule", "nccl-p2p-off")),
        *(
            (path, platform, ())
            for path in sorted(FIXTURES.glob("*/project"))
            for platform in ("rocm", "windows", "mixed-gpu", "ascend")
        ),
    ):
        capfdbinary.readouterr()
        main(["diff", str(root), "--platform", platform, "--unsafe", *words])
        diff = capfdbinary.readouterr().out
        driver = page(root, "--unsafe", *words, platform=platform)
        if diff:
            assert patch(driver) == diff
        else:
            assert not driver.find_element(By.ID, "save").is_enabled()


@pytest.mark.parametrize(("platform", "fixes"), [("rocm", ()), ("cuda", ("nccl-p2p-off",)), ("windows", ("nccl-debug",))])
def test_any_choice_gives_the_tree_that_the_engine_gives(
    odd: Path, page: Callable[..., Driver], tmp_path: Path, platform: str, fixes: tuple[str, ...]
) -> None:
    driver = page(odd, *(word for fix in fixes for word in ("--rule", fix)), platform=platform)
    total = len(driver.find_elements(By.TAG_NAME, "article"))
    assert total > 10
    chance = random.Random(7)
    choices = [{at} for at in range(total)] + [set(chance.sample(range(total), chance.randint(1, total))) for _ in range(25)]
    for chosen in choices:
        choose(driver, chosen)
        assert applied(odd, patch(driver), tmp_path) == expected(odd, platform, chosen, *fixes), chosen


def test_a_patch_for_a_repository_with_its_line_ends(
    project: Callable[..., Path], page: Callable[..., Driver], tmp_path: Path
) -> None:
    root = project(a=(HEAD + CALL + "\n" * 9 + CALL).replace("\n", "\r\n"))
    (root / ".gitattributes").write_text("*.py text\n")
    subprocess.run(["git", "add", "--renormalize", "."], cwd=root, check=True)
    subprocess.run(["git", "commit", "-q", "-m", "text"], cwd=root, check=True)
    driver = page(root)
    button(driver, 0, "no").click()
    data = patch(driver)
    assert b"\r" not in data
    subprocess.run(["git", "apply", "-"], cwd=root, input=data, check=True)
    assert (
        subprocess.run(["git", "diff"], cwd=root, capture_output=True, check=True).stdout.count(
            b'+dist.init_process_group("gloo")'
        )
        == 1
    )


HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 2">',
    "<!--<script>",
    "%%SCRIPT%%",
    "]]>{{}}${window.hacked = 3}`",
    "\u2028window.hacked = 4\u2029",
    "&lt;b&gt;&quot;",
    "javascript:window.hacked=5",
]


def test_a_hostile_project_runs_nothing(project: Callable[..., Path], page: Callable[..., Driver], tmp_path: Path) -> None:
    root = project()
    for at, text in enumerate(HOSTILE):
        name = text.replace("/", "∕") + f"{at}.py"
        body = f"{HEAD}x = {text!r}  # {text if chr(0x2028) not in text else ''}\n{CALL.rstrip()}  # {text if chr(0x2028) not in text else ''}\ny = '''{text}'''\n"
        (root / name).write_text(body, "utf-8")
    driver = page(root)
    cards = driver.find_elements(By.TAG_NAME, "article")
    assert len(cards) == len(HOSTILE)
    for card in cards:
        driver.execute_script("arguments[0].scrollIntoView()", card)
    WebDriverWait(driver, 30, 0.05).until(lambda _: len(driver.find_elements(By.CSS_SELECTOR, ".come")) >= len(HOSTILE))
    assert driver.execute_script("return window.hacked") is None
    assert driver.find_elements(By.CSS_SELECTOR, "img, iframe, object, embed, svg, script[src], link") == []
    assert len(driver.find_elements(By.TAG_NAME, "script")) == 2
    shown = driver.execute_script("return document.querySelector('main').textContent")
    for text in HOSTILE:
        assert text.replace("/", "∕") in shown
    assert {link.get_attribute("href").split(":")[0] for link in driver.find_elements(By.TAG_NAME, "a")} == {"https"}
    assert driver.get_log("browser") == []
    assert applied(root, patch(driver), tmp_path) == expected(root, "rocm", set(range(len(HOSTILE))))


def test_the_policy_stops_what_is_not_the_page_s_own(project: Callable[..., Path], page: Callable[..., Driver]) -> None:
    driver = page(project(a=HEAD + CALL))
    driver.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.body.append(s);"
    )
    assert driver.execute_script("return window.hacked") is None
    assert any("Content Security Policy" in entry["message"] for entry in driver.get_log("browser"))


def test_nothing_is_asked_of_a_network(project: Callable[..., Path], page: Callable[..., Driver]) -> None:
    driver = page(project(a=HEAD + CALL))
    assert driver.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)") == []


def test_by_keyboard_alone(project: Callable[..., Path], page: Callable[..., Driver], tmp_path: Path) -> None:
    root = project(a=HEAD + CALL + "\n" * 9 + CALL, b=HEAD + CALL)
    driver = page(root)

    def press(*keys: str) -> None:
        for key in keys:
            driver.switch_to.active_element.send_keys(key)

    def state() -> str:
        return "".join(card.get_attribute("data-taken")[0] for card in driver.find_elements(By.TAG_NAME, "article"))

    press("j")
    assert driver.switch_to.active_element.get_attribute("id") == "u0"
    press("n")
    assert (state(), driver.switch_to.active_element.get_attribute("id")) == ("nyy", "u1")
    press("j", "n")
    assert state() == "nyn"
    press("k", "d")
    assert state() == "nnn"
    assert not driver.find_element(By.ID, "save").is_enabled()
    press("a")
    assert state() == "yyn"
    press("?")
    assert driver.find_element(By.TAG_NAME, "dialog").is_displayed()
    press(Keys.ESCAPE)
    assert not driver.find_element(By.TAG_NAME, "dialog").is_displayed()
    press("f", "b", ".", "p", "y")
    assert [card.is_displayed() for card in driver.find_elements(By.TAG_NAME, "article")] == [False, False, True]
    press(Keys.ESCAPE)
    driver.find_element(By.TAG_NAME, "body").send_keys("t")
    # the buttons too are reached and worked without a mouse
    reached = set()
    driver.execute_script("document.activeElement.blur(); window.scrollTo(0, 0)")
    for turn in range(120):
        driver.switch_to.active_element.send_keys(Keys.TAB)
        active = driver.switch_to.active_element
        reached.add(active.get_attribute("id") or active.get_attribute("class") or active.tag_name)
        if turn > 60 and active.get_attribute("class") == "no":
            active.send_keys(Keys.SPACE)
    assert {"save", "copy", "theme", "help", "by-file", "by-rule", "by-sure", "all-yes", "all-no", "yes", "no"} <= reached
    assert state() == "nnn"


def test_filters(page: Callable[..., Driver]) -> None:
    driver = page(FIXTURES / "speaker-torchrun/project", "--rule", "nccl-p2p-off", platform="rocm")

    def visible() -> int:
        return sum(card.is_displayed() for card in driver.find_elements(By.TAG_NAME, "article"))

    everything = visible()
    for select in ("by-rule", "by-sure"):
        options = driver.find_elements(By.CSS_SELECTOR, f"#{select} option")
        counts = []
        for option in options[1:]:
            option.click()
            counts.append(visible())
        assert sum(counts) == everything
        options[0].click()
    files = driver.find_elements(By.CSS_SELECTOR, "nav button")
    files[0].click()
    assert 0 < visible() < everything
    driver.find_element(By.ID, "all-no").click()
    assert driver.find_element(By.CSS_SELECTOR, "nav .tally").text.startswith("0/")
    files[0].click()
    assert visible() == everything
    driver.find_element(By.ID, "by-file").send_keys("no such file")
    assert visible() == 0
    assert driver.find_element(By.CLASS_NAME, "empty").is_displayed()


def test_unsafe_changes_start_as_rejected(page: Callable[..., Driver], tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "train.py").write_text("import hydra\n\ntrainer = hydra.utils.instantiate(cfg.trainer)\n", encoding="utf-8")
    (root / "trainer.yaml").write_text("_target_: lightning.Trainer\naccelerator: gpu\ndevices: 2\n", encoding="utf-8")
    driver = page(root, platform="mixed-gpu")
    assert {card.get_attribute("data-taken") for card in driver.find_elements(By.TAG_NAME, "article")} == {"no"}
    assert not driver.find_element(By.ID, "save").is_enabled()
    driver = page(root, "--unsafe", platform="mixed-gpu")
    assert {card.get_attribute("data-taken") for card in driver.find_elements(By.TAG_NAME, "article")} == {"yes"}


CONTRAST = """
const parse = (text) => { const v = text.match(/[\\d.]+/g).map(Number); return v.length < 4 ? [...v, 1] : v; };
const light = ([r, g, b]) => { const f = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
const poor = [];
for (const node of document.querySelectorAll("body *")) {
  if (![...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()) || !node.checkVisibility() || ["SCRIPT", "OPTION", "STYLE"].includes(node.tagName) || node.disabled) continue;
  let back = null;
  for (let at = node; at && !back; at = at.parentElement) { const c = parse(getComputedStyle(at).backgroundColor); if (c[3]) back = c; }
  const [a, b] = [light(parse(getComputedStyle(node).color)), light(back || [255, 255, 255, 1])].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < 4.5) poor.push([node.tagName, node.className, ratio.toFixed(2), node.textContent.slice(0, 30)]);
}
return poor;
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast(project: Callable[..., Path], page: Callable[..., Driver], theme: str) -> None:
    text = HEAD + 'n = 12  # note\nif True: dist.init_process_group("nccl", world_size=12)  # note\n'
    driver = page(project(a=text, b=HEAD + CALL), "--rule", "nccl-debug")
    driver.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)
    button(driver, 0, "no").click()
    WebDriverWait(driver, 30, 0.05).until(lambda _: driver.find_elements(By.CSS_SELECTOR, "mark .s"))
    for kind in ("k", "s", "d", "m"):
        assert driver.find_elements(By.CSS_SELECTOR, f".diff .{kind}")
    assert driver.execute_script(CONTRAST) == []


@pytest.mark.parametrize("size", [(1600, 1000), (1024, 768), (390, 844)])
def test_three_sizes(page: Callable[..., Driver], size: tuple[int, int]) -> None:
    root = FIXTURES / "speaker-torchrun/project"
    driver = page(root)
    # a headless window has a least width, so the size of what is drawn is set itself
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
    )
    try:
        driver.refresh()
        WebDriverWait(driver, 30, 0.05).until(lambda _: driver.find_elements(By.CSS_SELECTOR, ".come"))
        assert driver.execute_script("return document.documentElement.scrollWidth - innerWidth") <= 0
        small = driver.execute_script(
            "return [...document.querySelectorAll('.c, p, button')].filter((n) => n.checkVisibility() && parseFloat(getComputedStyle(n).fontSize) < 12).length"
        )
        assert small == 0
        if folder := os.environ.get("DDP_CODEMOD_PHOTOS"):
            driver.save_screenshot(str(Path(folder, f"review-{size[0]}.png")))
            driver.execute_script("document.documentElement.dataset.theme = 'dark'")
            driver.save_screenshot(str(Path(folder, f"review-{size[0]}-dark.png")))
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_thousand_changes(project: Callable[..., Path], page: Callable[..., Driver], tmp_path: Path) -> None:
    body = HEAD + "".join(f"\n\ndef f{at}(rank):\n    # {at}\n    {CALL}" for at in range(50))
    root = project(**{f"m{at}": body for at in range(20)})
    driver = page(root)
    assert driver.execute_script("return document.querySelectorAll('article').length") == 1000
    # what is not near the screen is not drawn yet, and is when one gets there
    assert driver.execute_script("return document.querySelectorAll('.diff').length") < 200
    driver.execute_script("document.getElementById('u999').scrollIntoView()")
    WebDriverWait(driver, 60, 0.05).until(lambda _: driver.find_elements(By.CSS_SELECTOR, "#u999 .come"))
    chosen = set(range(0, 1000, 3))
    choose(driver, chosen)
    assert applied(root, patch(driver), tmp_path) == expected(root, "rocm", chosen)


def test_chinese(project: Callable[..., Path], page: Callable[..., Driver]) -> None:
    driver = page(project(a=HEAD + CALL), "--lang", "zh")
    assert driver.find_element(By.TAG_NAME, "html").get_attribute("lang") == "zh-CN"
    assert driver.find_element(By.ID, "save").text == "下载补丁"
    assert "已接受 1 / 1" in driver.find_element(By.CLASS_NAME, "count").text


def test_nothing_to_change(project: Callable[..., Path], page: Callable[..., Driver]) -> None:
    driver = page(project(a=HEAD + CALL.replace("nccl", "gloo")))
    assert driver.find_element(By.CLASS_NAME, "empty").is_displayed()
    assert not driver.find_element(By.ID, "save").is_enabled()


if sys.platform == "win32":
    pytestmark = pytest.mark.skip(reason="the names of these files cannot be made on Windows")
