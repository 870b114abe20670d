"""Tensors as scripts use them: shapes, types, operators, slices of variables, and checked losses."""

import operator
from collections.abc import Iterator
from typing import Any

from tests.golden.scenarios.base import Case, Setting, f32, forms, scenario

GROUP = "tensors"


@scenario("tensors.shapes", GROUP, ("default",))
def shapes(s: Setting) -> Iterator[Case]:
    tf = s.tf
    x = tf.ones([2, 3])
    shape = tf.TensorShape

    def listed(made: Any) -> Any:
        return None if made.rank is None else made.as_list()

    yield "as_list", lambda: x.shape.as_list()
    yield "rank", lambda: [x.shape.rank, x.shape.ndims, x.ndim, x.get_shape().rank]
    yield "elements", lambda: [x.shape.num_elements(), shape([None, 2]).num_elements()]
    yield "defined", lambda: [x.shape.is_fully_defined(), shape([None]).is_fully_defined()]
    yield "index", lambda: [x.shape[0], x.shape[-1], list(x.shape[:1]), len(x.shape)]
    yield "unpack", lambda: [*x.shape]
    yield "equal", lambda: [x.shape == (2, 3), x.shape == [2, 3], x.shape == shape([2, 3])]
    yield "unequal", lambda: [x.shape != (2, 3), x.shape == (3, 2), shape(None) == shape(None)]
    yield "assert_rank", lambda: x.shape.assert_has_rank(3)
    yield "assert_compatible", lambda: x.shape.assert_is_compatible_with([2, 4])
    yield "assert_defined", lambda: shape([None]).assert_is_fully_defined()
    yield "compatible", lambda: [x.shape.is_compatible_with(y) for y in ([None, 3], [2], None)]
    yield "merge", lambda: listed(shape([None, 3]).merge_with([2, None]))
    yield "merge_wrong", lambda: shape([2, 3]).merge_with([3, 3])
    yield "concatenate", lambda: listed(shape([1]).concatenate([2, None]))
    yield "with_rank", lambda: listed(shape(None).with_rank(2))
    yield "with_rank_wrong", lambda: shape([1]).with_rank(2)
    yield "at_least", lambda: listed(shape([1, 2]).with_rank_at_least(1))
    yield "most_specific", lambda: listed(shape([1, 2]).most_specific_compatible_shape([1, 3]))
    yield "of_number", lambda: listed(shape(5))
    yield "of_none", lambda: [shape(None).rank, bool(shape(None)), bool(shape([]))]
    yield "of_none_list", lambda: shape(None).as_list()
    yield "of_none_len", lambda: len(shape(None))
    yield "negative", lambda: shape([-1])
    yield "add", lambda: listed(shape([1]) + [2])  # noqa: RUF005
    yield "radd", lambda: listed([2] + shape([1]))  # noqa: RUF005
    yield "text", lambda: [str(shape([2, None])), str(shape(None)), str(shape([1])), str(shape([]))]
    yield "repr", lambda: [repr(shape([2, None])), repr(shape(None))]
    yield "hash", lambda: len({shape([1, 2]), shape((1, 2))})
    yield "product", lambda: tf.reduce_prod(x.shape)
    yield "reshape", lambda: tf.reshape(x, x.shape[::-1])
    yield "zeros", lambda: tf.zeros(x.shape)
    yield "zeros_partial", lambda: tf.zeros([*x.shape[:1], 4])
    yield "convert", lambda: tf.constant(x.shape)
    yield "tf_shape", lambda: [tf.shape(x), tf.rank(x), tf.size(x), tf.shape(x)[0]]
    yield "set_shape", lambda: x.set_shape([2, None])
    yield "set_shape_wrong", lambda: x.set_shape([3, None])
    yield "ensure", lambda: tf.ensure_shape(x, [None, 3])
    yield "ensure_wrong", lambda: tf.ensure_shape(x, [None, 4])
    yield (
        "spec",
        lambda: [
            tf.TensorSpec([None, 3]).is_compatible_with(x),
            tf.TensorSpec([2]).is_compatible_with(x),
            tf.TensorSpec.from_tensor(x).shape.as_list(),
        ],
    )

    def in_function(name: str, function: Any) -> Any:
        return f"function/{name}", lambda: tf.function(function)(x)

    def set_and_back(y):
        y.set_shape([2, 3])
        return y

    yield in_function("set_shape", set_and_back)
    yield in_function("dynamic", lambda y: tf.reshape(y, [tf.shape(y)[0] * 3]))
    yield in_function("static", lambda y: tf.zeros([y.shape[1], y.get_shape().as_list()[0]]))
    yield in_function("unpack", lambda y: tf.reshape(y, [y.shape[0] * y.shape[1]]))


@scenario("tensors.dtypes", GROUP, ("default",))
def dtypes(s: Setting) -> Iterator[Case]:
    tf = s.tf
    for name in ("float32", "float16", "bfloat16", "int32", "uint8", "bool", "string", "complex64"):
        dtype = getattr(tf, name)
        yield (
            f"{name}/kinds",
            lambda d=dtype: [d.is_floating, d.is_integer, d.is_bool, d.is_complex],
        )
        yield f"{name}/more", lambda d=dtype: [d.name, d.is_unsigned, d.is_numpy_compatible]
    for name in ("float32", "float16", "int32", "uint8", "bool"):
        dtype = getattr(tf, name)
        yield f"{name}/limits", lambda d=dtype: [float(d.min), float(d.max), d.size]
        yield f"{name}/numpy", lambda d=dtype: d.as_numpy_dtype.__name__
    yield "as_dtype", lambda: [tf.as_dtype(d).name for d in ("float", "int32", f32(0).dtype, bool)]
    yield "as_dtype_wrong", lambda: tf.as_dtype("nothing")
    yield (
        "equal",
        lambda: [tf.float32 == "float32", tf.float32 == f32(0).dtype, tf.int32 == tf.float32],
    )
    yield "tensor", lambda: [tf.constant(1.0).dtype.name, tf.constant(1).dtype == tf.int32]
    yield "real", lambda: [tf.complex64.real_dtype.name, tf.float32.base_dtype.name]
    yield "compatible", lambda: [tf.float32.is_compatible_with("float32")]


@scenario("tensors.operators", GROUP, ("one_device", "n2"))
def operators(s: Setting) -> Iterator[Case]:
    found: dict[str, Any] = {
        "list_right": lambda x: x + [1.0, 2.0],  # noqa: RUF005
        "list_left": lambda x: [1.0, 2.0] - x,
        "tuple": lambda x: x * (2.0, 3.0),
        "nested": lambda x: [[1.0], [2.0]] * x,
        "numpy_left": lambda x: f32([1.0, 2.0]) / x,
        "matmul": lambda x: [[1.0, 2.0]] @ s.tf.reshape(x, [2, 1]),
        "compare": lambda x: x > [0.0, 5.0],
        "equal": lambda x: [x == [1.0, 2.0], x != (1.0, 2.0)],
        "mod": lambda x: [x % 2.0, x // 2.0, 7.0 % x],
        "power": lambda x: [x**2, 2.0**x],
        "negative": lambda x: [-x, abs(x)],
        "slices": lambda x: [x[0], x[-1], x[::-1], x[..., None], x[s.tf.newaxis, 1:]],
        "mask": lambda x: s.tf.boolean_mask(x, [True, False]),
        "unpack": lambda x: (lambda pair: pair[0] * pair[1])([*s.tf.unstack(x)]),
        "wrong_length": lambda x: x + [1.0, 2.0, 3.0],  # noqa: RUF005
        "text": lambda x: x + "a",
        "none": lambda x: x + None,
    }
    for name, function in found.items():
        slope = name in ("list_right", "list_left", "tuple", "nested", "power", "mod")
        for form, thunk in forms(s, function, [1.5, -2.5], slope=slope and name != "mod"):
            if s.name == "one_device" or form.startswith("run"):
                yield f"{name}/{form}", thunk
    if s.name == "one_device":
        tf = s.tf
        x = tf.constant([1.0, 2.0])
        for name in ("add", "sub", "mul", "truediv", "lt", "ge"):
            op = getattr(operator, name)
            yield f"integers/{name}", lambda op=op: op(tf.constant([4, 7]), 2)
            yield f"reversed/{name}", lambda op=op: op(2.0, x)
        yield "logic", lambda: [~tf.constant(True), tf.constant(True) & False, tf.constant(5) | 2]
        yield "iterate", lambda: [float(v) for v in x]
        yield "length", lambda: [len(x), len(tf.ones([3, 2]))]
        yield "length_scalar", lambda: len(tf.constant(1.0))
        yield "iterate_scalar", lambda: list(tf.constant(1.0))
        yield "truth", lambda: [bool(tf.constant(0.0)), bool(tf.constant([3]))]
        yield "truth_many", lambda: bool(x)
        yield "numbers", lambda: [int(tf.constant(3.7)), float(tf.constant(2)), round(2.5)]
        yield "format", lambda: f"{tf.constant(1.25):.1f} {float(x[0])}"
        yield "as_index", lambda: [10, 20, 30][tf.constant(1)]
        yield "ref", lambda: [x.ref() == x.ref(), x.ref().deref() is x, len({x.ref(), x.ref()})]
        yield "hash", lambda: hash(x)
        yield "assignment", lambda: operator.setitem(x, 0, 1.0)
        yield "numpy_methods", lambda: [x.numpy().tolist(), x.numpy().mean()]
        yield "out_of_range", lambda: x[5]


@scenario("tensors.variables", GROUP, ("default", "n2"))
def variables(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def changed(change: Any, value: Any = (1.0, 2.0, 3.0), **options: Any) -> Any:
        v = s.in_scope(lambda: tf.Variable(f32(value), **options))
        change(v)
        return v.read_value()

    yield "element", lambda: changed(lambda v: v[1].assign(9.0))
    yield "slice", lambda: changed(lambda v: v[:2].assign([7.0, 8.0]))
    yield "step", lambda: changed(lambda v: v[::2].assign([7.0, 8.0]))
    yield "last", lambda: changed(lambda v: v[-1].assign(9.0))
    yield "row", lambda: changed(lambda v: v[0].assign([9.0, 9.0]), [[1.0, 2.0], [3.0, 4.0]])
    yield "column", lambda: changed(lambda v: v[:, 1].assign([8.0, 9.0]), [[1.0, 2.0], [3.0, 4.0]])
    yield "wrong_shape", lambda: changed(lambda v: v.assign([1.0]))
    yield "wrong_dtype", lambda: changed(lambda v: v.assign(tf.constant([1, 2, 3])))
    yield "in_function", lambda: changed(lambda v: tf.function(lambda: v[1].assign(5.0))())
    yield "scatter_update", lambda: changed(lambda v: v.scatter_nd_update([[0], [2]], [7.0, 9.0]))
    yield (
        "scatter_slices",
        lambda: changed(
            lambda v: v.scatter_add(tf.IndexedSlices(tf.constant([7.0, 9.0]), tf.constant([0, 0])))
        ),
    )

    def constrained():
        v = s.in_scope(lambda: tf.Variable([1.0, -1.0], constraint=lambda y: tf.maximum(y, 0.0)))
        return [v.constraint(v), v.constraint is None, v.read_value()]

    def dynamic_shape():
        v = s.in_scope(lambda: tf.Variable([1.0], shape=tf.TensorShape([None])))
        v.assign([1.0, 2.0])
        return v.read_value()

    def attributes():
        v = s.in_scope(lambda: tf.Variable([1.0, 2.0], name="v", trainable=False))
        return [v.name, v.trainable, v.shape.as_list(), v.dtype.name, v.constraint]

    def wrong_shape():
        return s.in_scope(lambda: tf.Variable([1.0, 2.0], shape=[3]))

    yield "constraint", constrained
    yield "unknown_shape", dynamic_shape
    yield "attributes", attributes
    yield "declared_shape", wrong_shape


@scenario("tensors.average_loss", GROUP, ("default", "n2"))
def average_loss(s: Setting) -> Iterator[Case]:
    tf = s.tf
    compute = tf.nn.compute_average_loss
    losses = f32([1.0, 2.0, 3.0])

    def scoped(*args: Any, **kwargs: Any) -> Any:
        return s.in_scope(lambda: compute(*args, **kwargs))

    yield "list", lambda: scoped([1.0, 2.0, 3.0])
    yield "numpy", lambda: scoped(losses)
    yield "size", lambda: scoped(losses, global_batch_size=6)
    yield "size_tensor", lambda: scoped(losses, global_batch_size=tf.constant(6))
    yield "size_float", lambda: scoped(losses, global_batch_size=6.0)
    yield "size_text", lambda: scoped(losses, global_batch_size="6")
    yield "size_vector", lambda: scoped(losses, global_batch_size=[6])
    yield "size_negative", lambda: scoped(losses, global_batch_size=-1)
    yield "size_zero", lambda: scoped(losses, global_batch_size=0)
    yield "scalar", lambda: scoped(tf.constant(1.0))
    yield "empty", lambda: scoped(f32([]), global_batch_size=4)
    yield "empty_no_size", lambda: scoped(f32([]))
    yield "weights", lambda: scoped(losses, sample_weight=f32([1.0, 0.0, 2.0]))
    yield "weight_scalar", lambda: scoped(losses, sample_weight=2.0)
    yield "weight_shape", lambda: scoped(losses, sample_weight=f32([1.0, 2.0]))
    yield "half", lambda: scoped(tf.constant([1.0, 2.0], tf.float16))
    yield "integers", lambda: scoped(tf.constant([1, 2]))
    yield "matrix", lambda: scoped(f32([[1.0, 2.0], [3.0, 4.0]]))
    yield (
        "in_run",
        lambda: tf.function(lambda: s.strategy.run(lambda: compute(losses * (s.number() + 1.0))))(),
    )
    yield (
        "scale_in_run",
        lambda: tf.function(
            lambda: s.strategy.run(lambda: tf.nn.scale_regularization_loss([1.0, 2.0]))
        )(),
    )
