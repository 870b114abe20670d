"""Memory that a step frees is kept for the next one.

A program for processors takes the memory for what it computes from the C library and gives it back at its
end. The library returns large pieces to the system at once, which clears every page again at the next step.
That can take longer than the computing.

An *arena* is a heap of the library. A thread that allocates gets one of its own, but only the first can hold
pieces of more than some 64 MB, and steps run on other threads; so these have to share the first one.
"""

import ctypes
import functools
import importlib.util
import os
import sys
from collections.abc import Callable
from importlib.metadata import entry_points

import jax

from spmd import _jax_internals

# Names and values in <malloc.h>, which sets no maximum for these.
_M_TRIM_THRESHOLD, _M_MMAP_MAX, _M_ARENA_MAX = -1, -4, -8
_NEVER = -1


def share_one_arena() -> bool:
    """Makes all threads of the process allocate from one heap; call it before the backend starts.

    Does nothing where a GPU or TPU may take part, whose programs leave the host's memory alone; where the
    environment says how many arenas there shall be; or where `JAXTRIBUTE_KEEP_MEMORY=0` stands in it.

    Returns:
        Whether threads that start from now on share one.

    Examples:
        >>> _ = jax.devices()
        >>> share_one_arena()  # the backend's threads have arenas already
        False

    Source: `mallopt(3)`.
    """
    told_otherwise = "MALLOC_ARENA_MAX" in os.environ or "GLIBC_TUNABLES" in os.environ
    mallopt = None if told_otherwise else _mallopt()
    if mallopt is None or _jax_internals.backend_is_running() or _may_have_accelerators():
        return False
    return bool(mallopt(_M_ARENA_MAX, 1))


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
