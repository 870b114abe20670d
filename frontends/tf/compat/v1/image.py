"""`tf.compat.v1.image`: TensorFlow 1's parameters of functions of images; all other names are those of `tf.image`."""

from typing import Any

import jax

from frontends.tf import image
from frontends.tf._names import attributes
from frontends.tf._typing import ShapeLike, TensorLike
from frontends.tf.image import resizing


class ResizeMethod:
    """Methods of TensorFlow 1's `tf.image.resize_images`.

    Source: `tf.compat.v1.image.ResizeMethod`.
    """

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike = None,
    crop_size: ShapeLike = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: str | None = None,
    box_indices: TensorLike = None,
) -> jax.Array:
    """Cuts boxes out of a batch of images; see `tf.image.crop_and_resize`.

    Source: `tf.compat.v1.image.crop_and_resize`.
    """
    which = box_indices if box_ind is None else box_ind
    return _crop_and_resize(image, boxes, which, crop_size, method, extrapolation_value)


def draw_bounding_boxes(
    images: TensorLike, boxes: TensorLike, name: str | None = None, colors: TensorLike = None
) -> jax.Array:
    """Draws the edges of boxes into a batch of images; see `tf.image.draw_bounding_boxes`.

    Source: `tf.compat.v1.image.draw_bounding_boxes`.
    """
    return _draw_bounding_boxes(images, boxes, colors)


def sample_distorted_bounding_box(
    image_size: TensorLike,
    bounding_boxes: TensorLike,
    seed: int | None = None,
    seed2: int | None = None,
    min_object_covered: TensorLike = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """Chooses a part of an image; see `tf.image.sample_distorted_bounding_box`.

    Source: `tf.compat.v1.image.sample_distorted_bounding_box`.
    """
    return _sample_distorted_bounding_box(
        *(image_size, bounding_boxes, seed or seed2, min_object_covered, aspect_ratio_range),
        *(area_range, max_attempts, use_image_if_no_bounding_boxes),
    )


# Parameters of the functions above hide the module's name.
_crop_and_resize = image.crop_and_resize
_draw_bounding_boxes = image.draw_bounding_boxes
_sample_distorted_bounding_box = image.sample_distorted_bounding_box

__getattr__, __dir__ = attributes(
    "tf.compat.v1.image",
    {
        "ResizeMethod": ResizeMethod,
        "crop_and_resize": crop_and_resize,
        "draw_bounding_boxes": draw_bounding_boxes,
        "resize": resizing.resize_images,
        "sample_distorted_bounding_box": sample_distorted_bounding_box,
    },
    rest="frontends.tf.image",
)
