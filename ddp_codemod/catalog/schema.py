"""The JSON schema of the rule data, for editors: generated from ``model`` and stored as rules/schema.json.

``python -m ddp_codemod.catalog.schema`` writes it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from ddp_codemod.catalog.advisory import AdviceFile
from ddp_codemod.catalog.backend_model import BackendFile
from ddp_codemod.catalog.files import data_folder
from ddp_codemod.catalog.fix import Fix
from ddp_codemod.catalog.idioms import AliasFile, Idioms
from ddp_codemod.catalog.model import Platform, SurfaceFile
from ddp_codemod.catalog.packages import PackageFile
from ddp_codemod.catalog.processes import Processes
from ddp_codemod.catalog.signature import DiagnosticFile

DRAFT = "https://json-schema.org/draft/2020-12/schema"
# which file says what, below rules/
FILES: dict[str, type[msgspec.Struct]] = {
    "platforms/*.toml": Platform,
    "surfaces/*.toml": SurfaceFile,
    "fixes/*.toml": Fix,
    "advisories/*.toml": AdviceFile,
    "diagnostics/*.toml": DiagnosticFile,
    "backends.toml": BackendFile,
    "versions.toml": PackageFile,
    "aliases.toml": AliasFile,
    "idioms.toml": Idioms,
    "processes.toml": Processes,
}


def build_schema() -> dict[str, Any]:
    """A JSON schema that accepts any rule file, with one definition a kind of file."""
    references, definitions = msgspec.json.schema_components(FILES.values(), ref_template="#/$defs/{name}")
    kinds = zip(FILES, references, strict=True)
    return {
        "$schema": DRAFT,
        "title": "Rule data of ddp-codemod (TOML)",
        "anyOf": [{"title": f"rules/{pattern}", **reference} for pattern, reference in kinds],
        "$defs": definitions,
    }


def kinds() -> dict[str, str]:
    """The files by the word for what they hold: platforms, surfaces, backends ..."""
    return {pattern.split("/")[0].removesuffix(".toml"): pattern for pattern in FILES}


def build_kind_schema(kind: str) -> dict[str, Any]:
    """The schema of one kind of file, for an editor to complete against; a file may name it in a first line ``#:schema FILE``."""
    pattern = kinds()[kind]
    return {"$schema": DRAFT, "title": f"rules/{pattern}", **msgspec.json.schema(FILES[pattern])}


def format_schema(kind: str | None = None) -> str:
    """The schema as it is stored, or that of one kind of file."""
    return json.dumps(build_kind_schema(kind) if kind else build_schema(), indent=2, ensure_ascii=False) + "\n"


def find_schema_path() -> Path:
    """Where the schema is stored, beside the rule data."""
    return data_folder() / "schema.json"


if __name__ == "__main__":
    find_schema_path().write_text(format_schema(), encoding="utf-8", newline="\n")
