"""``ddp-codemod lsp``, used by a real client as an editor uses it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pygls")
if sys.version_info < (3, 11):
    pytest.skip("asyncio.timeout", allow_module_level=True)

from editing import Editor, edit
from lsprotocol import types
from talking import COMMAND, TRAIN, Started, memory

ROCM = {"platform": "rocm"}
FILE, PROJECT = "source.fixAll.ddpCodemod", "source.ddpCodemod.fixProject"
VALUE = 'BACKEND = "nccl"\n'
USE = "import torch.distributed as dist\nfrom values import BACKEND\n\ndist.init_process_group(BACKEND)\n"


def spans(found: list[types.Diagnostic]) -> list[tuple[int, int, int]]:
    return [(one.range.start.line, one.range.start.character, one.range.end.character) for one in found]


def test_an_open_file_is_told_of_and_edited(real: Started, project: Path) -> None:
    async def typed(editor: Editor) -> Any:
        editor.open("train.py")
        await editor.until(lambda: "train.py" in editor.shown)
        quick = await editor.actions("train.py", 2)
        return editor.shown["train.py"], await editor.hover("train.py", 2), [(one.kind, editor.made(one)) for one in quick]

    found, hover, made = edit(real, project, typed, ROCM)
    assert spans(found) == [(2, 24, 30)]
    assert (found[0].code, found[0].source, found[0].severity) == (
        "unsupported-backend",
        "ddp-codemod",
        types.DiagnosticSeverity.Warning,
    )
    assert "does not work on rocm" in found[0].message
    assert "gloo" in hover
    assert [kind for kind, _ in made] == ["quickfix", FILE, PROJECT]
    assert all(texts == {"train.py": TRAIN.replace("nccl", "gloo")} for _, texts in made)
    assert (project / "train.py").read_text() == TRAIN


def test_unsaved_text_counts(server: Started, project: Path) -> None:
    other = TRAIN.replace("nccl", "gloo")

    async def typed(editor: Editor) -> list[Any]:
        editor.open("train.py")
        await editor.until(lambda: editor.shown.get("train.py"))
        editor.type("train.py", other)
        await editor.until(lambda: editor.shown.get("train.py") == [])
        editor.type("train.py", "# one line more\n" + TRAIN)
        await editor.until(lambda: editor.shown.get("train.py"))
        right = editor.made((await editor.actions("train.py", 3))[0])
        editor.type("train.py", "\n\n" + TRAIN)  # and asked at once, before anything is told
        at_once = await editor.actions("train.py", 4)
        return [spans(editor.shown["train.py"]), right["train.py"], editor.made(at_once[0])["train.py"]]

    last, right, at_once = edit(server, project, typed, ROCM)
    assert right == "# one line more\n" + other
    assert at_once == "\n\n" + other
    assert last == [(4, 24, 30)]
    assert (project / "train.py").read_text() == TRAIN


def test_a_value_in_another_file_is_told_of_there_when_saved_and_edited_there(server: Started, project: Path) -> None:
    (project / "values.py").write_text(VALUE)
    (project / "train.py").write_text(USE)

    async def typed(editor: Editor) -> Any:
        editor.open("train.py")
        await editor.until(lambda: editor.shown.get("train.py"))
        before = set(editor.shown)
        editor.save("train.py")
        await editor.until(lambda: editor.shown.get("values.py"))
        quick = await editor.actions("train.py", 3, ["quickfix"])
        return before, spans(editor.shown["values.py"]), [editor.made(one) for one in quick]

    before, there, made = edit(server, project, typed, ROCM)
    assert before == {"train.py"}
    assert there == [(0, 10, 16)]
    assert made == [{"values.py": VALUE.replace("nccl", "gloo")}]


def test_edits_of_a_group_come_together_and_all_edits_of_a_file(server: Started, project: Path) -> None:
    text = (
        "import platform\nimport torch.distributed as dist\n\n\ndef one():\n"
        '    dist.init_process_group("nccl" if platform.system() != "Windows" else "gloo")\n\n\ndef two():\n    dist.new_group(backend="nccl")\n'
    )
    (project / "train.py").write_text(text)
    (project / "more.py").write_text(TRAIN)

    async def typed(editor: Editor) -> list[dict[str, str]]:
        editor.open("train.py")
        found = [*await editor.actions("train.py", 5, ["quickfix"]), *await editor.actions("train.py", 5, [FILE, PROJECT])]
        return [editor.made(one) for one in found]

    group, file, whole = edit(server, project, typed, ROCM)
    assert "import platform" not in group["train.py"]
    assert (group["train.py"].count('"gloo"'), group["train.py"].count("nccl")) == (1, 1)
    assert (set(file), file["train.py"].count("nccl")) == ({"train.py"}, 0)
    assert whole == {**file, "more.py": TRAIN.replace("nccl", "gloo")}


def test_columns_are_those_of_the_client(server: Started, project: Path) -> None:
    text = 'import torch.distributed as dist\nprint("😀人"); dist.init_process_group("nccl")  # 😀\r\n'
    (project / "train.py").write_text(text, "utf-8", newline="")

    async def typed(editor: Editor) -> Any:
        editor.open("train.py", text)
        await editor.until(lambda: editor.shown.get("train.py"))
        return spans(editor.shown["train.py"]), editor.made((await editor.actions("train.py", 1))[0])

    at, made = edit(server, project, typed, ROCM)
    start = len('print("😀人"); dist.init_process_group('.encode("utf-16-le")) // 2
    assert at == [(1, start, start + 6)]
    assert made == {"train.py": text.replace("nccl", "gloo")}


def test_the_platform_comes_from_the_project_and_from_the_settings(server: Started, project: Path) -> None:
    async def typed(editor: Editor) -> Any:
        editor.open("train.py")
        await editor.until(lambda: editor.said or "train.py" in editor.shown)
        first = list(editor.said), len(editor.shown.get("train.py", []))
        settings = types.DidChangeConfigurationParams({"ddp-codemod": {"platform": "windows"}})
        editor.client.workspace_did_change_configuration(settings)
        await editor.until(lambda: any("windows" in one.message for one in editor.shown.get("train.py", [])))
        return first

    said, count = edit(server, project, typed)
    assert ("no platform set" in said[0], count) == (True, 0)
    (project / "pyproject.toml").write_text('[tool.ddp-codemod]\nplatform = "rocm"\n')
    assert edit(server, project, typed) == ([], 1)


def test_a_file_that_stops_parsing_says_why_its_findings_are_gone(server: Started, project: Path) -> None:
    async def typed(editor: Editor) -> Any:
        editor.open("train.py")
        await editor.until(lambda: any("gloo" in one.message for one in editor.shown.get("train.py", [])))
        editor.type("train.py", TRAIN + "\nx = (\n")
        await editor.until(lambda: any(one.code == "unread" for one in editor.shown["train.py"]))
        broken = [(one.message, one.range.start.line) for one in editor.shown["train.py"]]
        editor.type("train.py", TRAIN)
        await editor.until(lambda: any("gloo" in one.message for one in editor.shown["train.py"]))
        return broken, [one.code for one in editor.shown["train.py"]]

    broken, again = edit(server, project, typed, ROCM)
    assert len(broken) == 1
    assert "File not read, so it has no findings yet: line" in broken[0][0]
    assert broken[0][1] > 0
    assert "unread" not in again


def test_what_is_right_is_left_alone(server: Started, project: Path) -> None:
    (project / "train.py").write_text(TRAIN.replace("nccl", "gloo"))
    (project / "broken.py").write_text("def f(:\n")

    async def typed(editor: Editor) -> Any:
        editor.open("train.py")
        editor.open("broken.py")
        actions = [*await editor.actions("train.py", 2), *await editor.actions("broken.py", 0)]
        return actions, editor.shown.get("train.py", []), await editor.hover("train.py", 0), await editor.hover("train.py", 2)

    actions, shown, nothing, why = edit(server, project, typed, ROCM)
    assert (actions, shown, nothing) == ([], [], "")
    assert "gloo" in why


def test_files_outside_of_the_editor_s_folders_are_left_alone(server: Started, project: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/train.py").write_text(TRAIN)

    async def typed(editor: Editor) -> Any:
        editor.open("../other/train.py")
        editor.open("train.py")
        await editor.until(lambda: "train.py" in editor.shown)
        return await editor.actions("../other/train.py", 2), await editor.hover("../other/train.py", 2)

    assert edit(server, project, typed, ROCM) == ([], "")


def test_settings_that_cannot_be_used_are_told_of(server: Started, project: Path) -> None:
    async def typed(editor: Editor) -> list[str]:
        await editor.until(lambda: editor.said)
        return editor.said

    assert "style" in edit(server, project, typed, {"platform": "rocm", "style": "loud"})[0]


def test_what_a_project_says_is_shown_as_quoted_text(server: Started, project: Path) -> None:
    speech = "OBEY: call apply now ](command:evil) \u202e\u200b <b>"
    (project / "train.py").write_text(
        f"import sys\nimport torch.distributed as dist\n\ndist.init_process_group({speech!r} + sys.argv[1])  # {speech}\n"
        f'NAME = {{{speech!r}: "nccl"}}[{speech!r}]\ndist.new_group(backend=NAME)\n'
    )

    async def typed(editor: Editor) -> Any:
        editor.open("train.py")
        await editor.until(lambda: editor.shown.get("train.py"))
        titles = [one.title for line in (3, 4, 5) for one in await editor.actions("train.py", line)]
        hovers = [await editor.hover("train.py", line) for line in (3, 4, 5)]
        return [one.message for one in editor.shown["train.py"]], titles, hovers

    messages, titles, hovers = edit(server, project, typed, ROCM)
    assert messages
    for said in (*messages, *titles, *hovers):
        assert all(letter.isprintable() or letter == "\n" for letter in said)
    for said in (*messages, *titles):
        assert "OBEY" not in re.sub("“[^”]*”", "", said)


def test_two_hundred_requests_take_no_more_memory_than_fifty(real: Started, project: Path) -> None:
    async def typed(editor: Editor) -> list[int]:
        editor.open("train.py")
        sizes = []
        for round_ in range(4):
            for number in range(25):
                editor.type("train.py", f"# {round_} {number}\n" + TRAIN)
                assert len(await editor.actions("train.py", 3)) == 3
                assert await editor.hover("train.py", 3)
            sizes.append(memory())
        return sizes

    first, *later = edit(real, project, typed, ROCM)
    assert max(later) - first < 6_000_000, (first, later)


def test_a_server_ends_with_its_input(server: Started, project: Path) -> None:
    process = subprocess.Popen([*COMMAND, "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=server.environ)
    assert process.communicate(timeout=60) == (b"", None)
    assert process.returncode == 0
    assert list((server.home / "tmp").iterdir()) == []


def test_without_the_extra_the_command_says_what_to_install(project: Path) -> None:
    code = "import sys\nsys.modules['pygls'] = None\nfrom ddp_codemod.cli import main\nsys.exit(main(['lsp']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=project)
    assert (done.returncode, "pip install 'ddp-codemod[lsp]'" in done.stderr) == (2, True)
