"""Large programs for processors are compiled by a process of their own, whose threads need not wait for each other.

XLA compiles on all cores and allocates all the time. Where all threads of a process share one heap
(`spmd.lowering.memory`), they wait for each other in the C library, for a third of the time. A process that
only compiles has a heap for each thread. It takes a program's StableHLO and returns the machine code, as the
compilation cache would, and ends. If it cannot, the program is compiled as without it.

`JAXTRIBUTE_COMPILER_PROCESS=0` in the environment turns this off.
"""

import contextlib
import os
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Generator
from pathlib import Path
from typing import IO

import jax

from spmd import _jax_internals
from spmd._jax_internals import Source
from spmd.lowering.compilation_cache import holds_program
from spmd.lowering.memory import shares_one_arena

_MODULE = "spmd.lowering._compiler_main"
_COUNT_FLAG = "--xla_force_host_platform_device_count"

# Arrays of a step's state from which its program is likely to be large.
_MANY = 16

# Bytes of StableHLO: XLA needs about a second for so many, and several.
_MEDIUM, _LARGE = 30_000, 200_000

# Larger ones hold arrays, which would be copied.
_HUGE = 2**26

# Bytes that have to be free: a large model takes up to 2 GB while it is compiled.
_FREE = 4 * 2**30

# Memory that a program has freed is for its next allocation; it ends soon.
_ALLOCATOR = {
    "MALLOC_TOP_PAD_": str(2**26),
    "MALLOC_TRIM_THRESHOLD_": str(2**40),
    "MALLOC_MMAP_MAX_": "0",
}


class CompilerProcess:
    """A process that compiles one program."""

    def __init__(self, devices: int) -> None:
        """Starts it, which takes it some 0.7 seconds; does not wait.

        Args:
            devices: how many processors JAX has.

        Raises:
            OSError: there can be no other process.
        """
        self.devices = devices
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(devices),
            start_new_session=True,  # Ctrl-C is for this process, which ends the other
        )
        self.end = weakref.finalize(self, _end, self._process, os.getpid())

    def compile(self, source: Source) -> bytes | None:
        """Has a program compiled, and ends the process.

        Args:
            source: the program.

        Returns:
            The executable; None if there is none, for whatever reason.
        """
        assert self._process.stdin
        assert self._process.stdout
        try:
            send(self._process.stdin, source.program)
            send(self._process.stdin, source.options)
            send(self._process.stdin, struct.pack(f"<{len(source.devices)}Q", *source.devices))
            self._process.stdin.flush()
            return receive(self._process.stdout)
        except (OSError, EOFError):
            return None
        finally:
            self.end()


_lock = threading.Lock()
_waiting: CompilerProcess | None = None


def expect_program(name: str, state: int) -> None:
    """Starts a process for the program of a step that is about to be traced, if it will be large and must be compiled.

    Args:
        name: of the program.
        state: how many arrays of state it has.
    """
    global _waiting
    if state < _MANY or not _pays() or holds_program(name):
        return
    with _lock:
        if _waiting is None or _waiting.devices != _devices():
            _take()
            with contextlib.suppress(OSError):
                _waiting = CompilerProcess(_devices())


@contextlib.contextmanager
def compiling() -> Generator[None]:
    """Has what this thread compiles in the block compiled by another process, if that is quicker."""
    with _lock:
        waiting = _take()
    try:
        with _jax_internals.compiling_by(lambda source: _compile(source, waiting)):
            yield
    finally:
        if waiting is not None:
            waiting.end()


def _compile(source: Source, waiting: CompilerProcess | None) -> bytes | None:
    size = len(source.program)
    if not (_MEDIUM if waiting else _LARGE) <= size <= _HUGE or not _pays():
        return None
    if waiting is None:
        try:
            waiting = CompilerProcess(_devices())
        except OSError:
            return None
    return waiting.compile(source)


def _take() -> CompilerProcess | None:
    """Takes the process that waits; the lock must be held."""
    global _waiting
    taken, _waiting = _waiting, None
    return taken


def _pays() -> bool:
    """Tells whether the threads of this process would wait for each other, and there is room for another process."""
    return (
        shares_one_arena()
        and os.environ.get("JAXTRIBUTE_COMPILER_PROCESS") != "0"
        and bool(sys.executable)
        and len(os.sched_getaffinity(0)) > 1
        and jax.process_count() == 1
        and _free_memory() >= _FREE
    )


def _devices() -> int:
    return len(jax.devices("cpu"))


def _free_memory() -> int:
    """Returns how many bytes this process may still take, by the machine and by its container."""
    free = [_FREE]
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free.append(int(line.split()[1]) * 1024)
        group = Path("/sys/fs/cgroup")
        limit, used = (group / name for name in ("memory.max", "memory.current"))
        free.append(int(limit.read_text()) - int(used.read_text()))  # "max" is no number
    return min(free)


def _environment(devices: int) -> dict[str, str]:
    flags = os.environ.get("XLA_FLAGS", "").split()
    return {
        **os.environ,
        **_ALLOCATOR,
        "JAX_PLATFORMS": "cpu",
        "JAX_NUM_CPU_DEVICES": str(devices),
        "XLA_FLAGS": " ".join(flag for flag in flags if not flag.startswith(_COUNT_FLAG)),
        "PYTHONPATH": os.pathsep.join(filter(None, map(os.path.abspath, sys.path))),
    }


def _end(process: "subprocess.Popen[bytes]", parent: int) -> None:
    if os.getpid() != parent:  # forked
        return
    process.kill()
    with contextlib.suppress(OSError):  # of what could not be sent
        process.communicate()


def send(pipe: IO[bytes], message: bytes) -> None:
    """Writes a message."""
    pipe.write(struct.pack("<Q", len(message)) + message)


def receive(pipe: IO[bytes]) -> bytes:
    """Reads a message.

    Raises:
        EOFError: the other process has ended.
    """
    header = pipe.read(8)
    message = pipe.read(struct.unpack("<Q", header)[0]) if len(header) == 8 else b""
    if not message:
        raise EOFError
    return message
