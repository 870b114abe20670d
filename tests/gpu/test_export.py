"""A model that a processor exported predicts on a GPU."""

import numpy as np

from frontends import tf

EXPORT = """
import numpy as np
from frontends import tf

tf.keras.utils.set_random_seed(0)
layers = tf.keras.layers
model = tf.keras.Sequential(
    [tf.keras.Input((8, 8, 3)), layers.Conv2D(4, 3), layers.BatchNormalization(), layers.ReLU(),
     layers.MaxPooling2D(), layers.Flatten(), layers.Dense(5, "softmax")]
)
tf.saved_model.save(model, {path!r})
x = np.random.default_rng(0).normal(size=(6, 8, 8, 3)).astype(np.float32)
np.savez({path!r} + ".npz", x=x, y=model.predict(x, verbose=0))
"""


def test_what_a_processor_exported_runs(run_python, tmp_path, full_precision):
    path = str(tmp_path / "model")
    run_python("-c", EXPORT.format(path=path))
    loaded = tf.saved_model.load(path)
    with np.load(path + ".npz") as arrays:
        x, expected = arrays["x"], arrays["y"]
    found = loaded.signatures["serving_default"](inputs=tf.constant(x))["output_0"]
    assert "GPU:0" in found.device
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)
    strategy = tf.distribute.MirroredStrategy()
    scores = strategy.run(lambda x: loaded(x), args=(tf.constant(x),))
    (first, *_) = strategy.experimental_local_results(scores)
    np.testing.assert_allclose(first, expected, rtol=1e-3, atol=1e-5)
