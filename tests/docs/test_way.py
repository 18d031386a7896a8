"""The way through the code that docs/how-it-works.md shows is the one that its example takes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "how-it-works.md"
# what ran, as (file, last name of the function), in order
RECORD = """
import json, os, sys
from ddp_codemod.cli import main

seen = {}
def hook(frame, event, _):
    name = frame.f_code.co_filename.replace(os.sep, "/").rpartition("/ddp_codemod/")[2]
    if event == "call":
        seen.setdefault((name, frame.f_code.co_name), None)

def end(code):
    sys.setprofile(None)
    sys.stderr.write("RAN" + json.dumps(list(seen)))
    sys.stderr.flush()
    left(code)

left, os._exit = os._exit, end
sys.argv = ["ddp-codemod", "diff", ".", "--platform", "rocm"]
sys.setprofile(hook)
try:
    main()
except SystemExit:
    end(0)
"""


def test_each_station_of_the_table_is_on_the_way_of_the_example(tmp_path: Path) -> None:
    text = PAGE.read_text("utf-8")
    for name, program in re.findall(r"```python file=(\S+)\n(.*?)```", text, re.S):
        (tmp_path / name).write_text(program, "utf-8")
    ended = subprocess.run([sys.executable, "-c", RECORD], cwd=tmp_path, capture_output=True, text=True, check=False)
    ran = [(file, function) for file, function in json.loads(ended.stderr.rpartition("RAN")[2])]
    table = text.partition("## The example in the code")[2]
    rows = re.findall(r"(?m)^\| [^|]+ \| (`[a-z_/]+\.py`[^|]*) \| ([^|]+) \|$", table)
    assert len(rows) == 19
    classes = {"Prefilter"}  # which is made
    for files, functions in rows:
        there = {function for file, function in ran if f"`{file}`" in files}
        wanted = {name.rpartition(".")[2] for name in re.findall(r"`([\w.]+)`", functions)} - classes
        assert wanted <= there, files
        for file in re.findall(r"`([\w/]+\.py)`", files):
            assert any(name == file for name, _ in ran), file
