"""What a process prints, for another one to show."""

import threading
import time

from spmd.servers.remote.printing import Printout


def test_streams_are_told_apart():
    printout = Printout()
    print("out", file=printout.stream(1), flush=True)
    print("err", file=printout.stream(2))
    assert printout.take(0.0) == [(1, "out"), (1, "\n"), (2, "err"), (2, "\n")]
    assert printout.take(0.0) == []
    assert printout.count == 8


def test_whoever_waits_gets_what_comes():
    printout = Printout()
    timer = threading.Timer(0.05, printout.add, (1, "late"))
    timer.start()
    assert printout.take(60.0) == [(1, "late")]
    timer.join()


def test_nobody_waits_for_a_closed_one():
    printout = Printout()
    printout.close()
    start = time.monotonic()
    assert printout.take(60.0) == []
    assert time.monotonic() - start < 30
