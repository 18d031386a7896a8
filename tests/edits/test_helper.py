"""One function in place of a condition that several sites of a project need, where all of them can reach it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.edits.render import render
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey

RULES = load()
CALL = 'dist.init_process_group("nccl", "file:///tmp/store", rank=0, world_size=1)\n'
SITE = f"import torch.distributed as dist\nfrom pkg.common import seed\n\n\ndef main():\n    {CALL}"
CONDITION = '"nccl" if dist.is_nccl_available() else "gloo"'
COMMON = "import torch.distributed as dist\n\nSEED = 0\n\n\ndef seed():\n    return SEED\n"


def ported(root: Path, files: dict[str, str], platform: str = "windows") -> dict[str, str]:
    """The files that change, in portable style; a second run has to change nothing."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode("utf-8"))

    def run() -> dict[str, str]:
        found = survey(Options((root,), RULES.platforms[platform], RULES, root=root, style="portable"))
        rendered = render(found, unsafe=True)
        assert not rendered.failed
        for change in rendered.changes:
            (root / change.name).write_bytes(change.after)
        return {change.name: change.after.decode("utf-8") for change in rendered.changes}

    first = run()
    for name in files:
        compile((root / name).read_bytes(), name, "exec")
    assert run() == {}
    return first


def test_two_sites_of_a_file_share_a_function_behind_its_imports(tmp_path: Path) -> None:
    text = f"import torch.distributed as dist\n\nRANK = 0\n{CALL}{CALL}"
    assert ported(tmp_path, {"train.py": text})["train.py"] == (
        "import torch.distributed as dist\n\n\ndef default_backend():\n"
        f'    """Return the process-group backend for this machine."""\n    return {CONDITION}\n\n\nRANK = 0\n'
        + CALL.replace('"nccl"', "default_backend()")
        * 2
    )


def test_one_site_keeps_its_condition(tmp_path: Path) -> None:
    assert ported(tmp_path, {"train.py": f"import torch.distributed as dist\n{CALL}"})["train.py"].count(CONDITION) == 1


def test_files_that_import_a_module_anyway_take_the_function_from_it(tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "", "pkg/common.py": COMMON, "a.py": SITE, "tools/b.py": SITE}
    after = ported(tmp_path, {**files, "pyproject.toml": "[project]\n"})
    assert sorted(after) == ["a.py", "pkg/common.py", "tools/b.py"]
    assert CONDITION in after["pkg/common.py"]
    for name in ("a.py", "tools/b.py"):
        assert "from pkg.common import default_backend, seed\n" in after[name]
        assert "dist.init_process_group(default_backend()," in after[name]


MODEL = (
    f"import torch.distributed as dist\n\n\nclass Net:\n    def forward(self, x):\n        return x\n\n\ndef start():\n    {CALL}"
)


def test_a_file_with_a_model_is_no_place_for_it(tmp_path: Path) -> None:
    site = SITE.replace("import seed\n", "import seed\nfrom pkg.amodel import Net\n")
    after = ported(tmp_path, {"pkg/__init__.py": "", "pkg/amodel.py": MODEL, "pkg/common.py": COMMON, "a.py": site, "b.py": site})
    assert "def default_backend" in after["pkg/common.py"]
    assert CONDITION in after["pkg/amodel.py"]
    assert "def default_backend" not in after["pkg/amodel.py"]


def test_a_file_with_a_model_holds_it_where_others_serve_less_than_half(tmp_path: Path) -> None:
    site = SITE.replace("pkg.common import seed", "pkg.amodel import Net")
    files = {"pkg/__init__.py": "", "pkg/amodel.py": MODEL, "a.py": site, "b.py": site, "c.py": site + f"    {CALL}"}
    after = ported(tmp_path, files)
    assert "def default_backend" in after["pkg/amodel.py"]
    assert all("default_backend()" in after[name] for name in ("a.py", "b.py", "c.py"))


def test_of_two_files_that_serve_as_many_the_one_for_shared_code_holds_it(tmp_path: Path) -> None:
    site = SITE.replace("import seed\n", "import seed\nimport pkg.builder\n")
    after = ported(
        tmp_path, {"pkg/__init__.py": "", "pkg/builder.py": COMMON, "pkg/common.py": COMMON, "a.py": site, "b.py": site}
    )
    assert sorted(after) == ["a.py", "b.py", "pkg/common.py"]


def test_line_ends_are_those_of_the_file(tmp_path: Path) -> None:
    text = f"import torch.distributed as dist\n{CALL}{CALL}".replace("\n", "\r\n")
    after = ported(tmp_path, {"train.py": text})["train.py"]
    assert after.count("\n") == after.count("\r\n") > text.count("\n")


def test_a_site_that_does_not_import_it_keeps_its_condition(tmp_path: Path) -> None:
    alone = f"import torch.distributed as dist\n{CALL}"
    after = ported(tmp_path, {"pkg/__init__.py": "", "pkg/common.py": COMMON, "a.py": SITE, "b.py": SITE, "c.py": alone})
    assert "default_backend" in after["a.py"]
    assert "default_backend" not in after["c.py"]
    assert CONDITION in after["c.py"]


@pytest.mark.parametrize(
    "files",
    [
        {"pkg/common.py": "import torch.distributed as dist\nimport a\n\nSEED = 0\n"},  # a circle
        {"pkg/common.py": COMMON.replace("seed", "default_backend").replace("SEED", "process_group_backend")},  # names taken
        {"pkg/common.py": "SEED = 0\nimport torch\n"},  # no imports to stand behind
        {"pkg/__init__.py": COMMON, "a.py": SITE.replace("pkg.common", "pkg"), "b.py": SITE.replace("pkg.common", "pkg")},
        {"a.py": SITE.replace("from pkg.common import seed", "if dist:\n    from pkg.common import seed")},  # perhaps
        {"a.py": SITE.replace("from pkg.common", "from .pkg.common")},  # relative: started in another way
        {
            "a.py": SITE.replace("\n\n\ndef", "\n\n\ndef first():\n    from pkg.common import seed\n\n\ndef", 1).replace(
                "from pkg.common import seed\n", "", 1
            )
        },
        {"a.py": f"import torch.distributed as dist\n{CALL}from pkg.common import seed\n"},  # too late
        {"b.py": SITE.replace('"nccl"', '"cpu:gloo,cuda:nccl"')},  # another value
    ],
)
def test_no_function_where_it_is_not_shown_to_be_safe(tmp_path: Path, files: dict[str, str]) -> None:
    before = {"pkg/__init__.py": "", "pkg/common.py": COMMON, "a.py": SITE, "b.py": SITE}
    after = ported(tmp_path, {**before, **files})
    assert sorted(after) == ["a.py", "b.py"]
    assert all("default_backend" not in text and "process_group_backend" not in text for text in after.values())


def test_a_module_that_may_not_be_written_holds_no_function(tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "", "pkg/common.py": COMMON, "run/a.py": SITE, "run/b.py": SITE}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = survey(Options((tmp_path / "run",), RULES.platforms["windows"], RULES, root=tmp_path, style="portable"))
    assert {edit.name for edit in found.edits} == {"run/a.py", "run/b.py"}
    assert all(edit.after is not None and "default_backend" not in edit.after for edit in found.edits)


def test_the_plugin_and_the_function_stand_in_this_order(tmp_path: Path) -> None:
    after = ported(tmp_path, {"train.py": f"import torch.distributed as dist\n{CALL}{CALL}"}, "mlu")["train.py"]
    assert after.index("import torch_mlu") < after.index("def default_backend") < after.index("init_process_group")
