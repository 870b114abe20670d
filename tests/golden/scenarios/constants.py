"""What a program knows while it is traced: shapes, axes and counts that are tensors; loops that fill or grow arrays."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.golden.scenarios.base import Case, Setting, forms, scenario, slope_of

GROUP = "constants"
_ROW = [1.0, -2.0, 3.0, 0.5]


def _arguments(tf: Any) -> list[Callable[..., Any]]:
    """Functions of a vector that pass constant tensors where a number must be known."""

    def reshape(x):
        return tf.reshape(x, tf.constant([2, 2])), tf.reshape(x, tf.stack([2, tf.constant(-1)]))

    def sizes(x):
        n = tf.shape(x)[0]
        pairs = tf.concat([tf.shape(x)[:1], tf.constant([2])], 0)
        return tf.ones([n // 2, 2 * n]), tf.zeros(pairs), tf.fill([tf.reduce_prod(pairs)], 2.0)

    def axes(x):
        rows, axis = tf.reshape(x, [2, 2]), tf.constant(1)
        return tf.reduce_sum(rows, axis=axis), tf.concat([rows, rows], axis), tf.argmax(rows, axis)

    def ranges(x):
        return tf.range(tf.constant(3)), tf.linspace(0.0, 1.0, tf.constant(3)), tf.range(tf.rank(x))

    def counts(x):
        two = tf.constant(2)
        return tf.math.top_k(x, k=two), tf.one_hot([0, 1], two), tf.eye(two)

    def blocks(x):
        rows = tf.reshape(x, [2, 2])
        return (
            tf.pad(rows, tf.constant([[0, 1], [1, 0]])),
            tf.tile(rows, tf.constant([1, 2])),
            tf.transpose(rows, tf.constant([1, 0])),
            tf.slice(rows, tf.constant([0, 1]), tf.constant([2, 1])),
        )

    def choice(x):
        return x[0] if tf.constant(True) else x

    def masks(x):
        return tf.sequence_mask([1, 2], tf.constant(3)), tf.sequence_mask(tf.constant([1, 2]))

    return [reshape, sizes, axes, ranges, counts, blocks, choice, masks]


def _loops(tf: Any) -> list[Callable[..., Any]]:
    """Functions of a vector with loops that write a growing `TensorArray`, or carry another shape."""

    def counted(x):
        rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        i = 0
        for value in x:
            rows = rows.write(i, value * 2.0)
            i += 1  # noqa: SIM113  (what scripts write)
        return rows.stack()

    def counted_from_a_tensor(x):
        rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        i = tf.constant(0)
        for value in x:
            rows = rows.write(i, value * value)
            i += 1
        return rows.stack()

    def counted_in_a_range(x):
        rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(tf.constant(3)):
            rows = rows.write(i, x[i] * 2.0)
        return rows.stack()

    def grows(x):
        found = x[:1]
        for i in tf.range(3):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(found, tf.TensorShape([None]))]
            )
            found = tf.concat([found, [x[i] + tf.reduce_sum(found)]], 0)
        return found

    return [counted, counted_from_a_tensor, counted_in_a_range, grows]


@scenario("constants.arguments", GROUP, ("one_device", "n2", "n4"))
def arguments(s: Setting) -> Iterator[Case]:
    for function in _arguments(s.tf):
        for form, thunk in forms(s, function, _ROW, slope=False):
            if s.name == "one_device" or form.startswith("run"):
                yield f"{function.__name__}/{form}", thunk


@scenario("constants.loops", GROUP, ("one_device", "n2", "n4"))
def loops(s: Setting) -> Iterator[Case]:
    tf, run = s.tf, s.strategy.run

    def in_replicas(function: Callable[..., Any]) -> Any:
        step = tf.function(lambda x: run(function, args=(x,)))
        return step(tf.constant(_ROW))

    for function in _loops(tf):
        slope = slope_of(tf, function)
        for form, one in (("", function), ("/slope", slope)):
            name = function.__name__ + form
            yield f"{name}/function", lambda f=one: tf.function(f)(tf.constant(_ROW))
            yield f"{name}/run", lambda f=one: in_replicas(f)
