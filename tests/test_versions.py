"""Whether what holds for some versions of a package holds for those that a project states."""

from __future__ import annotations

import subprocess
import sys

import packaging
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from ddp_codemod.versions import Stated, holds


@pytest.mark.parametrize(
    ("condition", "stated", "answer"),
    [
        ("<2.8", "==2.1.2", True),
        ("<2.8", "==2.1.2+cu118", True),
        ("<2.8", "==2.8.0", False),
        ("<2.8", ">=2.8", False),
        ("<2.8", ">=2.0,<2.6", True),
        ("<2.8", "~=2.7.0", True),
        ("<2.8", "==2.7.*", True),
        ("<2.8", ">=2.0", None),
        ("<2.1.2", "==2.1.*", None),
        ("~=2.0.0", ">2.0.0", None),
        ("==2.0.*", ">=2.0", None),
        ("~=2.0", ">=2.5,<3", True),
        ("~=2.0", ">=2.5", None),
        (">=2.8,<2.11", "==2.9.1", True),
        (">=2.8,<2.11", ">2.8,!=2.8.1,<2.9", True),
        (">=2.8,<2.11", ">2.7.1,<2.9", None),
        (">=2.8,<2.11", ">=2.6,<2.12", None),
        (">=2.8,<2.11", "<2.8", False),
        (">=2.2", "==2.2.0rc1", False),
        ("", "==1.0", True),
        ("<2", "==2.*,<1", None),  # nothing is left that it could run with
    ],
)
def test_a_condition_and_what_a_project_states(condition: str, stated: str, answer: bool | None) -> None:
    assert holds(condition, Stated("torch", stated, "requirements.txt:1")) is answer


def test_nothing_is_known_where_nothing_is_stated() -> None:
    assert holds("<2.8", None) is None
    assert holds("", None) is True


def test_a_condition_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="bananas"):
        holds("bananas", Stated("torch", "==2.0", "x"))


VERSIONS = st.builds("{}.{}.{}".format, st.integers(1, 3), st.integers(0, 4), st.integers(0, 2))
SPECIFIERS = st.lists(st.builds("{}{}".format, st.sampled_from(["<", "<=", ">", ">=", "==", "!=", "~="]), VERSIONS), max_size=3)


@given(SPECIFIERS.map(",".join), SPECIFIERS.map(",".join), VERSIONS)
def test_the_answer_never_contradicts_a_version_that_is_allowed(condition: str, stated: str, version: str) -> None:
    answer = holds(condition, Stated("torch", stated, "x"))
    if SpecifierSet(stated).contains(version) and answer is not None:
        assert SpecifierSet(condition).contains(version) is answer


@pytest.mark.skipif(Version(packaging.__version__) < Version("26.1"), reason="what it asks of a version takes them there")
def test_asking_loads_nothing_that_only_wheels_need() -> None:
    code = """
import sys
from ddp_codemod.versions import Stated, holds
assert holds(">=2.8", Stated("torch", ">=2.0,<2.6", "")) is False
assert not {"logging", "subprocess", "packaging.tags"} & sys.modules.keys(), sys.modules.keys()
from packaging.specifiers import Specifier
assert Specifier("==1.0") == Specifier("==1") and "packaging.tags" in sys.modules
import packaging.utils
assert packaging.utils.canonicalize_name("A_b") == "a-b" and packaging.utils.canonicalize_version("1.0") == "1"
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
