"""What an index shows that a checkout does not know: the project's address, and links and pictures of the README that work there.

The release workflow says the address (DDP_CODEMOD_ADDRESS=https://github.com/OWNER/NAME); a build without it has relative links and no URLs.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!https?://|#)([^)\s]+)\)")


def absolute(text: str, address: str, version: str) -> str:
    """A page whose links lead to the files of a release."""

    def link(found: re.Match[str]) -> str:
        kind = "raw" if found[1] else "blob"
        return f"{found[1]}{found[2]}({address}/{kind}/v{version}/{found[3]})"

    return LINK.sub(link, text)


class Address(MetadataHookInterface):
    """Fills in the README and the URLs."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling for what pyproject.toml calls dynamic."""
        address = os.environ.get("DDP_CODEMOD_ADDRESS", "").rstrip("/")
        text = Path(self.root, "README.md").read_text("utf-8")
        if address:
            text = absolute(text, address, metadata["version"])
            metadata["urls"] = {
                "Repository": address,
                "Documentation": f"{address}/blob/v{metadata['version']}/docs/README.md",
                "Changelog": f"{address}/blob/v{metadata['version']}/CHANGELOG.md",
                "Issues": f"{address}/issues",
            }
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
