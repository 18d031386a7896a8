"""Reads the error signatures, the shipped ones and those that a user adds; only what looks at logs asks for them."""

from functools import lru_cache
from pathlib import Path

from msgspec import Struct, field

from ddp_codemod.catalog.files import RuleError, add_entries, data_folder, decode, find_line, format_nearest_hint
from ddp_codemod.catalog.signature import DiagnosticFile, Harmless, Hint, Signature
from ddp_codemod.catalog.toml_cache import load_cached


class Diagnostics(Struct, frozen=True):
    """All known errors, and what logs say about the machines that wrote them, by id."""

    signatures: dict[str, Signature] = field(default_factory=dict)
    hints: dict[str, Hint] = field(default_factory=dict)
    harmless: dict[str, Harmless] = field(default_factory=dict)


@lru_cache(maxsize=4)
def load_diagnostics(extra: tuple[Path, ...] = ()) -> Diagnostics:
    """Read the error signatures, the shipped ones and those of the folders.

    Raises RuleError for a file that cannot be used.
    """
    return load_cached("diagnostics", Diagnostics, (data_folder(), *extra), lambda: _read_diagnostics(extra))


def _read_diagnostics(extra: tuple[Path, ...]) -> Diagnostics:
    known = Diagnostics()
    seen: dict[tuple[str, str], Path] = {}
    for folder in (data_folder(), *extra):
        for path in sorted(folder.glob("diagnostics/*.toml")):
            file = decode(path, DiagnosticFile)
            add_entries(known.signatures, file.signature, path, "signature", seen)
            add_entries(known.hints, file.hint, path, "hint", seen)
            add_entries(known.harmless, file.harmless, path, "harmless", seen)
    for signature in known.signatures.values():
        for ident in (ident for cure in signature.cure for ident in (*cure.when, *cure.unless)):
            if ident not in known.hints:
                path = seen["signature", signature.id]
                line = find_line(path.read_text("utf-8"), ident)
                said = f"signature {signature.id!r} asks for the hint {ident!r}, which no file defines"
                raise RuleError(f"{path}:{line}: {said}{format_nearest_hint(ident, known.hints)}")
    return known
