"""What a process prints when its cluster cannot go on."""

import threading

from spmd.cluster import report


def test_lines_begin_a_line_of_their_own(capfd):
    report.write(["one", "two"], stacks=False)
    assert capfd.readouterr().err == "\njaxtribute: one\njaxtribute: two\n"


def test_stacks_begin_with_the_main_thread_and_leave_the_watchdog_out(capfd):
    over = threading.Event()
    threads = [
        threading.Thread(target=over.wait, name=name)
        for name in ("reads", "spmd-watchdog", "spmd-sigterm")
    ]
    for thread in threads:
        thread.start()
    report.write(["stacks:"], stacks=True)
    over.set()
    for thread in threads:
        thread.join()
    printed = capfd.readouterr().err
    assert printed.startswith("\njaxtribute: stacks:\nThread MainThread (most recent call last):\n")
    assert "report.write" in printed
    assert "Thread reads (most recent call last):\n" in printed
    assert "spmd-" not in printed


def test_what_blocks_is_left_to_itself():
    over = threading.Event()
    report.within(0.01, over.wait)
    assert not over.is_set()
    over.set()
    for thread in threading.enumerate():
        if thread.name == "spmd-watchdog":
            thread.join()
