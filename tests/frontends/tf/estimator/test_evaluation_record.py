"""What evaluations leave behind."""

import logging
import os

import numpy as np

from frontends import tf
from frontends.tf.estimator.evaluation_record import log_metrics, write_metrics


def test_metrics_are_logged_and_written(tmp_path, caplog):
    metrics = {"loss": np.float32(0.5), "auc": np.float32([0.25, 1]), "global_step": np.int64(7)}
    with caplog.at_level(logging.INFO):
        log_metrics(metrics)
        write_metrics(str(tmp_path), metrics, "model.ckpt-7")
    line, path = caplog.messages
    assert line.startswith("Saving dict for global step 7: auc = [")
    assert line.endswith("global_step = 7, loss = 0.5")
    assert path == "Saving 'checkpoint_path' summary for global step 7: model.ckpt-7"
    (file,) = os.listdir(tmp_path)
    found = {
        value.tag: (event.step, value.simple_value)
        for event in tf.compat.v1.train.summary_iterator(tmp_path / file)
        for value in event.summary.value
    }
    assert sorted(found) == ["auc", "checkpoint_path", "loss"]
    assert found["loss"] == (7, 0.5)
