"""TensorArrays in the engine's branches and loops."""

import jax.numpy as jnp
import pytest

from frontends import tf
from frontends.tf.ops import carried


def test_scan_knows_how_many_elements_each_turn_appends():
    @tf.function
    def program(x):
        array = tf.TensorArray(tf.float32, size=1, dynamic_size=True).write(0, x)

        def turn(array, row):
            return array.write(array.size(), row), None, None

        array, _, _ = carried.scan(turn, array, jnp.arange(3.0))
        return array.stack()

    assert program(tf.constant(9.0)).tolist() == [9, 0, 1, 2]


def test_a_body_is_traced_again_until_its_arrays_keep_their_form():
    traces = []

    @tf.function
    def program(n):
        def body(now):
            traces.append(now[1].form)
            return (now[0] + 1, now[1].write(now[0], [1.0])), None

        start = (jnp.int32(0), tf.TensorArray(tf.float32, size=2))
        return carried.while_loop(lambda now: now[0] < n, body, start)[0][1].stack()

    assert program(tf.constant(1)).tolist() == [[1], [0]]
    assert [form.written for form in traces] == [(False, False), None]


def test_a_form_that_never_settles():
    def run(forms):
        length = 0 if forms is None else forms[0].capacity
        raise carried.TraceAgain([carried.Form(None, length + 1, (), None)])

    with pytest.raises(ValueError, match="changes at every turn"):
        carried.settled(run)


def test_as_arrays():
    array = tf.TensorArray(tf.float32, size=0)
    found = carried.as_arrays({"a": 1, "b": None, "c": array})
    assert (found["a"].dtype, found["b"], found["c"]) == (jnp.int32, None, array)


@pytest.mark.parametrize(
    ("rows", "counts"), [([0, 1, 2], True), ([1, 2], False), ([0.0, 1.0], True)]
)
def test_counts_up(rows, counts):
    assert carried.counts_up(jnp.asarray(rows)) is counts
    assert not carried.counts_up((jnp.asarray(rows),))
