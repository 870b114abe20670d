"""Images: resizing, cropping, colours, adjustments, boxes, comparisons, and files of pictures."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden.scenarios.base import Case, Setting, f32, scenario, slope_of

GROUP = "images"
PICTURES = Path(__file__).parent.parent / "pictures"
_RANDOM = np.random.RandomState(7)
SMALL = _RANDOM.uniform(size=(5, 7, 3)).astype(np.float32)
BATCH = _RANDOM.uniform(size=(2, 6, 4, 3)).astype(np.float32)
BYTES = _RANDOM.randint(0, 256, (5, 7, 3)).astype(np.uint8)
LARGE = _RANDOM.uniform(size=(2, 24, 25, 2)).astype(np.float32)
OTHER = np.clip(LARGE + 0.1 * _RANDOM.normal(size=LARGE.shape), 0, 1).astype(np.float32)
LARGE3 = _RANDOM.uniform(size=(2, 7, 8, 3)).astype(np.float32)
HUGE = _RANDOM.uniform(size=(1, 180, 177, 1)).astype(np.float32)
METHODS = (
    *("bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian"),
    "mitchellcubic",
)
SIZES = ([3, 4], [9, 11], [5, 7], [1, 2])
SETTING = ("default",)


def both(s: Setting, name: str, function: Callable[..., Any], x: Any) -> Iterator[Case]:
    """Cases of a function of images: with an array of NumPy, and in a program."""
    yield f"{name}/numpy", lambda: function(x)
    yield f"{name}/function", lambda: s.tf.function(function)(s.tf.constant(x))


@scenario("images.resize", GROUP, SETTING)
def resize(s: Setting) -> Iterator[Case]:
    image = s.tf.image
    for method in METHODS:
        for antialias in (False, True):
            for size in SIZES:
                name = f"{method}/antialias={antialias}/{size[0]}x{size[1]}"
                resize = partial(image.resize, size=size, method=method, antialias=antialias)
                cases = both(s, name, lambda x, resize=resize: resize(x), SMALL)
                yield from cases if size == SIZES[0] else [next(cases)]
    for name, x in {"bytes": BYTES, "batch": BATCH, "halves": SMALL.astype(np.float16)}.items():
        for method in ("bilinear", "nearest", "area", "bicubic"):
            yield f"{name}/{method}", partial(image.resize, x, [3, 5], method)
    for size in ([8, 8], [3, 20], [20, 3], [2, 2]):
        yield (
            f"ratio/{size[0]}x{size[1]}",
            partial(image.resize, SMALL, size, preserve_aspect_ratio=True),
        )
        yield f"pad/{size[0]}x{size[1]}", partial(image.resize_with_pad, SMALL, *size)
    yield "pad/antialias", partial(image.resize_with_pad, BATCH, 4, 9, "bicubic", True)
    yield "pad/bytes", partial(image.resize_with_pad, BYTES, 4, 9)
    yield "wrong_method", partial(image.resize, SMALL, [2, 2], "best")
    yield "wrong_rank", partial(image.resize, SMALL[0], [2, 2])
    yield "wrong_size", partial(image.resize, SMALL, [2, 2, 2])
    yield "wrong_target", partial(image.resize_with_pad, SMALL, 0, 2)

    def slope(x):
        return slope_of(s.tf, lambda x: s.tf.reduce_sum(image.resize(x, [3, 4]) ** 2))(x)

    yield "slope", lambda: slope(s.tf.constant(SMALL))


@scenario("images.resize_v1", GROUP, SETTING)
def resize_v1(s: Setting) -> Iterator[Case]:
    image = s.tf.compat.v1.image
    for method in range(4):
        for corners in (False, True):
            for size in SIZES:
                name = f"{method}/align_corners={corners}/{size[0]}x{size[1]}"
                yield name, partial(image.resize_images, SMALL, size, method, corners)
    yield "same_size", partial(image.resize_images, BYTES, [5, 7])
    yield "new_name", partial(image.resize, BATCH, [3, 3])
    yield "by_constant", partial(image.resize, BATCH, [3, 3], image.ResizeMethod.AREA)
    yield "keyword", partial(image.resize_images, BATCH, [8, 3], preserve_aspect_ratio=True)
    yield "with_pad", partial(image.resize_image_with_pad, SMALL, 8, 8, 2, True)
    yield "crop_or_pad", partial(image.resize_image_with_crop_or_pad, SMALL, 3, 9)
    for kind in ("bilinear", "nearest_neighbor", "bicubic"):
        function = getattr(image, f"resize_{kind}")
        for corners, half in ((False, False), (True, False), (False, True)):
            yield (
                f"resize_{kind}/{corners}/{half}",
                partial(function, BATCH, [4, 7], align_corners=corners, half_pixel_centers=half),
            )
    yield "resize_area", partial(image.resize_area, BATCH, [4, 3])
    yield (
        "resize_bilinear/both",
        partial(image.resize_bilinear, BATCH, [4, 7], True, half_pixel_centers=True),
    )
    yield "transpose_image", partial(image.transpose_image, SMALL)
    yield (
        "patches",
        partial(
            image.extract_image_patches,
            BATCH,
            ksizes=[1, 2, 2, 1],
            strides=[1, 2, 2, 1],
            rates=[1, 1, 1, 1],
            padding="SAME",
        ),
    )
    yield (
        "crop_and_resize",
        partial(image.crop_and_resize, BATCH, f32([[0, 0, 1, 0.5]]), box_ind=[1], crop_size=[3, 3]),
    )


@scenario("images.cropping", GROUP, SETTING)
def cropping(s: Setting) -> Iterator[Case]:
    image = s.tf.image
    for fraction in (0.1, 0.5, 0.73, 1.0):
        yield f"central/{fraction}", partial(image.central_crop, SMALL, fraction)
    yield "central/batch", partial(image.central_crop, BATCH, 0.5)
    yield "central/wrong", partial(image.central_crop, SMALL, 1.5)
    yield from both(s, "crop", lambda x: image.crop_to_bounding_box(x, 1, 2, 3, 4), BYTES)
    yield from both(s, "pad", lambda x: image.pad_to_bounding_box(x, 1, 2, 9, 10), BATCH)
    for box in ((-1, 0, 2, 2), (3, 0, 3, 2), (0, 6, 2, 2), (0, 0, 0, 2)):
        yield f"crop/wrong/{box}", partial(image.crop_to_bounding_box, SMALL, *box)
    for box in ((-1, 0, 9, 9), (0, 0, 4, 9), (3, 3, 9, 9)):
        yield f"pad/wrong/{box}", partial(image.pad_to_bounding_box, SMALL, *box)
    for size in ((3, 3), (8, 9), (4, 10), (6, 6), (5, 7)):
        yield f"crop_or_pad/{size}", partial(image.resize_with_crop_or_pad, SMALL, *size)
    yield "crop_or_pad/batch", partial(image.resize_with_crop_or_pad, BATCH, 5, 5)
    yield "crop_or_pad/wrong", partial(image.resize_with_crop_or_pad, SMALL, 0, 5)
    boxes = f32([[0, 0, 1, 1], [0.1, 0.2, 0.8, 0.7], [-0.3, 0.5, 1.2, 1.4], [0.9, 0.9, 0.1, 0.2]])
    for method in ("bilinear", "nearest"):
        for size in ([3, 4], [1, 1], [7, 2]):
            yield from both(
                s,
                f"crop_and_resize/{method}/{size}",
                lambda x, m=method, z=size: image.crop_and_resize(
                    x, boxes, [0, 1, 1, 0], z, m, 0.5
                ),
                BATCH,
            )
    yield (
        "crop_and_resize/bytes",
        partial(image.crop_and_resize, BYTES[None], boxes, [0] * 4, [2, 2]),
    )
    yield "flip_left_right", partial(image.flip_left_right, BYTES)
    yield "flip_up_down", partial(image.flip_up_down, BATCH)
    yield "transpose", partial(image.transpose, BATCH)
    for k in (0, 1, 2, 3, 5, -1):
        yield f"rot90/{k}", partial(image.rot90, SMALL, k)
    yield "rot90/batch", partial(image.rot90, BATCH)
    yield "flip/wrong", partial(image.flip_left_right, SMALL[0])
    for padding in ("SAME", "VALID"):
        for window in ((2, 1, 1), (3, 2, 1), (2, 1, 2)):
            sizes, strides, rates = ([1, each, each, 1] for each in window)
            yield (
                f"patches/{padding}/{window}",
                partial(image.extract_patches, BATCH, sizes, strides, rates, padding),
            )
    yield "patches/wrong", partial(image.extract_patches, BATCH, [2, 2], [1, 1], [1, 1], "SAME")


@scenario("images.colors", GROUP, SETTING)
def colors(s: Setting) -> Iterator[Case]:
    tf, image = s.tf, s.tf.image
    for name in (
        *("rgb_to_hsv", "hsv_to_rgb", "rgb_to_yiq", "yiq_to_rgb", "rgb_to_yuv", "yuv_to_rgb"),
        "rgb_to_grayscale",
    ):
        yield from both(s, name, getattr(image, name), SMALL)
        yield f"{name}/batch", partial(getattr(image, name), BATCH)
    gray = f32([[[0, 0, 0], [1, 1, 1], [0.5, 0.5, 0.5], [1, 0, 1], [0, 1, 1], [1, 1, 0]]])
    yield "rgb_to_hsv/gray", partial(image.rgb_to_hsv, gray)
    yield "rgb_to_grayscale/bytes", partial(image.rgb_to_grayscale, BYTES)
    yield "grayscale_to_rgb", lambda: image.grayscale_to_rgb(tf.constant(BYTES[..., :1]))
    yield "grayscale_to_rgb/wrong", lambda: image.grayscale_to_rgb(tf.constant(BYTES))
    dtypes = (tf.float32, tf.uint8, tf.uint16, tf.int32, tf.int16, tf.float16)
    for source in (
        BYTES,
        SMALL * 0.999,
        BYTES.astype(np.uint16) * 200,
        BYTES.astype(np.int16) - 100,
    ):
        for dtype in dtypes:
            for saturate in (False, True):
                name = f"convert/{source.dtype}/{dtype.name}/{saturate}"
                yield name, partial(image.convert_image_dtype, source, dtype, saturate)
    yield "convert/saturated", partial(image.convert_image_dtype, SMALL * 3 - 1, tf.uint8, True)
    yield "convert/bool", partial(image.convert_image_dtype, BYTES, tf.bool)
    for source in (SMALL, BYTES, BATCH, np.full((3, 3, 1), 2.0, np.float32)):
        yield (
            f"standardized/{source.dtype}/{source.ndim}/{source.shape[-1]}",
            partial(image.per_image_standardization, source),
        )


@scenario("images.adjusting", GROUP, SETTING)
def adjusting(s: Setting) -> Iterator[Case]:
    image = s.tf.image
    inputs = {"floats": SMALL, "bytes": BYTES, "batch": BATCH, "halves": SMALL.astype(np.float16)}
    for kind, x in inputs.items():
        for name, amounts in {
            "brightness": (0.2, -0.3, 0.0),
            "contrast": (0.5, 2.0, 0.0),
            "hue": (0.2, -0.7, 0.0),
            "saturation": (0.5, 2.0, 0.0),
            "gamma": (0.5, 2.0, 0.0),
        }.items():
            adjust = getattr(image, f"adjust_{name}")
            # TensorFlow has only some for float16.
            for amount in (
                () if kind == "halves" and name not in ("brightness", "gamma") else amounts
            ):
                yield f"{name}/{kind}/{amount}", partial(adjust, x, amount)
    for name in ("brightness", "contrast", "hue", "saturation"):
        adjust = getattr(image, f"adjust_{name}")
        yield (
            f"{name}/traced",
            lambda adjust=adjust: s.tf.function(lambda x, y: adjust(x, y))(
                s.tf.constant(SMALL), s.tf.constant(0.3)
            ),
        )
    yield "gamma/gain", partial(image.adjust_gamma, SMALL, 0.5, 0.7)
    yield "gamma/wrong", partial(image.adjust_gamma, SMALL, -0.5)
    yield "hue/wrong", partial(image.adjust_hue, SMALL, 1.5)
    yield "hue/channels", partial(image.adjust_hue, SMALL[..., :2], 0.5)
    for name, arguments in {
        "brightness": (-0.1,),
        "contrast": (0.5, 0.5),
        "hue": (0.6,),
        "saturation": (-0.5, 0.5),
        "jpeg_quality": (50, 50),
    }.items():
        yield (
            f"random/{name}/wrong",
            partial(getattr(image, f"random_{name}"), SMALL, *arguments),
        )
    yield "random/crop/wrong", partial(image.random_crop, SMALL, [6, 2, 3])
    yield "random/crop/shape", lambda: image.random_crop(SMALL, [3, 2, 3]).shape.as_list()
    yield "random/flip/even", partial(image.random_flip_left_right, np.ones((2, 2, 1), np.float32))
    yield (
        "stateless/brightness/even",
        partial(image.stateless_random_brightness, SMALL, 0.0, seed=[1, 2]),
    )


@scenario("images.boxes", GROUP, SETTING)
def boxes(s: Setting) -> Iterator[Case]:
    tf, image = s.tf, s.tf.image
    random = np.random.RandomState(3)
    corners = random.uniform(size=(12, 4)).astype(np.float32)
    corners = np.concatenate(
        [np.minimum(corners[:, :2], corners[:, 2:]), np.maximum(corners[:, :2], corners[:, 2:])], 1
    )
    scores = random.uniform(size=12).astype(np.float32)
    for size in (3, 12, 20):
        for overlap in (0.0, 0.3, 0.7):
            for least in (float("-inf"), 0.5):
                yield (
                    f"suppressed/{size}/{overlap}/{least}",
                    partial(image.non_max_suppression, corners, scores, size, overlap, least),
                )
                if overlap:
                    yield (
                        f"padded/{size}/{overlap}/{least}",
                        partial(
                            image.non_max_suppression_padded,
                            tf.constant(corners),
                            tf.constant(scores),
                            size,
                            overlap,
                            least,
                            True,
                        ),
                    )
    yield (
        "suppressed/turned",
        partial(image.non_max_suppression, corners[:, [2, 1, 0, 3]], scores, 5),
    )
    yield "suppressed/ties", partial(image.non_max_suppression, corners, np.ones_like(scores), 5)
    yield "suppressed/none", partial(image.non_max_suppression, corners, scores, 5, 0.5, 2.0)
    yield "suppressed/wrong", partial(image.non_max_suppression, corners, scores[:3], 5)
    for sigma in (0.0, 0.3, 1.0):
        yield (
            f"with_scores/{sigma}",
            partial(
                image.non_max_suppression_with_scores,
                corners,
                scores,
                6,
                0.4,
                0.1,
                soft_nms_sigma=sigma,
            ),
        )
    overlaps = random.uniform(size=(12, 12)).astype(np.float32)
    overlaps = (overlaps + overlaps.T) / 2
    yield (
        "overlaps",
        partial(image.non_max_suppression_overlaps, overlaps, scores, 6, 0.5, 0.2),
    )
    yield (
        "padded/not",
        partial(
            image.non_max_suppression_padded, tf.constant(corners), tf.constant(scores), 8, 0.3
        ),
    )
    yield (
        "padded/batch",
        partial(
            image.non_max_suppression_padded,
            tf.constant(corners.reshape(2, 6, 4)),
            tf.constant(scores.reshape(2, 6)),
            4,
            0.3,
            pad_to_max_output_size=True,
        ),
    )
    many = random.uniform(size=(2, 6, 3)).astype(np.float32)
    for shared in (False, True):
        for per_class in (False, True):
            for total in (5, 20):
                given = corners.reshape(2, 6, 1, 4)
                given = given if shared else given + f32([0, 0.1, 0.3]).reshape(1, 1, 3, 1)
                yield (
                    f"combined/{shared}/{per_class}/{total}",
                    partial(
                        image.combined_non_max_suppression,
                        given,
                        many,
                        3,
                        total,
                        0.4,
                        0.2,
                        pad_per_class=per_class,
                    ),
                )
    yield (
        "combined/unclipped",
        partial(
            image.combined_non_max_suppression,
            corners.reshape(2, 6, 1, 4) * 2,
            many,
            3,
            5,
            0.4,
            clip_boxes=False,
        ),
    )
    drawn = f32(
        [[[0.1, 0.1, 0.6, 0.9], [0.5, 0.2, 1.3, 0.6]], [[-0.2, 0.3, 0.4, 0.5], [0.9, 0.9, 0.1, 1]]]
    )
    for name, table in {
        "none": None,
        "one": f32([[0.5, 0.25, 0.1]]),
        "two": f32([[1, 0, 0, 1], [0, 1, 0, 1]]),
    }.items():
        yield from both(
            s, f"draw/{name}", lambda x, t=table: image.draw_bounding_boxes(x, drawn, t), LARGE3
        )
    yield "draw/gray", partial(image.draw_bounding_boxes, LARGE[..., :1], drawn, None)
    yield (
        "sample/whole",
        lambda: list(
            image.sample_distorted_bounding_box(
                [10, 12, 3],
                f32([[[0, 0, 1, 1]]]),
                min_object_covered=1.0,
                aspect_ratio_range=[1.2, 1.2],
                area_range=[1.0, 1.0],
            )
        ),
    )
    yield (
        "sample/none",
        partial(image.sample_distorted_bounding_box, [10, 12, 3], np.zeros((1, 0, 4), np.float32)),
    )


@scenario("images.comparing", GROUP, SETTING)
def comparing(s: Setting) -> Iterator[Case]:
    tf, image = s.tf, s.tf.image
    one, other = tf.constant(LARGE), tf.constant(OTHER)
    bytes_one, bytes_other = ((each * 255).astype(np.uint8) for each in (LARGE, OTHER))
    yield "psnr", partial(image.psnr, one, other, 1.0)
    yield "psnr/bytes", partial(image.psnr, tf.constant(bytes_one), tf.constant(bytes_other), 255)
    yield "psnr/wrong", partial(image.psnr, one, other[:, 1:], 1.0)
    yield "ssim", partial(image.ssim, one, other, 1.0)
    yield "ssim/bytes", partial(image.ssim, bytes_one, bytes_other, 255)
    yield "ssim/window", partial(image.ssim, one, other, 1.0, 7, 1.0, 0.02, 0.05)
    yield "ssim/map", partial(image.ssim, one, other, 1.0, return_index_map=True)
    yield "ssim/small", partial(image.ssim, one[:, :8], other[:, :8], 1.0)
    yield "ssim/function", lambda: tf.function(lambda x, y: image.ssim(x, y, 1.0))(one, other)
    yield "multiscale", partial(image.ssim_multiscale, HUGE, HUGE * 0.9, 1.0)
    yield "multiscale/two", partial(image.ssim_multiscale, one, other, 1.0, (0.4, 0.6), 5)
    yield "variation", partial(image.total_variation, one)
    yield "variation/one", partial(image.total_variation, tf.constant(SMALL))
    yield "variation/wrong", partial(image.total_variation, tf.constant(SMALL[0]))
    yield "gradients", partial(image.image_gradients, tf.constant(BATCH))
    yield "gradients/wrong", partial(image.image_gradients, tf.constant(SMALL))
    yield "sobel", partial(image.sobel_edges, tf.constant(BATCH))
    yield (
        "variation/slope",
        lambda: slope_of(tf, lambda x: tf.reduce_sum(image.total_variation(x)))(tf.constant(SMALL)),
    )


@scenario("images.files", GROUP, SETTING)
def files(s: Setting) -> Iterator[Case]:
    tf, io = s.tf, s.tf.io
    data = {path.name: path.read_bytes() for path in sorted(PICTURES.iterdir())}
    accurate = {"dct_method": "INTEGER_ACCURATE"}
    for name, contents in data.items():
        if name.endswith(".jpg"):
            for channels in (0, 1, 3, 4):
                if (name, channels) != ("cmyk.jpg", 1):
                    yield (
                        f"{name}/{channels}",
                        partial(io.decode_jpeg, contents, channels, **accurate),
                    )
            for ratio in (2, 8, 3):
                yield (
                    f"{name}/ratio={ratio}",
                    partial(io.decode_jpeg, contents, 0, ratio, **accurate),
                )
            # Where colours have half the resolution, TensorFlow's differ at the edges of the box.
            for window in ([1, 2, 5, 6], [7, 2, 5, 60], [0, 0, 0, 3]) if name == "gray.jpg" else ():
                yield (
                    f"{name}/window={window}",
                    partial(io.decode_and_crop_jpeg, contents, window, **accurate),
                )
            yield f"{name}/shape", partial(io.extract_jpeg_shape, contents)
        else:
            for channels in (0, 1, 3, 4):
                yield f"{name}/{channels}", partial(io.decode_image, contents, channels)
            some = name in ("rgb.png", "gray16.png", "rgb.bmp", "one.gif")
            for dtype in (tf.uint16, tf.float32, tf.int32) if some else ():
                yield f"{name}/{dtype.name}", partial(io.decode_image, contents, dtype=dtype)
            yield f"{name}/wide", partial(io.decode_png, contents, dtype=tf.uint16)
            yield f"{name}/bmp", partial(io.decode_bmp, contents)
            yield f"{name}/gif", partial(io.decode_gif, contents)
            yield f"{name}/first", partial(io.decode_image, contents, expand_animations=False)
            yield f"{name}/shape", partial(io.extract_jpeg_shape, contents)
        yield f"{name}/is_jpeg", partial(io.is_jpeg, contents)
        if not name.endswith(".gif"):
            yield f"{name}/cut", partial(io.decode_image, contents[: len(contents) // 2])
    for name, contents in {"empty": b"", "text": b"no picture", "start": b"\xff\xd8\xff"}.items():
        yield f"{name}/image", partial(io.decode_image, contents)
        yield f"{name}/jpeg", partial(io.decode_jpeg, contents)
        yield f"{name}/shape", partial(io.extract_jpeg_shape, contents)
        yield f"{name}/is_jpeg", partial(io.is_jpeg, contents)
    for channels in (1, 2, 3, 4):
        pixels = np.tile(BYTES[..., :1], channels) + np.arange(channels, dtype=np.uint8)
        for dtype in (np.uint8, np.uint16):
            wide = (pixels.astype(dtype) * 3).astype(dtype)
            yield (
                f"png/{channels}/{np.dtype(dtype)}",
                lambda x=wide: io.decode_png(io.encode_png(x), dtype=x.dtype),
            )
    yield "png/floats", partial(io.encode_png, SMALL)
    yield "png/compression", partial(io.encode_png, BYTES, 11)
    smooth = np.clip(
        np.add.outer(np.arange(16) * 7, np.arange(16) * 5)[..., None] + [0, 40, 90], 0, 255
    )
    smooth = smooth.astype(np.uint8)
    for quality in (10, 60, 95):
        for halved in (True, False):
            yield (
                f"jpeg/{quality}/{halved}",
                lambda q=quality, h=halved: io.decode_jpeg(
                    io.encode_jpeg(smooth, quality=q, chroma_downsampling=h), **accurate
                ),
            )
    yield "jpeg/gray", lambda: io.decode_jpeg(io.encode_jpeg(smooth[..., :1]), **accurate)
    yield "jpeg/floats", lambda: io.encode_jpeg(tf.constant(SMALL))
    yield "jpeg/quality", partial(io.encode_jpeg, BYTES, quality=101)
    yield "jpeg/format", partial(io.encode_jpeg, BYTES, format="grayscale")
    yield (
        "adjust_quality",
        lambda: s.tf.image.adjust_jpeg_quality(smooth, 60, "INTEGER_ACCURATE"),
    )
    yield (
        "adjust_quality/floats",
        lambda: s.tf.image.adjust_jpeg_quality(f32(smooth / 255), 60, "INTEGER_ACCURATE"),
    )
