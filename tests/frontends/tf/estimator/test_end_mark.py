"""The mark of a training's end."""

import pytest

from frontends.tf.estimator.end_mark import EndMark


@pytest.mark.parametrize("kind", ["disk", "store"])
def test_a_mark_is_found_until_it_is_removed(tmp_path, bucket, kind):
    folder = tmp_path / "model" if kind == "disk" else f"{bucket}/model"
    mark = EndMark(folder, None)
    mark.remove()
    assert mark.read() is None
    mark.write()
    first = mark.read()
    assert first is not None
    mark.write()
    assert mark.read() not in (None, first)
    assert EndMark(folder, 10).read() is None
    mark.remove()
    assert mark.read() is None


def test_a_file_of_somebody_else_is_no_mark(tmp_path):
    (tmp_path / "training_ended.json").write_text("")
    assert EndMark(tmp_path, None).read() is None
