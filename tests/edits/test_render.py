import codecs
from pathlib import Path

import pytest
from msgspec.structs import replace

from ddp_codemod.edits.render import Rendered, render
from ddp_codemod.model import Applicability, Edit, Reason, Recipe, Source, Survey

SAFE, UNSAFE, MANUAL = Applicability.SAFE, Applicability.UNSAFE, Applicability.MANUAL


def survey(files: dict[str, str | Source], *edits: Edit) -> Survey:
    sources = {
        name: text if isinstance(text, Source) else Source(Path(name), name, text.encode(), text, "utf-8")
        for name, text in files.items()
    }
    return Survey(Path(), "p", (), edits, (), (), sources)


def edit(
    name: str, start: int, end: int, after: str | None, group: int, how: Applicability = SAFE, recipe: Recipe | None = None
) -> Edit:
    return Edit(name, start, end, after, "r", how, Reason("why"), group, recipe)


def files(rendered: Rendered) -> dict[str, bytes]:
    return {change.name: change.after for change in rendered.changes}


def keys(rendered: Rendered) -> list[tuple[str, str]]:
    return [(failed.name, failed.reason.key) for failed in rendered.failed]


def test_files_come_sorted_with_their_edits():
    both = edit("b.py", 0, 1, "y", 1), edit("a.py", 0, 1, "x", 1)
    made = render(survey({"b.py": "b", "a.py": "a", "c.py": "c"}, *both), unsafe=False)
    assert [(change.name, change.before, change.after) for change in made.changes] == [("a.py", b"a", b"x"), ("b.py", b"b", b"y")]
    assert made.applied == both
    assert [change.edits for change in made.changes] == [(both[1],), (both[0],)]


def test_what_a_recipe_made_is_in_the_changes_edits():
    add = Recipe("add-keyword", (("name", "k"), ("value", "1")))
    wanted = edit("a.py", 0, 3, None, 1, recipe=add)
    made = render(survey({"a.py": "f()\n"}, wanted), unsafe=False)
    assert made.changes[0].edits[0].after == "f(k=1)"
    assert made.applied == (wanted,)


def test_a_group_with_an_unsafe_edit_is_left_whole():
    edits = edit("a.py", 0, 1, "x", 1), edit("a.py", 2, 3, "y", 1, UNSAFE), edit("a.py", 4, 5, "z", 2)
    found = survey({"a.py": "a b c".replace(" ", ";")}, *edits)
    assert files(render(found, unsafe=False)) == {"a.py": b"a;b;z"}
    assert render(found, unsafe=False).left == edits[:2]
    assert files(render(found, unsafe=True)) == {"a.py": b"x;y;z"}


def test_a_manual_edit_is_never_made():
    wanted = edit("a.py", 0, 1, "x", 1, MANUAL)
    made = render(survey({"a.py": "a"}, wanted), unsafe=True)
    assert (made.changes, made.left, made.failed) == ((), (wanted,), ())


def test_of_two_that_overlap_the_later_group_is_left():
    edits = edit("a.py", 0, 3, "x", 1), edit("a.py", 2, 5, "y", 2), edit("a.py", 6, 7, "z", 3)
    made = render(survey({"a.py": "abcde;f"}, *edits), unsafe=False)
    assert files(made) == {"a.py": b"xde;z"}
    assert keys(made) == [("a.py", "edit-overlaps")]
    assert (made.applied, made.left, made.failed_edits) == ((edits[0], edits[2]), (), (edits[1],))


def test_groups_that_put_in_the_same_import_share_it():
    edits = (
        edit("a.py", 0, 0, "import os\n", 1),
        edit("a.py", 0, 1, "x", 1),
        edit("a.py", 0, 0, "import os\n", 2),
        edit("a.py", 2, 3, "y", 2),
    )
    made = render(survey({"a.py": "a;b"}, *edits), unsafe=False)
    assert files(made) == {"a.py": b"import os\nx;y"}
    assert made.applied == edits


def test_a_group_that_fails_in_one_file_is_out_of_the_others():
    edits = edit("a.py", 0, 1, "x", 1), edit("b.py", 0, 1, "(", 1), edit("a.py", 2, 3, "y", 2)
    made = render(survey({"a.py": "a;b", "b.py": "b"}, *edits), unsafe=False)
    assert files(made) == {"a.py": b"a;y"}
    assert keys(made) == [("b.py", "edit-does-not-parse")]


def test_a_failed_group_does_not_stand_in_the_way_of_a_later_one():
    edits = edit("a.py", 0, 1, "(", 1), edit("a.py", 0, 1, "x", 2)
    made = render(survey({"a.py": "a"}, *edits), unsafe=False)
    assert files(made) == {"a.py": b"x"}


def test_a_recipe_that_refuses_fails_its_group():
    again = Recipe("add-keyword", (("name", "k"), ("value", "1")))
    made = render(survey({"a.py": "f(k=2)"}, edit("a.py", 0, 6, None, 1, recipe=again)), unsafe=False)
    assert keys(made) == [("a.py", "recipe-keyword-exists")]
    assert made.changes == ()


def test_the_last_statement_of_a_block_is_not_removed():
    text = "if a:\n    import os\n"
    made = render(survey({"a.py": text}, edit("a.py", 10, 19, "", 1)), unsafe=False)
    assert keys(made) == [("a.py", "edit-does-not-parse")]


def test_only_python_has_to_parse():
    assert files(render(survey({"a.yaml": "a: b"}, edit("a.yaml", 0, 1, "(", 1)), unsafe=False)) == {"a.yaml": b"(: b"}


def test_invalid_escapes_of_strangers_are_no_warning():
    assert files(render(survey({"a.py": "'\\d';a"}, edit("a.py", 5, 6, "b", 1)), unsafe=False)) == {"a.py": b"'\\d';b"}


def test_nothing_wanted_nothing_changed():
    assert render(survey({"a.py": "a"}), unsafe=True) == Rendered((), (), (), ())


def test_an_edit_that_changes_nothing_makes_no_change():
    assert render(survey({"a.py": "a"}, edit("a.py", 0, 1, "a", 1)), unsafe=False).changes == ()


@pytest.mark.parametrize(
    ("encoding", "head"), [("utf-8-sig", ""), ("gbk", "# -*- coding: gbk -*-\r\n"), ("latin-1", "# coding: latin-1\n")]
)
def test_the_files_encoding_stays(encoding, head):
    text = head + ("x = 'é'; a" if encoding != "gbk" else "x = '中'; a")
    data = text.encode(encoding)
    source = Source(Path("a.py"), "a.py", data, text, encoding)
    made = render(survey({"a.py": source}, edit("a.py", len(text) - 1, len(text), "b", 1)), unsafe=False)
    assert files(made) == {"a.py": data[:-1] + b"b"}
    assert data.startswith(codecs.BOM_UTF8) == (encoding == "utf-8-sig")


def test_a_text_that_the_encoding_lacks_fails_its_group_alone():
    source = Source(Path("a.py"), "a.py", b"a;b", "a;b", "ascii")
    made = render(survey({"a.py": source}, edit("a.py", 0, 1, "é", 1), edit("a.py", 2, 3, "c", 2)), unsafe=False)
    assert files(made) == {"a.py": b"a;c"}
    assert keys(made) == [("a.py", "edit-does-not-encode")]


def test_a_file_whose_bytes_do_not_come_back_is_left_alone():
    source = Source(Path("a.py"), "a.py", b"\xef\xbb\xbfa", "a", "utf-8")
    assert keys(render(survey({"a.py": source}, edit("a.py", 0, 1, "b", 1)), unsafe=False)) == [("a.py", "edit-no-round-trip")]


def test_a_file_that_was_not_read():
    assert keys(render(survey({}, edit("a.py", 0, 1, "b", 1)), unsafe=False)) == [("a.py", "edit-without-source")]


def test_an_edit_that_several_groups_need_is_made_once_with_any_of_them():
    needed = replace(edit("a.py", 0, 0, "import os\n", 1), also=(2,))
    first, second = edit("a.py", 0, 1, "x", 1, UNSAFE), edit("a.py", 2, 3, "y", 2)
    found = survey({"a.py": "a;b\n"}, needed, first, second)
    assert files(render(found, unsafe=False)) == {"a.py": b"import os\na;y\n"}
    assert render(found, unsafe=False).left == (first,)
    assert files(render(found, unsafe=True)) == {"a.py": b"import os\nx;y\n"}


def test_an_edit_of_a_group_that_fails_is_made_with_one_that_does_not():
    needed = replace(edit("a.py", 0, 0, "import os\n", 1), also=(2,))
    found = survey({"a.py": "a;b\n"}, needed, edit("a.py", 0, 1, "(", 1), edit("a.py", 2, 3, "y", 2))
    made = render(found, unsafe=False)
    assert files(made) == {"a.py": b"import os\na;y\n"}
    assert needed in made.applied
    assert needed not in made.failed_edits
