# ruff: noqa
"""Stand-in for torchrun: one process, the script in it."""

import os
import runpy
import sys


def main(argv=None):
    argv = list(sys.argv[1:] if argv is None else argv)
    module = False
    while argv and argv[0].startswith("-"):
        option = argv.pop(0)
        if option in ("-m", "--module"):
            module = True
            break
        if "=" not in option and option not in ("--standalone", "--use_env"):
            argv.pop(0)
    for name, value in (
        ("RANK", "0"),
        ("LOCAL_RANK", "0"),
        ("WORLD_SIZE", "1"),
        ("MASTER_ADDR", "127.0.0.1"),
        ("MASTER_PORT", "29500"),
        ("TORCHELASTIC_RUN_ID", "none"),
    ):
        os.environ.setdefault(name, value)
    sys.argv = argv
    if module:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, os.path.dirname(os.path.abspath(argv[0])))
        runpy.run_path(argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
