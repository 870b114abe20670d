"""The program of a node: runs the command that follows until its input ends, then kills all that it started.

Ray's processes leave the group of what starts them, and outlive it if it is killed. This program is the parent that they
fall back to (Linux), and it outlives its own parent, whose end closes the input.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


def _descendants() -> list[int]:
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # The name, in parentheses, may hold spaces.
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if fields[0] != "Z":
                parents[int(folder.name)] = int(fields[1])
    found: list[int] = []
    for process in parents:
        ancestor = process
        while ancestor in parents and ancestor != os.getpid():
            ancestor = parents[ancestor]
        if ancestor == os.getpid() and process != os.getpid():
            found.append(process)
    return found


def _kill_all(command: "subprocess.Popen[bytes]") -> None:
    if not Path("/proc/self/stat").exists():
        command.terminate()  # it ends its own
        return
    while processes := _descendants():
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    command = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)

    def watch() -> None:
        command.wait()
        _kill_all(command)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    sys.stdin.read()
    _kill_all(command)
    os._exit(0)


if __name__ == "__main__":
    _main()
