"""Rows of different lengths: `tf.RaggedTensor`, `tf.ragged`, and datasets of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, scenario
from tests.golden.scenarios.texts import shown, table

GROUP = "ragged"
ROWS = [[3, 1, 4], [], [1, 5], [9]]
DEEP = [[[1, 2], [3]], [], [[4, 5, 6], [], [7]]]
REALS = [[1.5, -2.0], [], [0.5, 4.0, 3.0]]


@scenario("ragged.making", GROUP, NONE)
def making(s: Setting) -> Iterator[Case]:
    """How ragged tensors are made, and their parts."""
    tf = s.tf
    rt, constant = tf.RaggedTensor, tf.ragged.constant

    def parts(value: Any) -> Any:
        return {
            "list": value.to_list(),
            "shape": value.shape.as_list(),
            "type": value.dtype.name,
            "rank": value.ragged_rank,
            "splits": [np.asarray(one).tolist() for one in value.nested_row_splits],
            "uniform": None if value.uniform_row_length is None else int(value.uniform_row_length),
        }

    for name, made in {
        "constant": lambda: constant(ROWS),
        "constant_deep": lambda: constant(DEEP),
        "constant_texts": lambda: constant([["a", "bc"], [], ["é"]]),
        "constant_reals": lambda: constant(REALS),
        "constant_dtype": lambda: constant(ROWS, dtype=tf.float32),
        "constant_rank_1": lambda: constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1),
        "constant_inner": lambda: constant([[[1, 2], [3, 4]], [], [[5, 6]]], inner_shape=(2,)),
        "constant_empty": lambda: constant([[], []]),
        "constant_tuples": lambda: constant([(1, 2), (3,)]),
        "constant_arrays": lambda: constant([np.array([1, 2]), np.array([3])]),
        "row_splits": lambda: rt.from_row_splits([3, 1, 4, 1, 5], [0, 2, 2, 5]),
        "row_splits_rows": lambda: rt.from_row_splits([[3, 1], [4, 1], [5, 9]], [0, 2, 3]),
        "row_lengths": lambda: rt.from_row_lengths([3, 1, 4, 1, 5], [2, 0, 3]),
        "row_starts": lambda: rt.from_row_starts([3, 1, 4, 1, 5], [0, 2, 2]),
        "row_limits": lambda: rt.from_row_limits([3, 1, 4, 1, 5], [2, 2, 5]),
        "value_rowids": lambda: rt.from_value_rowids([3, 1, 4, 1, 5], [0, 0, 2, 2, 3]),
        "value_rowids_nrows": lambda: rt.from_value_rowids([3, 1], [0, 2], nrows=5),
        "uniform": lambda: rt.from_uniform_row_length([3, 1, 4, 1], 2),
        "uniform_0": lambda: rt.from_uniform_row_length(tf.constant([], tf.int32), 0, nrows=3),
        "uniform_nested": lambda: rt.from_uniform_row_length(constant(ROWS), 2),
        "nested_splits": lambda: rt.from_nested_row_splits([1, 2, 3], [[0, 1, 2], [0, 2, 3]]),
        "nested_lengths": lambda: rt.from_nested_row_lengths([1, 2, 3], [[1, 1], [2, 1]]),
        "nested_rowids": lambda: rt.from_nested_value_rowids(
            [1, 2, 3], [[0, 2], [0, 0, 1]], [4, 2]
        ),
        "tensor": lambda: rt.from_tensor([[1, 2], [3, 4]]),
        "tensor_lengths": lambda: rt.from_tensor(
            [[5, 7, 0], [0, 3, 0], [6, 0, 0]], lengths=[1, 0, 3]
        ),
        "tensor_padding": lambda: rt.from_tensor([[5, 7, 0], [0, 3, 0], [6, 0, 0]], padding=0),
        "tensor_padding_texts": lambda: rt.from_tensor([["a", ""], ["", ""]], padding=""),
        "tensor_rank_2": lambda: rt.from_tensor(np.arange(8).reshape(2, 2, 2), ragged_rank=2),
        "tensor_nested": lambda: rt.from_tensor(
            np.arange(8).reshape(2, 2, 2), lengths=([2, 1], [1, 2, 0])
        ),
        "tensor_inner": lambda: rt.from_tensor(np.arange(8).reshape(2, 2, 2), padding=[6, 7]),
        "sparse": lambda: rt.from_sparse(
            tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [4, 3])
        ),
        "range": lambda: tf.ragged.range([3, 5, 2]),
        "range_limits": lambda: tf.ragged.range([0, 5, 8], [3, 3, 12]),
        "range_deltas": lambda: tf.ragged.range([0, 5], [3, 0], [2, -2]),
        "range_reals": lambda: tf.ragged.range([0.5], [2.0], 0.5),
        "deep_values": lambda: constant(DEEP).values,
        "with_values": lambda: constant(ROWS).with_values([6, 5, 4, 3, 2, 1]),
        "with_flat_values": lambda: constant(DEEP).with_flat_values([7, 6, 5, 4, 3, 2, 1]),
        "merge_0_1": lambda: constant(DEEP).merge_dims(0, 1),
        "merge_1_2": lambda: constant(DEEP).merge_dims(1, 2),
        "merge_inner": lambda: constant([[[1, 2], [3, 4]], [[5, 6]]], ragged_rank=1).merge_dims(
            1, 2
        ),
    }.items():
        yield name, lambda made=made: parts(made())
    yield from table(
        {
            "merge_all": lambda: constant(DEEP).merge_dims(0, 2),
            "constant_0": lambda: constant(3),
            "constant_vector": lambda: constant([1, 2, 3]),
            "constant_depths": lambda: constant([1, [2]]),
            "constant_depths_deep": lambda: constant([[[1]], [2]]),
            "constant_rank_too_large": lambda: constant([[1], [2]], ragged_rank=2),
            "constant_mixed": lambda: constant([["a"], [1]]),
            "row_splits_short": lambda: rt.from_row_splits([1, 2], [0, 1]),
            "row_splits_start": lambda: rt.from_row_splits([1, 2], [1, 2]),
            "row_splits_descending": lambda: rt.from_row_splits([1, 2], [0, 3, 2]),
            "row_lengths_sum": lambda: rt.from_row_lengths([1, 2], [1, 2]),
            "row_lengths_negative": lambda: rt.from_row_lengths([1], [2, -1]),
            "value_rowids_descending": lambda: rt.from_value_rowids([1, 2], [1, 0]),
            "uniform_rest": lambda: rt.from_uniform_row_length([1, 2, 3], 2),
            "tensor_both": lambda: rt.from_tensor([[1]], lengths=[1], padding=0),
            "tensor_vector": lambda: rt.from_tensor([1, 2]),
            "sparse_gap": lambda: rt.from_sparse(tf.SparseTensor([[0, 1]], [1], [2, 3])),
            "range_0": lambda: tf.ragged.range([1], [2], [0]),
            "with_values_fewer": lambda: constant(ROWS).with_values([1]),
            "values": lambda: constant(ROWS).values,
            "flat_values": lambda: constant(DEEP).flat_values,
            "row_lengths_of": lambda: constant(DEEP).row_lengths(),
            "row_lengths_of_2": lambda: constant(DEEP).row_lengths(axis=2),
            "nrows": lambda: constant(DEEP).nrows(),
            "nested_row_lengths": lambda: list(constant(DEEP).nested_row_lengths()),
            "rowids": lambda: constant(ROWS).value_rowids(),
            "nested_value_rowids": lambda: list(constant(DEEP).nested_value_rowids()),
            "starts": lambda: constant(ROWS).row_starts(),
            "limits": lambda: constant(ROWS).row_limits(),
            "bounding_shape": lambda: constant(DEEP).bounding_shape(),
            "bounding_shape_1": lambda: constant(DEEP).bounding_shape(axis=1),
            "bounding_shape_2": lambda: constant(DEEP).bounding_shape(axis=[0, 2]),
            "segment_ids": lambda: tf.ragged.row_splits_to_segment_ids([0, 2, 2, 5]),
            "splits": lambda: tf.ragged.segment_ids_to_row_splits([0, 0, 2]),
            "splits_more": lambda: tf.ragged.segment_ids_to_row_splits([0, 0, 2], 5),
            "numpy": lambda: [one.tolist() for one in constant(ROWS).numpy()],
            "numpy_equal": lambda: constant([[1, 2], [3, 4]]).numpy(),
            "iterated": lambda: [one.numpy().tolist() for one in constant(ROWS)],
            "spec": lambda: tf.RaggedTensorSpec([None, None], tf.int32).is_compatible_with(
                constant(ROWS)
            ),
            "spec_other": lambda: tf.RaggedTensorSpec([None, None], tf.int64).is_compatible_with(
                constant(ROWS)
            ),
            "spec_rank": lambda: tf.RaggedTensorSpec([2, None, 3], tf.int32).ragged_rank,
            "bool": lambda: bool(constant(ROWS)),
            "partitions": lambda: tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [2, 0, 2], 4),
        }
    )


@scenario("ragged.dense", GROUP, NONE)
def dense(s: Setting) -> Iterator[Case]:
    """Ragged tensors as dense and sparse ones."""
    constant = s.tf.ragged.constant
    rows, deep = lambda: constant(ROWS), lambda: constant(DEEP)
    inner = lambda: constant([[[1, 2], [3, 4]], [], [[5, 6]]], ragged_rank=1)  # noqa: E731
    for name, value in {"rows": rows, "deep": deep, "inner": inner}.items():
        for default in (None, -1):
            yield f"{name}/{default}", lambda v=value, d=default: v().to_tensor(d)
        yield f"{name}/sparse", lambda v=value: shown(v().to_sparse())
    for shape in ([None, None], [4, 2], [2, None], [None, 5], [6, 6], [4]):
        yield f"rows/shape/{shape}", lambda sh=shape: rows().to_tensor(shape=sh)
    yield from table(
        {
            "deep/shape": lambda: deep().to_tensor(0, shape=[None, 2, 2]),
            "inner/shape": lambda: inner().to_tensor(shape=[None, 3, 2]),
            "texts": lambda: constant([["a"], ["b", "c"]]).to_tensor(),
            "texts/default": lambda: constant([["a"], ["b", "c"]]).to_tensor("-"),
            "reals/default": lambda: constant(REALS).to_tensor(0.5),
            "empty": lambda: constant([[], []], dtype=s.tf.int32).to_tensor(),
            "none": lambda: constant([], ragged_rank=1, dtype=s.tf.int32).to_tensor(),
        }
    )


@scenario("ragged.items", GROUP, NONE)
def items(s: Setting) -> Iterator[Case]:
    """Parts of ragged tensors."""
    constant = s.tf.ragged.constant
    rows, deep = constant(ROWS), constant(DEEP)
    inner = constant([[[1, 2], [3, 4]], [], [[5, 6]]], ragged_rank=1)
    uniform = s.tf.RaggedTensor.from_uniform_row_length(constant(ROWS), 2)
    full = slice(None)
    for name, value in {"rows": rows, "deep": deep, "inner": inner, "uniform": uniform}.items():
        for key_name, key in {
            "0": 0,
            "1": 1,
            "-1": -1,
            "9": 9,
            "1:": slice(1, None),
            ":-1": slice(None, -1),
            "::2": slice(None, None, 2),
            "::-1": slice(None, None, -1),
            ":, :1": (full, slice(None, 1)),
            ":, 1:": (full, slice(1, None)),
            ":, -1:": (full, slice(-1, None)),
            ":, ::2": (full, slice(None, None, 2)),
            ":, ::-1": (full, slice(None, None, -1)),
            ":, 0": (full, 0),
            "0, 0": (0, 0),
            "0, 5": (0, 5),
            "0, :1": (0, slice(None, 1)),
            "...": (...,),
            "..., :1": (..., slice(None, 1)),
            "None": None,
            ":, None": (full, None),
        }.items():
            yield f"{name}[{key_name}]", lambda v=value, k=key: v[k]
    yield from table(
        {
            "deep[:, :, 1:]": lambda: deep[:, :, 1:],
            "deep[0, 0, 1]": lambda: deep[0, 0, 1],
            "deep[2, :, :1]": lambda: deep[2, :, :1],
            "inner[:, :, 0]": lambda: inner[:, :, 0],
            "inner[:, :, 1:]": lambda: inner[:, :, 1:],
            "inner[0, :, 1]": lambda: inner[0, :, 1],
            "rows[:, :, None]": lambda: rows[:, :, None],
            "uniform[:, 1, :1]": lambda: uniform[:, 1, :1],
        }
    )


@scenario("ragged.functions", GROUP, NONE)
def functions(s: Setting) -> Iterator[Case]:
    """Functions of ragged tensors, and operators."""
    tf = s.tf
    constant = tf.ragged.constant
    rows, deep, reals = constant(ROWS), constant(DEEP), constant(REALS)
    inner = constant([[[1.0, 2.0], [3.0, 4.0]], [], [[5.0, 6.0]]], ragged_rank=1)
    texts = constant([["a", "b"], [], ["c"]])
    for name in ("sum", "prod", "max", "min", "mean", "variance", "std"):
        for value_name, value in {
            "reals": reals,
            "inner": inner,
            "deep": tf.cast(deep, tf.float32),
        }.items():
            for axis in (None, 0, 1, -1, [0, 1]):
                function = getattr(tf.math, f"reduce_{name}")
                yield (
                    f"{name}/{value_name}/{axis}",
                    lambda f=function, v=value, a=axis: f(v, axis=a),
                )
        function = getattr(tf.math, f"reduce_{name}")
        if name not in ("variance", "std"):
            yield f"{name}/whole/1", lambda f=function: f(rows, axis=1)
            yield f"{name}/whole/0", lambda f=function: f(rows, axis=0)
            yield f"{name}/kept", lambda f=function: f(reals, axis=1, keepdims=True)
            yield f"{name}/out", lambda f=function: f(reals, axis=2)
    bools = constant([[True, False], [], [True]])
    for name in ("all", "any"):
        for axis in (None, 0, 1):
            yield f"{name}/{axis}", lambda n=name, a=axis: getattr(tf, f"reduce_{n}")(bools, axis=a)
    yield from table(
        {
            "add": lambda: rows + 1,
            "radd": lambda: 10 - rows,
            "add_ragged": lambda: rows + rows,
            "add_other": lambda: rows + constant([[1], [2], [3], [4]]),
            "add_shapes": lambda: rows + constant([[1, 2], [2], [3], [4]]),
            "multiply_column": lambda: rows * [[1], [2], [3], [4]],
            "multiply_row": lambda: constant([[1, 2], [3, 4]]) * [10, 20],
            "multiply_row_ragged": lambda: rows * [1, 2, 3],
            "inner_vector": lambda: inner * [1.0, 10.0],
            "deep_scalar": lambda: deep * 2,
            "divide": lambda: reals / 2.0,
            "floordiv": lambda: rows // 2,
            "mod": lambda: rows % 2,
            "pow": lambda: rows**2,
            "neg": lambda: -rows,
            "abs": lambda: abs(reals),
            "less": lambda: rows < 4,
            "equal": lambda: rows == 1,
            "not_equal": lambda: rows != 1,
            "equal_texts": lambda: tf.equal(texts, "a"),
            "and": lambda: bools & True,
            "invert": lambda: ~bools,
            "tf.add": lambda: tf.add(rows, 1),
            "tf.maximum": lambda: tf.maximum(rows, 3),
            "tf.exp": lambda: tf.exp(reals),
            "tf.cast": lambda: tf.cast(rows, tf.float32),
            "tf.cast_dtype": lambda: tf.cast(rows, tf.float32).dtype.name,
            "tf.square": lambda: tf.square(rows),
            "tf.zeros_like": lambda: tf.zeros_like(rows),
            "tf.ones_like": lambda: tf.ones_like(rows),
            "tf.identity": lambda: tf.identity(rows),
            "tf.one_hot": lambda: tf.one_hot(constant([[0, 1], [2]]), 3),
            "tf.nn.relu": lambda: tf.nn.relu(reals),
            "tf.size": lambda: tf.size(rows),
            "tf.rank": lambda: tf.rank(deep),
            "map_flat_values": lambda: tf.ragged.map_flat_values(tf.square, rows),
            "map_flat_values_two": lambda: tf.ragged.map_flat_values(tf.multiply, rows, rows),
            "map_flat_values_other": lambda: tf.ragged.map_flat_values(
                tf.add, rows, constant([[1]])
            ),
            "map_flat_values_count": lambda: tf.ragged.map_flat_values(tf.reduce_sum, rows),
            "embedding": lambda: tf.nn.embedding_lookup(
                tf.constant([[1.0], [2.0], [3.0]]), constant([[0, 2], []])
            ),
            "concat_0": lambda: tf.concat([rows, rows], 0),
            "concat_1": lambda: tf.concat([rows, rows], 1),
            "concat_-1": lambda: tf.concat([rows, rows], -1),
            "concat_dense": lambda: tf.concat([rows, [[1, 2], [3, 4], [5, 6], [7, 8]]], 1),
            "concat_deep": lambda: tf.concat([deep, deep], 2),
            "concat_texts": lambda: tf.concat([texts, [["x"], ["y"], ["z"]]], axis=1),
            "concat_rows": lambda: tf.concat([rows, rows[:2]], 1),
            "concat_out": lambda: tf.concat([rows, rows], 2),
            "stack_0": lambda: tf.stack([rows, rows]),
            "stack_1": lambda: tf.stack([rows, rows], 1),
            "stack_2": lambda: tf.stack([rows, rows], 2),
            "ragged.stack": lambda: tf.ragged.stack([[1, 2, 3], [4]]),
            "ragged.stack_1": lambda: tf.ragged.stack([[1, 2], [4, 5]], axis=1),
            "ragged.stack_matrices": lambda: tf.ragged.stack([[[1, 2]], [[3], [4]]]),
            "ragged.stack_scalars": lambda: tf.ragged.stack([1, 2]),
            "ragged.stack_ranks": lambda: tf.ragged.stack([[1], [[2]]]),
            "expand_0": lambda: tf.expand_dims(rows, 0),
            "expand_1": lambda: tf.expand_dims(rows, 1),
            "expand_2": lambda: tf.expand_dims(rows, 2),
            "expand_-1": lambda: tf.expand_dims(rows, -1),
            "squeeze_1": lambda: tf.squeeze(constant([[1], [2]]), 1),
            "squeeze_0": lambda: tf.squeeze(constant([[[1, 2], [3]]]), 0),
            "gather": lambda: tf.gather(rows, [2, 0, 2]),
            "gather_scalar": lambda: tf.gather(rows, 2),
            "gather_matrix": lambda: tf.gather(rows, [[2, 0], [1, 1]]),
            "gather_out": lambda: tf.gather(rows, [4]),
            "gather_by_ragged": lambda: tf.gather(
                tf.constant([10, 20, 30]), constant([[0, 2], [], [1]])
            ),
            "gather_both": lambda: tf.gather(rows, constant([[0, 2], [], [1]])),
            "gather_batch": lambda: tf.gather(rows, constant([[0, 2], [], [1], []]), batch_dims=1),
            "mask_matrix": lambda: tf.ragged.boolean_mask(
                [[1, 2, 3], [4, 5, 6]], [[True, False, True], [False] * 3]
            ),
            "mask_vector": lambda: tf.ragged.boolean_mask([[1, 2], [3, 4]], [True, False]),
            "mask_ragged": lambda: tf.ragged.boolean_mask(rows, rows > 2),
            "mask_rows": lambda: tf.ragged.boolean_mask(rows, [True, False, True, False]),
            "mask_deep": lambda: tf.ragged.boolean_mask(deep, deep > 3),
            "mask_deep_rows": lambda: tf.ragged.boolean_mask(
                deep, constant([[True, False], [], [False, True, True]])
            ),
            "mask_cube": lambda: tf.ragged.boolean_mask(
                np.arange(8).reshape(2, 2, 2), [[True, False], [True, True]]
            ),
            "mask_other_rows": lambda: tf.ragged.boolean_mask(rows, constant([[True]])),
            "mask_scalar": lambda: tf.ragged.boolean_mask([1], True),
            "where": lambda: tf.where(rows > 2, rows, tf.zeros_like(rows)),
            "where_places": lambda: tf.where(rows > 2),
            "reverse_1": lambda: tf.reverse(rows, [1]),
            "reverse_0": lambda: tf.reverse(rows, [0]),
            "tile": lambda: tf.tile(rows, [1, 2]),
            "tile_0": lambda: tf.tile(rows, [2, 1]),
        }
    )


@scenario("ragged.datasets", GROUP, NONE)
def datasets(s: Setting) -> Iterator[Case]:
    """Datasets of ragged tensors."""
    tf = s.tf
    constant, of = tf.ragged.constant, tf.data.Dataset.from_tensor_slices
    rows, deep = constant(ROWS), constant(DEEP)

    def listed(dataset: Any) -> Any:
        return [shown(one) for one in dataset]

    def counts(limit: int) -> Any:
        return tf.data.Dataset.range(1, limit).map(lambda x: tf.range(x))

    yield from table(
        {
            "slices": lambda: listed(of(rows)),
            "slices_deep": lambda: listed(of(deep)),
            "slices_batch": lambda: listed(of(rows).batch(2)),
            "slices_deep_batch": lambda: listed(of(deep).batch(2)),
            "slices_beside": lambda: listed(of({"x": rows, "y": [1, 2, 3, 4]}).batch(3)),
            "slices_count": lambda: int(of(rows).cardinality()),
            "slices_repeat": lambda: listed(of(rows).repeat(2).batch(3).take(1)),
            "slices_padded": lambda: listed(of(rows).padded_batch(2)),
            "slices_map": lambda: listed(of(rows).map(lambda x: tf.reduce_sum(x)).batch(4)),
            "batch_map_dense": lambda: listed(of(rows).batch(2).map(lambda x: x.to_tensor())),
            "batch_map_sum": lambda: listed(
                of(rows).batch(2).map(lambda x: tf.reduce_sum(x, axis=1))
            ),
            "batch_map_lengths": lambda: listed(
                of(rows).batch(2).map(lambda x: (x.to_tensor(shape=[None, 3]), x.row_lengths()))
            ),
            "unbatch": lambda: listed(of(rows).batch(2).unbatch()),
            "tensors": lambda: listed(tf.data.Dataset.from_tensors(rows)),
            "ragged_batch": lambda: listed(counts(5).ragged_batch(2)),
            "ragged_batch_drop": lambda: listed(counts(6).ragged_batch(2, drop_remainder=True)),
            "ragged_batch_beside": lambda: listed(counts(4).map(lambda x: (x, 1)).ragged_batch(3)),
            "dense_to_ragged_batch": lambda: listed(
                counts(5).apply(tf.data.experimental.dense_to_ragged_batch(3))
            ),
            "split_batch": lambda: listed(
                of(["a b", "c", "d e f"]).batch(2).map(lambda x: tf.strings.split(x))
            ),
            "split_ragged_batch": lambda: listed(
                of(["a b", "c", "d e f"]).map(lambda x: tf.strings.split(x)).ragged_batch(3)
            ),
            "map_ragged_batch": lambda: listed(
                of([["a b", "c"], ["d", "e f"]]).map(lambda x: tf.strings.split(x)).batch(2)
            ),
            "generator": lambda: listed(
                tf.data.Dataset.from_generator(
                    lambda: iter([constant([[1], [2, 3]]), constant([[]], dtype=tf.int32)]),
                    output_signature=tf.RaggedTensorSpec([None, None], tf.int32),
                )
            ),
            "zip": lambda: listed(tf.data.Dataset.zip((of(rows), of([1, 2, 3, 4]))).batch(2)),
            "filter": lambda: listed(of(rows).filter(lambda x: tf.size(x) > 0).batch(3)),
            "cache": lambda: listed(of(rows).cache().batch(2)),
            "concatenate": lambda: listed(of(rows).concatenate(of(rows)).batch(5)),
        }
    )


@scenario("ragged.parsed", GROUP, NONE)
def parsed(s: Setting) -> Iterator[Case]:
    """Examples with lists of any length."""
    tf, io = s.tf, s.tf.io

    def example(**lists: list[int]) -> bytes:
        train = tf.train
        made = {
            key: train.Feature(int64_list=train.Int64List(value=value))
            for key, value in lists.items()
        }
        return train.Example(features=train.Features(feature=made)).SerializeToString()

    batch = [
        example(x=[1, 2, 3], n=[2, 1]),
        example(x=[], n=[]),
        example(n=[0]),
        example(x=[4], n=[1]),
    ]
    rf = io.RaggedFeature
    yield from table(
        {
            "batch": lambda: io.parse_example(batch, {"x": rf(tf.int64)})["x"],
            "single": lambda: io.parse_single_example(batch[0], {"x": rf(tf.int64)})["x"],
            "single_missing": lambda: io.parse_single_example(batch[2], {"x": rf(tf.int64)})["x"],
            "value_key": lambda: io.parse_example(batch, {"y": rf(tf.int64, value_key="x")})["y"],
            "lengths": lambda: io.parse_example(
                batch, {"y": rf(tf.int64, value_key="x", partitions=[rf.RowLengths("n")])}
            )["y"],
            "lengths_single": lambda: io.parse_single_example(
                batch[0], {"y": rf(tf.int64, value_key="x", partitions=[rf.RowLengths("n")])}
            )["y"],
            "uniform": lambda: io.parse_example(
                [example(x=[1, 2, 3, 4]), example(x=[5, 6])],
                {"x": rf(tf.int64, partitions=[rf.UniformRowLength(2)])},
            )["x"],
            "splits": lambda: io.parse_single_example(
                example(x=[1, 2, 3], n=[0, 1, 3]),
                {"y": rf(tf.int64, value_key="x", partitions=[rf.RowSplits("n")])},
            )["y"],
            "rowids": lambda: io.parse_single_example(
                example(x=[1, 2, 3], n=[0, 0, 2]),
                {"y": rf(tf.int64, value_key="x", partitions=[rf.ValueRowIds("n")])},
            )["y"],
            "type": lambda: io.parse_example(batch, {"x": rf(tf.float32)}),
        }
    )
