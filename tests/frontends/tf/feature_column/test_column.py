"""Features by key, and lists of columns."""

import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends import tf
from frontends.tf import feature_column as columns
from frontends.tf.feature_column.column import Features, Ids, check_key
from spmd import make_mesh
from spmd.replica import HostPerReplica

AGE = columns.numeric_column("age")
FRUIT = columns.categorical_column_with_hash_bucket("fruit", 5)


def test_features_have_two_axes():
    found = Features({"age": [1.0, 2.0], "name": np.array(["a", "b"]), "p": np.zeros((2, 3, 4))})
    assert found.get("age").shape == (2, 1)
    assert found.get("name").shape == (2, 1)
    assert found.get("p").shape == (2, 3, 4)
    with pytest.raises(ValueError, match=r"cannot have rank 0.*dataset.batch"):
        Features({"age": 1.0}).get("age")
    with pytest.raises(ValueError, match=r"Feature size is not in features.*It has \['age'\]"):
        Features({"age": [1.0]}).get("size")


def test_sparse_features_are_refused():
    sparse = types.SimpleNamespace(dense_shape=(2, 3))
    with pytest.raises(TypeError, match=r"key: age\) is sparse.*Pad its rows"):
        Features({"age": sparse}).get("age")


def test_texts_in_host_memory_are_read_outside_of_steps_and_refused_in_them():
    texts = np.array(["a", "b"])
    one = HostPerReplica([texts], make_mesh(["cpu:0"]))
    assert (Features({"x": one}).get("x") == texts[:, None]).all()
    two = HostPerReplica([texts, texts], make_mesh(["cpu:0", "cpu:1"]))
    with pytest.raises(TypeError, match=r"key: x\) is in host memory.*feature_column.prepare"):
        Features({"x": two}).get("x")
    strategy = tf.distribute.OneDeviceStrategy("cpu:0")
    with pytest.raises(TypeError, match=r"key: x\) is in host memory.*feature_column.prepare"):
        strategy.run(lambda features: Features(features).get("x"), ({"x": one},))


def test_columns_are_sorted_by_name():
    indicator = columns.indicator_column(FRUIT)
    assert columns.normalized([indicator, AGE]) == [AGE, indicator]
    assert columns.dense_columns(AGE) == [AGE]
    assert columns.dense_columns(one for one in [AGE]) == [AGE]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([FRUIT], "must be a DenseColumn.*indicator_column"),
        ([], "must not be empty"),
        (["age"], "must be a FeatureColumn"),
        ([AGE, columns.numeric_column("age", 3)], "Duplicate feature column name"),
        ({"age": AGE}, "found dict"),
    ],
)
def test_what_no_list_of_columns_is(given, message):
    with pytest.raises(ValueError, match=message):
        columns.dense_columns(given)


def test_a_feature_of_another_size_is_refused():
    with pytest.raises(ValueError, match=r"age expects rows of the shape \(3,\).*\(2,\)"):
        columns.numeric_column("age", 3).flat(Features({"age": np.zeros((4, 2))}), None)


def test_ids():
    values = jnp.arange(8).reshape(2, 2, 2) - 1
    ids = Ids(values, values != 3, values * 0.5)
    assert jax.tree.map(jnp.shape, list(vars(ids.flat()).values())) == [(2, 4)] * 3
    assert ids.valid.sum() == 6


def test_keys_are_texts():
    with pytest.raises(ValueError, match="key must be a string"):
        check_key(3)
