"""Map functions taken off the end of a pipeline; frontends/tf/data/test_last_maps.py compares results."""

import numpy as np

from spmd.input.pipeline import LastMaps, MapFunction, array_rows

PIXELS = np.arange(12, dtype=np.uint8).reshape(6, 2)


def batches(*functions):
    form = array_rows(PIXELS, 6)
    for function in functions:
        form = form.map(MapFunction(function), workers=0)
    return form.batch(4, drop_remainder=False)


def test_the_form_is_divided_where_its_rows_are_smallest():
    functions = (lambda x: x + 1, lambda x: x / 2)
    maps = LastMaps(lambda: batches(*functions))
    assert maps.form().spec().dtype == np.uint8
    for raw in maps.form().elements():
        assert raw.dtype == np.uint8
        assert maps.apply(raw).dtype == np.float32
    first = next(maps.form().elements())
    np.testing.assert_array_equal(maps.apply(first), next(batches(*functions).elements()))


def test_functions_that_make_rows_smaller_stay():
    form = batches(lambda x: x[:1])
    maps = LastMaps(lambda: form)
    assert maps.form() is form
    assert maps.apply(PIXELS) is PIXELS


def test_nothing_is_asked_for_before_it_is_needed():
    asked = []
    maps = LastMaps(lambda: asked.append(True) or batches())
    assert not asked
    maps.form()
    maps.form()
    assert len(asked) == 1
