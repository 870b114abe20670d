"""Memory that a step frees is kept for the next one.

A program for processors takes the memory for what it computes from the C library and gives it back at its
end. The library returns large pieces to the system at once, which clears every page again at the next step.
That can take longer than the computing.

An *arena* is a heap of the library. A thread that allocates gets one of its own, but only the first can hold
pieces of more than some 64 MB, and steps run on other threads; so these have to share the first one.

A *workspace* is the block that a program computes in, from the start of a step to its end. If each step took another one,
the process would keep them all, so the steps of a large program are made to take the same one. What stands in the way:

- XLA says that a step has ended shortly before it frees the block.
- An aligned block takes some hundred bytes more than it needs, and returns these at once. They may become another
  allocation, and then the block does not fit any more where it was.
- The library takes the smallest hole that is large enough, whether or not that has memory.
"""

import ctypes
import functools
import importlib.util
import mmap
import os
import sys
import time
from collections.abc import Callable, Iterable
from importlib.metadata import entry_points

import jax

from spmd import _jax_internals

# Names and values in <malloc.h>, which sets no maximum for these.
_M_TRIM_THRESHOLD, _M_MMAP_MAX, _M_ARENA_MAX = -1, -4, -8
_NEVER = -1

# Bytes of a workspace whose steps take so long that preparing for one is negligible.
_LARGE = 2**26

# Bytes that an allocation takes to align a block, at most; and that a hole is larger than its block at first.
_ALIGNING, _SLACK = 2**7, 2**20

# Pages whose memory is looked for, of each block.
_SAMPLES = 16

# Seconds before each look for what the last step has used, which it may not have freed yet.
_DELAYS = (0.0, 0.001, 0.002, 0.004, 0.008)

# A step that gets a new block takes longer, by the time in which the system clears it.
_FIRST_TRIMS, _STEPS_PER_TRIM = 8, 50

_shares_arena = False


def share_one_arena() -> bool:
    """Makes all threads of the process allocate from one heap; call it before the backend starts.

    It can be called again. Does nothing where a GPU or TPU may take part, whose programs leave the host's memory alone; where the
    environment says how many arenas there shall be; or where `JAXTRIBUTE_KEEP_MEMORY=0` stands in it.

    Returns:
        Whether the C library was told; once the backend runs it is too late.

    Examples:
        >>> _ = jax.devices()
        >>> share_one_arena()  # the backend's threads have arenas already
        False

    Source: `mallopt(3)`.
    """
    global _shares_arena
    told_otherwise = "MALLOC_ARENA_MAX" in os.environ or "GLIBC_TUNABLES" in os.environ
    mallopt = None if told_otherwise else _mallopt()
    if mallopt is None or _jax_internals.backend_is_running() or _may_have_accelerators():
        return False
    _shares_arena = bool(mallopt(_M_ARENA_MAX, 1))
    return _shares_arena


def shares_one_arena() -> bool:
    """Tells whether `share_one_arena` had its effect: threads wait for each other where they allocate often.

    Examples:
        >>> shares_one_arena() in (True, False)
        True
    """
    return _shares_arena


@functools.cache
def keep_freed_memory() -> bool:
    """Makes the C library keep what is freed, by whatever part of the process, for as long as that lives.

    It can be called again, which does nothing. Where the C library is not glibc, or `JAXTRIBUTE_KEEP_MEMORY=0`
    stands in the environment, does nothing.

    Returns:
        Whether the C library could be told.

    Examples:
        >>> keep_freed_memory() in (True, False)
        True

    Source: `mallopt(3)`.
    """
    mallopt = _mallopt()
    if mallopt is None:
        return False
    return bool(mallopt(_M_MMAP_MAX, 0)) and bool(mallopt(_M_TRIM_THRESHOLD, _NEVER))


class Workspace:
    """The blocks that a large program computes in, one on each device; with glibc only."""

    def __init__(self, size: int, devices: int) -> None:
        """Describes blocks, and allocates none.

        Args:
            size: bytes of a block.
            devices: of this process.
        """
        self._size, self._devices = size, devices
        self._library = library = ctypes.CDLL(None)
        library.malloc.argtypes = [ctypes.c_size_t]
        library.malloc.restype = ctypes.c_void_p
        library.free.argtypes = [ctypes.c_void_p]
        library.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
        library.malloc_trim.argtypes = [ctypes.c_size_t]
        self._steps = self._trims = 0

    def prepare(self) -> None:
        """Prepares the heap for the next step; call it when the results of the last one are there.

        If the next step is about to get blocks that have no memory yet, returns what is free to the system first. A
        process whose other threads take the blocks all the time is left alone most of the time.
        """
        self._steps += 1
        if self._trims >= _FIRST_TRIMS + self._steps // _STEPS_PER_TRIM:
            return
        for delay in _DELAYS:
            time.sleep(delay)
            if self._next_has_memory():
                return
        self._trims += 1
        self._library.malloc_trim(0)
        self._free(self._allocate(_SLACK))

    def _next_has_memory(self) -> bool:
        """Tells whether the blocks that the library has for the next step have memory already."""
        blocks = self._allocate(_ALIGNING)
        try:
            return all(map(self._has_memory, blocks))
        finally:
            self._free(blocks)

    def _allocate(self, more: int) -> list[int | None]:
        return [self._library.malloc(self._size + more) for _ in range(self._devices)]

    def _free(self, blocks: Iterable[int | None]) -> None:
        for block in blocks:
            self._library.free(block)

    def _has_memory(self, block: int | None) -> bool:
        """Tells whether most of a block has memory; pages never written, or returned to the system, have none."""
        if block is None:
            return False
        state, found = ctypes.c_ubyte(), 0
        for sample in range(_SAMPLES):
            address = block + self._size * sample // _SAMPLES
            self._library.mincore(address & -mmap.PAGESIZE, 1, ctypes.byref(state))
            found += state.value & 1
        return 2 * found > _SAMPLES


def workspace_of(program: jax.stages.Compiled, platform: str, devices: int) -> Workspace | None:
    """Returns the workspace of a program whose steps are to share one.

    Args:
        program: the program.
        platform: of its devices.
        devices: how many of them this process has.

    Returns:
        None for small programs, for devices other than processors, and where the C library does not keep what is freed.

    Examples:
        >>> import jax.numpy as jnp
        >>> program = jax.jit(jnp.sin).lower(1.0).compile()
        >>> workspace_of(program, "cpu", 1) is None
        True
    """
    if platform != "cpu" or not keep_freed_memory():
        return None
    analysis = program.memory_analysis()
    size = 0 if analysis is None else analysis.temp_size_in_bytes
    return Workspace(size, devices) if size >= _LARGE else None


def _mallopt() -> Callable[[int, int], int] | None:
    """Finds the function of the C library, unless it is not to be used."""
    if sys.platform != "linux" or os.environ.get("JAXTRIBUTE_KEEP_MEMORY") == "0":
        return None
    return getattr(ctypes.CDLL(None), "mallopt", None)


def _may_have_accelerators() -> bool:
    """Tells whether JAX will look for devices other than processors, before it looks."""
    platforms = jax.config.jax_platforms  # type: ignore[attr-defined]
    if platforms:
        return platforms != "cpu"
    packages = ("libtpu", "jax_plugins")
    return any(map(importlib.util.find_spec, packages)) or bool(entry_points(group="jax_plugins"))
