"""Signals to this process, received only where the main loop waits."""

import contextlib
import select
import signal
import socket
from collections.abc import Generator
from typing import Protocol

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _Readable(Protocol):
    def fileno(self) -> int: ...


class _Wait(Protocol):
    def __call__(self, seconds: float, *others: _Readable) -> list[int]: ...


@contextlib.contextmanager
def stop_signals() -> Generator[_Wait]:
    """Yields a function that waits for SIGINT, SIGTERM, SIGHUP or the end of a child; for the main thread.

    It takes the seconds to wait at most, and what else may have something to read; it returns the signals that ask to stop, in
    order: none if a child ended, the time is over, or there is something to read. Ignored signals, such as SIGHUP under
    `nohup`, stay ignored.
    """
    reading, writing = socket.socketpair()
    with reading, writing:
        reading.setblocking(False)
        writing.setblocking(False)
        former_file = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
        former = {
            number: signal.signal(number, lambda *_: None)
            for number in (*_STOP_SIGNALS, signal.SIGCHLD)
            if number == signal.SIGCHLD or signal.getsignal(number) != signal.SIG_IGN
        }

        def wait(seconds: float, *others: _Readable) -> list[int]:
            readable, _, _ = select.select([reading, *others], [], [], max(0.0, seconds))
            received = reading.recv(4096) if reading in readable else b""
            return [number for number in received if number in _STOP_SIGNALS]

        try:
            yield wait
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(former_file)
