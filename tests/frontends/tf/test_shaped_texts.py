"""What stands for texts in a program has a shape."""

import jax.numpy as jnp
import numpy as np

from frontends import tf
from frontends.tf.feature_column import Texts
from frontends.tf.feature_column.class_names import ClassNames


def test_their_shape_is_known():
    texts = Texts.of(np.array([["a", "b", "c"]]))
    names = ClassNames(jnp.array([[0, 1, 0]]), ("no", "yes"))
    for one in (texts, names):
        assert tf.shape(one).tolist() == [1, 3]
        assert (int(tf.size(one)), int(tf.rank(one))) == (3, 2)
