"""A few programs of each kind that portable code once changed on the old machine, or left as they were on the new one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from proofs.nothing_else_collection import collection
from proofs.proof import REPOSITORY

# what each is for stands in what it was found by
FOUND = {
    "plain/ternary": "any call beside nccl was taken for the condition that portable code writes",
    "composites/tcp_method": "an address that is put together was left for review",
    "composites/windows_url_from_json": "a name in a file of settings was left for review",
    "plain/help_text": "a list of choices got the new name on every machine",
    "plain/mocked_tests": "a call got an argument that is None on the old machine",
    "hard_to_see/descriptor_fields": "an argument was worked out twice on the old machine",
    "frameworks/mmengine_from_config": "a table from a file of settings was left for review",
    "frameworks/deepspeed_initialize_alone": "a group was made earlier on the old machine",
    "frameworks/accelerate_handlers_from_options": "a timeout became another one",
}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the heads of the programs are TOML")
@pytest.mark.skipif(sys.platform == "win32", reason="the programs are started by sh")
def test_the_old_machine_stays_as_it_was_and_the_new_one_is_ported() -> None:
    assert {program.title for program in collection(",".join(FOUND))} >= FOUND.keys()
    words = ("-m", "proofs.nothing_else_run", ",".join(FOUND), "--portable")
    ended = subprocess.run([sys.executable, *words], cwd=REPOSITORY, capture_output=True, text=True, timeout=600)
    assert ended.returncode == 0, f"{ended.stdout}{ended.stderr}"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the heads of the programs are TOML")
def test_every_program_of_the_collection_reads() -> None:
    programs = collection()
    titles = [program.title for program in programs]
    assert len(set(titles)) == len(titles) > 1_000
    outcomes = {word for program in programs for word in program.known.values()}
    assert outcomes <= {"noted", "arrives", "silent", "apart", "differs"}
    machines = {word.removeprefix("portable ") for program in programs for word in (*program.known, *program.platforms)}
    assert machines <= {"rocm", "windows", "ascend"}
    assert all(program.files and program.commands for program in programs)
