"""Started by timing.py: runs each command of standard input, and says what it took. Imports next to nothing, to be small."""

import json
import os
import signal
import sys
from time import perf_counter


def run(words, limit, errors):
    """Wall seconds, processor seconds, largest process in MiB, exit code, and the end of what it said on standard error."""
    os.ftruncate(errors, 0)
    os.lseek(errors, 0, os.SEEK_SET)
    null = os.open(os.devnull, os.O_RDWR)
    streams = [(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, errors, 2)]
    start = perf_counter()
    child = os.posix_spawnp(words[0], words, os.environ, file_actions=streams, setsid=True)
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(child, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, limit)
    _, status, used = os.wait4(child, 0)  # the system's account of the process and all that it waited for
    wall = perf_counter() - start
    signal.setitimer(signal.ITIMER_REAL, 0)
    os.close(null)
    said = os.pread(errors, 100_000, max(os.fstat(errors).st_size - 100_000, 0)).decode("utf-8", "replace")
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, os.waitstatus_to_exitcode(status), said


def main():
    """Serve until the other side is done."""
    errors = os.open(sys.argv[1], os.O_RDWR)
    for line in sys.stdin:
        print(json.dumps(run(*json.loads(line), errors)), flush=True)


main()
