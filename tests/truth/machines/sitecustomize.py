"""Python runs this at start-up: every process becomes the machine that the environment describes."""

import json
import os

if "IMITATED_MACHINE" in os.environ:
    import imitate

    imitate.install(json.loads(os.environ["IMITATED_MACHINE"]))
