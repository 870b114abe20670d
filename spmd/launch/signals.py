"""Signals to this process, received only where the main loop waits."""

import select
import signal
import socket

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """A context in which SIGINT, SIGTERM, SIGHUP and the end of a child wake `wait`.

    For the main thread. Ignored signals, such as SIGHUP under `nohup`, stay ignored.
    """

    def __enter__(self) -> "Signals":
        """Installs the handlers."""
        self._reading, self._writing = socket.socketpair()
        self._reading.setblocking(False)
        self._writing.setblocking(False)
        self._former_file = signal.set_wakeup_fd(self._writing.fileno(), warn_on_full_buffer=False)
        self._former = {
            number: signal.signal(number, lambda *_: None)
            for number in (*_STOP_SIGNALS, signal.SIGCHLD)
            if number == signal.SIGCHLD or signal.getsignal(number) != signal.SIG_IGN
        }
        return self

    def __exit__(self, *_: object) -> None:
        """Restores the former handlers."""
        for number, handler in self._former.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._former_file)
        self._reading.close()
        self._writing.close()

    def wait(self, seconds: float) -> list[int]:
        """Returns the next signals that ask to stop, in order; none if a child ended or `seconds` are over."""
        readable, _, _ = select.select([self._reading], [], [], max(0.0, seconds))
        received = self._reading.recv(4096) if readable else b""
        return [number for number in received if number in _STOP_SIGNALS]
