"""Looking at the first element of a form."""

import numpy as np
import pytest

from spmd.input.pipeline import ShuffleOrder, array_rows, iterated
from spmd.input.pipeline.forms import found_spec, peek


def test_peeking_leaves_the_next_pass_as_it_was():
    order = ShuffleOrder((1,), reshuffle=True)
    form = array_rows(np.arange(50), 50).shuffle(50, order)
    first = peek(form)
    assert order.passes == 0
    assert next(form.elements()) == first


def test_nothing_to_look_at():
    empty = iterated([], finite=True)
    assert peek(empty) is None
    with pytest.raises(ValueError, match="the dataset is empty"):
        empty.spec()


def test_the_spec_is_found_once():
    asked = []

    def form():
        asked.append(True)
        return array_rows(np.zeros((2, 3), np.uint8), 2)

    spec = found_spec(form)
    assert spec() == spec()
    assert (spec().shape, len(asked)) == ((3,), 1)
