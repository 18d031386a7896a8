"""What the site adds to docs/ (see mkdocs.yml): the rule reference, the pages that lie above it, the list of commands, and links to other files."""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.append(str(Path(__file__).parent))

import reference

TOP = Path(__file__).resolve().parents[2]
REFERENCE = {f"rules/{folder}": kind for kind, folder in reference.FOLDERS.items()}  # where the rule data lies, and its page
ABOVE = ("SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md")
FENCE = re.compile(r"^(`{3,}\w+) file=(\S+)$", re.M)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def on_config(config: Any) -> Any:
    """Every command is a page of its tab."""
    commands = sorted(path.name for path in (TOP / "docs/commands").glob("*.md"))
    config.nav[-1]["Commands"] = [f"commands/{name}" for name in commands]
    return config


def on_files(files: Files, config: Any) -> Files:
    """The reference, made from the rule data, and pages that GitHub wants at the top."""
    for path, text in reference.files(Path("reference")).items():
        files.append(File.generated(config, path.as_posix(), content=text))
    for name in ABOVE:
        files.append(File.generated(config, name, abs_src_path=str(TOP / name)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links as the site needs them; what is no page of it stays as text."""
    here = page.file.src_uri
    above = here in ABOVE

    def link(found: re.Match[str]) -> str:
        words, target, anchor = found[1], found[2], found[3] or ""
        path = posixpath.normpath(posixpath.join("" if above else posixpath.join("docs", posixpath.dirname(here)), target))
        if not (TOP / path).exists():
            return found[0]  # which mkdocs tells of
        if path in REFERENCE:
            path = f"docs/reference/{REFERENCE[path]}{'.zh-CN' if here.endswith('.zh-CN.md') else ''}.md"
        uri = path if path in ABOVE else path.removeprefix("docs/")
        if (path in ABOVE or path.startswith("docs/")) and files.get_file_from_path(uri):
            return f"[{words}]({posixpath.relpath(uri, posixpath.dirname(here) or '.')}{anchor})"
        return f"{words} (`{path}`)"

    return LINK.sub(link, FENCE.sub(r'\1 title="\2"', markdown))
