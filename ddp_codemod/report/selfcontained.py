"""Pages of one file that need no network: a template, a style, a script, and data that can only ever be data.

The data is JSON in which no character can end the element that it is in, and the page's script builds text nodes from it. A
policy in the page names that script and that style by their hashes, so that nothing else in it can run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "page"
STYLE = _FOLDER / "page.css"  # what all pages look like


def assemble_page(mark: bytes, title: str, style: str, script: str, data: Any, lang: str, noscript: str) -> bytes:
    """The page, as UTF-8. ``mark`` is how it begins; page.html names what is put in as ``%%NAME%%``."""
    template = (_FOLDER / "page.html").read_text("utf-8")
    policy = f"default-src 'none'; style-src '{_hash_text(style)}'; script-src '{_hash_text(script)}'; base-uri 'none'; form-action 'none'"
    parts = {
        "TITLE": title,
        "LANG": lang,
        "POLICY": policy,
        "STYLE": style,
        "SCRIPT": script,
        "DATA": _escape_json(data),
        "NOSCRIPT": noscript,
    }
    fragments = template.split("%%")  # names and text by turns: what is put in is never looked through again
    body = "".join(fragment if at % 2 == 0 else parts[fragment] for at, fragment in enumerate(fragments))
    return mark + body.encode("utf-8")


def _hash_text(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _escape_json(data: Any) -> str:
    """JSON that is ASCII and holds nothing that HTML could take for markup."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
