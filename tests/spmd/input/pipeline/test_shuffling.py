"""Shuffling: through a buffer, the same for row numbers as for elements, pass by pass."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spmd.input.pipeline import chunks
from spmd.input.pipeline.combine import drawn
from spmd.input.pipeline.origins import random_numbers
from spmd.input.pipeline.shuffling import ShuffleOrder, peeking, shuffle_chunks, shuffle_items


@settings(max_examples=100)
@given(
    st.lists(st.integers(1, 30), max_size=8), st.integers(1, 60), st.integers(0, 9), st.booleans()
)
def test_chunks_and_items_come_in_the_same_order(sizes, buffer_size, seed, reshuffle):
    total = sum(sizes)
    rows = np.arange(2 * total).reshape(total, 2)  # two columns, which stay together
    ends = np.cumsum([0, *sizes])
    pieces = [rows[a:b] for a, b in itertools.pairwise(ends)]
    one, other = (ShuffleOrder((seed,), reshuffle) for _ in range(2))
    for _ in range(2):
        by_chunk = list(shuffle_chunks(iter(pieces), buffer_size, one))
        by_item = list(shuffle_items(rows.tolist(), buffer_size, other))
        assert [row for chunk in by_chunk for row in chunk.tolist()] == by_item
        assert all(len(chunk) for chunk in by_chunk)


def test_is_tensorflows_algorithm():
    """Step by step: give out a random place of the buffer, put the next input there."""
    steps, rest = ShuffleOrder((3,), True).begin_pass()
    buffer, expected = list(range(5)), []
    for item, place in zip(range(5, 40), steps.integers(5, size=35), strict=True):
        expected.append(buffer[place])
        buffer[place] = item
    expected += [buffer[place] for place in rest.permutation(5)]
    assert list(shuffle_items(range(40), 5, ShuffleOrder((3,), True))) == expected


def test_passes_count_and_can_be_set():
    order = ShuffleOrder((1,), reshuffle=True)
    draws = [order.begin_pass()[0].random() for _ in range(3)]
    assert order.passes == 3
    order.passes = 1
    assert order.begin_pass()[0].random() == draws[1]


def test_peeking_uses_no_pass_up():
    order = ShuffleOrder((1,), reshuffle=True)
    with peeking():
        seen = order.begin_pass()[0].random()
    assert order.passes == 0
    assert order.begin_pass()[0].random() == seen


def test_reads_no_further_than_it_must():
    pulled = []

    def inputs():
        for chunk in chunks.slices(np.arange(20)[:, None], 4):
            pulled.append(len(chunk))
            yield chunk

    next(shuffle_chunks(inputs(), 8, ShuffleOrder((1,), True)))
    assert sum(pulled) == 12


@pytest.mark.parametrize("reshuffle", [True, False])
def test_no_seed_differs_between_shuffles(reshuffle):
    a, b = (list(shuffle_items(range(30), 30, ShuffleOrder(None, reshuffle))) for _ in range(2))
    assert a != b


@pytest.mark.parametrize(
    "begin",
    [lambda order: random_numbers(order).elements(), lambda order: drawn(np.ones(2), order)],
)
def test_a_pass_begins_with_its_first_number(begin):
    order = ShuffleOrder((1,), reshuffle=True)
    numbers = begin(order)
    assert order.passes == 0
    next(numbers)
    assert order.passes == 1
