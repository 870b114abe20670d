"""Checkpoints of an estimator."""

import os

import numpy as np
import pytest

from frontends import tf
from frontends.tf.estimator import model_checkpoints
from frontends.tf.estimator.model_checkpoints import (
    ModelCheckpoints,
    latest,
    newest,
    reaches,
    values_of,
)
from frontends.tf.graph import Graph

v1 = tf.compat.v1


def _store(value, name="a.b/c_S/S.S.w"):
    with Graph().as_default() as graph:
        v1.get_variable(name, initializer=np.float32(value))
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
    assert values == {"a.b/c_S/S.S.w": 3.0, "global_step": 0.0}
    store = _store(0)
    ModelCheckpoints(store, str(tmp_path), config).restore(paths[-1])
    assert float(store.variables["a.b/c_S/S.S.w"].numpy()) == 3.0


def test_a_checkpoint_that_lacks_a_variable_is_refused(tmp_path):
    config = tf.estimator.RunConfig()
    path = ModelCheckpoints(_store(3, "w"), str(tmp_path), config).save(1)
    other = _store(0, "other/v")
    checkpoints = ModelCheckpoints(other, str(tmp_path), config)
    with pytest.raises(ValueError, match=r"has no other/v\. It has: global_step, w\. .*NEW_FOLDER"):
        checkpoints.restore(path)
    checkpoints.restore(path, {"w": other.variables["other/v"]})
    assert float(other.variables["other/v"].numpy()) == 3.0


def test_a_checkpoint_of_another_shape_is_refused(tmp_path):
    config = tf.estimator.RunConfig()
    path = ModelCheckpoints(_store([1, 2], "w"), str(tmp_path), config).save(1)
    checkpoints = ModelCheckpoints(_store([1, 2, 3], "w"), str(tmp_path), config)
    with pytest.raises(ValueError, match=r"has w of shape \[2\] instead of \[3\]\. .*NEW_FOLDER"):
        checkpoints.restore(path)


@pytest.mark.filterwarnings("ignore:.*training goes on from")
def test_checkpoints_are_read_only_where_the_file_does_not_tell(tmp_path, monkeypatch):
    assert not reaches(tmp_path, 1)
    checkpoints = ModelCheckpoints(_store(3), str(tmp_path), tf.estimator.RunConfig())
    checkpoints.save(5)
    found = newest(tmp_path, None)
    assert found is not None
    assert found[0].endswith("-5")
    reads = []
    monkeypatch.setattr(
        model_checkpoints, "latest", lambda folder: reads.append(folder) or latest(folder)
    )
    assert not reaches(tmp_path, None)
    assert not reaches(tmp_path, 6)
    assert newest(tmp_path, found) is None
    assert not reads
    assert reaches(tmp_path, 5)
    (tmp_path / "checkpoint").unlink()
    assert reaches(tmp_path, 5)
    checkpoints.save(6)
    following = newest(tmp_path, found)
    assert following is not None
    assert following[0].endswith("-6")
    assert len(reads) == 3


def test_a_saver_says_how_many_stay(tmp_path):
    saver = tf.train.Saver(max_to_keep=1)
    checkpoints = ModelCheckpoints(_store(3), str(tmp_path), tf.estimator.RunConfig(), saver)
    paths = [checkpoints.save(step) for step in (5, 7)]
    assert [str(one) for one in tmp_path.glob("model.ckpt*")] == paths[1:]


def test_a_checkpoint_of_tensorflow_has_its_time(tmp_path):
    path = tmp_path / "model.ckpt-7"
    for kind in ("index", "data-00000-of-00001"):
        path.with_name(f"{path.name}.{kind}").touch()
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-7"\n')
    found = newest(tmp_path, None)
    assert found == (str(path), os.stat(f"{path}.index").st_mtime)
    assert newest(tmp_path, found) is None
