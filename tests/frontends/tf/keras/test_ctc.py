"""Keras's functions of temporal classification; recorded cases hold the numbers to TensorFlow's."""

import numpy as np

from frontends import tf

backend = tf.keras.backend


def test_labels_behind_the_last_one_are_filled():
    y = np.eye(3, dtype=np.float32)[[[0, 0, 2, 1]]]
    (labels,), _ = backend.ctc_decode(y, [4])
    assert labels.tolist() == [[0, 1, -1, -1]]
    sparse = backend.ctc_label_dense_to_sparse(labels, [2])
    assert sparse.values.tolist() == [0, 1]
    assert float(backend.ctc_batch_cost(labels[:, :2], y, [[4]], [[2]])[0, 0]) < 1e-3
