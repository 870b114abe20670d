"""What a process prints when its cluster cannot go on: lines for people, and where its threads are."""

import faulthandler
import sys
import threading
import traceback
from collections.abc import Callable, Sequence

_SECONDS = 5.0  # a report into a pipe that nobody reads ends then
_MINE = "spmd-watchdog"
_NOT_OF_SCRIPTS = (_MINE, "spmd-sigterm")


def write(lines: Sequence[str], *, stacks: bool) -> None:
    """Prints lines to the standard error, each behind `jaxtribute: `; takes five seconds at most.

    Args:
        lines: what to say.
        stacks: whether to print the Python stacks of all threads but the cluster's own after it.
    """

    def print_all() -> None:
        text = "".join(f"jaxtribute: {line}\n" for line in lines)
        # On a line of its own, also where the script is in the middle of one.
        print(f"\n{text}", end="", file=sys.stderr, flush=True)
        if stacks:
            print(*_stacks(), sep="\n", file=sys.stderr, flush=True)
        sys.stdout.flush()

    within(_SECONDS, print_all)


def within(seconds: float, act: Callable[[], None]) -> None:
    """Does what may block for ever, such as writing where nobody reads, and waits for it only so long.

    Args:
        seconds: how long.
        act: what to do.
    """
    thread = threading.Thread(target=act, name=_MINE, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        # From Python 3.12 on there are no new threads once the script has ended.
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
        if thread.ident in frames and thread.name not in _NOT_OF_SCRIPTS
    ]
