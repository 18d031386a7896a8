def test_what_a_person_decides_is_pointed_to_where_it_was_printed(project, run) -> None:  # type: ignore[no-untyped-def]
    unknown = "import sys\n\nimport torch.distributed as dist\n\ndist.init_process_group('ours')\n"
    project(**{f"unclear{number}": unknown for number in range(5)})
    done = run("scan", ".", "--platform", "rocm")
    assert 'Review 5 places, each marked "needs review" above' in done.said
    assert done.out.count("  needs review") == 5
    assert "Needs review" not in done.said


def test_a_line_that_nothing_changes_is_not_said_to_change(project, run) -> None:  # type: ignore[no-untyped-def]
    project(train='import torch.distributed as dist\n\ndist.init_process_group("gloo")\n')
    said = run("check", ".", "--platform", "rocm").said
    assert "Why a line stays:" in said
    assert "Why a line changes" not in said
