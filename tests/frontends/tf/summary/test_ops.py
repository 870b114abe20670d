"""What summaries hold, as TensorBoard reads it."""

import io

import numpy as np
import pytest
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.summary_pb2 import SummaryMetadata
from tensorboard.plugins.histogram.summary_v2 import histogram_pb
from tensorboard.util.tensor_util import make_ndarray

from frontends import tf


@pytest.fixture
def written(tmp_path):
    """Writes with a function, and gives the plugin and the array of the summary `x`."""

    def write(function):
        writer = tf.summary.create_file_writer(tmp_path)
        with writer.as_default(step=1):
            assert function() is True
        writer.close()
        events = EventAccumulator(str(tmp_path))
        events.Reload()
        [event] = events.Tensors("x")
        return events.SummaryMetadata("x"), make_ndarray(event.tensor_proto)

    return write


@pytest.mark.parametrize(
    "value", [1.5, 3, True, np.float64(2.5), tf.constant(4.0), tf.constant(2, tf.bfloat16)]
)
def test_scalar(written, value):
    metadata, array = written(lambda: tf.summary.scalar("x", value, description="how much"))
    assert metadata.plugin_data.plugin_name == "scalars"
    assert metadata.summary_description == "how much"
    assert array.dtype == np.float32
    assert array == np.float32(value)


def test_a_variable_is_a_number(written):
    assert written(lambda: tf.summary.scalar("x", tf.Variable(2.5)))[1] == 2.5


@pytest.mark.parametrize("value", [[1.0, 2.0], "text", 1j])
def test_scalar_refuses_what_is_no_number(value):
    with (
        tf.summary.create_noop_writer().as_default(step=1),
        pytest.raises(ValueError, match="takes one number"),
    ):
        tf.summary.scalar("x", value)


@pytest.mark.parametrize(
    "values", [np.random.default_rng(0).normal(size=(50, 3)), [2.0, 2.0], [], [1, 2, 3, 9]]
)
@pytest.mark.parametrize("buckets", [None, 4, 0])
def test_histogram(written, values, buckets):
    metadata, array = written(lambda: tf.summary.histogram("x", values, buckets=buckets))
    assert metadata.plugin_data.plugin_name == "histograms"
    [value] = histogram_pb("x", values, buckets).value
    np.testing.assert_allclose(array, make_ndarray(value.tensor))


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_image(written, channels, dtype):
    pixels = np.random.default_rng(0).integers(0, 256, (5, 4, 6, channels)).astype(np.uint8)
    data = pixels if dtype is np.uint8 else (pixels / 255).astype(np.float32)
    metadata, array = written(lambda: tf.summary.image("x", data, max_outputs=2))
    assert metadata.plugin_data.plugin_name == "images"
    assert list(array[:2]) == [b"6", b"4"]  # width and height
    assert len(array) == 4
    shown = np.asarray(Image.open(io.BytesIO(array[3])))
    np.testing.assert_allclose(shown.reshape(pixels[1].shape), pixels[1], atol=1)


@pytest.mark.parametrize("shape", [(4, 6, 1), (1, 4, 6), (1, 4, 6, 5)])
def test_image_refuses_other_shapes(shape):
    with (
        tf.summary.create_noop_writer().as_default(step=1),
        pytest.raises(ValueError, match=r"\[images, height, width, channels\].*image\[None\]"),
    ):
        tf.summary.image("x", np.zeros(shape))


@pytest.mark.parametrize("data", ["**größe**", ["a", "b"], [["a", "b"], ["c", "d"]]])
def test_text(written, data):
    metadata, array = written(lambda: tf.summary.text("x", data))
    assert metadata.plugin_data.plugin_name == "text"
    assert np.char.decode(array.astype("S"), "utf-8").tolist() == data


def test_text_refuses_numbers():
    with (
        tf.summary.create_noop_writer().as_default(step=1),
        pytest.raises(ValueError, match="takes text"),
    ):
        tf.summary.text("x", 1.0)


@pytest.mark.parametrize("as_bytes", [False, True])
def test_write(written, as_bytes):
    given = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="own"))
    metadata, array = written(
        lambda: tf.summary.write(
            "x", lambda: [1.0, 2.0], metadata=given.SerializeToString() if as_bytes else given
        )
    )
    assert metadata.plugin_data.plugin_name == "own"
    assert array.tolist() == [1.0, 2.0]


def test_a_value_of_a_program_is_an_error():
    @tf.function
    def step(x):
        tf.summary.scalar("x", x)

    with (
        tf.summary.create_noop_writer().as_default(step=1),
        pytest.raises(
            ValueError, match=r"'x' has a value that a program computes.*Return the value"
        ),
    ):
        step(tf.constant(1.0))
