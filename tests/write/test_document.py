from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.write.document import write_document
from ddp_codemod.write.page import PageRefused, save_page


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    for name, target in (("report.md", "mine"), ("new.md", "nowhere")):
        (tmp_path / name).symlink_to(tmp_path / target)
        write_document(tmp_path / name, "é\n")
        assert (tmp_path / name).read_bytes() == b"\xc3\xa9\n"
    assert not list(tmp_path.glob("*.tmp"))
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_page_goes_over_its_like_only(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    save_page(page, b"<!mark> one", b"<!mark>")
    save_page(page, b"<!mark> two", b"<!mark>")
    assert page.read_bytes() == b"<!mark> two"
    (tmp_path / "link.html").symlink_to(tmp_path / "nowhere.html")
    (tmp_path / "other.html").write_text("<p>")
    (tmp_path / "folder.html").mkdir()
    for name in ("link.html", "other.html", "folder.html"):
        with pytest.raises(PageRefused):
            save_page(tmp_path / name, b"<!mark>", b"<!mark>")
    assert not (tmp_path / "nowhere.html").exists()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"No such file|cannot find"):
        write_document(tmp_path / "none" / "report.md", "x")
