"""The process that compiles one program for its parent: `python -m spmd.lowering._compiler_main DESCRIPTOR PARENT`."""

import contextlib
import os
import signal
import struct
import sys
import threading
import time
from pathlib import Path

import jax

from spmd import _jax_internals
from spmd.lowering.compiler_process import receive, send

# Seconds that it waits for the program: until that is traced and lowered.
_PATIENCE = 120

_LOOK_SECONDS = 1.0


def main(descriptor: int, parent: int) -> None:
    """Reads a program from the standard input, and writes the executable to a pipe."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # for the parent, which ends this
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    with contextlib.suppress(OSError):
        # Where memory is short, the system is to end this process, not the parent.
        Path("/proc/self/oom_score_adj").write_text("1000")
    waiting = threading.Timer(_PATIENCE, os._exit, [1])
    waiting.daemon = True
    waiting.start()
    jax.devices("cpu")  # starts the backend while the parent still traces
    program, options, devices = (receive(sys.stdin.buffer) for _ in range(3))
    waiting.cancel()
    numbers = struct.unpack(f"<{len(devices) // 8}Q", devices)
    request = _jax_internals.CompileRequest(program, options, numbers)
    with os.fdopen(descriptor, "wb") as answer:
        send(answer, _jax_internals.compile_to_bytes(request))


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    with contextlib.suppress(EOFError):  # the parent has ended, or needs it no more
        main(*map(int, sys.argv[1:]))
