"""Temporal classification; recorded cases hold the numbers to TensorFlow's."""

import numpy as np
import pytest

from frontends import tf


def test_labels_that_do_not_fit_into_the_frames():
    logits = np.zeros((2, 1, 3), np.float32)
    loss = tf.nn.ctc_loss([[1, 1]], logits, [2], [2])
    assert np.isinf(loss).all()


def test_more_paths_than_there_are():
    with pytest.raises(ValueError, match="there are only 1"):
        tf.nn.ctc_beam_search_decoder(np.zeros((1, 1, 1), np.float32), [1], 5, 9)


@pytest.mark.parametrize(
    ("labels", "frames", "expected"), [(0, 0, 0.0), (1, 0, np.inf), (0, 1, np.log(3))]
)
def test_nothing_to_read_or_to_spell(labels, frames, expected):
    loss = tf.nn.ctc_loss([[1]], np.zeros((2, 1, 3), np.float32), [labels], [frames])
    np.testing.assert_allclose(loss, [expected], rtol=1e-6)
