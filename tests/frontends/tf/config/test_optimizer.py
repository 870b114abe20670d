"""Settings that are noted: the values are those of TensorFlow 2.21."""

import pytest

from frontends import tf

optimizer = tf.config.optimizer


@pytest.fixture(autouse=True)
def _as_before():
    before = optimizer.get_jit()
    yield
    optimizer.set_jit(before)


@pytest.mark.parametrize(
    ("given", "noted"),
    [(True, "autoclustering"), ("autoclustering", "autoclustering"), (False, ""), ("foo", "")],
)
def test_jit(given, noted):
    optimizer.set_jit(given)
    assert optimizer.get_jit() == noted


def test_options():
    before = optimizer.get_experimental_options()
    assert before.keys() >= {"disable_model_pruning", "disable_meta_optimizer"}
    optimizer.set_experimental_options({"constant_folding": False})
    assert optimizer.get_experimental_options() == {**before, "constant_folding": False}
    with pytest.raises(TypeError):
        optimizer.set_experimental_options(3)
