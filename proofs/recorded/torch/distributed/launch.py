# ruff: noqa
"""Stand-in for the older launcher: as torchrun."""

from torch.distributed.run import main

if __name__ == "__main__":
    main()
