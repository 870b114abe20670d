"""Values for variables from a checkpoint of another model."""

import pytest

from frontends import tf
from frontends.tf.estimator.warm_start import warm_start
from frontends.tf.graph import Graph
from tests.frontends.tf.estimator.models import data, linear


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    tf.estimator.Estimator(linear, folder, params={"rate": 0.1}).train(data(), steps=2)
    return str(folder)


def _store(*names, shape=(1, 1)):
    with Graph().as_default() as graph:
        for name in names:
            tf.compat.v1.get_variable(name, shape, initializer=tf.zeros_initializer())
    return graph.store


def test_a_path_is_needed():
    with pytest.raises(ValueError, match="`ckpt_to_initialize_from` MUST be set"):
        tf.estimator.WarmStartSettings(None)


def test_names_may_differ(trained):
    store = _store("head/kernel", "head/bias")
    settings = tf.estimator.WarmStartSettings(
        trained, ["head/kernel"], var_name_to_prev_var_name={"head/kernel": "dense/kernel"}
    )
    warm_start(store, settings)
    assert float(store.variables["head/kernel"].numpy().item()) > 1
    assert store.variables["head/bias"].numpy() == 0


def test_what_does_not_fit_is_an_error(trained, tmp_path):
    with pytest.raises(ValueError, match="has no variable 'other' to start 'other' from"):
        warm_start(_store("other"), trained)
    with pytest.raises(ValueError, match=r"has shape \(2,\), but the checkpoint .* has \(1, 1\)"):
        warm_start(_store("dense/kernel", shape=(2,)), trained)
    with pytest.raises(ValueError, match="There is no checkpoint in"):
        warm_start(_store("dense/kernel"), tmp_path)
    settings = tf.estimator.WarmStartSettings(trained, var_name_to_vocab_info={"a": None})
    with pytest.raises(ValueError, match="var_name_to_vocab_info"):
        warm_start(_store("dense/kernel"), settings)
