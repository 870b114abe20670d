"""Hash functions of strings; tests/golden compares them with TensorFlow's for strings of all lengths."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from frontends.tf import _text_hashes


def test_siphash_gives_the_values_of_its_paper():
    keys = [int.from_bytes(bytes(range(start, start + 8)), "little") for start in (0, 8)]
    assert _text_hashes.siphash(bytes(range(15)), *keys) == 0xA129CA6149BE45E5


def test_buckets_keep_the_shape_and_depend_on_the_salt():
    text = np.array([["a", "b"], ["a", "c" * 200]])
    plain = _text_hashes.buckets(text, 1000)
    assert plain.shape == text.shape
    assert plain[0, 0] == plain[1, 0]
    assert ((plain >= 0) & (plain < 1000)).all()
    assert (_text_hashes.buckets(text, 1000, 7) == _text_hashes.buckets(text, 1000, [7, 7])).all()
    assert (_text_hashes.buckets(text, 1000, 7) != plain).any()


@given(st.lists(st.binary(max_size=80), max_size=20))
def test_many_texts_at_once_have_the_same_fingerprints(texts):
    expected = [_text_hashes.fingerprint(text) for text in texts]
    assert _text_hashes.fingerprints(texts).tolist() == expected
