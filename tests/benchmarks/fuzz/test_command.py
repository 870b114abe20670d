"""The first cases of what `python -m tests.benchmarks fuzz` feeds, and what it does about those that fail."""

import random
import threading
from pathlib import Path
from unittest import mock

import pytest

from tests.benchmarks.fuzz import command, files
from tests.benchmarks.fuzz.mutations import mutated, mutated_bytes


@pytest.mark.parametrize(
    ("name", "cases"),
    [("manifests", 30), ("messages", 60), ("tf_configs", 1000), ("command_lines", 60)],
)
def test_odd_input_is_taken_or_refused(tmp_path: Path, name: str, cases: int) -> None:
    result = command.feed(name, range(cases), 0, tmp_path)
    assert not result.failures, result.failures[0]
    assert result.outcomes.total() == cases
    assert result.outcomes["accepted"] > cases / 50
    assert result.outcomes["refused"] > cases / 2


class Broken:
    """Fails in each way that there is."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._case = folder, 0

    def attempt(self, chance: random.Random) -> str:
        self._case += 1
        if self._case == 1:
            raise KeyError("raw")
        if self._case == 2:
            thread = threading.Thread(target=lambda: 1 // 0, name="fuzzed")
            thread.start()
            thread.join()
        return "touched /etc/passwd" if self._case == 3 else "accepted"

    def close(self) -> None:
        raise AssertionError("not as before")


def test_failures_are_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "SUBJECTS", {"broken": (Broken, 5)})
    monkeypatch.setattr(command, "faulthandler", mock.Mock())  # pytest has the only timer
    assert command.main([]) == 1
    said = capsys.readouterr().out
    assert "broken, case 0: Traceback" in said
    assert "KeyError: 'raw'" in said
    assert "broken, thread fuzzed: Traceback" in said
    assert "broken, case 2: touched /etc/passwd" in said
    assert "broken, in the end: Traceback" in said
    assert "4 failures, of seed 0." in said


def test_a_case_is_always_the_same() -> None:
    value = {"a": [1, {"b": "c"}], "d": "e"}
    for case in range(50):
        first, second = (mutated(value, random.Random(case)) for _ in range(2))
        assert repr(first) == repr(second)
    assert value == {"a": [1, {"b": "c"}], "d": "e"}
    assert len({mutated_bytes(b"0123456789", random.Random(case)) for case in range(50)}) > 20


def test_files_that_are_touched_are_noticed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("secret")
    before = files.listed(outside)
    with files.watched() as touched:
        (inside / "a").write_text("a")
        (outside / "secret").read_text()
    assert touched.outside(inside, reads=False) == []
    assert touched.outside(inside, reads=True) == [str(outside / "secret")]
    assert files.listed(outside) == before
    with files.watched() as touched:
        (inside / "a").rename(outside / "b")
        (outside / "c").mkdir()
    assert touched.outside(inside, reads=False) == [str(outside / "b"), str(outside / "c")]
    assert files.listed(outside) != before
