"""Signals that wake the launcher's main loop."""

import os
import signal
import socket
import subprocess
import sys

import pytest

from spmd.launch.signals import stop_signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_wait_and_nothing_else(number: int) -> None:
    # Shells start what runs in the background with SIGINT ignored, and what is ignored stays so.
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with stop_signals() as wait:
            assert wait(0.0) == []
            os.kill(os.getpid(), number)
            assert wait(60.0) == [number]
        assert signal.getsignal(number) == signal.SIG_DFL
    finally:
        signal.signal(number, before)


def test_the_end_of_a_child_ends_the_wait() -> None:
    with stop_signals() as wait:
        child = subprocess.Popen([sys.executable, "-I", "-S", "-c", ""])
        assert wait(60.0) == []
        child.wait()
    assert child.returncode == 0


def test_what_another_socket_has_ends_the_wait_too() -> None:
    reading, writing = socket.socketpair()
    with reading, writing, stop_signals() as wait:
        writing.send(b"a")
        assert wait(60.0, reading) == []
        assert reading.recv(1) == b"a"


def test_what_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stop_signals() as wait:
            os.kill(os.getpid(), signal.SIGHUP)
            assert wait(0.01) == []
    finally:
        signal.signal(signal.SIGHUP, before)
