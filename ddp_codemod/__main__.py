"""``python -m ddp_codemod``: the same as the command ddp-codemod."""

import sys

from ddp_codemod.cli import main

sys.exit(main())
