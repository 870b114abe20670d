"""`tf.map_fn` over ragged rows."""

import pytest

from frontends import tf

ROWS = tf.ragged.constant([[1, 2], [3], [4, 5, 6]])


def test_results_are_ragged_where_their_lengths_differ():
    assert tf.map_fn(tf.square, ROWS).to_list() == [[1, 4], [9], [16, 25, 36]]
    lengths = tf.map_fn(
        lambda count: tf.range(count),
        tf.constant([1, 0, 2]),
        fn_output_signature=tf.RaggedTensorSpec([None], tf.int32),
    )
    assert lengths.to_list() == [[0], [], [0, 1]]


def test_results_of_one_shape_are_arrays():
    sums = tf.map_fn(tf.reduce_sum, ROWS, fn_output_signature=tf.int32)
    assert sums.numpy().tolist() == [3, 3, 15]
    pairs = tf.map_fn(lambda row: tf.stack([row[0], row[-1]]), ROWS, fn_output_signature=tf.int32)
    assert pairs.numpy().tolist() == [[1, 2], [3, 3], [4, 6]]


def test_structures():
    most, more = tf.map_fn(
        lambda both: (tf.reduce_max(both[0]), both[1] + 1),
        (ROWS, tf.constant([1, 2, 3])),
        fn_output_signature=(tf.int32, tf.int32),
    )
    assert (most.numpy().tolist(), more.numpy().tolist()) == ([2, 3, 6], [2, 3, 4])


def test_equal_lengths_are_ragged_where_elems_or_the_signature_are():
    even = tf.ragged.constant([[1, 2], [3, 4]])
    assert tf.map_fn(tf.square, even).to_list() == [[1, 4], [9, 16]]
    ragged, dense = tf.map_fn(
        lambda row: (row, row * 2),
        even,
        fn_output_signature=(tf.RaggedTensorSpec([None], tf.int32), tf.TensorSpec([2], tf.int32)),
    )
    assert ragged.to_list() == [[1, 2], [3, 4]]
    assert dense.numpy().tolist() == [[2, 4], [6, 8]]


def test_no_rows():
    empty = tf.ragged.constant([], dtype=tf.int32, ragged_rank=1)
    assert tf.map_fn(lambda row: row, empty).to_list() == []
    sums = tf.map_fn(tf.reduce_sum, empty, fn_output_signature=tf.int32)
    assert (sums.shape, sums.dtype) == ((0,), tf.int32)


def test_another_number_of_results_than_said():
    with pytest.raises(ValueError, match="fn returned 2 tensors, but there are 3 in fn_output"):
        tf.map_fn(lambda row: (row, row), ROWS, fn_output_signature=(tf.int32,) * 3)


def test_parts_of_other_lengths():
    with pytest.raises(ValueError, match=r"elems have \[2, 3\] rows"):
        tf.map_fn(lambda both: both[1], (ROWS, tf.constant([1, 2])))


def test_a_compiled_function_of_ragged_rows_runs_as_python():
    @tf.function
    def mirrored(rows):
        return tf.concat([rows, tf.reverse(rows, [1])], 1)

    with pytest.warns(UserWarning, match="mirrored runs as Python"):
        assert mirrored(ROWS).to_list() == [[1, 2, 2, 1], [3, 3], [4, 5, 6, 6, 5, 4]]


def test_ragged_and_sparse_tensors_are_declared():
    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.int32)])
    def most(rows):
        return tf.reduce_max(rows, axis=-1)

    with pytest.warns(UserWarning, match="most runs as Python"):
        assert most(ROWS).numpy().tolist() == [2, 3, 6]
    with pytest.raises(TypeError, match="RaggedTensorSpec"):
        most(tf.constant([1]))

    @tf.function(input_signature=[tf.SparseTensorSpec([None, None], tf.float32)])
    def total(values):
        return tf.sparse.reduce_sum(values)

    assert float(total(tf.sparse.from_dense([[0.0, 1.0], [2.0, 0.0]]))) == 3
