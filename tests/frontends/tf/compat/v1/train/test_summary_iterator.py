"""Reading event files."""

import os

from frontends import tf

v1 = tf.compat.v1


def test_events_are_read_in_their_order(tmp_path):
    with v1.summary.FileWriter(tmp_path) as writer:
        for step in (1, 2):
            value = v1.Summary.Value(tag="loss", simple_value=step / 2)
            writer.add_summary(v1.Summary(value=[value]), step)
    (file,) = os.listdir(tmp_path)
    first, *found = v1.train.summary_iterator(f"{tmp_path}/{file}")
    assert first.file_version == "brain.Event:2"
    assert [(one.step, one.summary.value[0].simple_value) for one in found] == [(1, 0.5), (2, 1.0)]
