"""Datasets of files in folders; TensorFlow 2.21 gives the same numbers."""

import numpy as np
import pytest

from frontends import tf

utils = tf.keras.utils


@pytest.fixture
def folder(tmp_path):
    random = np.random.RandomState(0)
    for name in ("cats", "dogs"):
        for number in range(5):
            path = tmp_path / "images" / name / f"{number}.png"
            pixels = random.randint(0, 256, (12 + number, 18 - number, 3)).astype(np.uint8)
            tf.io.write_file(str(path), tf.io.encode_png(pixels))
            tf.io.write_file(str(tmp_path / "texts" / name / f"{number}.txt"), f"{name} {number}")
    return tmp_path


def images(folder, **options):
    options = {"image_size": (6, 9), "batch_size": 4, "shuffle": False, **options}
    return utils.image_dataset_from_directory(str(folder / "images"), **options)


def test_images_and_labels(folder):
    dataset = images(folder)
    assert dataset.class_names == ["cats", "dogs"]
    batches = list(dataset)
    assert [len(labels) for _, labels in batches] == [4, 4, 2]
    assert np.concatenate([labels for _, labels in batches]).tolist() == [0] * 5 + [1] * 5
    first = tf.io.decode_png(tf.io.read_file(str(folder / "images" / "cats" / "0.png")))
    np.testing.assert_allclose(batches[0][0][0], tf.image.resize(first, [6, 9]), rtol=1e-6)


@pytest.mark.parametrize(
    ("mode", "last"), [("int", 1), ("categorical", [0, 1]), ("binary", [1]), (None, None)]
)
def test_label_modes(folder, mode, last):
    *_, batch = images(folder, label_mode=mode)
    if mode is None:
        assert batch.shape.as_list() == [2, 6, 9, 3]
    else:
        assert batch[1][-1].tolist() == last


def test_proportions(folder):
    (cropped, _), *_ = images(folder, crop_to_aspect_ratio=True)
    first = tf.io.decode_png(tf.io.read_file(str(folder / "images" / "cats" / "0.png")))
    np.testing.assert_allclose(
        cropped[0], tf.image.resize(first, [6, 9]), rtol=1e-6
    )  # 2 by 3 already
    (padded, _), *_ = images(folder, pad_to_aspect_ratio=True, image_size=(9, 9))
    assert not padded[0][0].any()
    (first_channel, _), *_ = images(folder, data_format="channels_first", crop_to_aspect_ratio=True)
    assert first_channel.shape.as_list() == [4, 3, 6, 9]


def test_a_part_is_kept_for_validation(folder):
    train, rest = images(folder, validation_split=0.4, subset="both", seed=3, shuffle=True)
    assert len(list(train.unbatch())) == 6
    assert len(list(rest.unbatch())) == 4


def test_texts(folder):
    dataset = utils.text_dataset_from_directory(str(folder / "texts"), batch_size=5, shuffle=False)
    (texts, labels), _ = dataset
    assert list(texts) == [f"cats {number}".encode() for number in range(5)]
    assert labels.tolist() == [0] * 5
    short = utils.text_dataset_from_directory(str(folder / "texts"), max_length=3)
    assert {text for texts, _ in short for text in texts} == {b"cat", b"dog"}


def test_windows_of_a_series():
    series = np.arange(20, dtype=np.float32).reshape(10, 2)
    dataset = utils.timeseries_dataset_from_array(
        series, np.arange(10), sequence_length=3, sampling_rate=2, batch_size=4
    )
    windows, targets = next(iter(dataset))
    assert targets.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(windows[1], series[[1, 3, 5]])


def test_a_model_is_trained_on_a_folder(folder):
    keras = tf.keras
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        model = keras.Sequential(
            [
                keras.layers.Rescaling(1 / 255),
                keras.layers.RandomFlip("horizontal"),
                keras.layers.GlobalAveragePooling2D(),
                keras.layers.Dense(1),
            ]
        )
        model.compile("sgd", keras.losses.BinaryCrossentropy(from_logits=True))
    history = model.fit(images(folder, label_mode="binary"), epochs=2, verbose=0)
    assert np.isfinite(history.history["loss"]).all()


@pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")  # of Keras's own code
def test_a_generator_of_the_former_keras(folder):
    keras = tf.keras
    generator = keras.preprocessing.image.ImageDataGenerator(
        rescale=1 / 255, rotation_range=10, horizontal_flip=True, validation_split=0.2
    )
    flow = generator.flow_from_directory(
        str(folder / "images"),
        target_size=(6, 9),
        batch_size=4,
        class_mode="sparse",
        subset="training",
    )
    assert flow.class_indices == {"cats": 0, "dogs": 1}
    model = keras.Sequential([keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(2)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    assert np.isfinite(model.fit(flow, epochs=1, verbose=0).history["loss"]).all()
