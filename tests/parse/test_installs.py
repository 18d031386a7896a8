"""What commands install, as READMEs, Dockerfiles and scripts show them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ddp_codemod.model import Source
from ddp_codemod.parse.installs import find_installs, may_install


def installed(text: str) -> list[tuple[str, str]]:
    """(package, specifier) of all; the place of each is that of its text."""
    source = Source(Path("README.md"), "README.md", text.encode(), text, "utf-8")
    found = list(find_installs(source))
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    return [(one.package, one.specifier) for one in found]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("pip install accelerate==0.12.0 absl-py einops", [("accelerate", "==0.12.0")]),
        ("    $ pip3 install 'accelerate>=0.20,<1' torch==2.1", [("accelerate", ">=0.20,<1"), ("torch", "==2.1")]),
        ("RUN pip install -U \\\n    accelerate[deepspeed]==0.12 \\\n    wandb", [("accelerate", "==0.12")]),
        ("conda install pytorch=1.13 torchvision -c pytorch", [("pytorch", "==1.13.*")]),
        ("`uv add transformers==4.20`", [("transformers", "==4.20")]),
        ("!pip install torch==2.1.2+cu118", [("torch", "==2.1.2")]),
    ],
)
def test_a_command_states_versions(text: str, wanted: list[tuple[str, str]]) -> None:
    assert installed(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "pip install accelerate",
        "We ran this with accelerate==0.12.0.",
        "pip install -r requirements==2.txt/x",
        "pip uninstall accelerate==0.12.0",
        "pip install git+https://github.com/huggingface/accelerate==0.12",
        "python train.py --lr=1 accelerate==0.1",
        "pip install torch --index-url=https://download.pytorch.org/whl/cu118",
    ],
)
def test_what_states_none(text: str) -> None:
    assert [one for one in installed(text) if one[0] in ("accelerate", "torch")] == []


@given(st.text(alphabet="pip instalcond=<>~!.,*[]\\\n0aé-", max_size=80))
def test_no_text_breaks_it(text: str) -> None:
    installed(f"pip install {text}")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        *(
            (name, True)
            for name in ("README.md", "readme", "README.zh-CN.md", "docker/Dockerfile.cuda", "install.sh", "INSTALL.md")
        ),
        *((name, False) for name in ("train.py", "setup.py", "environment.yml", "readme.pdf", "notes.md", "requirements.txt")),
    ],
)
def test_files_that_are_looked_at(name: str, wanted: bool) -> None:
    assert may_install(name) is wanted
