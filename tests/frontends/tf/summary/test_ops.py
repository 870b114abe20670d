"""What summaries hold, as TensorBoard reads it."""

import io

import numpy as np
import pytest
from PIL import Image
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.summary_pb2 import SummaryMetadata
from tensorboard.plugins.audio.plugin_data_pb2 import AudioPluginData
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


def test_audio(written):
    clips = np.sin(np.arange(60, dtype=np.float32)).reshape(3, 10, 2)
    metadata, array = written(lambda: tf.summary.audio("x", clips, 8000, max_outputs=2))
    assert metadata.plugin_data.plugin_name == "audio"
    assert AudioPluginData.FromString(metadata.plugin_data.content).encoding == AudioPluginData.WAV
    assert array.shape == (2, 2)
    assert array[:, 1].tolist() == [b"", b""]
    for file, clip in zip(array[:, 0], clips, strict=False):
        samples, rate = tf.audio.decode_wav(tf.constant(file))
        np.testing.assert_allclose(samples, clip, atol=1e-4)
        assert rate == 8000


def test_audio_of_a_function(written):
    @tf.function
    def write(clips):
        return tf.summary.audio("x", 2 * clips, 8000)

    _, array = written(lambda: write(np.full((1, 4, 1), 0.25, np.float32)) is not None)
    np.testing.assert_allclose(tf.audio.decode_wav(tf.constant(array[0, 0])).audio, [[0.5]] * 4)


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [((4, 1), {}, r"clip\[None, :, None\]"), ((1, 4, 1), {"encoding": "mp3"}, "writes WAV files")],
)
def test_audio_refuses_others(shape, options, message):
    with (
        tf.summary.create_noop_writer().as_default(step=1),
        pytest.raises(ValueError, match=message),
    ):
        tf.summary.audio("x", np.zeros(shape), 8000, **options)


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


def read(folder):
    """Lists the steps and the values of each curve."""
    events = EventAccumulator(str(folder), size_guidance={"tensors": 0})
    events.Reload()
    return {
        tag: [(e.step, make_ndarray(e.tensor_proto).tolist()) for e in events.Tensors(tag)]
        for tag in events.Tags()["tensors"]
    }


def test_a_function_writes_whenever_it_runs(tmp_path):
    @tf.function
    def step(x, number):
        with tf.name_scope("train"):
            tf.summary.scalar("x", 2 * x, step=number)
        tf.summary.text("t", "text", step=number)
        tf.summary.write("w", [x, x], step=number)
        tf.summary.histogram("h", [x, x + 1], step=number, buckets=1)
        tf.summary.image("i", tf.ones([1, 2, 3, 1]) * x, step=number)
        return x

    writer = tf.summary.create_file_writer(tmp_path)
    with writer.as_default():
        for number in range(3):
            step(tf.constant(number / 2), tf.constant(number))
    found = read(tmp_path)  # the block has waited
    assert found["train/x"] == [(0, 0.0), (1, 1.0), (2, 2.0)]
    assert found["t"] == [(0, b"text"), (1, b"text"), (2, b"text")]
    assert found["w"][1] == (1, [0.5, 0.5])
    assert found["h"][2] == (2, [[1.0, 2.0, 2.0]])
    assert [value[:2] for _, value in found["i"]] == [[b"3", b"2"]] * 3
    assert step.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("replicas", [1, 2])
def test_replicas_write_once_at_the_step_of_a_variable(tmp_path, replicas, compiled):
    strategy = tf.distribute.MirroredStrategy([f"cpu:{index}" for index in range(replicas)])
    writer = tf.summary.create_file_writer(tmp_path)
    with strategy.scope():
        weight = tf.Variable(1.0)
        number = tf.Variable(
            0, dtype=tf.int64, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA
        )
    tf.summary.experimental.set_step(number)

    def step(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(batch) * weight
            tf.summary.scalar("loss", loss)
        with tf.summary.record_if(tf.equal(number % 2, 0)):
            tf.summary.scalar("sometimes", tape.gradient(loss, weight))
        number.assign_add(1)

    def train(batch):
        strategy.run(step, args=(batch,))

    train = tf.function(train) if compiled else train
    rows = tf.data.Dataset.from_tensor_slices(np.arange(8.0, dtype=np.float32)).batch(2)
    try:
        with writer.as_default():
            for batch in strategy.experimental_distribute_dataset(rows):
                train(batch)
    finally:
        tf.summary.experimental.set_step(None)
    first = [0.0, 2.0, 4.0, 6.0] if replicas == 2 else [1.0, 5.0, 9.0, 13.0]
    found = read(tmp_path)
    assert found["loss"] == list(enumerate(first))
    assert found["sometimes"] == [(0, first[0]), (2, first[2])]


def test_a_writer_in_a_function_is_its_own(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path)

    @tf.function
    def step(x):
        with writer.as_default(step=7):
            tf.summary.experimental.set_step(tf.cast(x, tf.int32))
            assert tf.summary.scalar("x", x) is True

    step(tf.constant(3.0))
    assert tf.summary.experimental.get_step() is None
    writer.close()
    step(tf.constant(4.0))  # the program is there still, the file is not
    assert read(tmp_path) == {"x": [(3, 3.0)]}


def test_a_step_of_another_program_is_an_error():
    @tf.function
    def step(x):
        tf.summary.experimental.set_step(tf.cast(x, tf.int32))

    step(tf.constant(3.0))
    try:
        with (
            tf.summary.create_noop_writer().as_default(),
            pytest.raises(ValueError, match="Give it a variable"),
        ):
            tf.summary.scalar("x", 1.0)
    finally:
        tf.summary.experimental.set_step(None)


def test_several_steps_in_one_program_write_in_order(tmp_path):
    strategy = tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
    writer = tf.summary.create_file_writer(tmp_path)
    with strategy.scope():
        number = tf.Variable(
            0, dtype=tf.int64, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA
        )

    def step(batch):
        tf.summary.scalar("x", tf.reduce_sum(batch), step=number)
        number.assign_add(1)

    def train(batch):
        strategy.run(step, args=(batch,))

    rows = tf.data.Dataset.from_tensor_slices(np.arange(8.0, dtype=np.float32)).batch(2)
    with writer.as_default():
        strategy.run_steps(train, iter(strategy.experimental_distribute_dataset(rows)), 4)
    assert read(tmp_path) == {"x": [(0, 0.0), (1, 2.0), (2, 4.0), (3, 6.0)]}


EXIT = """
import sys
from frontends import tf
tf.summary.create_file_writer(sys.argv[1]).set_as_default()
@tf.function
def step(x):
    tf.summary.scalar("x", x, step=1)
step(tf.constant(3.0))
"""


def test_a_script_that_ends_has_written_all(tmp_path, run_python):
    run_python("-c", EXIT, tmp_path)
    assert read(tmp_path) == {"x": [(1, 3.0)]}
