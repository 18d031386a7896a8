"""A platform that is added as one file gets what its nearest relative gets: no other rule data knows platforms by their ids."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ddp_codemod.catalog.advisory import AdviceExample
from ddp_codemod.catalog.files import data_folder
from ddp_codemod.catalog.load import Rules, load
from ddp_codemod.edits.render import render
from ddp_codemod.report.json import dumps
from ddp_codemod.run.examples import FILE, SCRIPT, SETTINGS, Case, find_cases
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey
from ddp_codemod.versions import Stated
from tests.outside import FIXTURES

RELATIVE = "mlu"
SHIPPED = load()
PROJECTS = sorted(path for path in FIXTURES.glob("*/project") if path.is_dir())
# Another backend and id for the same accelerator, and another accelerator with a plugin of its own; words of equal lengths.
SAME_DEVICE = {"cncl": "cqcl"}
NEW_DEVICE = {"cncl": "cqcl", "mlu": "zpu"}
# mmengine picks by itself for three accelerators, which it knows by their names: a new one does not share that.
BY_NAME = {"mmengine.init_dist", "mmengine.env_cfg", "mmengine.setup_distributed"}


def renamed(text: str, words: dict[str, str]) -> str:
    """A text with the words of the relative put in place of each other, in any case."""
    for old, new in words.items():
        text = text.replace(old, new).replace(old.upper(), new.upper())
    return text


def with_copy(folder: Path, words: dict[str, str]) -> Rules:
    """The shipped rules and a copy of the relative: one file, and one entry of the backends."""
    platform = (data_folder() / f"platforms/{RELATIVE}.toml").read_text("utf-8")
    backends = (data_folder() / "backends.toml").read_text("utf-8")
    own = next(block for block in re.split(r"(?m)^(?=\[\[backend\]\])", backends) if 'name = "cncl"' in block)
    (folder / "platforms").mkdir()
    copy = re.sub(r'(?m)^id = ".*"', 'id = "zpu"', renamed(platform, words), count=1)
    (folder / "platforms/zpu.toml").write_text(copy, "utf-8")
    (folder / "backends.toml").write_text(renamed(own, words), "utf-8")
    return load((folder,))


def project(case: Case) -> dict[str, str]:
    """The files of an example."""
    example = case.example
    if isinstance(example, AdviceExample):
        beside = {SCRIPT: example.script, SETTINGS: example.settings, example.requirements_file: example.requirements}
        return {FILE: example.before, **{name: text for name, text in beside.items() if text}}
    return {**({FILE: example.beside} if example.beside else {}), example.file: example.before}


def said(root: Path, platform: str, rules: Rules, versions: dict[str, str], style: str) -> str:
    """Everything that is decided, edited and said about a project."""
    stated = {name: Stated(name, specifier, "example") for name, specifier in versions.items()}
    found = survey(Options((root,), rules.platforms[platform], rules, root=root, versions=stated, style=style))  # type: ignore[arg-type]
    rendered = render(found, True)
    after = {change.name: change.after.decode("utf-8", "replace") for change in rendered.changes}
    return dumps(found, "en").decode("ascii") + dumps(found, "zh").decode("ascii") + json.dumps(after)


def differences(root: Path, files: dict[str, str], rules: Rules, words: dict[str, str], case: Case | None) -> bool:
    """Whether the relative and its copy differ on a project, in which the copy's words stand for the relative's."""
    versions = dict(case.example.versions) if case is not None else {}
    style = case.example.style if case is not None else "pin"
    answers = []
    for platform, put in ((RELATIVE, {}), ("zpu", words)):
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(renamed(text, put), "utf-8")
        answers.append(said(root, platform, rules, versions, style))
    back = {new: old for old, new in NEW_DEVICE.items()}
    return answers[0] != renamed(answers[1], back)


@pytest.fixture(params=[SAME_DEVICE, NEW_DEVICE], ids=["same-device", "new-device"])
def words(request: pytest.FixtureRequest) -> dict[str, str]:
    found: dict[str, str] = request.param
    return found


@pytest.mark.parametrize("kind", ["platform", "surface", "rule", "advice"])
def test_a_copy_of_a_platform_decides_as_its_relative_on_every_example(tmp_path: Path, words: dict[str, str], kind: str) -> None:
    (tmp_path / "rules").mkdir()
    rules = with_copy(tmp_path / "rules", words)
    chosen = [case for case in find_cases(SHIPPED) if case.id.startswith(f"{kind}:")]
    wrong: dict[str, str] = {}
    for number, case in enumerate(chosen):
        root = tmp_path / str(number)
        root.mkdir()
        files = {name: text.removeprefix("\n") for name, text in project(case).items()}
        assert not re.search("cqcl|zpu", "".join(files.values()), re.IGNORECASE)
        if differences(root, files, rules, words, case):
            wrong[case.id] = case.id.split(":")[1]
    assert chosen
    own = {"transfer-to-mlu"} if kind == "rule" else set()  # the vendor's own import, which goes with no other
    assert set(wrong.values()) == (BY_NAME if words is NEW_DEVICE and kind == "surface" else own), sorted(wrong)


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """The files of a fixture."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_text("utf-8")


@pytest.mark.parametrize("folder", PROJECTS, ids=lambda path: path.parent.name)
def test_a_copy_of_a_platform_decides_as_its_relative_on_every_fixture(
    tmp_path: Path, words: dict[str, str], folder: Path
) -> None:
    for name in ("rules", "project"):
        (tmp_path / name).mkdir()
    rules = with_copy(tmp_path / "rules", words)
    assert not differences(tmp_path / "project", dict(texts(folder)), rules, words, None)


def test_the_comparison_sees_a_difference(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "project").mkdir()
    rules = with_copy(tmp_path / "rules", NEW_DEVICE)
    files = {"train.py": 'import torch.distributed as dist\n\ndist.init_process_group("cncl")\n'}
    assert differences(tmp_path / "project", files, rules, {}, None)
    assert not differences(tmp_path / "project", files, rules, NEW_DEVICE, None)
