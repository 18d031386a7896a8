"""Launch files: options, settings and launches, and that a value written in a span reads back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.model import Skipped, Source
from ddp_codemod.parse.scripts import parse_shell
from ddp_codemod.parse.shell import Option, Script, Setting


def shell(text: str, name: str = "run.sh") -> Script:
    parsed = parse_shell(Source(Path(name), name, text.encode("utf-8"), text, "utf-8"))
    assert isinstance(parsed, Script)
    for entry in (*parsed.options, *parsed.settings):
        assert entry.value in parsed.text(entry).replace("'", "") or entry.value in parsed.text(entry)
        assert entry.line == parsed.source.position(entry.start)[0]
    return parsed


def options(text: str, name: str = "run.sh") -> list[tuple[str, str, str]]:
    return [(option.name, option.value, option.program) for option in shell(text, name).options]


@pytest.mark.parametrize(
    "text",
    [
        "python train.py --dist_backend nccl\n",
        "python train.py --dist_backend=nccl",
        "python train.py --dist_backend 'nccl'\n",
        'python train.py "--dist_backend=nccl"\n',
        "python train.py \\\n  --dist_backend \\\r\n  nccl | tee log\n",
        "if x; then\n\tpython train.py --dist_backend nccl # why\nfi\n",
        "f() { python train.py --dist_backend nccl; }\n",
        "cd x && CUDA_VISIBLE_DEVICES=0 python train.py --dist_backend nccl &\n",
        "$PYTHON $HERE/train.py --dist_backend nccl\n",
        "b=nccl\npython train.py --dist_backend $b\n",
        'export b="nccl"\npython train.py --dist_backend="${b}"\n',
        "python train.py --dist_backend ${B:-nccl}\n",
        'b=${1:-nccl}\npython train.py --dist_backend "$b"\n',
        "args=(--dist_backend nccl)\npython train.py ${args[@]}\n",
        'args=()\nargs+=("--dist_backend=nccl")\npython train.py "${args[@]}"\n',
        'ARGS="\n  --dist_backend nccl \\\n"\npython train.py $ARGS\n',
        'b=nccl\nARGS="--dist_backend $b"\npython train.py $ARGS\n',
        'cmd="python train.py --dist_backend nccl"\neval $cmd\n',
        'srun bash -c "cd x; python train.py --dist_backend nccl"\n',
        "echo $(python train.py --dist_backend nccl)\n",
        "for b in nccl; do python train.py --dist_backend $b; done\n",
    ],
)
def test_an_option_is_found_where_its_literal_stands(text: str) -> None:
    assert options(text) == [("dist_backend", "nccl", "train.py")]
    (option,) = shell(text).options
    start = text.index("nccl")
    assert option.start in (start, start - 1)
    written = text[: option.start] + shell(text).written(option, "gloo") + text[option.end :]
    assert written == text.replace("nccl", "gloo")


@pytest.mark.parametrize(
    "text",
    [
        "# python train.py --dist_backend nccl\n",
        "cat <<EOF\npython train.py --dist_backend nccl\nEOF\n",
        "python - <<'EOF'\nprint('--dist_backend nccl')\nEOF\n",
        "python train.py --dist_backend $B\n",
        "python train.py --dist_backend $(cat nccl)\n",
        "python train.py --dist_backend nc$cl\n",
        "b=nccl\nb=$(pick)\npython train.py --dist_backend $b\n",
        "python train.py nccl\n",
        "python train.py --dist_backend\n",
        "b=$b\npython train.py --dist_backend $b\n",
        "a=$b\nb=$a\npython train.py --dist_backend $b\n",
        "args=(${args[@]})\npython train.py ${args[@]}\n",
        "python train.py --dist_backend {{ nccl }\n",
    ],
)
def test_what_is_no_literal_option(text: str) -> None:
    assert [found for found in options(text) if "nccl" in found[1]] == []


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("python x/train.py", "x/train.py"),
        ("python -m pkg.train", "pkg.train"),
        ("torchrun --nproc_per_node 2 train.py", "train.py"),
        ("torchrun --nproc_per_node=2 -m pkg.train", "pkg.train"),
        ("python -m torch.distributed.launch --nproc_per_node=2 train.py", "train.py"),
        ("python -m torch.distributed.run -m pkg.train", "pkg.train"),
        ("accelerate launch --config c.yaml train.py", "train.py"),
        ("srun -n 2 python -u train.py", "train.py"),
        ("env A=1 train-it", "train-it"),
        ("/usr/bin/train-it", "train-it"),
        ("bash dist.sh", "dist.sh"),
        ("$RUN", ""),
    ],
)
def test_which_program_takes_the_option(command: str, program: str) -> None:
    assert options(f"{command} --b nccl\n")[-1] == ("b", "nccl", program)


def test_options_before_the_program_are_its_launcher_s() -> None:
    text = "torchrun --rdzv_backend nccl train.py --dist_backend nccl\n"
    assert options(text) == [("rdzv_backend", "nccl", "torchrun"), ("dist_backend", "nccl", "train.py")]


def test_overrides() -> None:
    text = "python train.py dist.backend=nccl +a.b=1 ++c/d@e=2 'f=\"nccl\"' --g.h=3\n"
    found = [(name, value) for name, value, _ in options(text)]
    assert found == [("dist.backend", "nccl"), ("a.b", "1"), ("c/d@e", "2"), ("f", "nccl"), ("g.h", "3")]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("b=nccl\nb=gloo\npython x.py --b $b\n", ["gloo"]),
        ("b=nccl\nif y; then b=gloo; fi\npython x.py --b $b\n", ["nccl", "gloo"]),
        ("if y; then\n  b=gloo\n  python x.py --b $b\nfi\n", ["gloo"]),
        ("if y; then b=gloo; else python x.py --b $b; fi\n", []),
        ("if y; then b=gloo; elif z; then b=mpi; else b=nccl; fi\npython x.py --b $b\n", ["gloo", "mpi", "nccl"]),
        ("case $1 in a) b=gloo;; *) b=nccl;; esac\npython x.py --b $b\n", ["gloo", "nccl"]),
        ("b=nccl\ny && b=gloo\npython x.py --b $b\n", ["nccl", "gloo"]),
        ("run() { python x.py --b $b; }\nb=nccl\nrun\n", ["nccl"]),
        ("for b in nccl gloo $c; do python x.py --b $b; done\n", ["nccl", "gloo"]),
        ("b=gloo python x.py --b $b\n", []),
        ("python x.py --b $b\nb=nccl\n", []),
    ],
)
def test_the_assignments_that_a_use_can_see(text: str, values: list[str]) -> None:
    assert [value for name, value, _ in options(text) if name == "b"] == values


def test_lists_of_options_for_something_else() -> None:
    assert options('OPTS="--dist_backend nccl --fp16"\nRUN=(--a 1)\n') == [("dist_backend", "nccl", ""), ("a", "1", "")]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("export NCCL_X=1\n", "export"),
        ("declare -x NCCL_X=1\n", "export"),
        ("NCCL_X=1 python x.py\n", "command"),
        ("env NCCL_X=1 python x.py\n", "command"),
        ("mpirun -x NCCL_X=1 python x.py\n", "command"),
        ("docker run -e NCCL_X='1' image\n", "command"),
        ("NCCL_X=1\n", "variable"),
        ("NCCL_X=1 Y=2\npython x.py\n", "variable"),
        ("export NCCL_X=${NCCL_X:-1}\n", "export"),
        ("f() {\n  local NCCL_X=1\n}\n", "variable"),
    ],
)
def test_settings(text: str, kind: str) -> None:
    assert [(found.value, found.kind) for found in shell(text).settings if found.name == "NCCL_X"] == [("1", kind)]


@pytest.mark.parametrize(
    "text", ["# export A=1\n", "export A\n", "export A=$B\n", "export A=$(x)\n", "A+=1\n", "python x.py A=1\n"]
)
def test_what_is_no_setting(text: str) -> None:
    assert [found for found in shell(text).settings if found.name == "A"] == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("set -e\n  python x.py\n", 2),
        ("A=1 python x.py\n", 1),
        ("A=1 B=2\npython x.py\n", 2),
        ("cd a \\\n  && python x.py\n", 1),
        ("cd a &&\n  python x.py\n", 1),
        ("if a; then\n  python x.py\nfi\n", 2),
        ("if a\nthen python x.py; fi\n", 1),
        ("echo a | \\\n python x.py\n", 1),
    ],
)
def test_where_a_line_can_stand_before_a_launch(text: str, line: int) -> None:
    (launch,) = shell(text).launches
    assert launch.insert is not None
    assert shell(text).source.position(launch.insert) == (line, 0)
    assert text[launch.insert :].startswith(launch.indent)
    changed = text[: launch.insert] + launch.indent + "export A=1\n" + text[launch.insert :]
    assert shell(changed).errors == ()
    assert len(shell(changed).launches) == 1


DOCKER = """FROM base
# python train.py --b nccl
ENV NCCL_X=1 Y="a b"
ENV OLD 2
COPY --from=x a=b c
RUN --mount=type=cache,target=/x pip install a && \\
    # a comment inside
    python train.py --b gloo
CMD ["python", "train.py", "--dist_backend", "nccl"]
"""


def test_a_dockerfile() -> None:
    parsed = shell(DOCKER, "docker/Dockerfile.gpu")
    assert [(found.name, found.value, found.kind) for found in parsed.settings] == [
        ("NCCL_X", "1", "image"),
        ("Y", "a b", "image"),
        ("OLD", "2", "image"),
    ]
    assert [(found.name, found.value, found.program) for found in parsed.options] == [
        ("b", "gloo", "train.py"),
        ("dist_backend", "nccl", "train.py"),
    ]
    assert {launch.insert for launch in parsed.launches} == {None}
    assert parsed.text(parsed.options[1]) == '"nccl"'


def test_a_test_in_a_dockerfile_is_no_list_of_words() -> None:
    text = 'FROM x\nRUN [ "$A" = 1 ] && python x.py --b cpu:gloo,cuda:nccl; [ -z "$B" ]\n'
    assert options(text, "Dockerfile") == [("b", "cpu:gloo,cuda:nccl", "x.py")]


def test_a_makefile() -> None:
    text = "B ?= nccl # why\nall: --b=mpi\n\t@python train.py --b $(B) --c ${B} --d $(shell nccl)\n# python y.py --b nccl\n"
    parsed = shell(text, "Makefile")
    assert [(found.name, found.value, found.line) for found in parsed.options] == [("b", "nccl", 1), ("c", "nccl", 1)]


@pytest.mark.parametrize("name", ["notes.txt", "run.py", "README"])
def test_other_files_have_no_commands(name: str) -> None:
    assert shell("python train.py --b nccl\n", name).options == ()


def test_a_shebang_makes_a_script() -> None:
    assert options("#!/usr/bin/env bash\npython train.py --b nccl\n", "run") == [("b", "nccl", "train.py")]


@pytest.mark.parametrize("text", ["", "\n", "$(" * 200, "if a; then\n" * 5_000, '"' * 999, "{" * 200, "a=(" * 200, "\r\n", "<<A"])
def test_broken_scripts_are_read_as_far_as_they_go(text: str) -> None:
    assert shell(text).options == ()


def test_large_files_are_left() -> None:
    text = "#" * 5_000_001
    assert isinstance(parse_shell(Source(Path("a.sh"), "a.sh", text.encode(), text, "utf-8")), Skipped)


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("python x.py --u tcp://h:1\n", "tcp://h:1?a=b&c=d", "'tcp://h:1?a=b&c=d'"),
        ("python x.py --u 'tcp://h:1'\n", "tcp://h:1?a=b", "'tcp://h:1?a=b'"),
        ('python x.py --u "$H" --v "a b"\n', "$5", '"\\$5"'),
        ('python x.py "--u=a"\n', "x?y", "x?y"),
        ("python x.py --u a\n", "it's", '"it\'s"'),
        ("python x.py --u 'a'\n", "", "''"),
    ],
)
def test_how_a_value_is_written(text: str, value: str, expected: str) -> None:
    parsed = shell(text)
    assert parsed.written(parsed.options[-1], value) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("python x.py --u ${A:-a}\n", "x y"),
        ('A="--u a"\npython x.py $A\n', "x y"),
        ("python x.py --u a\n", "x\ny"),
        ("A=a\npython x.py --u $A\n", "x y"),
        ("python x.py '--u=a'\n", "it's"),
    ],
)
def test_what_cannot_be_written(text: str, value: str) -> None:
    parsed = shell(text)
    with pytest.raises(ValueError, match=r"written|printable|several words"):
        parsed.written(parsed.options[-1], value)


words = st.sampled_from(["nccl", "'nccl'", '"nccl"', "${A:-nccl}", '"${A:-nccl}"', "$A", "$(x)", "é", "a=b", "1"])
lines = st.one_of(
    st.builds("python train.py --a {} --b={} c.d={}".format, words, words, words),
    st.builds("export X={} Y={}".format, words, words),
    st.builds("A={}".format, words),
    st.builds("args=(--a {} --b={})".format, words, words),
    st.builds("if x; then torchrun t.py \\\n --a {}; fi".format, words),
    st.sampled_from(["python train.py ${args[@]}", "# --a nccl", "", "\tx | y"]),
)


def standing(script: Script, changed: tuple[int, int] = (-1, -1), value: str = "") -> list[tuple[str, str]]:
    entries: list[Option | Setting] = [*script.options, *script.settings]
    return [(entry.name, value if (entry.start, entry.end) == changed else entry.value) for entry in entries]


@given(
    st.lists(lines, min_size=1, max_size=6),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["gloo", "cpu:gloo,cuda:nccl", "tcp://h:1?x=0&y=1", "it's", "a b", "通"]),
    st.data(),
)
def test_a_written_value_reads_back_and_nothing_else_changes(
    text: list[str], newline: str, value: str, data: st.DataObject
) -> None:
    joined = newline.join(text).replace("\\\n", "\\" + newline)
    script = shell(joined)
    entries: list[Option | Setting] = [*script.options, *script.settings]
    if not entries:
        return
    entry = data.draw(st.sampled_from(entries))
    try:
        new = script.written(entry, value)
    except ValueError:
        return
    again = shell(joined[: entry.start] + new + joined[entry.end :])
    assert standing(again) == standing(script, (entry.start, entry.end), value)


@pytest.mark.parametrize(
    "deep",
    [
        "a=" + "$(echo " * 5_000 + ")" * 5_000,
        "a=" + "${b:-" * 5_000 + "}" * 5_000,
        "$(" * 20_000,
        "if a; then\n" * 5_000 + "b\n" + "fi\n" * 5_000,
    ],
)
def test_what_nests_for_ever_is_skipped_with_the_reason(deep: str) -> None:
    text = f"torchrun train.py --backend nccl\n{deep}\n"
    made = parse_shell(Source(Path("run.sh"), "run.sh", text.encode(), text, "utf-8"))
    assert isinstance(made, Skipped)
    assert made.reason.key == "skipped-parser"
