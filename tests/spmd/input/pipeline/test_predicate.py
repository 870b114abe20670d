"""What a predicate may return."""

import numpy as np
import pytest

from spmd.input.pipeline import MapFunction
from spmd.input.pipeline.predicate import holds, mask


def test_one_element_and_the_first_rows_of_a_batch():
    positive = MapFunction(lambda x: x > 0)
    assert holds(positive, np.float32(1))
    assert mask(positive, np.array([1, -1, 1], np.float32), 2).tolist() == [True, False]


@pytest.mark.parametrize("wrong", [lambda x: x, lambda x: x[None] > 0])
def test_anything_but_one_boolean(wrong):
    with pytest.raises(TypeError, match="must return one boolean for each element"):
        holds(MapFunction(wrong), np.float32(1))
