"""Cats and dogs for the examples: drawings, in the files that TensorFlow Datasets makes of the photos.

The real set has 23,262 photos (800 MB), and TensorFlow Datasets prepares it with TensorFlow. What is made
here is read by the same `tfds.load("cats_vs_dogs")`: JPEG files of many sizes, decoded row by row.
"""

import contextlib
import io
from pathlib import Path

import numpy as np
import tensorflow_datasets as tfds
from absl import logging
from PIL import Image, ImageDraw

DATA = Path(__file__).parent / "output" / "data"


class CatsVsDogs(tfds.core.GeneratorBasedBuilder, skip_registration=True):
    """The features and the name of TensorFlow Datasets' own `cats_vs_dogs`."""

    VERSION = tfds.core.Version("4.0.1")

    def __init__(self, count: int, **kwargs):
        self.count = count
        super().__init__(**kwargs)

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict(
                {
                    "image": tfds.features.Image(),
                    "image/filename": tfds.features.Text(),
                    "label": tfds.features.ClassLabel(names=["cat", "dog"]),
                }
            ),
            supervised_keys=("image", "label"),
        )

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        random = np.random.default_rng(0)
        for index in range(self.count):
            label = "cat" if index % 2 == 0 else "dog"
            file = io.BytesIO()
            draw(label, random).save(file, "jpeg")
            file.seek(0)
            yield index, {"image": file, "image/filename": f"{label}/{index}.jpg", "label": label}


def draw(label, random):
    """Draws a face: a cat's ears stand up, a dog's hang down."""
    size = random.integers(60, 120, 2)
    unit = min(size) / 100
    center = size / 2 + random.uniform(-8, 8, 2) * unit
    fur = random.integers(90, 220, 3)
    dark, light = (tuple(map(int, np.clip(fur + shift, 0, 255))) for shift in (-70, 30))
    background = tuple(map(int, random.integers(0, 256, 3)))
    image = Image.new("RGB", (int(size[0]), int(size[1])), background)
    pen = ImageDraw.Draw(image)

    def at(*points):
        return [tuple(center + unit * np.array(point)) for point in points]

    for side in (-1, 1):
        if label == "cat":
            pen.polygon(at((side * 30, -12), (side * 26, -46), (side * 4, -26)), fill=dark)
        else:
            left, right = sorted((side * 22, side * 42))
            pen.ellipse(at((left, -24), (right, 30)), fill=dark)
    pen.ellipse(at((-30, -30), (30, 30)), fill=light)
    for x in (-12, 12):
        pen.ellipse(at((x - 4, -10), (x + 4, 0)), fill=(20, 20, 20))
    pen.ellipse(at((-5, 6), (5, 13)), fill=(60, 20, 20))
    noise = random.normal(0, 8, (size[1], size[0], 1))
    return Image.fromarray(np.clip(np.asarray(image) + noise, 0, 255).astype(np.uint8))


def generate(directory: Path = DATA, count: int = 512) -> Path:
    """Prepares the data set in a folder, unless it is there.

    Args:
        directory: what `tfds.load` takes as `data_dir`; each count has a folder of its own in it.
        count: how many pictures, half of them cats.

    Returns:
        The `data_dir`.
    """
    logging.set_verbosity(logging.ERROR)  # TFDS warns that OpenCV would decode faster
    tfds.disable_progress_bar()
    builder = CatsVsDogs(count, data_dir=directory / str(count), file_format="array_record")
    with contextlib.redirect_stdout(None):  # TFDS announces a download
        builder.download_and_prepare()
    return directory / str(count)
