"""Former spellings of operations: the recorded results have the numbers."""

import pytest

from frontends import tf

v1 = tf.compat.v1


def test_errors_say_what_to_do():
    with pytest.raises(ValueError, match=r"got float32\[2\], int32\[1\]. Write tf.cast"):
        v1.accumulate_n([[1.0, 2.0], [1]])
    with pytest.raises(TypeError, match="Leave tensor_dtype out"):
        v1.accumulate_n([[1.0]], tensor_dtype=tf.int32)
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    with pytest.raises(RuntimeError, match="Sparse dtype mismatch"):
        v1.convert_to_tensor_or_sparse_tensor(sparse, tf.int32)
    with pytest.raises(ValueError, match="equal lengths, got 1 and 2"):
        v1.sparse_merge([sparse], sparse, [1, 2])


def test_operations_beside_each_other():
    @tf.function
    def program(x):
        with v1.colocate_with(x):
            return x + 1

    assert int(program(tf.constant(1))) == 2


def test_older_names():
    assert v1.all_variables() == v1.global_variables()
    for old, new in (
        ("initialize_local_variables", "local_variables_initializer"),
        ("initialize_all_tables", "tables_initializer"),
    ):
        assert getattr(v1, old)() == getattr(v1, new)()
    assert v1.initialize_variables([]) is None
