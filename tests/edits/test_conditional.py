"""What portable code writes: a condition where the value is passed, nothing where the condition stands already."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.cli import main

START = "import os\nimport torch\nimport torch.distributed as dist\n"


def ported(root: Path, text: str, platform: str = "windows", **files: str) -> str:
    (root / "train.py").write_text(text, "utf-8")
    for name, body in files.items():
        (root / name.replace("_", ".")).write_text(body, "utf-8")
    main(["apply", str(root), "--platform", platform, "--style", "portable", "--unsafe", "--no-cache"])
    return (root / "train.py").read_text("utf-8")


@pytest.mark.parametrize(
    "test", ["torch.cuda.is_available()", "use_gpu()", "os.path.exists('x')", "dist.is_torchelastic_launched()"]
)
def test_another_call_is_not_the_condition_of_the_platform(tmp_path: Path, test: str) -> None:
    text = f'{START}dist.init_process_group("nccl" if {test} else "gloo", init_method="env://?use_libuv=0")\n'
    assert "is_nccl_available()" in ported(tmp_path, text)


@pytest.mark.parametrize("test", ["dist.is_nccl_available()", "torch.distributed.is_nccl_available()"])
def test_the_condition_of_the_platform_stays(tmp_path: Path, test: str) -> None:
    text = f'{START}dist.init_process_group("nccl" if {test} else "gloo", init_method="env://?use_libuv=0")\n'
    assert ported(tmp_path, text) == text


@pytest.mark.parametrize(
    ("address", "after"),
    [
        ('f"tcp://{host}:{port}"', 'f"tcp://{host}:{port}" + ("?use_libuv=0" if os.name == "nt" else "")'),
        ('"tcp://" + host + ":29500"', '"tcp://" + host + ":29500" + ("?use_libuv=0" if os.name == "nt" else "")'),
        ('"tcp://%s:%s" % (host, port)', '"tcp://%s:%s" % (host, port) + ("?use_libuv=0" if os.name == "nt" else "")'),
        ('f"file://{host}"', 'f"file://{host}"'),  # which needs no store
    ],
)
def test_an_address_gets_its_query_on_the_platform_only_and_once(tmp_path: Path, address: str, after: str) -> None:
    text = f'{START}def start(host, port):\n    dist.init_process_group("gloo", init_method={address}, rank=0, world_size=1)\n'
    first = ported(tmp_path, text)
    assert first == text.replace(address, after)
    assert ported(tmp_path, first) == first


def test_a_call_without_an_address_keeps_its_arguments(tmp_path: Path) -> None:
    text = f'{START}dist.init_process_group("gloo")\n'
    result = ported(tmp_path, text)
    assert 'if os.name == "nt":\n    os.environ["USE_LIBUV"] = "0"\n' in result
    assert 'dist.init_process_group("gloo")\n' in result


def test_where_no_line_is_free_the_call_gets_the_address(tmp_path: Path) -> None:
    text = f'{START}start = lambda: dist.init_process_group("gloo")\nstart()\n'
    assert 'init_method="env://?use_libuv=0" if os.name == "nt" else None' in ported(tmp_path, text)


def test_the_platform_is_asked_before_the_argument_is_worked_out(tmp_path: Path) -> None:
    text = f"{START}class Run:\n    @property\n    def backend(self):\n        return os.environ['B']\ndist.init_process_group(Run().backend)\n"
    call = ported(tmp_path, text, "rocm").splitlines()[-1]
    assert call.startswith(
        'dist.init_process_group("gloo" if (backend := Run().backend) == "nccl" and torch.version.hip else backend'
    )
    text = text.replace("Run().backend", "run.backend").replace("dist.init", "run = Run()\ndist.init")
    call = ported(tmp_path, text, "rocm").splitlines()[-1]
    assert call.startswith('dist.init_process_group("gloo" if torch.version.hip and run.backend == "nccl" else run.backend')


def test_a_call_of_a_partial_gets_what_is_bound_on_other_machines(tmp_path: Path) -> None:
    text = (
        f'{START}from functools import partial\nstart = partial(dist.init_process_group, backend="nccl")\n'
        'print(start.keywords["backend"] == "nccl")\nstart(init_method="file:///x", rank=0, world_size=1)\n'
    )
    first = ported(tmp_path, text)
    assert 'world_size=1, backend="nccl" if dist.is_nccl_available() else "gloo")\n' in first
    assert ported(tmp_path, first) == first


@pytest.mark.parametrize("parts", ['",".join(parts)', "compose(parts)"])
def test_a_text_that_is_put_together_stays_as_it_is_on_other_machines(tmp_path: Path, parts: str) -> None:
    made = 'def compose(parts):\n    return ",".join(parts)\n'
    text = f'{START}{made}def start(parts):\n    dist.init_process_group({parts}, "file:///x", rank=0, world_size=1)\n'
    first = ported(tmp_path, text)
    assert f'{parts}.replace("nccl", "gloo") if not dist.is_nccl_available() else {parts}, "file:///x"' in first
    assert ported(tmp_path, first) == first
