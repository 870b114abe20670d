"""What a process prints when its cluster cannot go on: lines for people, and its threads' stacks."""

import faulthandler
import sys
import threading
import traceback
from collections.abc import Callable, Sequence

_SECONDS = 5.0  # for a report into a pipe that nobody reads
_OWN_THREAD = "spmd-watchdog"
_OWN_THREADS = (_OWN_THREAD, "spmd-sigterm")


def write(lines: Sequence[str], *, stacks: bool) -> None:
    """Prints lines to standard error, each prefixed `jaxtribute: `; takes at most five seconds.

    With `stacks` the Python stacks of all threads follow, except the cluster's own.
    """

    def print_all() -> None:
        text = "".join(f"jaxtribute: {line}\n" for line in lines)
        # The script may be in the middle of a line.
        print(f"\n{text}", end="", file=sys.stderr, flush=True)
        if stacks:
            print(*_stacks(), sep="\n", file=sys.stderr, flush=True)
        sys.stdout.flush()

    within(_SECONDS, print_all)


def within(seconds: float, act: Callable[[], None]) -> None:
    """Runs what may block forever, such as writing where nobody reads, and waits for it for at most `seconds`."""
    thread = threading.Thread(target=act, name=_OWN_THREAD, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        # Python 3.12 and later start no threads once the script has ended.
        faulthandler.dump_traceback_later(seconds, exit=True)
        act()
    else:
        thread.join(seconds)


def _stacks() -> list[str]:
    frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage]
    main = threading.main_thread()
    threads = sorted(threading.enumerate(), key=lambda thread: thread is not main)
    return [
        f"Thread {thread.name} (most recent call last):\n"
        + "".join(traceback.format_stack(frames[thread.ident]))
        for thread in threads
        if thread.ident in frames and thread.name not in _OWN_THREADS
    ]
