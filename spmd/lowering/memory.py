"""Memory that a step frees is kept for the next one.

A program for processors takes the memory for what it computes from the C library and gives it back at its
end. For large sizes the library returns it to the system at once, which clears every page again at the next
step. That can take longer than the computing.
"""

import ctypes
import functools
import sys

# Names and values in <malloc.h>, which sets no maximum for these.
_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4
_NEVER = -1


@functools.cache
def keep_freed_memory() -> bool:
    """Makes the C library keep what is freed, for as long as the process lives.

    The process then keeps the most memory that it ever used at a time. It can be called again, which does
    nothing. Where the C library is not glibc, does nothing.

    Returns:
        Whether the C library could be told.

    Examples:
        >>> keep_freed_memory() in (True, False)
        True

    Source: `mallopt(3)`.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is None:
        return False
    return bool(mallopt(_M_MMAP_MAX, 0)) and bool(mallopt(_M_TRIM_THRESHOLD, _NEVER))
