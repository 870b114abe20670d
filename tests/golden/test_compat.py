"""docs/compat.md is what the code and the recording say."""

import re
import tomllib

import pytest

from frontends.tf._names import PLANNED
from tests.golden import compat, recording


def test_the_page_is_up_to_date():
    assert compat.PAGE.read_text() == compat.page(), "run: python -m tests.golden.compat"


def test_every_name_is_there_or_accounted_for():
    notes = tomllib.loads((compat.HERE / "notes.toml").read_text())["notes"]
    listed = {full for members in compat.names().values() for full in members}
    assert notes.keys() <= listed, "notes of names that TensorFlow does not have"
    for full in listed:
        state, _ = compat.status(full, notes)
        planned = full in PLANNED or any(full.startswith(f"{name}.") for name in PLANNED)
        assert (state == "not yet") == planned, f"{full} is neither there nor planned nor noted"


def test_planned_names_are_tensorflows():
    listed = {full for members in compat.names().values() for full in members}
    assert PLANNED.issubset(listed)
    assert recording.names()["tf"]["version"].startswith("2.21")


@pytest.mark.parametrize("name", ["tf.distribute.Nothing", "tf.distribute.experimental.rpc"])
def test_what_is_missing_is_not_yet(name):
    assert compat.status(name, {}) == ("not yet", "")


def test_the_page_counts_how_results_differ():
    page = compat.page()
    kinds = [int(number) for number in re.findall(r"^\| (\d+) \| \D*$", page, re.M)]
    same, different = map(
        int, re.findall(r"(\d+) \(\S+ %\) of all are the same; (\d+) differ", page)[0]
    )
    cases = sum(map(len, recording.load().values()))
    assert len(kinds) == 4
    assert (sum(kinds), same + different) == (different, cases)
