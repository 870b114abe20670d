"""Whether a training has ended."""

import pytest

from frontends.tf.estimator.end_mark import EndMark
from frontends.tf.estimator.training_end import TrainingEnd


@pytest.mark.parametrize("former_seconds", [1000.0, -1.0])
def test_a_mark_that_was_there_counts_after_a_while_and_another_one_at_once(
    tmp_path, former_seconds
):
    mark = EndMark(tmp_path, None)
    mark.write()
    end = TrainingEnd(tmp_path, None, former_seconds)
    assert end.has_come() == (former_seconds < 0)
    mark.remove()
    assert not end.has_come()
    mark.write()
    assert end.has_come()


def test_of_checkpoints_only_the_last_counts(tmp_path):
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-8"')
    (tmp_path / "model.ckpt-8.index").touch()
    reached = [TrainingEnd(tmp_path, max_steps, 0).has_come() for max_steps in (None, 7, 8, 9)]
    assert reached == [False, True, True, False]
