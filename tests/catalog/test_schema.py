"""The stored JSON schema is the one that the types give, and accepts what the loader accepts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import msgspec
import pytest

from ddp_codemod.catalog.files import data_folder
from ddp_codemod.catalog.schema import FILES, build_kind_schema, build_schema, find_schema_path, format_schema, kinds
from ddp_codemod.toml import tomllib


def test_the_stored_schema_is_the_generated_one() -> None:
    assert find_schema_path().read_text("utf-8") == format_schema(), "run: python -m ddp_codemod.catalog.schema"


def test_every_rule_file_is_of_a_kind_in_the_schema() -> None:
    folder = data_folder()
    described = {file for pattern in FILES for file in folder.glob(pattern)}
    assert set(folder.rglob("*.toml")) <= described | set(folder.glob("diagnostics/*.toml"))


def test_unknown_keys_are_refused_by_the_schema_too() -> None:
    objects = [definition for definition in build_schema()["$defs"].values() if definition["type"] == "object"]
    assert objects
    assert all(definition["additionalProperties"] is False for definition in objects)


def test_every_reference_of_the_schema_leads_somewhere() -> None:
    found = set(msgspec.json.decode(format_schema())["$defs"])
    named = {part.split('"')[0] for part in format_schema().split('"#/$defs/')[1:]}
    assert named <= found


@pytest.mark.parametrize("kind", FILES.values(), ids=lambda kind: kind.__name__)
def test_each_kind_of_file_is_named(kind: type[msgspec.Struct]) -> None:
    assert {"$ref": f"#/$defs/{kind.__name__}"}.items() <= next(
        option for option in build_schema()["anyOf"] if option["$ref"].endswith(f"/{kind.__name__}")
    ).items()


@pytest.mark.parametrize("kind", kinds())
def test_the_schema_of_one_kind_accepts_its_files_and_no_others(kind: str) -> None:
    validator = jsonschema.Draft202012Validator(build_kind_schema(kind))
    for other, pattern in kinds().items():
        for file in data_folder().glob(pattern):
            table = tomllib.loads(file.read_text("utf-8"))
            assert validator.is_valid(table) == (other == kind), file


def test_an_editor_is_told_of_a_misspelt_key() -> None:
    table = tomllib.loads((data_folder() / "platforms/cpu.toml").read_text("utf-8"))
    errors = jsonschema.Draft202012Validator(build_kind_schema("platforms")).iter_errors({**table, "titel": "x"})
    assert ["titel" in error.message for error in errors] == [True]


def test_the_module_writes_the_file(tmp_path: Path) -> None:
    code = (
        "import runpy, pathlib, ddp_codemod.catalog.files as files; "
        f"files.data_folder = lambda: pathlib.Path({str(tmp_path)!r}); "
        "runpy.run_module('ddp_codemod.catalog.schema', run_name='__main__')"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONUTF8": "0"})
    assert json.loads((tmp_path / "schema.json").read_bytes()) == json.loads(format_schema())
    assert b"\r" not in (tmp_path / "schema.json").read_bytes()
