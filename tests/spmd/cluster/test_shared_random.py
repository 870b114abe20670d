"""Random numbers that all processes have in common, and that leave a process its own."""

import numpy as np
import pytest

from spmd.cluster import shared_random
from spmd.cluster.shared_random import SharedDraws, shared_seed


def test_the_seed_is_another_one_in_every_run(run_python):
    assert shared_seed() == shared_seed()
    script = "from spmd.cluster.shared_random import shared_seed; print(shared_seed())"
    assert int(run_python("-c", script).stdout) != shared_seed()


def test_the_seed_of_the_first_process_counts(store):
    store.answer = lambda key, text: ("7", text)
    assert shared_random._seed.__wrapped__(True) == 7


def draws(numbers):
    while True:
        yield numbers.randint(1000)


@pytest.mark.parametrize("between", [0, 3])
def test_draws_do_not_depend_on_what_runs_between(between):
    np.random.seed(0)
    shared = SharedDraws().read(draws(np.random))
    found = []
    for _ in range(4):
        found.append(next(shared))
        np.random.random(between)
    np.random.seed(0)
    again = SharedDraws().read(draws(np.random))
    assert found == [next(again) for _ in range(4)]


def test_the_process_keeps_its_own_numbers():
    shared = SharedDraws().read(draws(np.random))
    np.random.seed(0)
    expected = np.random.random()
    np.random.seed(0)
    next(shared)
    assert np.random.random() == expected


def test_ends_with_what_it_reads():
    assert list(SharedDraws().read(iter([1, 2]))) == [1, 2]


def test_draws_are_those_of_the_first_process(store):
    store.answer = lambda key, text: ("5", text)
    np.random.seed(1)
    found = next(SharedDraws().read(draws(np.random)))
    assert found == np.random.RandomState(5).randint(1000)
