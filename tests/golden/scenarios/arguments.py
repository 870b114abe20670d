"""What Python passes to functions and steps: numbers, signatures, methods, and what retraces."""

import functools
from collections.abc import Iterator
from typing import Any

from tests.golden.scenarios.base import MIRRORED, Case, Setting, f32, scenario

GROUP = "arguments"


@scenario("arguments.signature", GROUP, ("default",))
def signature(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def made(*specs: Any) -> Any:
        return tf.function(lambda *xs: xs[0] * 2.0, input_signature=specs)

    rows = tf.TensorSpec([None, 2], tf.float32)
    yield "fits", lambda: made(rows)(tf.ones([3, 2]))
    yield "numpy", lambda: made(rows)(f32([[1.0, 2.0]]))
    yield "list", lambda: made(rows)([[1.0, 2.0]])
    yield "rank", lambda: made(rows)(tf.ones([2]))
    yield "columns", lambda: made(rows)(tf.ones([3, 4]))
    yield "dtype", lambda: made(rows)(tf.ones([3, 2], tf.int32))
    yield "missing", lambda: made(rows)()
    yield "too_many", lambda: made(rows)(tf.ones([3, 2]), tf.ones([3, 2]))
    yield "text", lambda: made(rows)("text")
    yield "any_shape", lambda: made(tf.TensorSpec(None, tf.float32))(tf.ones([1, 2, 3]))
    yield "python_number", lambda: made(tf.TensorSpec([], tf.float32))(3)
    yield "numbers", lambda: made(tf.TensorSpec([None], tf.float32))([1.0, 2.0, 3.0])
    yield (
        "structure",
        lambda: tf.function(
            lambda d: d["a"] + d["b"][0],
            input_signature=[{"a": tf.TensorSpec([]), "b": [tf.TensorSpec([])]}],
        )({"a": tf.constant(1.0), "b": [tf.constant(2.0)]}),
    )
    yield (
        "other_structure",
        lambda: tf.function(lambda d: d["a"], input_signature=[{"a": tf.TensorSpec([])}])(
            {"b": tf.constant(1.0)}
        ),
    )
    yield (
        "keyword",
        lambda: tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([])])(
            x=tf.constant(1.0)
        ),
    )
    yield (
        "unknown_keyword",
        lambda: tf.function(lambda x: x * 2.0, input_signature=[tf.TensorSpec([])])(
            y=tf.constant(1.0)
        ),
    )
    yield "no_specs", lambda: tf.function(lambda x: x, input_signature=[3])(tf.constant(1.0))

    def shapes_of_one_trace():
        traces = []

        @tf.function(input_signature=[tf.TensorSpec([None])])
        def total(x):
            traces.append(1)
            return tf.reduce_sum(x)

        return [total(tf.ones([n])) for n in (1, 2, 5)]

    yield "lengths", shapes_of_one_trace


@scenario("arguments.traces", GROUP, ("default",))
def traces(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def count(calls: list[Any], **options: Any) -> Any:
        traced = []

        @tf.function(**options)
        def f(x, **others):
            traced.append(1)
            return tf.constant(0)

        for call in calls:
            f(**call) if isinstance(call, dict) else f(call)
        return len(traced)

    class Thing:
        pass

    thing = Thing()
    yield "same_number", lambda: count([1, 1])
    yield "two_numbers", lambda: count([1, 2])
    yield "tensors", lambda: count([tf.constant(1), tf.constant(2)])
    yield "shapes", lambda: count([tf.ones([1]), tf.ones([2]), tf.ones([1])])
    yield "dtypes", lambda: count([tf.constant(1), tf.constant(1.0)])
    yield "texts", lambda: count(["a", "b", "a"])
    yield "booleans", lambda: count([True, False, True])
    yield "none", lambda: count([None, None])
    yield "lists", lambda: count([[1, 2], [1, 2], [1, 3]])
    yield "dicts", lambda: count([{"x": {"a": 1}}, {"x": {"a": 1}}, {"x": {"b": 1}}])
    yield "keywords", lambda: count([{"x": 1, "a": 2}, {"a": 2, "x": 1}])
    yield "objects", lambda: count([thing, thing, Thing()])
    yield "numpy", lambda: count([f32([1.0]), f32([2.0])])
    yield "numpy_and_tensor", lambda: count([f32([1.0]), tf.constant([1.0])])
    yield "number_and_bool", lambda: count([1, True])
    yield (
        "relaxed",
        lambda: count(
            [tf.ones([1]), tf.ones([2]), tf.ones([3]), tf.ones([4])], reduce_retracing=True
        ),
    )


@scenario("arguments.calls", GROUP, ("default",))
def calls(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def method():
        class Scale:
            def __init__(self, by):
                self.by = by

            @tf.function
            def __call__(self, x, plus=1.0):
                return x * self.by + plus

        two, three = Scale(2.0), Scale(3.0)
        return [two(tf.constant(1.0)), three(tf.constant(1.0)), two(tf.constant(1.0), plus=5.0)]

    def partial():
        def power(x, exponent, plus=0.0):
            return x**exponent + plus

        square = tf.function(functools.partial(power, exponent=2))
        return [square(tf.constant(3.0)), square(tf.constant(3.0), plus=1.0)]

    def defaults():
        @tf.function
        def f(x, factor=2.0, *, plus=tf.constant(1.0)):  # noqa: B008
            return x * factor + plus

        one = tf.constant(1.0)
        return [f(one), f(one, 3.0), f(one, factor=4.0), f(one, plus=7.0)]

    def variadic():
        @tf.function
        def f(*xs, **named):
            return tf.add_n(list(xs)) + sum(named.values())

        return f(tf.constant(1.0), tf.constant(2.0), a=tf.constant(3.0), b=4.0)

    def branch_on_argument():
        @tf.function
        def f(x, training):
            return x * 2.0 if training else x

        return [f(tf.constant(1.0), True), f(tf.constant(1.0), training=False)]

    def axis():
        @tf.function
        def f(x, axis):
            return tf.reduce_sum(x, axis)

        return [f(tf.ones([2, 3]), 0), f(tf.ones([2, 3]), 1), f(tf.ones([2, 3]), -1)]

    def shape():
        return tf.function(lambda n: tf.zeros([n, 2]))(3)

    def loop_count():
        @tf.function
        def f(x, n):
            for _ in range(n):
                x = x * 2.0
            return x

        return [f(tf.constant(1.0), 3), f(tf.constant(1.0), 0)]

    def first_call():
        made = []

        @tf.function
        def f(x):
            if not made:
                made.append(tf.Variable(2.0))
            made[0].assign_add(1.0)
            return x * made[0]

        return [f(tf.constant(1.0)), f(tf.constant(1.0))]

    def every_call():
        return tf.function(lambda x: tf.Variable(1.0) * x)(tf.constant(1.0))

    def inside():
        inner = tf.function(lambda x, k: x * k)
        return tf.function(lambda x: inner(x, 2.0) + inner(x, k=3.0))(tf.constant(1.0))

    def returned():
        return tf.function(lambda x: (x, None, {"a": 3, "b": [x, 2.5]}))(tf.constant(1.0))

    def text_argument():
        return tf.function(lambda x, mode: x if mode == "id" else -x)(tf.constant(1.0), "neg")

    def concrete():
        f = tf.function(lambda x: x * 2.0)
        one = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
        return [one(tf.ones([2])), one(tf.ones([3]))]

    def concrete_dtype():
        f = tf.function(lambda x: x * 2.0)
        return f.get_concrete_function(tf.TensorSpec([None], tf.float32))(tf.constant([1]))

    def concrete_python():
        f = tf.function(lambda x, k: x * k)
        one = f.get_concrete_function(tf.TensorSpec([], tf.float32), 3.0)
        return one(tf.constant(2.0))

    def missing():
        return tf.function(lambda x, y: x)(tf.constant(1.0))

    def signature_of_method():
        class Model:
            @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
            def total(self, x):
                return tf.reduce_sum(x)

        return [Model().total(tf.ones([n])) for n in (1, 3)]

    for case in (
        *(method, partial, defaults, variadic, branch_on_argument, axis, shape, loop_count),
        *(first_call, every_call, inside, returned, text_argument, concrete, concrete_dtype),
        *(concrete_python, missing, signature_of_method),
    ):
        yield case.__name__, case


@scenario("arguments.run", GROUP, (*MIRRORED, "n4"))
def run(s: Setting) -> Iterator[Case]:
    tf = s.tf
    x = f32([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

    def called(function: Any, *args: Any, **kwargs: Any) -> Any:
        step = tf.function(lambda x: s.strategy.run(function, args=(x, *args), kwargs=kwargs))
        return step(tf.constant(x))

    yield "axis", lambda: called(tf.reduce_sum, 0)
    yield "axis_keyword", lambda: called(tf.reduce_sum, axis=1)
    yield "axes", lambda: called(tf.reduce_sum, [0, 1])
    yield "bool", lambda: called(lambda x, t: x * 2.0 if t else x, True)
    yield "text", lambda: called(lambda x, t: x * 2.0 if t == "a" else x, "b")
    yield "none", lambda: called(lambda x, t: x if t is None else -x, None)
    yield "number", lambda: called(lambda x, k: x * k + s.number(), 3.0)
    yield "shape", lambda: called(lambda x, n: tf.reshape(x, [n, -1]), 3)
    yield "range", lambda: called(lambda x, n: sum(x * float(i) for i in range(n)), 3)
    yield "dict", lambda: called(lambda x, d: x * d["k"] + len(d), {"k": 2.0})
    yield "partial", lambda: called(functools.partial(lambda x, k: x * k, k=2.0))
    yield "no_tf_function", lambda: s.strategy.run(tf.reduce_sum, (tf.constant(x),), {"axis": 0})
    yield (
        "inner_function",
        lambda: called(lambda x, k: tf.function(lambda y: y * k)(x), 2.0),
    )
    yield (
        "per_replica",
        lambda: tf.function(lambda v: s.strategy.run(lambda x, k: x * k, (v, 2)))(
            s.values([f32(i) for i in range(s.n)])
        ),
    )

    def method_with_variable():
        class Model:
            def __init__(self):
                self.v = tf.Variable(1.0)

            @tf.function
            def step(self, x, scale=2.0):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(x * self.v) * scale
                return tape.gradient(loss, self.v)

        model = s.in_scope(Model)
        return s.strategy.run(model.step, (tf.constant(x),), {"scale": 3.0})

    yield "method_with_variable", method_with_variable
