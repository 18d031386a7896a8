"""What is taken out of a module by a name that is computed: all that the module has, and nothing of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from ddp_codemod.sites.computed_lookups import ComputedLookups
from ddp_codemod.sites.project import Project

FILES = {
    "models/__init__.py": "from .nets import *\nfrom .heads import Head as Top\n",
    "models/nets.py": "import os\n\n\nclass Net:\n    def forward(self):\n        pass\n\n\ndef net():\n    return Net()\n",
    "models/heads.py": "class Head:\n    pass\n\n\nclass Other:\n    pass\n",
    "tools.py": "def tool():\n    pass\n",
}
WHOLE = {"Net", "net", "os", "Head"}


def names(folder: Path, program: str) -> set[str]:
    for name, text in {**FILES, "train.py": program}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return ComputedLookups(Project(folder, sorted(folder.rglob("*.py")))).names(["train.py"])


@pytest.mark.parametrize(
    "program",
    [
        "import models\n\nmodel = getattr(models, name)()\n",
        "import models as m\n\nmodel = getattr(\n    m, f'{kind}_net', None\n)\n",
        "import models\n\nmodel = models.__dict__[args.arch](pretrained=True)\n",
        "import models\n\nmodel = models.__dict__.get(args.arch)\n",
        "import models\n\nmodel = vars(models)[args.arch]\n",
    ],
)
def test_a_module_that_is_looked_into(tmp_path: Path, program: str) -> None:
    assert names(tmp_path, program) == WHOLE


@pytest.mark.parametrize("look", ["globals()[name]", "eval(name)", "getattr(sys.modules[__name__], name)", "locals().get(name)"])
def test_what_the_file_itself_has(tmp_path: Path, look: str) -> None:
    program = f"from models.nets import *\nfrom models.heads import Other\n\n\ndef build():\n    return {look}()\n"
    assert names(tmp_path, program) == {"Net", "net", "os", "Other", "build"}


@pytest.mark.parametrize(
    "program",
    [
        "import models\n\nmodel = getattr(models, 'Net')()\n",
        "import models\n\nmodel = models.__dict__['Net']\n",
        "import models\n\nmodel.eval(name)\nvalue = globals()['x'], eval('1 + 1')\n",
        "import torch\n\noptimizer = getattr(torch.optim, name)(parameters)\n",
        "import models\n\nvalue = getattr(args, name), self.__dict__[name], vars(args)[name]\n",
        "import models\n\nfor name in vars(models):\n    print(name, dir(models))\n",
    ],
)
def test_a_name_that_is_written_out_and_what_is_no_module_of_the_project(tmp_path: Path, program: str) -> None:
    assert names(tmp_path, program) == set()
