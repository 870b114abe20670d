"""Arguments by the names of TensorFlow 1."""

import numpy as np
import pytest

from frontends import tf
from frontends.tf._old_arguments import renamed

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def test_arguments_have_their_former_names_too():
    assert tf.reduce_sum(X, reduction_indices=[1], keep_dims=True).shape == (2, 1, 4)
    assert tf.argmax(X, dimension=2).shape == (2, 3)
    assert tf.nn.softmax(X, dim=0).shape == X.shape
    assert np.array_equal(tf.nn.dropout(X, keep_prob=1.0), X)
    assert tf.nn.moments(X, [0], keep_dims=True)[0].shape == (1, 3, 4)


@pytest.mark.parametrize("options", [{"unknown": 1}, {"axis": 0, "dimension": 1}])
def test_other_arguments_are_errors(options):
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        tf.argmax(X, **options)


def test_nothing_is_renamed_where_all_names_are_known():
    assert renamed(tf.argmax, {"axis": 1}) is None
    assert renamed(tf.argmax, {"dimension": 1}) == {"axis": 1}
    assert renamed(tf.nn.conv2d, {"filter": 1, "use_cudnn_on_gpu": True}) == {"filters": 1}
