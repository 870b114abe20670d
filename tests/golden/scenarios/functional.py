"""Ops that take functions: arrays of tensors, loops, branches, maps, and gradients of one's own."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import Case, Setting, forms, scenario

GROUP = "functional"
_ROW = [1.0, -2.0, 3.0, 0.5]


def _programs(tf: Any) -> dict[str, tuple[Callable[..., Any], bool]]:
    """Functions of a vector, and whether their gradient is a case as well."""

    def array_write(x):
        rows = tf.TensorArray(tf.float32, size=3)
        for i in range(3):
            rows = rows.write(i, x * float(i))
        return rows.stack()

    def array_unstack(x):
        rows = tf.TensorArray(tf.float32, size=4).unstack(x)
        return rows.read(1) * rows.read(2), rows.size()

    def array_concat(x):
        rows = tf.TensorArray(tf.float32, size=2, infer_shape=False)
        return rows.write(0, x[:1]).write(1, x[1:]).concat()

    def array_grows(x):
        rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in range(3):
            rows = rows.write(i, x[i])
        return rows.stack()

    def array_gather(x):
        rows = tf.TensorArray(tf.float32, size=4, clear_after_read=False).unstack(x)
        return rows.gather([2, 0])

    def while_known(x):
        return tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x), maximum_iterations=5
        )[1]

    def while_value(x):
        return tf.while_loop(lambda y: tf.reduce_sum(y) < 50.0, lambda y: [y * 2.0], [x])

    def while_invariants(x):
        return tf.while_loop(
            lambda i, y: i < 2,
            lambda i, y: (i + 1, tf.concat([y, y], 0)),
            (tf.constant(0), x),
            shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
        )[1]

    def cond(x):
        return tf.cond(tf.reduce_sum(x) > 1.0, lambda: x * 2.0, lambda: tf.square(x))

    def cond_python(x):
        return tf.cond(True, lambda: x * 2.0, lambda: x)

    def cond_structure(x):
        return tf.cond(x[0] > 0.0, lambda: {"a": x, "b": (x[0],)}, lambda: {"a": -x, "b": (x[1],)})

    def case(x):
        return tf.case([(x[0] > 5.0, lambda: x), (x[0] > 0.0, lambda: x * 3.0)], default=lambda: -x)

    def case_exclusive(x):
        return tf.case(
            [(x[0] > 0.0, lambda: x), (x[0] > -1.0, lambda: x * 3.0)],
            default=lambda: -x,
            exclusive=True,
        )

    def switch(x):
        return tf.switch_case(
            tf.cast(x[2], tf.int32) % 4, [lambda: x, lambda: x * 2.0], default=lambda: x * x
        )

    def switch_keys(x):
        return tf.switch_case(tf.constant(7), {7: lambda: x, 9: lambda: x * 2.0})

    def scan(x):
        return tf.scan(lambda total, row: total + row * row, x)

    def scan_options(x):
        return tf.scan(
            lambda state, row: (state[0] + row, state[1] * row),
            x,
            initializer=(0.0, 1.0),
            reverse=True,
        )

    def foldl(x):
        return tf.foldl(lambda total, row: total * 0.5 + row, x)

    def foldl_start(x):
        return tf.foldl(lambda total, row: total * row, x, initializer=10.0)

    def foldr(x):
        return tf.foldr(lambda total, row: total * 0.5 + row, x)

    def map_fn(x):
        return tf.map_fn(lambda row: row * row + 1.0, x)

    def map_structures(x):
        return tf.map_fn(
            lambda pair: pair[0] * pair[1], (x, x + 1.0), fn_output_signature=tf.float32
        )

    def map_dtype(x):
        return tf.map_fn(lambda row: row > 0.0, x, fn_output_signature=tf.bool)

    def vectorized(x):
        return tf.vectorized_map(lambda row: tf.reduce_sum(row * tf.ones([3])), x)

    def custom(x):
        @tf.custom_gradient
        def clipped(y):
            return tf.exp(y), lambda upstream: upstream * tf.clip_by_value(tf.exp(y), 0.0, 2.0)

        return clipped(x)

    def custom_two(x):
        @tf.custom_gradient
        def product(a, b):
            return a * b, lambda upstream: (upstream * 10.0, upstream * 100.0)

        return product(x, x + 1.0)

    def stopped(x):
        return x * tf.stop_gradient(x) + tf.round(x)

    def recompute(x):
        return tf.recompute_grad(lambda y: tf.sin(y) * y)(x)

    def gradients(x):
        return tf.gradients(tf.reduce_sum(x**3), [x])

    def gradients_upstream(x):
        return tf.gradients([x * x, x], x, grad_ys=[tf.ones_like(x), x])

    def hessian(x):
        return tf.hessians(tf.reduce_sum(x**3), x)

    def py_function(x):
        return tf.py_function(lambda y: y * 2.0 + 1.0, [x], tf.float32)

    def numpy_function(x):
        return tf.numpy_function(lambda y: np.cumsum(y).astype(np.float32), [x], tf.float32)

    def nested(x):
        return tf.map_fn(lambda row: tf.cond(row > 0.0, lambda: row * row, lambda: -row), x)

    def array_in_loop(x):
        rows = tf.TensorArray(tf.float32, size=4)
        done = tf.while_loop(
            lambda i, a: i < 4, lambda i, a: (i + 1, a.write(i, x[i] * 2.0)), (0, rows)
        )
        return done[1].stack()

    def no_branch(x):
        return tf.cond(x[0] > 0.0, lambda: x, lambda: (x, x))

    def other_dtype(x):
        return tf.cond(x[0] > 0.0, lambda: x, lambda: tf.cast(x, tf.int32))

    def map_wrong(x):
        return tf.map_fn(lambda row: row > 0.0, x)

    with_slopes = (
        *(array_write, array_concat, array_grows, array_gather, while_known, cond, cond_python),
        *(case, switch, scan, foldl, foldl_start, foldr, map_fn, vectorized, custom, custom_two),
        *(map_structures, stopped, recompute, py_function, nested, array_in_loop),
    )
    without = (
        *(array_unstack, while_value, while_invariants, cond_structure, case_exclusive),
        *(switch_keys, scan_options, map_dtype, gradients, gradients_upstream, hessian),
        *(numpy_function, no_branch, other_dtype, map_wrong),
    )
    return {one.__name__: (one, one in with_slopes) for one in with_slopes + without}


@scenario("functional.programs", GROUP, ("one_device", "n2"))
def programs(s: Setting) -> Iterator[Case]:
    for name, (function, slope) in _programs(s.tf).items():
        for form, thunk in forms(s, function, _ROW, slope=slope):
            if s.name == "one_device" or form.startswith("run"):
                yield f"{name}/{form}", thunk


@scenario("functional.four", GROUP, ("n4",))
def four(s: Setting) -> Iterator[Case]:
    found = _programs(s.tf)
    for name in ("cond", "scan", "foldl", "map_fn", "custom", "array_in_loop", "gradients"):
        function, slope = found[name]
        for form, thunk in forms(s, function, _ROW, slope=slope):
            if form.startswith("run"):
                yield f"{name}/{form}", thunk
