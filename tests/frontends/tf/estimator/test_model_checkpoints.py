"""Checkpoints of an estimator."""

import numpy as np

from frontends import tf
from frontends.tf.estimator.model_checkpoints import ModelCheckpoints, latest, values_of
from frontends.tf.graph import Graph

v1 = tf.compat.v1


def _store(value):
    with Graph().as_default() as graph:
        v1.get_variable("a.b/c_S/w", initializer=np.float32(value))
        v1.train.create_global_step()
        v1.get_local_variable("count", [], initializer=tf.zeros_initializer())
    return graph.store


def test_variables_are_saved_by_name_and_local_ones_are_not(tmp_path):
    assert latest(str(tmp_path)) is None
    config = tf.estimator.RunConfig(keep_checkpoint_max=2)
    checkpoints = ModelCheckpoints(_store(3), str(tmp_path), config)
    paths = [checkpoints.save(step) for step in (5, 7, 9)]
    assert [path.rpartition("-")[2] for path in paths] == ["5", "7", "9"]
    assert latest(str(tmp_path)) == paths[-1]
    assert sorted(one.name for one in tmp_path.glob("model.ckpt*")) == [
        "model.ckpt-7",
        "model.ckpt-9",
    ]
    values = {name: float(read()) for name, read in values_of(paths[-1]).items()}
    assert values == {"a.b/c_S/w": 3.0, "global_step": 0.0}
    store = _store(0)
    ModelCheckpoints(store, str(tmp_path), config).restore(paths[-1])
    assert float(store.variables["a.b/c_S/w"].numpy()) == 3.0
