"""What model functions take."""

import pytest

from frontends.tf.estimator.parameters import check_parameters, with_features


def test_they_take_what_there_is():
    check_parameters(lambda features, labels, mode, config: None, None)
    check_parameters(lambda features, params: None, {"a": 1})
    check_parameters(lambda features, **known: None, {"a": 1})
    check_parameters(lambda features, mode, rate=0.1: None, None)
    check_parameters(lambda mode, features, labels: None, None)


def test_they_take_nothing_else():
    with pytest.raises(ValueError, match="does not include params"):
        check_parameters(lambda features, mode: None, {"a": 1})
    with pytest.raises(ValueError, match=r"not expected args: \['rate'\]"):
        check_parameters(lambda features, rate: None, None)


def test_features_may_have_any_place():
    for model_fn in (
        lambda features, mode: (features, mode),
        lambda mode, features: (features, mode),
        lambda x, mode: (x, mode),
        lambda **known: (known["features"], known["mode"]),
    ):
        assert with_features(model_fn, 3)(mode="train") == (3, "train")
