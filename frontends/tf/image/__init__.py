"""`tf.image`: decoding, augmenting, resizing and comparing images.

An image has the shape `[height, width, channels]`, and most functions take batches of it as well. In steps they are
operations of the program. With NumPy's arrays, and in map functions of datasets that run on elements, NumPy computes
them, since pictures of many sizes would each need a program.
"""

from frontends.tf._names import attributes, defined_in
from frontends.tf._symbolic import recordable
from frontends.tf.image import (
    adjusting,
    boxes,
    coding,
    color,
    comparing,
    conversion,
    cropping,
    orientation,
    patches,
    randomized,
    resizing,
    suppression,
)
from frontends.tf.ops.convert import picked

_CODING = defined_in(coding.__name__)
_ARRAYS = recordable(
    "tf.image",
    {
        **defined_in(resizing.__name__),
        **defined_in(cropping.__name__),
        **defined_in(orientation.__name__),
        **picked(conversion, "convert_image_dtype", "per_image_standardization"),
        **defined_in(color.__name__),
        **defined_in(adjusting.__name__),
        **defined_in(randomized.__name__),
        **defined_in(patches.__name__),
        **defined_in(comparing.__name__),
        **picked(
            boxes,
            "draw_bounding_boxes",
            "sample_distorted_bounding_box",
            "stateless_sample_distorted_bounding_box",
        ),
        **picked(
            suppression,
            "combined_non_max_suppression",
            "non_max_suppression",
            "non_max_suppression_overlaps",
            "non_max_suppression_padded",
            "non_max_suppression_with_scores",
        ),
        "resize_image_with_crop_or_pad": cropping.resize_with_crop_or_pad,
    },
)
__getattr__, __dir__ = attributes("tf.image", _CODING | _ARRAYS)
