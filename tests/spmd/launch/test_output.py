"""Lines of many processes in one place."""

import io
import os
import pty
import tempfile

import pytest
from rich.panel import Panel

from spmd.launch.output import LineSplitter, Printer


def split(*chunks: bytes, seconds: float = 0.0) -> list[bytes]:
    """Feeds chunks, all at the same moment, and tells which lines come out."""
    splitter = LineSplitter(seconds, clock=lambda: 0.0)
    return [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.end()


def test_lines_are_whole_however_they_arrive() -> None:
    assert split(b"on", b"e\ntwo\nthr", b"ee") == [b"one", b"two", b"three"]


def test_empty_lines_stay() -> None:
    assert split(b"a\n\nb\n") == [b"a", b"", b"b"]


@pytest.mark.parametrize("cut", range(6))
def test_windows_line_ends_are_line_ends(cut: int) -> None:
    text = b"a\r\nb\r\n"
    assert split(text[:cut], text[cut:]) == [b"a", b"b"]


def test_bytes_that_are_not_utf8_survive() -> None:
    assert split(b"\xff\xfe\n") == [b"\xff\xfe"]


def test_a_progress_bar_shows_its_last_state() -> None:
    assert split(b"\r 1%\r 50%\r100%\ndone\n", seconds=60) == [b"100%", b"done"]


def test_a_progress_bar_shows_a_state_now_and_then() -> None:
    now = 0.0
    splitter = LineSplitter(10, clock=lambda: now)
    shown = []
    for second in range(30):
        now = float(second)
        shown += splitter.feed(b"\r%d%%" % second)
    assert shown == [b"0%", b"10%", b"20%"]
    assert splitter.end() == [b"29%"]


def test_a_progress_bar_that_is_wiped_leaves_nothing() -> None:
    assert split(b"\r50%", b"\r   \r", b"done\n", seconds=0) == [b"50%", b"done"]


def test_what_is_not_ended_is_shown_at_the_end() -> None:
    assert split(b"no newline") == [b"no newline"]


def test_a_line_without_end_is_shown_in_pieces() -> None:
    pieces = split(*[b"x" * (1 << 16)] * 40)
    assert len(pieces) > 1
    assert b"".join(pieces) == b"x" * (1 << 16) * 40


def pumped(content: bytes, output: str = "stdout") -> tuple[bytes, list[str]]:
    """Prints what a process wrote; gives what was written and what was remembered."""
    remembered: list[str] = []
    reading, writing = os.pipe()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        printer = Printer(out, err)
        thread = printer.pump("worker 0", output, os.fdopen(reading, "rb"), remembered.append)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(content)
        thread.join(60)
        printer.close(60)
        file = out if output == "stdout" else err
        file.seek(0)
        return file.buffer.read(), remembered


def test_each_line_has_the_name_of_its_task() -> None:
    written, remembered = pumped(b"a\nb\xff\nc")
    assert written == b"[worker 0] a\n[worker 0] b\xff\n[worker 0] c\n"
    assert remembered == ["a", "b\N{REPLACEMENT CHARACTER}", "c"]


def test_what_gloo_prints_is_left_out() -> None:
    noise = b"[Gloo] Rank 0 is connected to 1 peer ranks. Expected number of connected peer ranks is : 1\n"
    assert pumped(noise + b"a\n") == (b"[worker 0] a\n", ["a"])


def test_pieces_that_gloo_prints_at_a_time_are_left_out() -> None:
    pieces = (
        b"[Gloo] Rank 0 is connected to 3[Gloo] Rank  peer ranks. Expected number of connected peer ranks is : 23 is connected to \n"
        b"3 peer ranks. Expected number of connected peer ranks is : 3\n"
        b"Expected number of connected peer ranks is : 3\n"
    )
    assert pumped(pieces + b"[Gloo] Rank 0 failed\n3\n\n")[1] == ["[Gloo] Rank 0 failed", "3", ""]


def test_standard_error_stays_standard_error() -> None:
    assert pumped(b"a\n", "stderr")[0] == b"[worker 0] a\n"


def test_nothing_of_much_output_is_lost_or_mixed() -> None:
    count = 20_000
    with tempfile.TemporaryFile("w+") as out:
        printer = Printer(out, out)
        threads = []
        writers = []
        for name in ("worker 0", "worker 1"):
            reading, writing = os.pipe()
            threads.append(printer.pump(name, "stdout", os.fdopen(reading, "rb")))
            writers.append(os.fdopen(writing, "wb"))
        for number in range(count):
            for writer in writers:
                writer.write(b"line %d\n" % number)
        for writer in writers:
            writer.close()
        for thread in threads:
            thread.join(60)
        printer.close(60)
        out.seek(0)
        lines = out.read().splitlines()
    for name in ("worker 0", "worker 1"):
        own = [line for line in lines if line.startswith(f"[{name}] ")]
        assert own == [f"[{name}] line {number}" for number in range(count)]
    assert len(lines) == 2 * count


def test_tables_in_a_file_are_wider_than_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with tempfile.TemporaryFile("w+") as err:
        printer = Printer(io.StringIO(), err)
        printer.print(Panel("a"))
        printer.close(60)
        err.seek(0)
        assert {len(line) for line in err.read().splitlines()} == {120}


def test_a_terminal_gets_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    outer, inner = pty.openpty()
    with os.fdopen(inner, "w") as terminal, os.fdopen(outer, "rb", buffering=0) as screen:
        printer = Printer(terminal, io.StringIO())
        reading, writing = os.pipe()
        thread = printer.pump("worker 0", "stdout", os.fdopen(reading, "rb"))
        os.write(writing, b"text\n")
        os.close(writing)
        thread.join(60)
        printer.close(60)
        assert screen.read(1000) == b"\x1b[36m[worker 0]\x1b[0m text\r\n"


def test_a_reader_that_goes_away_stops_the_output_only() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone, tempfile.TemporaryFile("w+") as err:
        printer = Printer(gone, err)
        source, target = os.pipe()
        thread = printer.pump("worker 0", "stdout", os.fdopen(source, "rb"))
        with os.fdopen(target, "wb") as pipe:
            pipe.write(b"line\n" * 5000)
        thread.join(60)
        assert not thread.is_alive()
        printer.say("still here")
        printer.close(60)
        err.seek(0)
        assert err.read() == "[launch] still here\n"
