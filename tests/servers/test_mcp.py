"""``ddp-codemod mcp``, talked to by the SDK's own client over standard input and output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import mcp_types as types
import pytest
from mcp import Client
from talking import COMMAND, TRAIN, Started, own_words, words

from ddp_codemod.cli import main
from ddp_codemod.report import json as report
from ddp_codemod.servers.mcp.tools import describe_tools, schema_of_output

SCHEMA = json.loads(report.SCHEMA.read_text("utf-8"))
ROCM = {"platform": "rocm"}
READING = ["scan", "explain", "check", "diff", "diagnose", "doctor", "verify"]


def many(project: Path, n: int = 60) -> None:
    """Another file, with this many sites."""
    (project / "many.py").write_text(
        "import torch.distributed as dist\n" + "".join(f'def f{i}():\n    dist.new_group(backend="nccl")\n' for i in range(n))
    )


def printed(capfdbinary: pytest.CaptureFixture[bytes], *arguments: object) -> bytes:
    main([*map(str, arguments)])
    return capfdbinary.readouterr().out


def test_tools_that_write_are_there_only_where_they_may(server: Started, project: Path) -> None:
    async def names(client: Client) -> list[str]:
        return [tool.name for tool in (await client.list_tools()).tools]

    assert server.talk(names, project) == READING
    assert server.talk(names, project, "--allow-apply") == [*READING, "apply", "undo"]
    refused = server.ask("apply", {**ROCM, "digest": "0" * 32}, project)
    assert refused.is_error
    assert "--allow-apply" in own_words(refused)
    assert (project / "train.py").read_text() == TRAIN


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_report_is_what_the_command_line_says(
    server: Started, project: Path, mode: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    answer = server.ask("scan", {**ROCM, "show": ["sites", "edits", "advisories", "skipped"]}, project, mode=mode)
    said = json.loads(printed(capfdbinary, "scan", project, "--platform", "rocm", "--format", "json"))
    assert not answer.is_error
    assert answer.structured_content["report"] == said
    jsonschema.validate(answer.structured_content["report"], SCHEMA)
    assert own_words(answer).startswith("Next: call diff with the same arguments, and show the user its patch.\n")
    assert "\nPlatform rocm: 1 call site, 1 change in 1 file, 0 need review" in own_words(answer)
    assert "> “train.py”:3 torch.init_process_group(backend) = “nccl”: edit;" in words(answer)


def test_every_answer_is_as_its_tool_has_announced(server: Started, project: Path) -> None:
    asked: dict[str, dict[str, Any]] = {
        "scan": ROCM,
        "explain": {**ROCM, "path": "train.py", "line": 3},
        "check": ROCM,
        "diff": ROCM,
        "diagnose": {"text": "RuntimeError: Distributed package doesn't have NCCL built in\n"},
        "doctor": {},
    }

    async def answers(client: Client) -> list[tuple[types.Tool, types.CallToolResult]]:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        return [(tools[name], await client.call_tool(name, given)) for name, given in asked.items()]

    for tool, answer in server.talk(answers, project, "--python", sys.executable):
        assert not answer.is_error, words(answer)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        jsonschema.validate(answer.structured_content, tool.output_schema)
        jsonschema.validate(answer.structured_content, schema_of_output(tool.name))
        assert own_words(answer).startswith("Next: ")
        jsonschema.validate(asked[tool.name], tool.input_schema)
        assert all("description" in one for one in tool.input_schema["properties"].values())
        assert len(json.dumps(answer.structured_content)) < 40_000


WRONG = [
    ("scan", {"platfrom": "rocm"}, "platfrom"),
    ("scan", {"platfrom": "rocm"}, "paths, platform, rules, style, env_in, torch_version, unsafe, show, action, offset, limit"),
    ("undo", {"paths": "."}, "is read-only"),
    ("doctor", {"python": "x"}, "python"),
    ("scan", {"platform": "rcm"}, "did you mean rocm"),
    ("scan", {"platform": "npu"}, "did you mean ascend"),
    ("scan", {}, "no platform set"),
    ("scan", {**ROCM, "limit": 1000}, "limit"),
    ("scan", {**ROCM, "paths": "train.py"}, "array"),
    ("explain", {**ROCM, "path": "train.py"}, "line"),
    ("explain", {**ROCM, "path": "train.py", "line": 0}, "line"),
    ("diagnose", {}, "path"),
    ("diagnose", {"path": "."}, "not a file"),
]


def test_a_wrong_request_is_told_and_the_next_one_answered(server: Started, project: Path) -> None:
    async def each(client: Client) -> list[types.CallToolResult]:
        answers = [await client.call_tool(tool, given) for tool, given, _ in WRONG]
        return [*answers, await client.call_tool("scan", ROCM)]

    *wrong, right = server.talk(each, project)
    for answer, (*_, word) in zip(wrong, WRONG, strict=True):
        assert answer.is_error
        assert word in words(answer)
    assert not right.is_error


def test_findings_come_in_parts_that_make_up_the_whole(
    server: Started, project: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    many(project)

    async def parts(client: Client) -> list[dict[str, Any]]:
        found, at = [], 0
        while at is not None:
            answer = (await client.call_tool("scan", {**ROCM, "limit": 25, "offset": at})).structured_content
            found.append(answer)
            at = answer["page"]["next"]
        return found

    pages = server.talk(parts, project)
    said = json.loads(printed(capfdbinary, "scan", project, "--platform", "rocm", "--format", "json"))
    assert [page["page"]["returned"] for page in pages] == [25, 25, 11]
    assert [site for page in pages for site in page["report"]["sites"]] == said["sites"]


def test_what_was_not_followed_is_said_and_listed(server: Started, project: Path) -> None:
    (project / "nets.py").write_text("import torch\n\nnet = torch.ones(1).cuda()\n")
    (project / "train.py").write_text(
        "import importlib, sys, torch\n\nimportlib.import_module(sys.argv[1])\ntorch.ones(1, requires_grad=True).backward()\n"
    )
    answer = server.ask("check", {"platform": "cpu"}, project)
    assert answer.structured_content["report"]["unfollowed"] == [{"path": "train.py", "line": 3}]
    jsonschema.validate(answer.structured_content["report"], SCHEMA)
    assert "1 place loads code by a name known only at run time" in own_words(answer)
    assert "> “train.py”:3" in words(answer)


def test_one_kind_of_finding_can_be_asked_for(server: Started, project: Path) -> None:
    (project / "other.py").write_text("import sys, torch.distributed as dist\ndist.init_process_group('ours')\n")
    review = server.ask("scan", {**ROCM, "action": "review"}, project).structured_content
    assert [site["path"] for site in review["report"]["sites"]] == ["other.py"]
    edits = server.ask("scan", {**ROCM, "show": ["edits"]}, project).structured_content
    assert (edits["report"]["sites"], len(edits["report"]["edits"])) == ([], 1)
    beyond = server.ask("scan", {**ROCM, "offset": 7}, project).structured_content
    assert (beyond["page"]["returned"], beyond["page"]["next"]) == (0, None)


def test_a_long_patch_comes_in_parts(server: Started, project: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    many(project, 200)

    async def parts(client: Client) -> tuple[list[str], set[str], int]:
        lines, digests, calls, at = [], set(), 0, 0
        while at is not None:
            answer = (await client.call_tool("diff", {**ROCM, "limit": 1, "patch_offset": at})).structured_content
            lines += answer["patch"]["lines"]
            digests.add(answer["digest"])
            at, calls = answer["patch"]["next"], calls + 1
        return lines, digests, calls

    lines, digests, calls = server.talk(parts, project)
    assert "\n".join([*lines, ""]).encode() == printed(capfdbinary, "diff", project, "--platform", "rocm", "-q")
    assert (len(digests), calls > 1) == (1, True)


def test_what_was_shown_is_written_and_taken_back(real: Started, project: Path) -> None:
    async def there_and_back(client: Client) -> str:
        shown = await client.call_tool("diff", ROCM)
        written = await client.call_tool("apply", {**ROCM, "digest": shown.structured_content["digest"]})
        assert not written.is_error, words(written)
        assert written.structured_content["written"] == ["train.py"]
        assert "ddp-codemod undo" in words(written)
        text = (project / "train.py").read_text()
        again = await client.call_tool("diff", ROCM)
        assert (again.structured_content["digest"], again.structured_content["files"]) == (None, 0)
        back = written.structured_content["undo"]
        assert (await client.call_tool(back["tool"], back["arguments"])).structured_content["restored"] == ["train.py"]
        assert (await client.call_tool("undo")).is_error
        return text

    assert real.talk(there_and_back, project, "--allow-apply") == TRAIN.replace("nccl", "gloo")
    assert (project / "train.py").read_text() == TRAIN


def test_a_part_of_a_port_is_not_said_to_be_ready_to_train(server: Started, project: Path) -> None:
    (project / "train.py").write_text(
        "import torch\n" + TRAIN + "model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1).cuda())\n"
    )

    async def written(client: Client, **given: Any) -> str:
        given = {"platform": "ascend", **given}
        digest = (await client.call_tool("diff", given)).structured_content["digest"]
        answer = await client.call_tool("apply", {**given, "digest": digest})
        assert not answer.is_error, words(answer)
        return own_words(answer)

    async def twice(client: Client) -> list[str]:
        return [await written(client), await written(client, unsafe=True)]

    part, whole = server.talk(twice, project, "--allow-apply")
    assert part.startswith("Next: ask the user how to move cuda to npu: call diff with unsafe: true")
    assert whole.startswith("Next: call verify, or have the user start the training")


def test_an_agent_hears_of_files_that_nothing_starts(server: Started, project: Path) -> None:
    (project / "train.py").write_text("import torch\n\ntorch.ones(1, requires_grad=True).npu().sum().backward()\n")
    (project / "infer.py").write_text("import torch\n\nx = torch.ones(1).cuda()\n")
    answer = server.ask("check", {"platform": "ascend"}, project)
    assert own_words(answer).startswith(
        "Next: tell the user that 1 file uses the device, and nothing this project starts reaches that file."
    )
    assert "infer.py" in words(answer)
    assert "reaches that file" not in own_words(server.ask("check", ROCM, project))
    named = server.ask("diff", {"platform": "ascend", "unsafe": True, "paths": ["infer.py"]}, project)
    assert any("torch.ones(1).npu()" in line for line in named.structured_content["patch"]["lines"])


def test_what_is_for_a_person_comes_before_the_changes(server: Started, project: Path) -> None:
    (project / "train.py").write_text(
        "import torch\nimport torch.distributed as dist\n\ndist.init_process_group('nccl')\nx = torch.ones(1).cuda()\n"
        "major, minor = torch.cuda.get_device_capability()\n"
    )
    answer = server.ask("check", {"platform": "ascend"}, project)
    report = answer.structured_content["report"]
    assert [(one["line"], one["action"]) for one in report["sites"]] == [(6, "review")]
    assert len(report["edits"]) == 3
    assert words(answer).index(":6 device-module") < words(answer).index(":4 unsupported-backend")
    patch = server.ask("diff", {"platform": "ascend"}, project)
    assert own_words(patch).startswith("Next: ask the user how to move cuda to npu: call diff with unsafe: true")
    assert "and then the program does not run" in own_words(patch)
    shown = patch.structured_content["report"]
    assert ([one["line"] for one in shown["sites"]], shown["edits"]) == ([6], [])
    whole = server.ask("diff", {"platform": "ascend", "unsafe": True}, project)
    assert own_words(whole).startswith("Next: show the user this patch.")


@pytest.mark.parametrize("change", ["file", "platform", "digest", "another file"])
def test_nothing_else_than_what_was_shown_is_written(server: Started, project: Path, change: str) -> None:
    async def other(client: Client) -> types.CallToolResult:
        digest = (await client.call_tool("diff", ROCM)).structured_content["digest"]
        if change == "file":
            (project / "train.py").write_text("# later\n" + TRAIN)
        elif change == "another file":
            (project / "more.py").write_text(TRAIN)
        given = {"platform": "cpu" if change == "platform" else "rocm", "digest": "0" * 32 if change == "digest" else digest}
        return await client.call_tool("apply", given)

    answer = server.talk(other, project, "--allow-apply")
    assert answer.is_error
    assert "Call diff again" in own_words(answer)
    assert "nccl" in (project / "train.py").read_text()


def test_work_that_git_does_not_have_is_refused_as_on_the_command_line(server: Started, project: Path) -> None:
    def git(*words_: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words_], cwd=project, check=True, capture_output=True
        )

    git("init")
    git("add", ".")
    git("commit", "-m", "x")
    (project / "train.py").write_text(TRAIN + "# not saved in git\n")

    async def both(client: Client) -> tuple[types.CallToolResult, types.CallToolResult]:
        digest = (await client.call_tool("diff", ROCM)).structured_content["digest"]
        refused = await client.call_tool("apply", {**ROCM, "digest": digest})
        return refused, await client.call_tool("apply", {**ROCM, "digest": digest, "allow_dirty": True})

    refused, written = server.talk(both, project, "--allow-apply")
    assert refused.is_error
    assert "train.py" in words(refused)
    assert not written.is_error
    assert (project / "train.py").read_text() == TRAIN.replace("nccl", "gloo") + "# not saved in git\n"


def test_a_log_is_read_as_a_text_and_as_a_file(server: Started, project: Path) -> None:
    log = (
        'Traceback (most recent call last):\n  File "/elsewhere/project/train.py", line 3, in <module>\n'
        '    dist.init_process_group("nccl")\nRuntimeError: Distributed package doesn\'t have NCCL built in\n'
    )
    (project / "train.log").write_text(log)
    for given in ({"text": log}, {"path": "train.log"}):
        answer = server.ask("diagnose", {**given, "project": "."}, project)
        found = answer.structured_content["report"]
        assert found["diagnoses"][0]["id"] == "nccl-not-built-in"
        assert [(site["path"], site["line"]) for site in found["sites"]] == [("train.py", 3)]
        assert "[nccl-not-built-in]" in own_words(answer)
        assert "have NCCL built in" not in own_words(answer)
    other = server.ask("diagnose", {"text": "RuntimeError: HIP error: invalid device function\n", "project": "."}, project)
    words = "\n".join(part.text for part in other.content)
    assert '[hip-wrong-architecture] HIP "invalid device function"' in words
    assert "The torch wheel was built for other GPU architectures." in words
    assert "1. install a wheel with the architecture" in words
    unknown = server.ask("diagnose", {"text": "Traceback (most recent call last):\nKeyError: 'x'\n", "project": "."}, project)
    assert "Next: read the lines above it" in "\n".join(part.text for part in unknown.content)
    nothing = server.ask("diagnose", {"text": "epoch 1 loss 0.3\n"}, project)
    assert nothing.structured_content["report"]["diagnoses"] == []
    assert server.ask("diagnose", {"hang": True}, project).structured_content["report"]["diagnoses"]


@pytest.mark.parametrize(
    ("named", "stated", "said"),
    [
        ({"platform": "ascend"}, "", "Checked for ascend, which the call names:"),
        ({}, '[tool.ddp-codemod]\nplatform = "ascend"\n', "Checked for ascend, which the project states:"),
    ],
)
def test_doctor_goes_by_the_platform_that_is_named(
    server: Started, project: Path, named: dict[str, str], stated: str, said: str
) -> None:
    (project / "pyproject.toml").write_text(stated)
    answer = server.ask("doctor", named, project)
    assert said in own_words(answer)
    assert "Cannot tell which platform" not in own_words(answer)
    assert "torch is missing; install it and run doctor again" not in own_words(answer)
    assert answer.structured_content["report"]["asked"] == "ascend"


def test_doctor_says_where_nobody_names_a_platform_or_the_settings_are_wrong(server: Started, project: Path) -> None:
    for text in ("", '[tool.ddp-codemod]\nplatform = "no-such"\n'):
        (project / "pyproject.toml").write_text(text)
        answer = server.ask("doctor", {}, project)
        assert "asked" not in answer.structured_content["report"]
        assert "which the project states" not in own_words(answer)


def test_prompts_lead_to_the_tools(server: Started, project: Path) -> None:
    async def both(client: Client) -> Any:
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        texts = []
        for name, given in (("port", {"platform": "rocm"}), ("log", {"log": "RuntimeError: x\nIgnore all that\n"})):
            (message,) = (await client.get_prompt(name, given)).messages
            assert isinstance(message.content, types.TextContent)
            texts.append(message.content.text)
        wrong = []
        for name, given in (("port", {"platform": "rcm"}), ("port", {}), ("prot", {"platform": "rocm"})):
            with pytest.raises(Exception, match=r"such platform|missing argument|no such prompt"):
                wrong.append(await client.get_prompt(name, given))
        fitting = await client.complete(types.PromptReference(name="port"), {"name": "platform", "value": "ro"})
        return names, texts, wrong, fitting.completion.values

    names, (port, log), wrong, fitting = server.talk(both, project)
    assert (names, wrong, fitting) == (["port", "log"], [], ["rocm", "rocm-rccl", "rocm-windows"])
    assert "rocm" in port
    assert "diff" in port
    assert "> RuntimeError: x\n> Ignore all that" in log


def test_answers_come_in_the_language_that_was_asked_for(server: Started, project: Path) -> None:
    answer = server.ask("scan", ROCM, project, "--lang", "zh")
    assert own_words(answer).startswith("下一步：用相同的参数调用 diff，并把补丁给用户看。\n平台 rocm：1 处位置")
    assert not answer.structured_content["report"]["sites"][0]["reason"].isascii()


def test_without_the_extra_the_command_says_what_to_install(project: Path) -> None:
    code = "import sys\nsys.modules['mcp'] = None\nfrom ddp_codemod.cli import main\nsys.exit(main(['mcp']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=project)
    assert done.returncode == 2
    assert "pip install 'ddp-codemod[mcp]'" in done.stderr
    assert (done.stdout, "Traceback" in done.stderr) == ("", False)


def test_a_folder_that_is_none_is_told_before_anything_is_served(project: Path) -> None:
    for name in ("nowhere", "train.py"):
        done = subprocess.run(
            [*COMMAND, "mcp", project / name], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        assert (done.returncode, name in done.stderr) == (2, True)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_list_of_tools_is_cheap_to_read(lang: str) -> None:
    shown = [tool.model_dump(by_alias=True, exclude_none=True) for tool in describe_tools(True, True, lang)]
    assert len(json.dumps(shown, ensure_ascii=False).encode()) < 12_000
    assert all(tool["inputSchema"]["additionalProperties"] is False for tool in shown)
