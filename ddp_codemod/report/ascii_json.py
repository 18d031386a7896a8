"""JSON documents as every report gives them: ASCII only, one space a level."""

from __future__ import annotations

import json

import msgspec


def encode_json(document: object) -> bytes:
    """The document as bytes, with a line end: those of ``json.dumps(document, indent=1)``, whose encoder is not the fast one."""
    text = json.dumps(document)
    try:
        return msgspec.json.format(text, indent=1).encode("ascii") + b"\n"
    except msgspec.DecodeError:  # half a surrogate pair, of a file name that is no UTF-8
        return (json.dumps(document, indent=1) + "\n").encode("ascii")
