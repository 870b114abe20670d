"""Rules of optimizers, compiled."""

import numpy as np
import pytest

from spmd.servers.rules import Job, Rules
from spmd.state import SparseRows


class Halving:
    """Takes half of the gradient off, and counts."""

    key = "halving"

    def __init__(self):
        self.traced = 0

    def update(self, value, slots, operand):
        self.traced += 1
        return value - operand[0] / 2, [slots[0] + 1]


class Adding(Halving):
    """Adds the gradient."""

    key = "adding"

    def update(self, value, slots, operand):
        return value + operand[0], []


@pytest.fixture
def rules() -> Rules:
    made = Rules()
    made.add([Halving(), Adding()])
    return made


def _job(rule: str, size: int) -> Job:
    count = [np.zeros((), np.float32)] if rule == "halving" else []
    return Job(rule, np.zeros(size, np.float32), count, (np.ones(size, np.float32),))


def test_jobs_of_several_rules_are_one_program(rules):
    (first, (count,)), (second, none) = rules.run([_job("halving", 2), _job("adding", 3)])
    assert [first.tolist(), float(count), second.tolist(), none] == [[-0.5] * 2, 1, [1] * 3, []]


def test_a_gradient_of_rows_is_added_to_zeros(rules):
    rows = SparseRows(np.array([2, 0, 4]), np.array([1, 2, 3], np.float32))
    ((value, _),) = rules.run([Job("adding", np.zeros(4, np.float32), [], (rows,))])
    assert value.tolist() == [2, 0, 1, 0]  # row 4 does not exist


def test_a_rule_that_is_known_stays(rules):
    first = rules["halving"]
    rules.add([Halving()])
    assert rules["halving"] is first
    assert rules.get("unknown") is None


def test_forgotten_programs_are_compiled_anew(rules):
    for _ in range(2):
        rules.run([_job("halving", 2)])
    assert rules["halving"].traced == 1
    rules.forget_programs("adding")
    rules.run([_job("halving", 2)])
    assert rules["halving"].traced == 1
    rules.forget_programs("halving")
    rules.run([_job("halving", 2)])
    assert rules["halving"].traced == 2
