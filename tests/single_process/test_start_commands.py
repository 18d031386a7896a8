"""The command that starts the program: only where it is plain which one is meant and what people type."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ddp_codemod.catalog.load import load
from ddp_codemod.cli import main
from ddp_codemod.run.options import Options
from ddp_codemod.run.survey import survey
from ddp_codemod.start import Start

HEAD = "import os\n\nimport torch\nimport torch.distributed as dist\nimport torch.multiprocessing as mp\n"
MAIN = '\n\nif __name__ == "__main__":\n    main()\n'
TRAIN = (
    f'{HEAD}\n\ndef main():\n    dist.init_process_group("nccl")\n    torch.ones(1, requires_grad=True).sum().backward(){MAIN}'
)
RANKED = TRAIN.replace("    dist.init", '    rank = int(os.environ["LOCAL_RANK"])\n    dist.init')
SPAWN = f"""{HEAD}

def main():
    n = torch.cuda.device_count()
    mp.spawn(run, nprocs=n, args=(n,))


def run(rank, n):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "localhost", "29500"
    dist.init_process_group("nccl", rank=rank, world_size=n)
{MAIN}"""
LAUNCHED = "torchrun --nproc_per_node=8 train.py --lr 0.1"
RULES = load()


def starts(root: Path, platform: str = "rocm", **files: str) -> list[tuple[str, str, bool]]:
    return [(one.command, one.folder, one.counts) for one in found_starts(root, platform, **files) if one.whole]


def found_starts(root: Path, platform: str = "rocm", **files: str) -> tuple[Start, ...]:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_md", ".md").replace("_sh", ".sh").replace("_py", ".py").replace(
            "_toml", ".toml"
        )
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return survey(options(root, platform)).starts


def options(root: Path, platform: str = "rocm") -> Options:
    return Options((root,), RULES.platforms[platform], RULES, (), root, starts=True)


def readme(*commands: str) -> str:
    return "# It\n\n```bash\n" + "\n".join(commands) + "\n```\n"


@pytest.mark.parametrize(
    ("typed", "trial"),
    [
        ("python train.py --lr 0.1", ""),
        ("python3 train.py", ""),
        (LAUNCHED, "torchrun --nproc_per_node=2 train.py --lr 0.1"),
        ("torchrun --nproc-per-node 4 \\\n    train.py \\\n    --lr 0.1", "torchrun --nproc-per-node=2 train.py --lr 0.1"),
        ("torchrun --nproc-per-node 4 train.py \\ \n--lr 0.1", "torchrun --nproc-per-node=2 train.py --lr 0.1"),
        ("torchrun --standalone --nproc_per_node=gpu train.py", "torchrun --standalone --nproc_per_node=2 train.py"),
        ("python -m torch.distributed.launch --nproc_per_node 8 train.py", "python -m torch.distributed.launch --nproc_per_node=2 train.py"),
        ("CUDA_VISIBLE_DEVICES=0,1 python train.py", ""),
        ("python train.py --config conf/a.yaml", ""),
        ("python train.py --out runs/first", ""),
        ("python train.py --dist-eval --eval-crop-ratio 1.0 --evaluation_strategy steps --valid_split valid", ""),
        ("torchrun --nnodes=1 --nproc_per_node=8 train.py", "torchrun --nnodes=1 --nproc_per_node=2 train.py"),
        (
            "torchrun --nproc_per_node=8 --rdzv_id=7 --rdzv_backend=c10d --rdzv_endpoint=localhost:0 train.py",
            "torchrun --nproc_per_node=2 --rdzv_id=7 --rdzv_backend=c10d --rdzv_endpoint=localhost:0 train.py",
        ),
        ('python train.py data="[a/b, c]" k=[1]', "")
    ],
)  # fmt: skip
def test_what_the_readme_says_is_quoted(tmp_path: Path, typed: str, trial: str) -> None:
    quoted = re.sub(r"[ \\]*\n *", " ", typed)
    found = starts(tmp_path, train_py=TRAIN, README_md=readme(typed), **{"conf__a.yaml": "lr: 1\n"})
    assert found == [(quoted, "", False)]
    (start,) = survey(options(tmp_path)).starts
    assert (start.source, start.trial) == (("README.md", 4), trial or quoted)


@pytest.mark.parametrize(
    "typed",
    [
        "python train.py --data <in.txt >out.txt",
        "python train.py --data $(ls)",
        "python train.py --data <path;ls>",
        "python train.py --data <path> --eval",
        "python train.py --data <path> --config conf/that_nobody_wrote.yaml",
        "python train.py [--fast]",
        "python train.py [--fast] --data <path>",
        "python train.py ...",
        "python train.py --config conf/that_nobody_wrote.yaml",
        "python train.py --eval",
        "python train.py --help",
        "python train.py data_dir/ out/",
        "python train.py --resume last",
        "torchrun --nnodes=2 --nproc_per_node=8 train.py",
        "torchrun --nproc_per_node=8 --master_addr=10.0.0.1 train.py",
        "python train.py --dist-url tcp://123.123.123.123:12312",
        "python train.py --num_machines 2",
        "torchrun --nproc_per_node=8 --rdzv_backend=c10d --rdzv_endpoint=node0:29500 train.py",
        "torchrun --nproc_per_node=8 --rdzv_endpoint=localhost.example:0 train.py",
        "python train.py data=[a|b]",
        "python train.py data=[a] [--fast]",
        "python train.py --nodes 8",
        "python train.py --mode=test",
        "python train.py --eval_only",
        "srun python train.py",
        "python other/train.py",
    ],
)
def test_what_only_a_reader_can_put_in_is_not_guessed(tmp_path: Path, typed: str) -> None:
    files = {"other__train_py": "print(1)\n"} if "other" in typed else {}
    assert starts(tmp_path, train_py=TRAIN, README_md=readme(typed), **files) == []


@pytest.mark.parametrize(
    ("typed", "command", "names"),
    [
        ("python train.py --data <path>", "", ("<path>",)),
        ("python train.py -c <config> -m <model folder>", "", ("<config>", "<model folder>")),
        ("python train.py --data $DATA --out ${OUT}", "", ("$DATA", "${OUT}")),
        ("python train.py --data={path_to_data}", "", ("{path_to_data}",)),
        ("python train.py --data /path/to/data.tar", "", ("/path/to/data.tar",)),
        ("python train.py --data=path/to/data path_to_more", "", ("path/to/data", "path_to_more")),
        ("python train.py --name 'YOUR_NAME'", "", ("YOUR_NAME",)),
        (
            "torchrun --nproc_per_node=$N train.py --data <path>",
            "",
            ("$N", "<path>"),
        ),
    ],
)
def test_placeholders_stay_as_they_are_and_are_named(tmp_path: Path, typed: str, command: str, names: tuple[str, ...]) -> None:
    assert starts(tmp_path, train_py=TRAIN, README_md=readme(typed)) == [(command or typed, "", False)]
    assert survey(options(tmp_path)).starts[0].placeholders == names


def test_a_command_with_placeholders_is_for_want_of_a_whole_one(tmp_path: Path) -> None:
    said = readme("python other.py <data>", "python train.py <data>", "python train.py")
    files = {"train_py": TRAIN, "other_py": TRAIN, "README_md": said}
    assert starts(tmp_path, **files) == [("python train.py", "", False), ("python other.py <data>", "", False)]


def test_a_readme_with_line_ends_of_windows(tmp_path: Path) -> None:
    starts(tmp_path, train_py=TRAIN)
    text = readme("cd data", "cd ..", "python train.py \\\n    -c <config>", "", "python train.py").replace("\n", "\r\n")
    (tmp_path / "README.md").write_bytes(text.encode())
    assert starts(tmp_path) == [("python train.py", "", False)]
    (tmp_path / "README.md").write_bytes(text.replace("\r\npython train.py\r\n", "\r\n").encode())
    assert starts(tmp_path) == [("python train.py -c <config>", "", False)]


def test_a_script_may_set_what_its_command_names(tmp_path: Path) -> None:
    assert starts(tmp_path, train_py=TRAIN, run_sh="DATA=here\npython train.py --data $DATA\n") == []


def test_the_first_that_can_be_typed_as_it_stands(tmp_path: Path) -> None:
    commands = readme("python train.py --data <path>", "python train.py --eval", LAUNCHED, "python train.py")
    assert starts(tmp_path, train_py=TRAIN, README_md=commands) == [(LAUNCHED, "", False)]


def test_a_launcher_starts_the_processes_that_make_the_group(tmp_path: Path) -> None:
    commands = readme("python train.py --lr 9", LAUNCHED)
    assert starts(tmp_path, train_py=TRAIN, README_md=commands) == [(LAUNCHED, "", False)]


def test_a_script_is_read_too_and_after_the_readme(tmp_path: Path) -> None:
    assert starts(tmp_path, train_py=TRAIN, run_sh="python train.py --lr 3\n") == [("python train.py --lr 3", "", False)]
    found = starts(tmp_path, train_py=TRAIN, README_md=readme("python train.py --lr 4"))
    assert found == [("python train.py --lr 4", "", False)]


def test_a_guide_elsewhere_is_read_where_none_is_near(tmp_path: Path) -> None:
    assert starts(tmp_path, train_py=TRAIN, docs__more_md=readme("python train.py --with-more")) == [
        ("python train.py --with-more", "", False)
    ]
    found = starts(tmp_path, train_py=TRAIN, README_md=readme("python train.py"))
    assert found == [("python train.py", "", False)]


def test_a_guide_beside_a_file_means_that_one(tmp_path: Path) -> None:
    """Each folder has its main.py, and a README that speaks of it alone."""
    files = {f"{one}__main_py": TRAIN for one in "ab"} | {f"{one}__README_md": readme(f"python main.py --{one}") for one in "ab"}
    assert starts(tmp_path, **files) == [("python main.py --a", "a", False), ("python main.py --b", "b", False)]


def test_a_guide_of_a_folder_does_not_speak_of_training_elsewhere(tmp_path: Path) -> None:
    files = {"extra__main_py": TRAIN, "extra__README_md": readme("python main.py"), "lib__train_py": TRAIN}
    assert starts(tmp_path, run_sh="python lib/train.py $1\n", **files) == []
    assert survey(options(tmp_path)).starts[0].command == "bash run.sh"


def test_a_command_of_the_readme_is_typed_in_the_folder_that_its_path_leaves_over(tmp_path: Path) -> None:
    assert starts(tmp_path, trainer__train_it_py=TRAIN, README_md=readme("cd trainer", "python train_it.py")) == [
        ("python train_it.py", "trainer", False)
    ]


def test_other_launchers_are_quoted_and_no_run_is_offered(tmp_path: Path) -> None:
    said = readme("accelerate launch --num_processes 4 train.py \\\n --run-name <run-name>")
    assert starts(tmp_path, train_py=TRAIN, README_md=said) == [
        ("accelerate launch --num_processes 4 train.py --run-name <run-name>", "", False)
    ]
    (start,) = survey(options(tmp_path)).starts
    assert (start.count, start.trial, start.placeholders) == (("--num_processes", "4"), "", ("<run-name>",))


def test_a_guide_whose_command_nobody_can_type_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    starts(tmp_path, train_py=RANKED, README_md=readme("torchrun --nnodes=2 --nproc_per_node=8 train.py"))
    monkeypatch.chdir(tmp_path)
    main(["apply", ".", "--platform", "rocm"])
    assert "\nStart it as before: python train.py\n  README.md:4 shows its arguments.\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("platform", "typed", "said"),
    [
        (
            "rocm",
            LAUNCHED,
            f"{LAUNCHED}\n  From README.md:4, with --nproc_per_node 8: pass the number of devices of your machine, 1 for a single one.",
        ),
        ("rocm", "torchrun --nproc_per_node 1 train.py", "torchrun --nproc_per_node 1 train.py\n  From README.md:4.\n"),
        ("single-gpu", LAUNCHED, "python train.py --lr 0.1\n  From README.md:4, without its launcher: one process needs none."),
        ("single-gpu", "python train.py", "python train.py\n  From README.md:4.\n"),
    ],
)
def test_the_number_of_processes_is_said_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], platform: str, typed: str, said: str
) -> None:
    starts(tmp_path, train_py=RANKED, README_md=readme(typed))
    monkeypatch.chdir(tmp_path)
    main(["apply", ".", "--platform", platform])
    assert f"\nStart it: {said}" in capsys.readouterr().out


def test_of_two_long_commands_the_second_is_only_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    for length, said in ((10, False), (200, True)):
        more = "a" * length
        readme_md = readme(*(f"python {one}.py --name {more}" for one in ("train_a", "train_b")))
        starts(tmp_path, train_a_py=TRAIN, train_b_py=TRAIN, README_md=readme_md)
        main(["diff", ".", "--platform", "rocm", "--no-cache"])
        told = capsys.readouterr().err
        assert (f"python train_b.py --name {more}" in told) is not said
        assert ("Others to start: train_b.py (README.md:5)" in told) is said


def test_a_script_is_started_in_its_folder_where_it_names_what_is_beside_or_above(tmp_path: Path) -> None:
    run = "python lib/train.py $1\n"
    files = {"lib__train_py": NEEDS, "a__run_sh": run, "b__run_sh": f". ./path.sh\n{run}", "b__path_sh": "X=1\n"}
    found = start_files(tmp_path, c__run_sh=f"export PYTHONPATH=../..\n{run}", **files)
    assert found == ("bash a/run.sh", "b: bash run.sh", "c: bash run.sh")


def test_a_command_is_typed_in_its_own_folder(tmp_path: Path) -> None:
    found = starts(tmp_path, egs__a__train_py=TRAIN, egs__a__README_md=readme("python train.py --lr 1"))
    assert found == [("python train.py --lr 1", "egs/a", False)]


def test_of_one_process_no_launcher_is_needed(tmp_path: Path) -> None:
    found = starts(tmp_path, "single-gpu", train_py=RANKED, README_md=readme(LAUNCHED))
    assert found == [("python train.py --lr 0.1", "", False)]


def test_on_windows_nothing_is_set_before_a_command(tmp_path: Path) -> None:
    assert starts(tmp_path, "windows", train_py=TRAIN, README_md=readme("CUDA_VISIBLE_DEVICES=0 python train.py")) == []
    found = starts(tmp_path, "windows", train_py=TRAIN, README_md=readme("python train.py"))
    assert found == [("python train.py", "", False)]


def test_without_a_word_of_it_the_program_says_whether_it_wants_a_launcher(tmp_path: Path) -> None:
    assert starts(tmp_path / "a", train_py=RANKED) == [("torchrun --nproc_per_node=2 train.py", "", False)]
    assert starts(tmp_path / "b", train_py=SPAWN) == [("python train.py", "", False)]
    assert starts(tmp_path / "c", train_py=TRAIN) == []  # nothing shows what starts its processes


@pytest.mark.parametrize(
    "more",
    [
        'parser.add_argument("--data", required=True)\n',
        'parser.add_argument("data")\n',
        "import sys\n\nname = sys.argv[1]\n",
        "import click\n\n\n@click.command()\ndef other():\n    pass\n",
        "import fire\n\nfire.Fire(main)\n",
        "from multiprocessing import Process\n\nProcess(target=main).start()\n",
    ],
)
def test_a_program_that_wants_more_than_is_known_is_not_started_by_guess(tmp_path: Path, more: str) -> None:
    before = "import argparse\n\nparser = argparse.ArgumentParser()\n"
    assert starts(tmp_path, train_py=before + RANKED.replace(MAIN, f"\n\n{more}{MAIN}")) == []


def test_a_program_is_named_like_one_where_nobody_says_how_it_is_started(tmp_path: Path) -> None:
    assert starts(tmp_path, layers_py=RANKED) == []


def test_two_programs_are_named_and_no_more(tmp_path: Path) -> None:
    one, two = ("torchrun --nproc_per_node=2 train_a.py", "", False), ("torchrun --nproc_per_node=2 train_b.py", "", False)
    assert starts(tmp_path, train_a_py=RANKED) == [one]
    assert starts(tmp_path, train_b_py=RANKED) == [one, two]
    assert starts(tmp_path, train_c_py=RANKED) == []


def test_of_several_programs_that_one_is_meant_of_which_people_are_told(tmp_path: Path) -> None:
    files = {f"train_{letter}_py": RANKED for letter in "abcd"}
    assert starts(tmp_path, README_md=readme("python train_c.py"), **files) == [("python train_c.py", "", False)]


def test_a_program_that_imports_the_file_of_a_group(tmp_path: Path) -> None:
    group = f'{HEAD}\n\ndef setup():\n    dist.init_process_group("nccl")\n\n\ndef other():\n    pass\n'
    calls = "from group import NAME\n\n\ndef main():\n    NAME(){MAIN}"
    uses, other = (calls.replace("NAME", name).replace("{MAIN}", MAIN) for name in ("setup", "other"))
    said = readme("python train.py", "python look.py")
    found = starts(tmp_path, group_py=group, train_py=uses, look_py=other, README_md=said)
    assert found == [("python train.py", "", False)]


def test_nothing_is_said_where_no_program_is_known(tmp_path: Path) -> None:
    library = TRAIN.replace(MAIN, "\n")
    assert starts(tmp_path, train_py=library, README_md=readme("python train.py")) == []
    assert starts(tmp_path, tests__test_train_py=RANKED) == []


def test_what_is_installed_as_a_command_is_started_by_that(tmp_path: Path) -> None:
    project = '[project]\nname = "it"\nscripts = { it = "pkg.train:main" }\n'
    assert starts(tmp_path, pyproject_toml=project, pkg____init___py="", pkg__train_py=RANKED) == []


def test_nothing_is_said_where_no_group_is_edited(tmp_path: Path) -> None:
    assert starts(tmp_path, "cuda", train_py=RANKED, README_md=readme(LAUNCHED)) == []


def test_a_launcher_that_counts_gpus_says_so_where_there_are_none(tmp_path: Path) -> None:
    assert starts(tmp_path, "cpu", train_py=SPAWN) == [("python train.py", "", True)]
    two = SPAWN.replace("torch.cuda.device_count()", "2")
    assert starts(tmp_path, "cpu", train_py=two) == [("python train.py", "", False)]
    assert starts(tmp_path, "rocm", train_py=SPAWN) == [("python train.py", "", False)]


@pytest.mark.parametrize("command", ["diff", "apply"])
def test_it_is_the_last_thing_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    minded = SPAWN.replace("torch.cuda.device_count()", "max(1, torch.cuda.device_count())")
    starts(tmp_path, train_py=minded, README_md=readme("python train.py --epochs 1"))
    main([command, ".", "--platform", "cpu"])
    caught = capsys.readouterr()
    said = caught.err + caught.out
    assert "\nStart it: python train.py --epochs 1\n  From README.md:4.\n  It starts one process for each GPU" in said
    first = {"diff": "\nApply: ", "apply": "\nUndo the last run: "}[command]
    assert said.index(first) < said.index("Start it:") < said.index("diff --git")
    main(["check", ".", "--platform", "cpu"])
    caught = capsys.readouterr()
    assert "Start it" not in caught.err + caught.out


def test_the_folder_is_named_where_it_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    starts(tmp_path, egs__train_py=TRAIN, egs__README_md=readme("python train.py --lr 1"))
    main(["diff", ".", "--platform", "rocm"])
    said = capsys.readouterr().err
    assert "Start it, in egs: python train.py --lr 1\n" in said
    assert "Compare a run" not in said
    main(["apply", "egs", "--platform", "rocm"])
    said = capsys.readouterr().out
    assert "Compare a run with the code, in egs: ddp-codemod verify . --platform rocm --run 'python train.py --lr 1'\n" in said


@pytest.mark.parametrize("folder", ["", "egs"])
def test_apply_offers_to_compare_a_run_and_runs_nothing(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "project" / folder).mkdir(parents=True)
    (tmp_path / "project" / "pyproject.toml").touch()
    ran = tmp_path / "ran"
    (tmp_path / "project" / folder / "train.py").write_text(f"open({str(ran)!r}, 'w')\n" + TRAIN)
    (tmp_path / "project" / folder / "README.md").write_text(readme("python train.py"))
    main(["apply", "project", "--platform", "rocm"])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Compare a run with the code")]
    path = ".." if folder else "."
    assert line.endswith(f" ddp-codemod verify {path} --platform rocm --run 'python train.py'")
    assert f"in {Path('project') / folder}:" in line
    assert not ran.exists()


def test_what_is_to_replace_is_said_below_and_no_run_is_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    starts(tmp_path, train_py=TRAIN, README_md=readme("python train.py -c <config> -m <folder>"))
    main(["apply", ".", "--platform", "rocm"])
    said = capsys.readouterr().out
    assert (
        "\nStart it: python train.py -c <config> -m <folder>\n  From README.md:4.\n  Replace <config>, <folder> with your own.\n"
        in said
    )
    assert "Compare a run" not in said


def start_files(root: Path, platform: str = "rocm", **files: str) -> tuple[str, ...]:
    assert starts(root, platform, **files) == []
    return tuple(f"{one.folder}: {one.command}" if one.folder else one.command for one in survey(options(root, platform)).starts)


NEEDS = TRAIN.replace("def main", "import sys\n\nCONFIG = sys.argv[1]\n\n\ndef main")


def test_where_no_command_is_plain_the_script_that_starts_it_is_named(tmp_path: Path) -> None:
    script = "gpus=0,1\ntorchrun --nproc_per_node=$n lib/train.py --config $1\n"
    found = start_files(
        tmp_path,
        lib__train_py=NEEDS,
        recipes__a__run_sh=script,
        run_all_sh=script,
        recipes__a__eval_sh=script,
        tests__run_sh=script,
        other_sh="torchrun lib/other.py\n",
    )
    assert found == ("bash run_all.sh", "bash recipes/a/run.sh")


def test_of_several_scripts_that_which_trains_is_named(tmp_path: Path) -> None:
    script = "torchrun --nproc_per_node=$n lib/main.py $1\n"
    found = start_files(tmp_path, lib__main_py=NEEDS, scripts__train__a_sh=script, scripts__gen_ppl__a_sh=script, draw_sh=script)
    assert found == ("bash scripts/train/a.sh",)
    assert start_files(tmp_path, constrain_sh=script, scripts__train__a_sh="") == (
        "bash constrain.sh",
        "bash draw.sh",
        "bash scripts/gen_ppl/a.sh",
    )


def test_training_is_named_where_only_its_device_is_edited(tmp_path: Path) -> None:
    """The group that is edited is of a program that does something before."""
    extract = NEEDS.replace("torch.ones(1, requires_grad=True).sum().backward()", "torch.ones(1)")
    train = "import sys\n\nimport torch\nfrom accelerate import Accelerator\n\nAccelerator(cpu=bool(sys.argv[1])).backward(torch.ones(1, requires_grad=True).cuda().sum())\n"
    for name, program in (("features_py", extract), ("train_py", train)):
        (tmp_path / name.replace("_py", ".py")).write_text(program)
    assert start_files(tmp_path, "cpu", extract_sh="torchrun features.py $1\n", run_sh="accelerate launch train.py $1\n") == (
        "bash run.sh",
    )


def test_many_files_of_settings_are_no_programs(tmp_path: Path) -> None:
    base = "dist_cfg = dict(backend='nccl')\nenv_cfg = dict(dist_cfg=dist_cfg)\n"
    for number in range(20):
        (tmp_path / f"config_{number}.py").write_text("from base import *\n\nenv_cfg.update(seed=1)\n")
    assert (
        start_files(tmp_path, base_py=base, tools_py="from mmengine.runner import Runner\n\nRunner.from_cfg(None).train()\n")
        == ()
    )


def test_a_program_that_starts_it_by_its_path_is_named(tmp_path: Path) -> None:
    gui = "from subprocess import Popen\n\n\ndef click(config):\n    Popen(f'python lib/train.py {config}', shell=True)\n"
    quiet = "print('lib/train.py is for training')\n"
    assert start_files(tmp_path, lib__train_py=NEEDS, gui_py=gui, about_py=quiet) == ("python gui.py",)


def test_an_installed_command_is_named(tmp_path: Path) -> None:
    toml = '[project]\nname = "lib"\n[project.scripts]\nlib-train = "lib.train:main"\n'
    assert start_files(tmp_path, lib__train_py=NEEDS, lib____init___py="", pyproject_toml=toml) == ("lib-train",)


def test_else_the_program_itself(tmp_path: Path) -> None:
    assert start_files(tmp_path, train_py=NEEDS, evaluate_py=NEEDS) == ("python train.py",)


def test_no_file_is_named_beside_a_command(tmp_path: Path) -> None:
    assert starts(tmp_path, README_md=readme("python train.py"), train_py=TRAIN) != []
    assert len(survey(options(tmp_path)).starts) == 1


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "Start it as before: python train.py"), ("zh", "按原来的方式启动： python train.py")]
)
def test_it_is_said_once_and_not_where_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lang: str, said: str
) -> None:
    (tmp_path / "train.py").write_text(NEEDS)
    monkeypatch.chdir(tmp_path)
    main(["apply", ".", "--platform", "rocm", "--lang", lang])
    assert capsys.readouterr().out.count(said) == 1
    main(["apply", ".", "--platform", "rocm", "--lang", lang])
    assert said not in capsys.readouterr().out


DEVICE = "import torch\n\n\ndef main():\n    torch.ones(1, requires_grad=True).cuda().sum().backward()" + MAIN


def test_what_starts_most_of_the_edited_code_is_named_first(tmp_path: Path) -> None:
    run = "torchrun --nproc_per_node=2 train.py $1\n"
    found = start_files(
        tmp_path,
        "ascend",
        train_py=TRAIN,
        extract_py=DEVICE,
        a_sh=run,
        b_sh=run,
        z_sh=run + "python extract.py $2\n",
    )
    assert found == ("bash z.sh", "bash a.sh", "bash b.sh")


def test_of_scripts_that_start_the_same_the_one_in_the_readme_is_named_first(tmp_path: Path) -> None:
    run = "torchrun --nproc_per_node=2 train.py $1\n"
    files = {f"egs__{one}__run_sh": run for one in ("aishell", "cnceleb", "voxceleb")}
    found = start_files(tmp_path, "rocm", train_py=TRAIN, README_md="# It\n\nSee egs/voxceleb for a recipe.\n", **files)
    assert found == ("bash egs/voxceleb/run.sh", "bash egs/aishell/run.sh", "bash egs/cnceleb/run.sh")


def test_three_are_named_and_the_rest_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = "torchrun --nproc_per_node=2 train.py $1\n"
    start_files(tmp_path, "rocm", train_py=TRAIN, **{f"egs__{one}__run_sh": run for one in "abcdef"})
    monkeypatch.chdir(tmp_path)
    main(["diff", str(tmp_path), "--platform", "rocm", "--no-cache"])
    lines = capsys.readouterr().err.splitlines()
    line = next(one for one in lines if one.startswith("Start it"))
    assert lines[lines.index(line) + 1].endswith("and 2 more")
    assert line == "Start it as before, for example: bash egs/a/run.sh"


def test_a_benchmark_is_no_start_where_training_is_edited_elsewhere(tmp_path: Path) -> None:
    measure = TRAIN.replace("torch.ones(1, requires_grad=True).sum().backward()", "print(dist.get_rank())")
    files = {
        "speed__measure_py": measure,
        "train_py": DEVICE,
        "README_md": readme("torchrun --nproc_per_node=2 speed/measure.py"),
    }
    assert start_files(tmp_path, "ascend", **files) == ("python train.py",)
    assert starts(tmp_path, "rocm", **files) == [("torchrun --nproc_per_node=2 speed/measure.py", "", False)]


@pytest.mark.parametrize("platform", ["single-gpu", "rocm-windows"])
def test_an_installed_command_is_named_as_it_is_typed_from_anywhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], platform: str
) -> None:
    files = {
        "kit__train_py": TRAIN,
        "pyproject_toml": '[project]\nname = "kit"\nversion = "1"\n[project.scripts]\nkit-train = "kit.train:main"\n',
    }
    starts(tmp_path, platform, **files)
    main(["diff", str(tmp_path), "--platform", platform, "--no-cache"])
    assert "Start it as before: kit-train\n" in capsys.readouterr().err


ACCELERATE = (
    "from accelerate import Accelerator\n\naccelerator = Accelerator()\naccelerator.backward(accelerator.prepare(build())(1))\n"
)


@pytest.mark.parametrize(
    ("platform", "text", "said"),
    [
        ("single-gpu", ACCELERATE, True),
        ("rocm-windows", ACCELERATE, True),
        ("rocm", ACCELERATE, False),
        ("windows", ACCELERATE, False),
        ("single-gpu", TRAIN, False),
    ],
)
def test_one_process_is_started_by_a_command_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], platform: str, text: str, said: bool
) -> None:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "train.py").write_text(text)
    main(["diff", str(tmp_path), "--platform", platform, "--no-cache"])
    told = capsys.readouterr()
    assert ("start one process: accelerate launch --num_processes 1 SCRIPT" in told.out + told.err) is said


def test_data_that_a_command_names_is_the_users_own(tmp_path: Path) -> None:
    said = readme("python train.py --data=datasets/first.zip --lr 0.1")
    (one,) = found_starts(tmp_path, train_py=TRAIN, README_md=said)
    assert (one.command, one.placeholders, one.whole) == (said.splitlines()[3], ("datasets/first.zip",), True)


def test_what_trains_comes_before_what_only_uses_the_group(tmp_path: Path) -> None:
    said = readme("python generate.py", "python convert.py", "python train_it.py --data=big.zip")
    files = {"generate_py": TRAIN, "convert_py": TRAIN, "train_it_py": TRAIN, "README_md": said}
    assert [one.name for one in found_starts(tmp_path, **files)] == ["train_it.py", "generate.py", "convert.py"]


def test_of_what_trains_without_a_command_the_file_is_named(tmp_path: Path) -> None:
    files = {"generate_py": TRAIN, "train_it_py": TRAIN, "README_md": readme("python generate.py", "python train_it.py $(date)")}
    assert [(one.name, one.whole) for one in found_starts(tmp_path, **files)] == [("train_it.py", False)]


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        ("python train.py --devices cuda:0 cuda:1", "python train.py --devices npu:0 npu:1"),
        ("python train.py --device=cuda --cuda --out runs/cuda", "python train.py --device=npu --cuda --out runs/cuda"),
        ('python train.py --devices "cuda:0,cuda:1"', 'python train.py --devices "npu:0,npu:1"'),
    ],
)
def test_a_command_names_the_device_of_the_platform(tmp_path: Path, typed: str, command: str) -> None:
    assert starts(tmp_path, "ascend", train_py=TRAIN, README_md=readme(typed)) == [(command, "", False)]
    assert starts(tmp_path, "rocm", train_py=TRAIN, README_md=readme(typed)) == [(typed, "", False)]


def test_the_vendors_module_maps_the_name_of_the_device(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "README.md").write_text(readme("python train.py --device cuda"))
    asked = Options((tmp_path,), RULES.platforms["ascend"], RULES, ("transfer-to-npu",), tmp_path, starts=True)
    assert [one.command for one in survey(asked).starts] == ["python train.py --device cuda"]


def test_a_program_that_calls_itself_without_what_it_requires_is_no_start(tmp_path: Path) -> None:
    run = TRAIN.replace("def main():", "torch.manual_seed(0)\n\n\ndef main(args):")
    files = {"src__train_py": run, "main_py": "from src.train import main\n\nmain({})\n"}
    assert [one.name for one in found_starts(tmp_path, **files)] == ["main.py"]
    assert "src/train.py" in [one.name for one in found_starts(tmp_path, src__train_py=run.replace("(args)", "(args=None)"))]
