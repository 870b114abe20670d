"""TensorFlow 1's parameters of functions of texts; tests/golden compares results with TensorFlow's."""

import pytest

from frontends import tf


def test_names_at_the_top():
    assert tf.string_join(["a", "b"], "-") == "a-b"
    assert tf.regex_replace("aa", "a", "b", replace_global=False) == "ba"
    assert tf.string_to_number(string_tensor=["1.5"]).tolist() == [1.5]
    assert tf.substr("abc", 1, 1) == "b"
    assert tf.compat.v1.strings.length(["ab"], None, "BYTE").tolist() == [2]
    assert tf.compat.v1.strings.lower("A") == "a"
    assert tf.compat.v1.strings.substr("abc", 0, 2) == "ab"


def test_a_result_is_sparse_or_ragged():
    with pytest.raises(ValueError, match="SparseTensor or RaggedTensor"):
        tf.compat.v1.strings.split(["a"], result_type="Tensor")
    ragged = tf.ragged.constant([["a b"], []])
    assert tf.compat.v1.strings.split(ragged, result_type="RaggedTensor").to_list() == [
        [[b"a", b"b"]],
        [],
    ]
