"""Texts as labels."""

import pytest

from frontends.tf.estimator.canned.heads import vocabulary
from frontends.tf.feature_column import Texts


def test_labels_are_found_by_their_texts():
    words = vocabulary.LabelVocabulary([b"no", "yes"])
    assert words.find(Texts.of([["yes"], ["no"], ["maybe"]])).tolist() == [[1], [0], [-1]]
    assert vocabulary.vocabulary_of(None) is None


def test_lists_are_checked():
    with pytest.raises(ValueError, match="should be a list or a tuple"):
        vocabulary.LabelVocabulary("no")
    with pytest.raises(ValueError, match=r"len\(label_vocabulary\)=1, n_classes=2"):
        vocabulary.LabelVocabulary(["no"], 2)
    with pytest.raises(ValueError, match="label_vocabulary="):
        vocabulary.check_no_texts(Texts.of(["no"]))
    assert vocabulary.check_thresholds(None) == ()
    assert vocabulary.check_keys(None, ["a", "b"]) == ["a", "b"]
