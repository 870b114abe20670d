"""Names of many modules: operations, sparse counts and crosses, specs, errors, datasets, and what Keras 2 had."""

import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, f32, scenario
from tests.golden.scenarios.texts import table

GROUP = "various"
_X = f32([[1.5, -2.0, 0.25], [4.0, 0.5, -1.0]])
_I = np.array([[3, 7, 2], [5, 1, 4]], np.int32)


@scenario("various.operations", GROUP, NONE)
def operations(s: Setting) -> Iterator[Case]:
    tf, ops = s.tf, s.tf.raw_ops
    boxes = f32([[0, 0, 1, 1], [0, 0.1, 1, 1], [2, 2, 3, 3], [2, 2, 3, 2.9]])
    scores = f32([0.9, 0.8, 0.7, 0.6])
    limits = {"boxes": boxes, "scores": scores, "iou_threshold": 0.5, "score_threshold": 0.1}
    image = np.arange(2 * 4 * 5, dtype=np.float32).reshape(1, 4, 5, 2)
    turn = f32([[0.8, -0.3, 0.7, 0.2, 1.1, -0.5, 0.0, 0.0]])

    def projected(mode: str, how: str, **more: Any) -> Any:
        return ops.ImageProjectiveTransformV3(
            images=image,
            transforms=more.pop("transforms", turn),
            output_shape=tf.constant([4, 6]),
            fill_value=more.pop("fill_value", 7.0),
            interpolation=how,
            fill_mode=mode,
        )

    for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
        for how in ("NEAREST", "BILINEAR"):
            yield f"project/{mode}/{how}", lambda mode=mode, how=how: projected(mode, how)
    yield from table(
        {
            "project/perspective": lambda: projected(
                "CONSTANT",
                "BILINEAR",
                transforms=f32([[1.0, 0.1, 0.0, 0.1, 1.0, 0.0, 0.1, 0.05]]),
            ),
            "suppress/3": lambda: ops.NonMaxSuppressionV3(**limits, max_output_size=3),
            "suppress/4": lambda: tuple(
                ops.NonMaxSuppressionV4(**limits, max_output_size=3, pad_to_max_output_size=True)
            ),
            "suppress/5": lambda: tuple(
                ops.NonMaxSuppressionV5(**limits, max_output_size=4, soft_nms_sigma=0.0)
            ),
            "suppress/5/pad": lambda: tuple(
                ops.NonMaxSuppressionV5(
                    **limits, max_output_size=4, soft_nms_sigma=0.0, pad_to_max_output_size=True
                )
            ),
            "suppress/5/soft": lambda: (
                ops.NonMaxSuppressionV5(
                    **limits, max_output_size=4, soft_nms_sigma=0.5
                ).valid_outputs
            ),
            "Add": lambda: ops.Add(x=_X, y=_X),
            "FloorMod": lambda: ops.FloorMod(x=_I, y=tf.constant(3)),
            "MatMul": lambda: ops.MatMul(a=_X, b=_X, transpose_b=True),
            "Relu": lambda: ops.Relu(features=_X),
            "Softmax": lambda: ops.Softmax(logits=_X),
            "Reshape": lambda: ops.Reshape(tensor=_X, shape=[3, 2]),
            "Transpose": lambda: ops.Transpose(x=_X, perm=[1, 0]),
            "TopKV2": lambda: ops.TopKV2(input=_X, k=2).values,
            "GatherV2": lambda: ops.GatherV2(params=_X, indices=[1], axis=0),
            "Cumsum": lambda: ops.Cumsum(x=_X, axis=1),
            "Invert": lambda: ops.Invert(x=_I),
            "Pad": lambda: ops.Pad(input=_I, paddings=[[1, 0], [0, 1]]),
            "L2Loss": lambda: ops.L2Loss(t=_X),
            "position": lambda: ops.Add(_X, _X),
        }
    )


@scenario("various.rows", GROUP, NONE)
def rows(s: Setting) -> Iterator[Case]:
    tf, sp, rg = s.tf, s.tf.sparse, s.tf.ragged
    words = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant(["a", "b", "x"]), [2, 2])
    numbers = tf.constant([[1, 2], [3, 4]], tf.int64)
    lists = tf.ragged.constant([["a", "b"], ["c"]])
    counts = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], np.array([2, 2, 5], np.int32), [3, 4])
    spec, ragged_spec = tf.SparseTensorSpec, tf.RaggedTensorSpec

    def scoped() -> Any:
        with tf.name_scope("outer"), tf.name_scope("inner"):
            return tf.get_current_name_scope()

    yield from table(
        {
            "cross": lambda: sp.cross([words, words]),
            "cross/dense": lambda: sp.cross([tf.constant([["a"], ["b"]]), numbers]),
            "cross/three": lambda: sp.cross([words, numbers, words]),
            "cross/separator": lambda: sp.cross([words, words], separator="-"),
            "cross/rows": lambda: sp.cross([words, tf.constant([["a"]])]),
            "cross_hashed": lambda: sp.cross_hashed([words, words], num_buckets=100),
            "cross_hashed/key": lambda: sp.cross_hashed([words, numbers], 1000, hash_key=7),
            "cross_hashed/all": lambda: [
                str(one) for one in np.asarray(sp.cross_hashed([words, numbers]).values)
            ],
            "ragged.cross": lambda: rg.cross([lists, lists]),
            "ragged.cross/mixed": lambda: rg.cross([lists, tf.constant([["p"], ["q"]])]),
            "ragged.cross_hashed": lambda: rg.cross_hashed([lists, lists], num_buckets=50),
            "bincount": lambda: sp.bincount(_I),
            "bincount/rows": lambda: sp.bincount(_I, axis=-1),
            "bincount/sparse": lambda: sp.bincount(counts, axis=-1),
            "bincount/weights": lambda: sp.bincount(_I, weights=_X, axis=-1),
            "bincount/binary": lambda: sp.bincount([[1, 1, 2]], axis=-1, binary_output=True),
            "bincount/lengths": lambda: sp.bincount([[1, 5, 2]], axis=-1, maxlength=4),
            "bincount/minlength": lambda: sp.bincount([1, 2], minlength=9),
            "bincount/ragged": lambda: sp.bincount(tf.ragged.constant([[1, 1], [], [3]]), axis=-1),
            "bincount/axis": lambda: sp.bincount(_I, axis=3),
            "bincount/both": lambda: sp.bincount(_I, weights=_X, binary_output=True),
            "spec": lambda: [
                spec([None, 4], tf.int32).is_compatible_with(counts),
                spec([None, 4]).is_compatible_with(counts),
                spec([2, 4], tf.int32).is_compatible_with(counts),
            ],
            "spec/repr": lambda: repr(spec([None, 4], tf.int32)),
            "spec/from_value": lambda: repr(spec.from_value(counts)),
            "spec/value_type": lambda: spec([1]).value_type is tf.SparseTensor,
            "spec/shape": lambda: spec([None, 4]).shape.as_list(),
            "spec/ragged": lambda: ragged_spec([None, None], tf.string).is_compatible_with(lists),
            "type_spec": lambda: [
                isinstance(one, tf.TypeSpec)
                for one in (spec([1]), ragged_spec([1, None]), tf.TensorSpec([1]), counts)
            ],
            "type_spec/from_value": lambda: [
                type(tf.type_spec_from_value(one)).__name__
                for one in (counts, lists, tf.constant([1.0]))
            ],
            "fingerprint": lambda: tf.fingerprint(tf.constant(["a", "bcd"])),
            "fingerprint/numbers": lambda: tf.fingerprint(_I),
            "fingerprint/matrix": lambda: tf.fingerprint(tf.constant([["a", "b"], ["c", "d"]])),
            "name_scope": scoped,
            "inside": lambda: [tf.inside_function(), tf.is_symbolic_tensor(tf.constant(1.0))],
            "inside/function": lambda: tf.function(
                lambda x: tf.constant([tf.inside_function(), tf.is_symbolic_tensor(x)])
            )(tf.constant(1.0)),
            "tuple": lambda: tf.tuple([_X, None, 2.0]),
        }
    )


@scenario("various.errors", GROUP, NONE)
def errors(s: Setting) -> Iterator[Case]:
    tf, e = s.tf, s.tf.errors
    codes = (
        *("OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND"),
        *("ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION"),
        *("ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"),
        "UNAUTHENTICATED",
    )
    yield "codes", lambda: [getattr(e, one) for one in codes]

    def caught(kind: Any, call: Any) -> bool:
        try:
            call()
        except kind:
            return True
        return False

    calls = {
        "InvalidArgumentError": lambda: tf.reshape(tf.constant([1.0, 2.0]), [3]),
        "NotFoundError": lambda: tf.io.read_file("/none/file"),
        "OutOfRangeError": lambda: iter(tf.data.Dataset.range(0)).get_next(),
    }
    for name, call in calls.items():
        yield f"{name}/own", lambda name=name, call=call: caught(getattr(e, name), call)
        yield f"{name}/base", lambda call=call: caught(e.OpError, call)
        yield f"{name}/other", lambda call=call: caught(e.PermissionDeniedError, call)


@scenario("various.datasets", GROUP, NONE)
def datasets(s: Setting) -> Iterator[Case]:
    tf, ex, v1 = s.tf, s.tf.data.experimental, s.tf.compat.v1
    numbers = tf.data.Dataset.range(10)

    def listed(dataset: Any) -> Any:
        return [np.asarray(one).tolist() for one in dataset]

    words = tf.data.Dataset.from_tensor_slices([[1, 0, 0], [1, 2, 3], [4, 0, 0], [5, 6, 0]]).map(
        lambda x: tf.boolean_mask(x, x > 0)
    )
    v1_shapes = numbers.batch(4).map(lambda x: {"a": x, "b": (x, x)})
    yield from table(
        {
            "Counter": lambda: listed(ex.Counter(3, 2).take(3)),
            "scan": lambda: listed(
                numbers.apply(ex.scan(np.int64(0), lambda total, x: (total + x, total + x)))
            ),
            "take_while": lambda: listed(numbers.apply(ex.take_while(lambda x: x < 4))),
            "unique": lambda: listed(
                tf.data.Dataset.from_tensor_slices([1, 2, 1, 3]).apply(ex.unique())
            ),
            "enumerate": lambda: [
                [int(i), int(x)] for i, x in numbers.take(2).apply(ex.enumerate_dataset(5))
            ],
            "group_by_window": lambda: listed(
                numbers.apply(
                    ex.group_by_window(lambda x: x % 2, lambda key, group: group.batch(5), 5)
                )
            ),
            "bucket": lambda: listed(
                words.apply(
                    ex.bucket_by_sequence_length(
                        tf.size, bucket_boundaries=[2], bucket_batch_sizes=[2, 2]
                    )
                )
            ),
            "from_list": lambda: [
                [int(a), float(b)] for a, b in ex.from_list([(1, 2.0), (3, 4.0)])
            ],
            "from_list/none": lambda: ex.from_list([]),
            "get_structure": lambda: ex.get_structure(numbers.batch(2)),
            "optional": lambda: [
                bool(ex.get_next_as_optional(iter(numbers.take(n))).has_value()) for n in (0, 1)
            ],
            "copy_to_device": lambda: listed(numbers.take(2).apply(ex.copy_to_device("/cpu:0"))),
            "v1/shapes": lambda: str(v1.data.get_output_shapes(v1_shapes)),
            "v1/types": lambda: [
                one.name.replace("64", "32")
                for one in tf.nest.flatten(v1.data.get_output_types(v1_shapes))
            ],
            "v1/initializers": lambda: [
                v1.global_variables_initializer(),
                v1.local_variables_initializer(),
                v1.variables_initializer([]),
            ],
            "v1/initialized": lambda: bool(v1.is_variable_initialized(tf.Variable(1.0))),
            "v1/switches": lambda: [
                v1.resource_variables_enabled(),
                v1.executing_eagerly_outside_functions(),
            ],
            "compat/texts": lambda: [
                tf.compat.as_str_any(b"a"),
                tf.compat.as_str_any(3.5),
                tf.compat.path_to_str(pathlib.PurePosixPath("a/b")),
                tf.compat.path_to_str("c"),
                tf.compat.path_to_str(4),
            ],
            "compat/types": lambda: [
                [
                    isinstance(one, kinds)
                    for one in (1, 1.5, 2j, np.int8(1), np.float32(1), "a", b"a")
                ]
                for kinds in (
                    tf.compat.integral_types,
                    tf.compat.real_types,
                    tf.compat.complex_types,
                    tf.compat.bytes_or_text_types,
                )
            ],
            "compat/forward": lambda: tf.compat.forward_compatible(2019, 1, 1),
            "v1/dimension": lambda: [
                v1.Dimension(3).value,
                v1.Dimension(None).value,
                (v1.Dimension(3) + 2).value,
                v1.Dimension(3) == 3,
            ],
        }
    )


@scenario("various.keras", GROUP, NONE)
def keras(s: Setting) -> Iterator[Case]:
    tf, k = s.tf, s.tf.keras
    linear = k.experimental.LinearModel

    def trained(model: Any, x: Any) -> Any:
        model.compile(k.optimizers.SGD(0.1), "mse")
        model.fit(x, _X[:, :1], epochs=2, batch_size=2, verbose=0, shuffle=False)
        return model.predict(x, verbose=0)

    def created() -> Any:
        seen = []

        def creator(next_creator: Any, **kwargs: Any) -> Any:
            seen.append([kwargs["name"], kwargs["trainable"], kwargs["dtype"] is None])
            return next_creator(**kwargs | {"trainable": False})

        with tf.variable_creator_scope(creator):
            made = tf.Variable([1.0], name="v")
        return [seen, made.trainable, made.name]

    def function() -> Any:
        x = k.Input((3,))
        call = k.backend.function([x], [x * 2.0, x + 1.0])
        return call([_X])

    yield from table(
        {
            "linear": lambda: trained(linear(), _X),
            "linear/two": lambda: trained(linear(kernel_initializer="ones"), [_X, _X[:, :2]]),
            "linear/units": lambda: linear(2, "relu", kernel_initializer="ones")(_X),
            "wide_deep": lambda: trained(
                k.experimental.WideDeepModel(
                    linear(), k.Sequential([k.layers.Dense(1, kernel_initializer="ones")])
                ),
                _X,
            ),
            "creator": created,
            "phase": lambda: [k.backend.set_learning_phase(0), k.backend.learning_phase()],
            "function": function,
        }
    )


@scenario("various.sparse_segments", GROUP, NONE)
def sparse_segments(s: Setting) -> Iterator[Case]:
    sparse, rows = s.tf.sparse, s.tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3) ** 2)
    some, ids = s.tf.constant([3, 0, 0, 1, 2]), s.tf.constant([0, 0, 2, 2, 2])
    for kind in ("sum", "mean", "sqrt_n"):
        combine = getattr(sparse, f"segment_{kind}")
        yield kind, lambda combine=combine: combine(rows, some, ids)
        yield (
            f"{kind}/num_segments",
            lambda combine=combine: combine(rows, some, ids, num_segments=4),
        )

        def slope(combine: Any = combine) -> Any:
            with s.tf.GradientTape() as tape:
                tape.watch(rows)
                y = combine(rows, some, ids) ** 2
            return s.tf.convert_to_tensor(tape.gradient(y, rows))

        yield f"{kind}/slope", slope
        yield (
            f"{kind}/function",
            lambda combine=combine: s.tf.function(combine)(rows, some, ids, num_segments=3),
        )
