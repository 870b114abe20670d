"""Processes that are about to read different batches hear of it before they do."""

import json

import pytest

from spmd.errors import ProcessMismatchError
from spmd.input import order


@pytest.fixture
def others_say(store):
    """Makes another process say what it is about to read."""

    def say(position, batches):
        other = json.dumps([position, batches])
        store.answer = lambda key, text: (other, text)

    return say


def test_one_process_agrees_with_itself():
    order.agree_on_order("test", [[1, 0]], None)


def test_the_same_in_all(others_say):
    others_say([[1, 0]], 3)
    order.agree_on_order("test", [[1, 0]], 3)


def test_other_shuffles(others_say):
    others_say([[1, 0]], 3)
    with pytest.raises(ProcessMismatchError, match=r"are \[\[1, 0\]\], then \[\[1, 1\]\] in"):
        order.agree_on_order("test", [[1, 1]], 3)


@pytest.mark.parametrize(("batches", "told"), [(4, "3, then 4"), (None, "3, then unknown")])
def test_another_number_of_batches(others_say, batches, told):
    others_say([[1, 0]], 3)
    with pytest.raises(ProcessMismatchError, match=rf"{told} batches.*AutoShardPolicy\.OFF"):
        order.agree_on_order("test", [[1, 1]], batches)
