"""`tf.keras.utils.image_dataset_from_directory` and its like, without TensorFlow: they make datasets of `tf.data`.

Internals of Keras that this touches: the modules of those functions, whose `tf` the table in `_patches.py` replaces, and
the three functions below; tests/frontends/tf/keras/test_directories.py runs them on every supported version.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

import frontends.tf as tf
from frontends.tf._typing import TensorLike
from spmd.integrations.keras import Method


def make_labels(labels: Sequence[int], label_mode: str, num_classes: int) -> Any:
    """Stands for `dataset_utils.labels_to_dataset_tf`: makes a dataset of labels."""
    encoded = np.asarray(labels)
    if label_mode == "binary":
        encoded = encoded.astype(np.float32)[:, None]
    elif label_mode == "categorical":
        encoded = np.eye(num_classes, dtype=np.float32)[encoded]
    return tf.data.Dataset.from_tensor_slices(encoded)


def load_image(
    load: Method,
    /,
    path: TensorLike,
    image_size: tuple[int, int],
    num_channels: int,
    interpolation: str,
    data_format: str,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
) -> Any:
    """Wraps `image_dataset_utils._load_image_tf`: crops without TensorFlow.

    Args:
        load: Keras's own.
        path: of the picture.
        image_size: height and width of the result.
        num_channels: of the result.
        interpolation: a method of `tf.image.resize`.
        data_format: whether channels come last or first.
        crop_to_aspect_ratio: whether to cut the picture to the proportions of the result first.
        pad_to_aspect_ratio: whether to fill up instead.
    """
    settings = image_size, num_channels, interpolation, data_format
    if not crop_to_aspect_ratio or pad_to_aspect_ratio:
        return load(path, *settings, crop_to_aspect_ratio, pad_to_aspect_ratio)
    data = tf.io.read_file(path)
    image = tf.image.decode_image(data, num_channels, expand_animations=False)
    height, width = (int(size) for size in image.shape[:2])
    target_height, target_width = image_size
    kept = [
        max(min(height, int(width * target_height / target_width)), 1),
        max(min(width, int(height * target_width / target_height)), 1),
    ]
    start = [(size - part) // 2 for size, part in zip((height, width), kept, strict=True)]
    cropped = tf.image.crop_to_bounding_box(image, *start, *kept)
    resized = tf.image.resize(cropped, image_size, method=interpolation)
    return np.moveaxis(resized, -1, 0) if data_format == "channels_first" else resized


def load_text(path: TensorLike, max_length: int | None) -> bytes:
    """Stands for `text_dataset_utils._path_to_string_content_tf`: reads a file, or its first bytes."""
    return bytes(tf.io.read_file(path))[:max_length]
