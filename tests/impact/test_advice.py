"""What no longer holds after a switch: said where it matters, once, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.edits.render import render
from ddp_codemod.messages import render as sentence
from ddp_codemod.model import Action, Survey
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey
from ddp_codemod.versions import Stated

RULES = load()
GROUP = 'import torch\nimport torch.distributed as dist\n\ndist.init_process_group("nccl")\n'
SEND = "import torch.distributed as dist\n\n\ndef pass_on(tensor):\n    dist.send(tensor, 1)\n    dist.recv(tensor, 0)\n"


def look(folder: Path, platform: str, files: dict[str, str], torch: str | None = None) -> Survey:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    versions = {"torch": Stated("torch", torch, "test")} if torch else {}
    return survey(Options((folder,), RULES.platforms[platform], RULES, root=folder, versions=versions))


def said(found: Survey) -> list[tuple[str, int, str]]:
    return [(note.name, note.line, note.rule) for note in found.advisories]


def left(found: Survey) -> list[tuple[str, int, str | None]]:
    """What is for a person: path, line and rule."""
    return [
        (one.call.name, found.sources[one.call.name].position(one.call.start)[0], one.rule)
        for one in found.decisions
        if one.action is Action.REVIEW
    ]


def test_a_note_is_said_once_and_names_the_other_places(tmp_path: Path) -> None:
    files = {"main.py": GROUP + "import p2p, ring\n", "p2p.py": SEND, "ring.py": SEND}
    found = look(tmp_path, "rocm", files)
    assert said(found) == [("p2p.py", 5, "gloo-point-to-point")]
    assert "Also at: 6, ring.py:5, ring.py:6." in sentence(found.advisories[0].message)
    assert "另见：6、ring.py:5" in sentence(found.advisories[0].message, "zh").replace(", ", "、")


AVG = GROUP + "\n\ndef mean(tensor):\n    dist.all_reduce(tensor, op=dist.ReduceOp.AVG)\n"


def test_what_may_hold_is_said_once_and_what_holds_for_each_file(tmp_path: Path) -> None:
    files = {"one.py": AVG, "two.py": AVG}
    assert [rule for _, _, rule in said(look(tmp_path, "rocm", files))] == ["gloo-avg"]
    assert [rule for _, _, rule in said(look(tmp_path, "rocm", files, "==2.8.0"))] == ["gloo-timeout"]
    sharded = AVG.replace("dist.all_reduce(tensor, op=dist.ReduceOp.AVG)", "dist.reduce_scatter_tensor(tensor, tensor)")
    files = {"one.py": sharded, "two.py": sharded}
    assert said(look(tmp_path, "rocm", files)) == []
    assert [rule for _, _, rule in said(look(tmp_path, "rocm", files, "==2.1.2"))] == ["gloo-reduce-scatter-tensor"] * 2


def test_code_that_asks_for_the_new_backend_knows_it(tmp_path: Path) -> None:
    text = AVG.replace("    dist.all_reduce", "    if dist.get_backend() == 'gloo':\n        return\n    dist.all_reduce")
    assert said(look(tmp_path, "rocm", {"main.py": text})) == []


def test_a_switch_of_the_codes_own_decides(tmp_path: Path) -> None:
    text = GROUP + (
        "\n\ndef add(tensor, fused):\n    if fused:\n        dist.all_reduce(tensor, op=dist._make_nccl_premul_sum(0.5))\n"
        "    else:\n        dist.all_reduce(tensor)\n"
    )
    assert said(look(tmp_path, "rocm", {"main.py": text})) == []
    assert len(said(look(tmp_path, "rocm", {"main.py": text.replace("dist.all_reduce(tensor)", "pass")}))) == 1


@pytest.mark.parametrize(
    "files",
    [
        {"main.py": GROUP, "apart.py": SEND},  # nobody imports both
        {"main.py": GROUP.replace("nccl", "gloo") + "import p2p\n", "p2p.py": SEND},  # nothing switches
        {"p2p.py": SEND},  # no group
        {
            "main.py": GROUP + "import p2p\n",
            "p2p.py": SEND.replace("dist.", "mine.").replace("torch.distributed as dist", "mine"),
        },
    ],
)
def test_nothing_is_said_where_no_group_switches(tmp_path: Path, files: dict[str, str]) -> None:
    assert said(look(tmp_path, "rocm", files)) == []


def test_a_side_group_for_cpu_tensors_is_no_switch(tmp_path: Path) -> None:
    text = GROUP + 'side = dist.new_group([0], backend="gloo" if torch.npu.is_available() else "nccl")\n'
    files = {"main.py": text + "import p2p\n", "p2p.py": AVG.replace(GROUP, "import torch.distributed as dist\n")}
    assert [rule for _, _, rule in said(look(tmp_path, "ascend", files, "==2.1.0")) if rule == "gloo-avg"] == []
    assert [rule for _, _, rule in said(look(tmp_path, "rocm", files, "==2.1.0"))] == ["gloo-avg"]


def test_files_that_one_program_imports_belong_together(tmp_path: Path) -> None:
    files = {"train.py": "import group\nimport p2p\n", "group.py": GROUP, "p2p.py": SEND}
    assert said(look(tmp_path, "rocm", files)) == [("p2p.py", 5, "gloo-point-to-point")]


@pytest.mark.parametrize(
    ("torch", "rules"),
    [
        (None, ["gloo-on-windows"]),
        ("==2.7.1", []),
        ("==2.8.0", ["gloo-cannot-start-on-windows"]),
        ("==2.10.0", ["gloo-cannot-start-on-windows", "gloo-crash-on-windows"]),
        ("==2.12.0", ["gloo-crash-on-windows"]),
        ("==2.13.0", []),
        (">=2.0", ["gloo-on-windows"]),
    ],
)
def test_windows_by_the_version_of_torch(tmp_path: Path, torch: str | None, rules: list[str]) -> None:
    found = look(tmp_path, "windows", {"main.py": GROUP}, torch)
    assert [rule for _, _, rule in said(found) if "windows" in rule] == rules


CUDA = "\n\ndef main(rank):\n    torch.cuda.set_device(rank)\n    total = torch.cuda.get_device_properties(rank)\n"
MAIN = '\n\nif __name__ == "__main__":\n    main(0)\n'


def test_what_a_training_entry_reaches_is_for_a_person(tmp_path: Path) -> None:
    found = look(tmp_path, "cpu", {"train.py": GROUP + CUDA + MAIN})
    assert left(found) == [("train.py", 9, "device-question")]
    assert [edit.rule for edit in found.edits] == ["unsupported-backend", "device-set"]


def test_what_it_does_not_reach_is_left_alone(tmp_path: Path) -> None:
    assert left(look(tmp_path, "cpu", {"train.py": GROUP + CUDA})) == []
    assert left(look(tmp_path, "cpu", {"train.py": GROUP, "other.py": "import torch" + CUDA + MAIN})) == []


def test_it_is_reached_through_other_files_classes_and_spawned_functions(tmp_path: Path) -> None:
    files = {
        "train.py": "import torch.multiprocessing as mp\nfrom work import start\n\nif __name__ == '__main__':\n    mp.spawn(start)\n",
        "work.py": GROUP.replace("dist.init", "\n\ndef start(rank):\n    Trainer().fit()\n\n\ndef group():\n    dist.init")
        + "\n\nclass Trainer:\n    def fit(self):\n        group()\n        torch.cuda.mem_get_info()\n\n"
        + "    def never(self):\n        torch.cuda.mem_get_info()\n",
    }
    assert [rule for _, _, rule in left(look(tmp_path, "cpu", files))] == ["device-question"]


def test_the_platform_decides_which_branch_reaches_it(tmp_path: Path) -> None:
    guarded = '\n\nif __name__ == "__main__":\n    if torch.cuda.is_available():\n        main(0)\n'
    assert left(look(tmp_path, "cpu", {"train.py": GROUP + CUDA + guarded})) == []


def test_what_stands_behind_an_assertion_is_mended_too(tmp_path: Path) -> None:
    text = GROUP + CUDA.replace("    torch.cuda.set", "    assert torch.cuda.is_available()\n    torch.cuda.set") + MAIN
    found = look(tmp_path, "cpu", {"train.py": text})
    assert [rule for _, _, rule in left(found)] == ["device-question"]
    assert "device-required" in [edit.rule for edit in found.edits]
    assert "device-set" in [edit.rule for edit in found.edits]


@pytest.mark.parametrize("platform", ["rocm", "cuda", "windows", "mixed-gpu"])
def test_machines_with_a_device_have_nothing_to_do(tmp_path: Path, platform: str) -> None:
    assert left(look(tmp_path, platform, {"train.py": GROUP + CUDA + MAIN})) == []


def test_a_line_is_listed_once(tmp_path: Path) -> None:
    text = GROUP + "both = torch.cuda.mem_get_info(), torch.cuda.mem_get_info()\n"
    assert left(look(tmp_path, "cpu", {"train.py": text})) == [("train.py", 5, "device-question")]


def test_a_device_in_a_field_is_mended_where_it_starts(tmp_path: Path) -> None:
    text = (
        GROUP + "\n\nclass Trainer:\n    def __init__(self):\n        self.device = 'cuda'\n\n"
        "    def __call__(self, tensor):\n        return tensor.to(self.device), tensor.to(self.device)\n\n\nTrainer()\n"
    )
    found = look(tmp_path, "cpu", {"train.py": text})
    made = render(found, unsafe=True).changes[0].after.decode("utf-8")
    assert "self.device = 'cuda' if torch.cuda.is_available() else \"cpu\"\n" in made
    assert made.count("torch.cuda.is_available()") == 1


def test_one_edit_mends_all_that_lies_in_it(tmp_path: Path) -> None:
    text = (
        GROUP
        + "from torch.nn.parallel import DistributedDataParallel as DDP\n\nmodel = DDP(torch.nn.Linear(1, 1), "
        + "device_ids=[torch.cuda.current_device()])\nmodel.cuda(torch.cuda.current_device())\n"
    )
    found = look(tmp_path, "cpu", {"train.py": text})
    assert left(found) == []
    made = render(found, unsafe=True).changes[0].after.decode("utf-8")
    assert "device_ids=[torch.cuda.current_device()] if torch.cuda.is_available() else None)" in made
    assert 'model.to(torch.cuda.current_device() if torch.cuda.is_available() else "cpu")' in made


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("torch.cuda.set_device(0)", "if torch.cuda.is_available():\n    torch.cuda.set_device(0)"),
        ("torch.cuda.set_device(\n    0\n)", "if torch.cuda.is_available(): torch.cuda.set_device(\n    0\n)"),
        (
            "for _ in [0]:\n\ttorch.cuda.set_device(0)",
            "for _ in [0]:\n\tif torch.cuda.is_available():\n\t\ttorch.cuda.set_device(0)",
        ),
        ("x = 1; torch.cuda.set_device(0)", None),
        ("for _ in [0]: torch.cuda.set_device(0)", None),
        (
            "device = torch.device('cuda' if x else 'cpu')",
            "device = torch.device(('cuda' if torch.cuda.is_available() else \"cpu\") if x else 'cpu')",
        ),
        ("t.to(0 if x else 'cuda')", "t.to(0 if x else ('cuda' if torch.cuda.is_available() else \"cpu\"))"),
        ("t.to(device='cuda:1')", "t.to(device='cuda:1' if torch.cuda.is_available() else \"cpu\")"),
        ("model.cuda()(1)", 'model.to("cuda" if torch.cuda.is_available() else "cpu")(1)'),
        ("t.cuda( )", 't.to("cuda" if torch.cuda.is_available() else "cpu" )'),
        ("t.cuda(device=d)", 't.to(device=d if torch.cuda.is_available() else "cpu")'),
        ("t.cuda(*d)", None),
        (
            "def move(d='cuda'):\n    t.to(d)\n\n\nmove()",
            "def move(d='cuda' if torch.cuda.is_available() else \"cpu\"):\n    t.to(d)\n\n\nmove()",
        ),
        ("x = 1 % torch.cuda.device_count()", "x = 1 % max(1, torch.cuda.device_count())"),
    ],
)
def test_how_an_edit_is_written(tmp_path: Path, line: str, wanted: str | None) -> None:
    head = GROUP.replace("nccl", "gloo") + "x, t, d, model = map(input, 'abcd')\n"
    found = look(tmp_path, "cpu", {"train.py": f"{head}{line}\n"})
    rendered = render(found, unsafe=True)
    assert rendered.failed == ()
    if wanted is None:
        assert rendered.changes == ()
        assert len(left(found)) == 1
        return
    after = rendered.changes[0].after.decode("utf-8")
    assert after == f"{head}{wanted}\n"
    again = look(tmp_path, "cpu", {"train.py": after})
    assert (again.edits, left(again)) == ((), [])


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        ("torch.nn.SyncBatchNorm.convert_sync_batchnorm(torch.nn.Linear(1, 1).cuda())", "device-batchnorm"),
        ("FSDP(torch.nn.Linear(1, 1).cuda())", "device-fsdp"),
    ],
)
def test_a_call_and_what_is_moved_in_its_argument_are_both_edited(tmp_path: Path, call: str, rule: str) -> None:
    text = "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\n" + GROUP + f"model = {call}\n"
    rules = [edit.rule for edit in look(tmp_path, "cpu", {"train.py": text}).edits]
    assert {rule, "device-method"} <= {*rules}
