"""Profiles between `trace_on` and `trace_export`."""

from frontends import tf


def test_a_profile_is_written_where_it_was_started(tmp_path):
    tf.summary.trace_on(graph=True, profiler=True, profiler_outdir=tmp_path)
    tf.reduce_sum(tf.ones(3))
    tf.summary.trace_export("step", step=0)
    assert any(path.is_file() for path in tmp_path.rglob("*"))
    tf.summary.trace_off()


def test_graphs_are_not_recorded(tmp_path):
    tf.summary.trace_on(graph=True)
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.trace_export("step", step=0, profiler_outdir=tmp_path)
    assert not any("plugins" in path.parts for path in tmp_path.rglob("*"))
