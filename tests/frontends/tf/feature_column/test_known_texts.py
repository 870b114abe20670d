"""Texts by their fingerprints."""

import numpy as np
import pytest

from frontends.tf.feature_column import KnownTexts, Texts


def test_texts_are_found_in_any_order_and_shape():
    known = KnownTexts([np.array([["a", "b"]]), np.array([b"c\0", "漢字"], object)])
    words = Texts.of(np.array([["漢字"], [b"c\0"], ["a"]], object)).words
    assert known.behind(np.asarray(words)).tolist() == [["漢字".encode()], [b"c\0"], [b"a"]]
    with pytest.raises(ValueError, match="A prediction is a text that the batch has not"):
        known.behind(np.asarray(Texts.of(["d"]).words))
