"""SIGTERM, heard at once, whatever the main thread is at.

Python runs a handler between two instructions of the main thread: none while that waits for a collective, the devices or
a compiler. But the number of a signal is written to a file at once (`signal.set_wakeup_fd`), so a thread, `spmd-sigterm`,
reads it there and acts. The handler itself may interrupt the main thread anywhere, also with a lock in its hands: it
only wakes the thread.
"""

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable
from typing import Any

_BY_HANDLER = b"\0"  # no signal has this number
_END_SECONDS = 2.0

_taken: list["Sigterm"] = []  # those that are not closed, and others that they came after


class Sigterm:
    """What SIGTERM does from now on, until `close`, instead of what it did before.

    A handler that the script installs later replaces it. Children that are forked have none of this: SIGTERM ends them.

    Attributes:
        act: called at each SIGTERM.
        ends: whether this ends the process.
        closed: whether it is over.

    Examples:
        >>> heard = threading.Event()
        >>> sigterm = Sigterm(heard.set)
        >>> os.kill(os.getpid(), signal.SIGTERM)
        >>> heard.wait(60.0)
        True
        >>> sigterm.close()
    """

    def __init__(self, act: Callable[[], None], *, ends: bool = False) -> None:
        """Takes SIGTERM over.

        Args:
            act: called by the thread at each SIGTERM.
            ends: whether it ends the process, and so is called only if there is nothing else to call. Of the others all
                are called.

        Raises:
            ValueError: this is not the main thread, which alone can take signals over.
        """
        self.act, self.ends, self.closed = act, ends, False
        if not _taken:
            _wakeup.open()
        self._former: Any = signal.signal(signal.SIGTERM, _handle)
        _taken.append(self)

    def close(self) -> None:
        """Gives SIGTERM back, on the main thread once all that took it over later are closed, too."""
        self.closed = True
        if threading.current_thread() is not threading.main_thread():
            return
        while _taken and _taken[-1].closed:
            last = _taken.pop()
            if signal.getsignal(signal.SIGTERM) is _handle:
                signal.signal(signal.SIGTERM, last._former)
            if not _taken:
                _wakeup.close()


class _Wakeup:
    """The file that the numbers of signals are written to, and the thread that reads it."""

    def open(self) -> None:
        reading, self._writing = socket.socketpair()
        self._writing.setblocking(False)
        try:
            # asyncio's, for instance: it goes on to hear of all signals.
            self._former = signal.set_wakeup_fd(self._writing.fileno(), warn_on_full_buffer=False)
        except ValueError:
            reading.close()
            self._writing.close()
            raise
        self._thread = threading.Thread(
            target=self._read, args=(reading, self._former), name="spmd-sigterm", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        last = signal.set_wakeup_fd(-1)
        replaced = last != self._writing.fileno()
        with contextlib.suppress(OSError, ValueError):  # the former one has been closed since
            signal.set_wakeup_fd(last if replaced else self._former)
        self.let_go()
        self._thread.join(_END_SECONDS)

    def let_go(self) -> None:
        self._writing.close()  # which the thread sees, once nobody else has it

    def wake(self) -> None:
        with contextlib.suppress(OSError):  # there is so much to read that the thread is awake
            self._writing.send(_BY_HANDLER)

    @staticmethod
    def _read(reading: socket.socket, former: int) -> None:
        with reading:
            while numbers := reading.recv(4096):
                # What the handler says is not passed on: the former file may have been closed by then.
                with contextlib.suppress(OSError):
                    if former != -1 and (signals := numbers.replace(_BY_HANDLER, b"")):
                        os.write(former, signals)
                if signal.SIGTERM in numbers or _BY_HANDLER in numbers:
                    _act()


def _handle(*_: object) -> None:
    # The thread knows already, unless somebody has replaced the file.
    _wakeup.wake()


def _act() -> None:
    if signal.getsignal(signal.SIGTERM) is not _handle:  # the script has a handler of its own
        return
    opened = [one for one in _taken if not one.closed]
    for one in [one for one in opened if not one.ends] or opened:
        one.act()


def _let_go() -> None:
    # Else a forked child (a reader of data, say) that gets SIGTERM would tell this process so, and live on.
    if _taken:
        _taken.clear()
        signal.set_wakeup_fd(-1)
        _wakeup.let_go()
        if signal.getsignal(signal.SIGTERM) is _handle:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


_wakeup = _Wakeup()

if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork either
    os.register_at_fork(after_in_child=_let_go)
