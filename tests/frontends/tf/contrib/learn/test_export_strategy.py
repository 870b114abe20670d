"""How experiments export."""

import pytest

from frontends.tf.contrib import learn


class Estimator:
    """Writes nothing, and notes what it would."""

    def __init__(self, folder):
        self.model_dir, self.calls = str(folder), 0

    def latest_checkpoint(self):
        return "latest"

    def export_saved_model(self, path, receive, assets_extra, checkpoint_path):
        self.calls += 1
        assert (receive(), assets_extra, checkpoint_path) == (3, None, "latest")
        (self.folder / f"179567000{self.calls}").mkdir(parents=True)
        return path


def test_it_keeps_the_latest(tmp_path):
    strategy = learn.make_export_strategy(lambda: 3, exports_to_keep=2)
    estimator = Estimator(tmp_path)
    estimator.folder = tmp_path / strategy.name
    for _ in range(3):
        strategy.export(estimator, str(estimator.folder))
    assert strategy.name == "Servo"
    assert sorted(one.name for one in estimator.folder.iterdir()) == ["1795670002", "1795670003"]


def test_another_default_is_refused():
    with pytest.raises(ValueError, match="serving_default"):
        learn.make_export_strategy(lambda: 3, "mine")
