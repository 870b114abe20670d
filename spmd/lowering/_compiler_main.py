"""The process that compiles one program for another process: `python -m spmd.lowering._compiler_main`."""

import contextlib
import os
import signal
import struct
import sys

import jax

from spmd import _jax_internals
from spmd.lowering.compiler_process import receive, send

# Seconds that it waits for the program: until that is traced and lowered.
_PATIENCE = 120


def main() -> None:
    """Reads a program from the standard input, and writes the executable to the standard output."""
    # Only that goes there, not what libraries print.
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    jax.devices("cpu")  # starts the backend while the other process still traces
    signal.alarm(_PATIENCE)
    program, options, devices = (receive(sys.stdin.buffer) for _ in range(3))
    signal.alarm(0)
    numbers = struct.unpack(f"<{len(devices) // 8}Q", devices)
    with output:
        send(output, _jax_internals.compiled(_jax_internals.Source(program, options, numbers)))


if __name__ == "__main__":
    # The program was in the cache, or the other process has ended.
    with contextlib.suppress(EOFError):
        main()
