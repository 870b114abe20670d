"""What functions see of variables that a worker in another process has never had."""

import sys
from typing import Any

import pytest

from tests.frontends.tf.distribute.coordinator.remote_tasks import last_line, running

pytestmark = [
    pytest.mark.xdist_group("ray"),
    pytest.mark.skipif(sys.platform != "linux", reason="Ray's nodes are ended by way of /proc"),
]


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    with running(workers=2, servers=1) as tasks:
        module = "tests.frontends.tf.distribute.coordinator.remote_first_use"
        return last_line(tasks.coordinate("-m", module, seconds=240))


def test_a_variable_is_a_result_with_its_value(found):
    assert found["result"] == 1.0
    assert found["results"] == [1.0, 2.0]


def test_a_variable_made_outside_of_the_scope_is_everyones(found):
    # Two of the eight ran in the program; a function may not see what another one adds at the same time.
    read, last = found["outside"]
    assert last == 13.0
    assert all(7.0 <= one <= 12.0 for one in read)


def test_an_optimizer_made_outside_of_the_scope_is_everyones(found):
    # Steps of 1, 1.5 and 1.75.
    assert found["optimizer"] == [1.0 - 4.25, 3]


@pytest.mark.parametrize(
    ("mistake", "error", "remedy"),
    [
        ("captured result", "RuntimeError", "coordinator.schedule(fn, args=(remote_value,))"),
        ("nested schedule", "RuntimeError", "Schedule functions, join and fetch in the program"),
        ("no iterator", "TypeError", "iter(coordinator.create_per_worker_dataset(dataset_fn))"),
        ("no iterator, traced", "TypeError", "iter(coordinator.create_per_worker_dataset("),
        ("generator", "TypeError", "lines in the function <lambda> is of type generator"),
    ],
)
def test_a_mistake_is_an_error_that_says_what_to_write(found, mistake, error, remedy):
    cls, message = found["errors"][mistake]
    assert cls == error
    assert remedy in message
