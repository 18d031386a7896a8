"""Following many programs together comes to what following each alone comes to."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from ddp_codemod.single_process.reachability import ProgramReach
from ddp_codemod.single_process.shared_reach import SharedReach
from ddp_codemod.sites.project import Project

FILES, DEFS = 5, 3
PASSING = frozenset({"cache"})

numbers = st.integers(0, FILES - 1)
names = st.tuples(numbers, st.integers(0, DEFS - 1))
statement = st.one_of(
    st.builds("import m{}".format, numbers),
    st.builds(lambda one: f"from m{one[0]} import f{one[0]}_{one[1]}", names),
    st.builds("from m{} import *".format, numbers),
    st.builds(lambda one: f"f{one[0]}_{one[1]}()", names),
    st.builds(lambda one: f"m{one[0]}.f{one[0]}_{one[1]}()", names),
)
body = st.lists(statement, max_size=3)
decorated = st.sampled_from(["", "@cache\n", "@register\n"])
guard = st.one_of(st.none(), body)
module = st.tuples(body, st.lists(st.tuples(decorated, body), min_size=DEFS, max_size=DEFS), guard)


def indented(lines: list[str]) -> str:
    return "".join(f"    {line}\n" for line in (*(line for line in lines if "*" not in line), "pass"))


def written(number: int, made: tuple[list[str], list[tuple[str, list[str]]], list[str] | None]) -> str:
    top, functions, main = made
    text = "".join(f"{line}\n" for line in top)
    for index, (above, lines) in enumerate(functions):
        text += f"{above}def f{number}_{index}():\n{indented(lines)}"
    return text + (f'if __name__ == "__main__":\n{indented(main)}' if main is not None else "")


@settings(deadline=None, max_examples=80)
@given(st.lists(module, min_size=FILES, max_size=FILES), st.lists(st.booleans(), min_size=FILES, max_size=FILES), numbers)
def test_the_same_parts_run(modules: list, whole: list[bool], later: int) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for number, made in enumerate(modules):
            (root / f"m{number}.py").write_text(written(number, made), "utf-8")
        project = Project(root, sorted(root.glob("*.py")))
        files = [project.module(name) for name in project.names]
        assert None not in files
        programs = [ProgramReach(project, file, PASSING, of) for file, of in zip(files, whole, strict=True) if file is not None]
        shared = SharedReach(project, PASSING)
        shared.add(programs[:later])
        shared.add(programs)  # some come later, and some again
        nodes = [node for file in files if file is not None for kind in file.nodes.values() for node in kind]
        for program in programs:
            alone = {part for _, part in program.follow()}
            assert {node for node in nodes if shared.runs_any_part(program, [node])} == alone & set(nodes)


def test_of_a_program_that_was_not_followed_anything_may_be(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("def run():\n    pass\n", "utf-8")
    project = Project(tmp_path, [tmp_path / "train.py"])
    file = project.module("train.py")
    assert file is not None
    assert SharedReach(project, PASSING).runs_any_part(ProgramReach(project, file, PASSING), [file.tree.body[0]])
