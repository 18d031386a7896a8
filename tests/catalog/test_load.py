"""Rule files that cannot be used say where and why; folders of a user add to the shipped rules."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from ddp_codemod.catalog import load as loading
from ddp_codemod.catalog.files import RuleError, data_folder
from ddp_codemod.catalog.load import load
from ddp_codemod.catalog.machine import Where

PLATFORM = """id = "wpu"
title = "TPU"
title_zh = "TPU"
why = "it is a TPU"
why_zh = "这是 TPU"
source = ["https://example.com/wpu"]
rules = ["unsupported-backend"]

[facts]
"os.name" = "posix"
"torch.version.hip" = { none = true }
"torch.version.cuda" = { truthy = true }

[backend]
wanted = "gloo"
works = ["gloo"]
default = "gloo"
"""


@pytest.fixture(autouse=True)
def _fresh() -> None:
    loading._load.cache_clear()


def folder(tmp_path: Path, text: str, name: str = "platforms/wpu.toml") -> Path:
    """A user's folder of rules with one file in it."""
    path = tmp_path / "mine" / name
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return tmp_path / "mine"


def refused(tmp_path: Path, text: str, name: str = "platforms/wpu.toml") -> str:
    """The message for a rule file, without the folder it lies in."""
    extra = folder(tmp_path, text, name)
    with pytest.raises(RuleError) as caught:
        load((extra,))
    return str(caught.value).replace(str(extra / name), "FILE")


def test_a_folder_of_the_user_adds_a_platform(tmp_path: Path) -> None:
    rules = load((folder(tmp_path, PLATFORM),))
    assert rules.platforms["wpu"].backend.wanted == "gloo"
    assert rules.platforms["rocm"] == load().platforms["rocm"]


def test_a_fact_is_known_under_its_other_names(tmp_path: Path) -> None:
    facts = load().platforms["ascend"].facts
    assert facts["transformers.utils.is_torch_npu_available()"] is True
    assert facts["accelerate.utils.is_xpu_available()"] is False
    assert "transformers.utils.is_torch_cuda_available()" not in facts


def test_a_folder_of_the_user_adds_other_names_and_its_own_facts_count_more(tmp_path: Path) -> None:
    mine = PLATFORM.replace('"os.name" = "posix"', '"os.name" = "posix"\n"mine.is_windows()" = true')
    extra = folder(tmp_path, mine)
    names = '["mine.os_name()", "mine.is_windows()"]'
    (extra / "aliases.toml").write_text(
        f'[[alias]]\nfact = "os.name"\nnames = {names}\nsource = ["https://example.com/"]\n', encoding="utf-8"
    )
    facts = load((extra,)).platforms["wpu"].facts
    assert (facts["mine.os_name()"], facts["mine.is_windows()"]) == ("posix", True)
    assert load((extra,)).platforms["windows"].facts["mine.os_name()"] == "nt"


def test_a_folder_of_the_user_adds_a_fix_that_its_platform_asks_for(tmp_path: Path) -> None:
    fix = (data_folder() / "fixes/nccl-debug.toml").read_text("utf-8").replace('id = "nccl-debug"', 'id = "quiet"')
    extra = folder(tmp_path, fix, "fixes/quiet.toml")
    platform = extra / "platforms/wpu.toml"
    platform.parent.mkdir()
    platform.write_text(PLATFORM.replace('"unsupported-backend"', '"quiet"'), encoding="utf-8")
    rules = load((extra,))
    assert rules.platforms["wpu"].rules == ("quiet",)
    assert rules.fixes["quiet"].environment is not None


def test_an_unknown_key_names_line_and_nearest(tmp_path: Path) -> None:
    said = refused(tmp_path, PLATFORM.replace("why_zh =", "whyzh ="))
    assert said.startswith("FILE:5: ")
    assert "whyzh" in said
    assert "did you mean 'why_zh'?" in said


def test_an_unknown_key_of_a_table_names_its_line(tmp_path: Path) -> None:
    said = refused(tmp_path, PLATFORM.replace("works =", "work ="))
    assert said.startswith("FILE:16: ")
    assert "did you mean 'works'?" in said


def test_an_unknown_key_that_is_near_nothing_has_no_hint(tmp_path: Path) -> None:
    said = refused(tmp_path, PLATFORM.replace("why_zh =", "qqqq ="))
    assert "qqqq" in said
    assert "did you mean" not in said


def test_a_wrong_type_is_named(tmp_path: Path) -> None:
    said = refused(tmp_path, PLATFORM.replace('title = "TPU"', "title = 3"))
    assert "FILE" in said
    assert "`str`" in said
    assert "$.title" in said


def test_a_missing_required_key_is_named(tmp_path: Path) -> None:
    said = refused(tmp_path, PLATFORM.replace('wanted = "gloo"\n', ""))
    assert "FILE" in said
    assert "`wanted`" in said
    assert "$.backend" in said


@pytest.mark.parametrize("fact", ["{ truthy = false }", "{}", "{ truthy = true, none = true }", "1.5", "[]"])
def test_a_fact_that_says_nothing_clear_is_refused(tmp_path: Path, fact: str) -> None:
    assert "FILE" in refused(tmp_path, PLATFORM.replace("{ none = true }", fact))


def test_an_unknown_recipe_is_refused(tmp_path: Path) -> None:
    fix = (data_folder() / "fixes/nccl-debug.toml").read_text("utf-8").replace('"set-environment"', '"run-a-shell"')
    assert "run-a-shell" in refused(tmp_path, fix.replace('id = "nccl-debug"', 'id = "x"'), "fixes/x.toml")


def test_a_file_that_is_no_toml_names_the_line(tmp_path: Path) -> None:
    said = refused(tmp_path, PLATFORM.replace("[facts]", "[facts"))
    assert said.startswith("FILE:9: invalid TOML")


def test_a_file_in_another_encoding_is_named(tmp_path: Path) -> None:
    extra = folder(tmp_path, "")
    (extra / "platforms/wpu.toml").write_bytes(PLATFORM.encode("gbk"))
    with pytest.raises(RuleError, match=r"wpu\.toml:1: cannot be read"):
        load((extra,))


def test_an_id_that_is_taken_names_both_files(tmp_path: Path) -> None:
    said = refused(tmp_path, PLATFORM.replace('id = "wpu"', 'id = "rocm"'))
    assert "platform 'rocm' is already defined" in said
    assert str(data_folder() / "platforms" / "rocm.toml") in said


def test_a_surface_id_that_is_taken_within_one_file(tmp_path: Path) -> None:
    surface = '[[surface]]\nid = "x.y"\nnames = ["x.y"]\nsource = ["https://example.com"]\n'
    said = refused(tmp_path, f'framework = "x"\n{surface}{surface}', "surfaces/x.toml")
    assert "surface 'x.y' is already defined" in said


def test_a_rule_that_no_file_defines(tmp_path: Path) -> None:
    said = refused(tmp_path, PLATFORM.replace('"unsupported-backend"', '"no-libub"'))
    assert said.startswith("FILE:7: ")
    assert "did you mean 'no-libuv'?" in said


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="no such rule folder"):
        load((tmp_path / "nowhere",))


def test_a_folder_without_rules_adds_nothing(tmp_path: Path) -> None:
    assert load((tmp_path,)).platforms == load().platforms


def test_a_copy_of_the_shipped_folder_is_refused_not_merged(tmp_path: Path) -> None:
    shutil.copytree(data_folder(), tmp_path / "copy")
    with pytest.raises(RuleError, match="already defined"):
        load((tmp_path / "copy",))


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ('id = "x"\ntitle = "t"\ntitle_zh = 3\n', 3, "title_zh"),
        (
            'id = "x"\ntitle = "t"\ntitle_zh = "t"\nwhy = "w"\nwhy_zh = "w"\nsource = ["s"]\nrules = []\n[facts]\n[backend]\nwanted = 1\n',
            10,
            "wanted",
        ),
        ("id = " + "[" * 5_000 + "]" * 5_000, 1, "nested too deeply"),
        ("#" * 1_000_001, 1, "larger than"),
    ],
)
def test_a_bad_file_names_file_line_and_key(tmp_path: Path, text: str, line: int, key: str) -> None:
    (tmp_path / "platforms").mkdir()
    path = tmp_path / "platforms" / "x.toml"
    path.write_text(text)
    with pytest.raises(RuleError) as caught:
        load((tmp_path,))
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert key in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in folders")
def test_a_pipe_is_no_rule_file(tmp_path: Path) -> None:
    (tmp_path / "platforms").mkdir()
    os.mkfifo(tmp_path / "platforms" / "x.toml")
    with pytest.raises(RuleError, match="not a regular file"):
        load((tmp_path,))


NAMED = '[backend]\nwanted = "gloo"\nworks = ["gloo", "qccl"]'


def test_a_platform_whose_backend_nobody_describes_is_refused(tmp_path: Path) -> None:
    said = refused(tmp_path, PLATFORM.replace('[backend]\nwanted = "gloo"\nworks = ["gloo"]', NAMED))
    assert said.startswith("FILE:16: platform 'wpu' names the backend 'qccl', which no backends.toml describes")
    assert "add a [[backend]] with this name to backends.toml beside the folder platforms" in said


def test_a_backend_that_the_same_folder_describes_is_taken(tmp_path: Path) -> None:
    extra = folder(tmp_path, PLATFORM.replace('[backend]\nwanted = "gloo"\nworks = ["gloo"]', NAMED))
    entry = '[[backend]]\nname = "qccl"\ndevices = ["wpu"]\nenum = false\nsource = ["https://example.com/"]\n'
    (extra / "backends.toml").write_text(entry, encoding="utf-8")
    assert "qccl" in load((extra,)).platforms["wpu"].backend.works


MISSING = """framework = "Mine"

[[surface]]
id = "mine.init"
names = ["mine.init"]
missing_on = [{ CONDITION }]
source = ["https://example.com/"]
"""


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        ('systems = ["beos"]', "surface 'mine.init' asks for the system 'beos', which the [machine] of no platform names"),
        (
            'other_than = ["cudo"]',
            "asks for the accelerator 'cudo', which the [machine] of no platform names; did you mean 'cuda'?",
        ),
        ('wanted = ["glo"]', "asks for the backend 'glo', which no backends.toml describes; did you mean 'gloo'?"),
        ("", "says nothing"),
    ],
)
def test_a_condition_that_no_machine_can_meet_is_refused(tmp_path: Path, condition: str, why: str) -> None:
    said = refused(tmp_path, MISSING.replace("CONDITION", condition), "surfaces/mine.toml")
    assert said.startswith("FILE:")
    assert why in said


def test_what_a_platform_does_not_say_is_not_sure(tmp_path: Path) -> None:
    silent = load((folder(tmp_path, PLATFORM),)).platforms["wpu"]
    assert not any(silent.fits((one,)) for one in (Where(systems=("linux",)), Where(other_than=("cuda",)), Where(plugin=True)))
    assert silent.fits((Where(wanted=("nccl",)), Where(plugin=False, default_works=True)))


def test_conditions_are_about_all_that_a_machine_can_be() -> None:
    windows, mlu = load().platforms["windows"], load().platforms["mlu"]
    assert windows.fits((Where(systems=("windows",)),))
    assert not windows.fits((Where(accelerators=("cuda",)),))  # it may have another one
    assert not windows.fits((Where(other_than=("cuda",)),))  # it may have this one
    assert mlu.fits((Where(plugin=True, other_than=("hpu",)),))
    assert not mlu.fits((Where(plugin=True, other_than=("hpu", "mlu")),))


STANDS_FOR = """framework = "Mine"

[[surface]]
id = "mine.old"
variant_of = "mine.inti"
when = { mine = "<2" }
source = ["https://example.com/"]

[[surface]]
id = "mine.init"
names = ["mine.init"]
source = ["https://example.com/"]
"""


def test_a_variant_of_an_unknown_surface_is_refused(tmp_path: Path) -> None:
    said = refused(tmp_path, STANDS_FOR, "surfaces/mine.toml")
    assert "surface 'mine.old' is a variant of the surface 'mine.inti', which no file defines; did you mean 'mine.init'?" in said


@pytest.mark.parametrize("line", ['when = { mine = "<2" }\n', 'variant_of = "mine.inti"\n'])
def test_a_surface_that_stands_for_another_says_which_and_when(tmp_path: Path, line: str) -> None:
    said = refused(tmp_path, STANDS_FOR.replace(line, ""), "surfaces/mine.toml")
    assert "the surface that it is a variant of and its versions" in said
