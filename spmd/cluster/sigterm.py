"""SIGTERM, handled at once, whatever the main thread does.

Python runs no handler while the main thread waits for a collective, the devices or a compiler. But it writes the signal's
number to a file at once (`signal.set_wakeup_fd`), where a thread, `spmd-sigterm`, reads it and acts. The handler may
interrupt the main thread while it holds a lock, so it only wakes that thread.
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

_taken: list["Sigterm"] = []  # the open ones, and closed ones below them


class Sigterm:
    """A handler of SIGTERM, until `close`.

    A handler that the script installs later replaces it. Forked children do not inherit it: SIGTERM ends them.

    Examples:
        >>> heard = threading.Event()
        >>> sigterm = Sigterm(heard.set)
        >>> os.kill(os.getpid(), signal.SIGTERM)
        >>> heard.wait(60.0)
        True
        >>> sigterm.close()
    """

    def __init__(self, act: Callable[[], None], *, ends: bool = False) -> None:
        """Installs the handler.

        Args:
            act: called by the thread at each SIGTERM.
            ends: whether `act` ends the process; if so, it is called only if all open handlers do.

        Raises:
            ValueError: this is not the main thread, which alone can handle signals.
        """
        self.act, self.ends, self.closed = act, ends, False
        if not _taken:
            _wakeup.open()
        self._former: Any = signal.signal(signal.SIGTERM, _handle)
        _taken.append(self)

    def close(self) -> None:
        """Restores the former handler, on the main thread, once all handlers installed later are closed too."""
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
    """The file that Python writes signal numbers to, and the thread that reads it."""

    def open(self) -> None:
        reading, self._writing = socket.socketpair()
        self._writing.setblocking(False)
        try:
            # The former file, asyncio's for instance, still gets all signals.
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
        self.release()
        self._thread.join(_END_SECONDS)

    def release(self) -> None:
        self._writing.close()  # ends the thread, unless another process holds it open

    def wake(self) -> None:
        with contextlib.suppress(OSError):  # full, so the thread is awake
            self._writing.send(_BY_HANDLER)

    @staticmethod
    def _read(reading: socket.socket, former: int) -> None:
        with reading:
            while numbers := reading.recv(4096):
                # The handler's own byte is not passed on: the former file may have been closed by then.
                with contextlib.suppress(OSError):
                    if former != -1 and (signals := numbers.replace(_BY_HANDLER, b"")):
                        os.write(former, signals)
                if signal.SIGTERM in numbers or _BY_HANDLER in numbers:
                    _act()


def _handle(*_: object) -> None:
    # The thread knows already, unless the wakeup file was replaced.
    _wakeup.wake()


def _act() -> None:
    if signal.getsignal(signal.SIGTERM) is not _handle:  # the script has a handler of its own
        return
    opened = [one for one in _taken if not one.closed]
    for one in [one for one in opened if not one.ends] or opened:
        one.act()


def _release_in_child() -> None:
    # Else a forked child (a data loader, say) would pass its SIGTERM on to this process, and live on.
    if _taken:
        _taken.clear()
        signal.set_wakeup_fd(-1)
        _wakeup.release()
        if signal.getsignal(signal.SIGTERM) is _handle:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


_wakeup = _Wakeup()

if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork either
    os.register_at_fork(after_in_child=_release_in_child)
