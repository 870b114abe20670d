"""Functions of `tf` with arguments on different devices."""

import re

import jax
import pytest

from frontends import tf


def values(count=2):
    strategy = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(count)])

    def replica():
        index = tf.distribute.get_replica_context().replica_id_in_sync_group
        return tf.cast(index, tf.float32) + tf.constant([1.0, 2.0])

    return strategy.experimental_local_results(strategy.run(replica))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda p: tf.concat(p, 0), [1, 2, 2, 3]),
        (lambda p: tf.concat(p, axis=-1), [1, 2, 2, 3]),
        (lambda p: tf.stack(p), [[1, 2], [2, 3]]),
        (lambda p: tf.add_n(p), [3, 5]),
        (lambda p: tf.math.add_n(list(p)), [3, 5]),
        (lambda p: tf.add(*p), [3, 5]),
        (lambda p: tf.maximum(*p), [2, 3]),
        (lambda p: tf.equal(p[0], p[1]), [False, False]),
        (lambda p: tf.where(p[0] > 1, p[0], p[1]), [2, 2]),
        (lambda p: tf.tensordot(*p, axes=1), 8),
        (lambda p: tf.einsum("i,i->", *p), 8),
        (lambda p: tf.matmul([p[0]], [p[1]], transpose_b=True), [[8]]),
        (lambda p: tf.reduce_mean(p), 2),
        (lambda p: tf.reduce_sum(p, axis=0), [3, 5]),
        (lambda p: tf.convert_to_tensor(p), [[1, 2], [2, 3]]),
        (lambda p: tf.math.squared_difference(*p), [1, 1]),
        (lambda p: tf.nn.bias_add([p[0]], p[1]), [[3, 5]]),
        (lambda p: tf.linalg.matmul([p[0]], [p[1]], transpose_b=True), [[8]]),
        (lambda p: tf.gather(p[0], tf.cast(p[1][:1], tf.int32) - 1), [2]),
        (lambda p: tf.concat([p[1], tf.Variable([7.0])], 0), [2, 3, 7]),
    ],
)
def test_functions(function, expected):
    assert function(values()).tolist() == expected


def test_of_four_replicas():
    assert tf.concat(values(4), 0).tolist() == [1, 2, 2, 3, 3, 4, 4, 5]


def test_a_gradient_goes_to_each_device():
    first, second = values()
    with tf.GradientTape() as tape:
        tape.watch([first, second])
        loss = tf.reduce_sum(tf.concat([first, second], 0) ** 2)
    gradients = tape.gradient(loss, [first, second])
    assert [gradient.tolist() for gradient in gradients] == [[2, 4], [4, 6]]


def test_other_errors_stay_as_they_are():
    calls = []

    def function(x):
        calls.append(x)
        raise ValueError("mine")

    from frontends.tf.ops.devices import across_devices

    wrapped = across_devices("tf", {"function": function})["function"]
    with pytest.raises(ValueError, match="mine"):
        wrapped(jax.numpy.ones(2))
    assert len(calls) == 1
    assert wrapped.__name__ == "function"


def test_a_function_of_two_modules_is_one():
    assert tf.add is tf.math.add


def test_errors_have_tensorflows_names():
    x = tf.ones([2, 3])
    for name, call in {
        "tf.nn.softmax": lambda: tf.nn.softmax(x, 5),
        "tf.concat": lambda: tf.concat([x, x[0]], 0),
        "tf.linalg.trace": lambda: tf.linalg.trace(x[0]),
    }.items():
        with pytest.raises(ValueError, match=f"^{re.escape(name)}: "):
            call()
