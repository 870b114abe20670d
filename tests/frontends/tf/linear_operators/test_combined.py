"""Operators that are made of others."""

import numpy as np
import pytest

from frontends import tf


def test_parts():
    diag = tf.linalg.LinearOperatorDiag([1.0, 2.0], is_positive_definite=True)
    product = diag @ diag
    assert product.operators == [diag, diag]
    assert product.is_non_singular
    inverse = tf.linalg.LinearOperatorInversion(diag)
    assert inverse.inverse() is inverse.operator is diag
    update = tf.linalg.LinearOperatorLowRankUpdate(diag, [[1.0], [0.0]])
    assert update.is_positive_definite
    assert update.base_operator is diag
    assert update.u.tolist() == update.v.tolist() == [[1], [0]]
    assert update.diag_update is None
    assert update.diag_part().tolist() == [2, 2]


def test_sizes_have_to_fit():
    with pytest.raises(ValueError, match=r"\(2, 2\) and \(3, 3\)"):
        tf.linalg.LinearOperatorComposition(
            [tf.linalg.LinearOperatorIdentity(2), tf.linalg.LinearOperatorIdentity(3)]
        )
    with pytest.raises(ValueError, match="non-empty"):
        tf.linalg.LinearOperatorKronecker([])


def test_a_batch_of_blocks():
    blocks = tf.linalg.LinearOperatorBlockDiag(
        [tf.linalg.LinearOperatorDiag([[1.0], [2.0]]), tf.linalg.LinearOperatorIdentity(1)]
    )
    assert blocks.to_dense().tolist() == [[[1, 0], [0, 1]], [[2, 0], [0, 1]]]
    wide = tf.linalg.LinearOperatorBlockDiag(
        [tf.linalg.LinearOperatorDiag([np.inf]), tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0]])]
    )
    assert wide.to_dense().tolist() == [[np.inf, 0, 0], [0, 1, 2]]
    assert blocks.solvevec([2.0, 4.0]).tolist() == [[2, 4], [1, 4]]
