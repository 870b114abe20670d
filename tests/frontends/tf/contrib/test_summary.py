"""Summaries with a step."""

from frontends import tf

summary = tf.contrib.summary


def test_when_they_are_written(tmp_path):
    writer = summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        for step in range(5):
            with summary.record_summaries_every_n_global_steps(2, step):
                summary.scalar("a", 1.0, step=step)
        with summary.never_record_summaries():
            summary.scalar("a", 1.0, step=7)
        with summary.always_record_summaries():
            summary.scalar("a", 1.0, step=9)
    writer.close()
    (path,) = tmp_path.iterdir()
    events = tf.compat.v1.train.summary_iterator(str(path))
    assert [event.step for event in events if event.summary.value] == [0, 2, 4, 9]
    assert summary.all_summary_ops() == []
