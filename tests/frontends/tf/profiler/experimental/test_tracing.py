"""Traces, read back from their files."""

import gzip
import json

import pytest

from frontends import tf

profiler = tf.profiler.experimental


def names(folder):
    """The names of what a trace has seen."""
    (found,) = folder.rglob("*.trace.json.gz")
    return {
        event.get("name")
        for event in json.loads(gzip.decompress(found.read_bytes()))["traceEvents"]
    }


def test_a_block_and_its_steps(tmp_path):
    with profiler.Profile(str(tmp_path), options={"host_tracer_level": 2}):
        for step in range(2):
            with profiler.Trace("train_step", step_num=step, _r=1) as trace:
                trace.set_metadata(rows=3)
                tf.reduce_sum(tf.ones([4])).numpy()
        with profiler.Trace("saving"):
            pass
    assert {"train_step", "saving"} <= names(tmp_path)


def test_started_and_stopped_once(tmp_path):
    with pytest.raises(tf.errors.UnavailableError, match="No profiler is running"):
        profiler.stop()
    profiler.start(str(tmp_path), profiler.ProfilerOptions(host_tracer_level=1))
    with pytest.raises(tf.errors.AlreadyExistsError, match="Another profiler is running"):
        profiler.start(str(tmp_path))
    profiler.stop()
    assert list(tmp_path.rglob("*.xplane.pb"))
