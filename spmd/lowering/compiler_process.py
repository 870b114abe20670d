"""Large programs for processors are compiled by a process of their own, whose threads need not wait for each other.

XLA compiles on all cores and allocates all the time. Where all threads of a process share one heap
(`spmd.lowering.memory`), they wait for each other in the C library, for a third of the time. A process that
only compiles has a heap for each thread. It takes a program's StableHLO and returns the machine code, as the
compilation cache would, and ends. If that fails, this process compiles the program itself.

`JAXTRIBUTE_COMPILER_PROCESS=0` in the environment turns this off.
"""

import contextlib
import logging
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
from spmd._jax_internals import CompileRequest
from spmd.lowering.compilation_cache import knows_program, note_program
from spmd.lowering.libraries import cores
from spmd.lowering.memory import shares_one_arena

_LOG = logging.getLogger("spmd.lowering")

_VARIABLE = "JAXTRIBUTE_COMPILER_PROCESS"
_MODULE = "spmd.lowering._compiler_main"
_COUNT_FLAG = "--xla_force_host_platform_device_count"

# With this many arrays of state, a step's program is likely to be large.
_MANY = 16

# Bytes of StableHLO: XLA takes about a second for the first, several for the second.
_MEDIUM, _LARGE = 30_000, 200_000

# Larger programs hold arrays, which would be copied.
_HUGE = 2**26

# Bytes that have to be free: compiling a large model takes up to 2 GB.
_FREE = 4 * 2**30

# Keep freed memory for later allocations; the process is short-lived.
_ALLOCATOR = {
    "MALLOC_TOP_PAD_": str(2**26),
    "MALLOC_TRIM_THRESHOLD_": str(2**40),
    "MALLOC_MMAP_MAX_": "0",
}


class CompilerProcess:
    """A process that compiles one program."""

    def __init__(self, name: str, arrays: int, devices: int) -> None:
        """Starts it, which takes it some 0.7 seconds; does not wait.

        Args:
            name: of the program.
            arrays: how many arrays of state its step has, if that is known.
            devices: number of JAX's CPU devices.

        Raises:
            OSError: the process cannot be started.
        """
        self.name, self.arrays, self.devices = name, arrays, devices
        # Not the standard output, to which any library may print.
        answer, theirs = os.pipe()
        self._answer = os.fdopen(answer, "rb")
        try:
            self._process = subprocess.Popen(
                # What lies in the current folder must not be imported in place of a module.
                [sys.executable, "-P", "-m", _MODULE, str(theirs), str(os.getpid())],
                pass_fds=[theirs],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=None if _LOG.isEnabledFor(logging.DEBUG) else subprocess.DEVNULL,
                env=_environment(devices),
            )
        except BaseException:
            self._answer.close()
            raise
        finally:
            os.close(theirs)
        self.end = weakref.finalize(self, _end, self._process, self._answer, os.getpid())

    @property
    def is_alive(self) -> bool:
        """Whether it waits for its program, or compiles it."""
        return self.end.alive and self._process.poll() is None

    def compile(self, request: CompileRequest) -> bytes | None:
        """Has a program compiled; waits for it, and ends the process.

        Args:
            request: the program.

        Returns:
            The executable; None if there is none, for whatever reason.
        """
        assert self._process.stdin
        numbers = struct.pack(f"<{len(request.devices)}Q", *request.devices)
        try:
            for message in (request.program, request.options, numbers):
                send(self._process.stdin, message)
            self._process.stdin.flush()
            return receive(self._answer)
        except Exception:
            _LOG.debug("The process that compiles %r failed.", self.name, exc_info=True)
            return None
        finally:
            self.end()


_lock = threading.Lock()
_waiting: CompilerProcess | None = None


def expect_program(name: str, arrays: int) -> None:
    """Starts a process for the program of a step that is about to be traced, if that will be large, and is not cached.

    Args:
        name: of the step.
        arrays: how many arrays of state it has.
    """
    global _waiting
    if arrays < _MANY or not _is_worthwhile() or knows_program(name, arrays):
        return
    with _lock:
        devices = len(jax.devices("cpu"))
        if _waiting is not None:
            if _waiting.is_alive and (_waiting.name, _waiting.devices) == (name, devices):
                return
            _waiting.end()
        with contextlib.suppress(OSError):
            _waiting = CompilerProcess(name, arrays, devices)


@contextlib.contextmanager
def compiling(name: str) -> Generator[None]:
    """Has what this thread compiles in the block compiled by another process, if that is quicker.

    Args:
        name: of the step whose program it is.
    """
    if not _is_worthwhile():
        yield
        return
    try:
        with _jax_internals.offering_compilations(lambda request: _compile(name, request)):
            yield
    finally:
        # The program was cached, or small.
        unused = _take_waiting(name)
        if unused is not None:
            unused.end()
            note_program(name, unused.arrays)


def _compile(name: str, request: CompileRequest) -> bytes | None:
    size = len(request.program)
    if not _MEDIUM <= size <= _HUGE:
        return None
    process = _take_waiting(name)
    if process is not None and not process.is_alive:
        process.end()
        process = None
    if process is None:
        if size < _LARGE:
            return None
        try:
            process = CompilerProcess(name, 0, len(jax.devices("cpu")))
        except OSError:
            return None
    found = process.compile(request)
    if found is not None:
        note_program(name, process.arrays)
    return found


def _take_waiting(name: str) -> CompilerProcess | None:
    """Takes the process that waits for the program of a step."""
    global _waiting
    with _lock:
        if _waiting is None or _waiting.name != name:
            return None
        taken, _waiting = _waiting, None
        return taken


def _is_worthwhile() -> bool:
    """Tells whether the threads of this process would wait for each other, and there is room for another process."""
    return (
        shares_one_arena()
        and os.environ.get(_VARIABLE) != "0"
        and bool(sys.executable)
        and not getattr(sys, "frozen", False)  # then this would start the application
        and cores() > 1
        and jax.process_count() == 1
        and _free_memory() >= _FREE
    )


def _free_memory() -> int:
    """Returns how many bytes this process may still take, by the machine and by its container; at most `_FREE`."""
    free = [_FREE]
    with contextlib.suppress(OSError, ValueError):
        fields = _numbers_in(Path("/proc/meminfo"))
        free.append(fields["MemAvailable:"] * 1024)
    # Control groups, of both versions; what is cached of files can be taken, too.
    for folder, limit, usage, cached in (
        ("", "memory.max", "memory.current", "inactive_file"),
        ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    ):
        group = Path("/sys/fs/cgroup", folder)
        with contextlib.suppress(OSError, ValueError):  # "max" is no number
            most, used = (int((group / name).read_text()) for name in (limit, usage))
            free.append(most - used + _numbers_in(group / "memory.stat").get(cached, 0))
    return min(free)


def _numbers_in(path: Path) -> dict[str, int]:
    lines = map(str.split, path.read_text().splitlines())
    return {line[0]: int(line[1]) for line in lines if len(line) > 1}


def _environment(devices: int) -> dict[str, str]:
    flags = os.environ.get("XLA_FLAGS", "").split()
    return {
        **os.environ,
        **_ALLOCATOR,
        "JAXTRIBUTE_KEEP_MEMORY": "0",  # its threads are to have a heap each
        "JAX_PLATFORMS": "cpu",
        "JAX_NUM_CPU_DEVICES": str(devices),
        "XLA_FLAGS": " ".join(flag for flag in flags if not flag.startswith(_COUNT_FLAG)),
        "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)),
        _VARIABLE: "0",
    }


def _end(process: "subprocess.Popen[bytes]", answer: IO[bytes], parent: int) -> None:
    if os.getpid() != parent:  # forked
        return
    process.kill()
    for pipe in (process.stdin, answer):
        with contextlib.suppress(OSError):  # the rest of a program that could not be sent
            if pipe is not None:
                pipe.close()
    process.wait()


def _forget_waiting() -> None:
    """Leaves the process to the parent of this one, which was forked."""
    global _lock, _waiting
    _lock, _waiting = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_waiting)


def send(pipe: IO[bytes], message: bytes) -> None:
    """Writes a message.

    Args:
        pipe: to where.
        message: the message.

    Examples:
        >>> import io
        >>> pipe = io.BytesIO()
        >>> send(pipe, b"program")
        >>> receive(io.BytesIO(pipe.getvalue()))
        b'program'
    """
    pipe.write(struct.pack("<Q", len(message)))
    pipe.write(message)


def receive(pipe: IO[bytes]) -> bytes:
    """Reads a message, and waits for it.

    Args:
        pipe: from where.

    Raises:
        EOFError: the other process ended before all of it was there.
    """
    (size,) = struct.unpack("<Q", _read(pipe, 8))
    return _read(pipe, size)


def _read(pipe: IO[bytes], size: int) -> bytes:
    found = pipe.read(size)
    if len(found) != size:
        raise EOFError(f"{len(found)} bytes came, in place of {size}.")
    return found
