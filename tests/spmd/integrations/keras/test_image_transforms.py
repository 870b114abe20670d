"""Images transformed by layers of Keras: Keras's numbers, by an address for each pixel."""

from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest

from spmd.integrations.keras import applied_patches, patch_keras

patch_keras()

(ROW,) = [row for row in applied_patches() if row.patch.name.endswith(".image.affine_transform")]


def transforms(count: int) -> np.ndarray[Any, Any]:
    """Makes rotations with a shift, a stretch and a shear."""
    angles = np.random.default_rng(0).uniform(-0.5, 0.5, count)
    rows = np.zeros((count, 8), np.float32)
    rows[:, 0], rows[:, 1], rows[:, 2] = np.cos(angles), -np.sin(angles), 1.3
    rows[:, 3], rows[:, 4], rows[:, 5] = 0.7 * np.sin(angles), 1.2 * np.cos(angles), -2.1
    return rows


def pictures(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(1).random(shape, np.float32)


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
@pytest.mark.parametrize("fill_mode", ["constant", "nearest", "wrap", "mirror", "reflect"])
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_equals_keras(interpolation: str, fill_mode: str, data_format: str) -> None:
    images = pictures(3, 9, 7, 2) if data_format == "channels_last" else pictures(3, 2, 9, 7)
    arguments = interpolation, fill_mode, 0.25, data_format
    ours = keras.ops.image.affine_transform(images, transforms(3), *arguments)
    theirs = ROW.before(images, transforms(3), *arguments)
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("dtype", ["uint8", "float16"])
def test_keeps_the_type(dtype: str) -> None:
    images = (pictures(2, 8, 8, 3) * 255).astype(dtype)
    ours = keras.ops.image.affine_transform(images, transforms(2))
    assert ours.dtype == dtype
    theirs = ROW.before(images, transforms(2))
    np.testing.assert_allclose(ours.astype("float32"), theirs.astype("float32"), atol=1)


def test_one_image() -> None:
    image, transform = pictures(9, 7, 2), transforms(1)[0]
    ours = keras.ops.image.affine_transform(image, transform)
    np.testing.assert_allclose(ours, ROW.before(image, transform), atol=1e-5)


def test_one_transform_for_all_images_as_in_tensorflow() -> None:
    """Keras's own refuses it on JAX."""
    images, transform = pictures(3, 9, 7, 2), transforms(1)[0]
    ours = keras.ops.image.affine_transform(images, transform)
    theirs = ROW.before(images, np.stack([transform] * 3))
    np.testing.assert_allclose(ours, theirs, atol=1e-5)


def test_a_projection_divides_as_in_tensorflow() -> None:
    """Keras's own adds the last two coefficients to the channel's number; its documentation says what they are."""
    images = pictures(1, 6, 8, 1)
    ours = keras.ops.image.affine_transform(
        images, np.array([[1, 0, 0, 0, 1, 0, 0.131, 0.0717]], np.float32), "nearest", "nearest"
    )
    y, x = np.mgrid[:6, :8]
    scale = 0.131 * x + 0.0717 * y + 1
    rows, columns = (np.rint(place / scale).astype(int) for place in (y, x))
    np.testing.assert_array_equal(ours[0, ..., 0], images[0, rows, columns, 0])


def test_gradients_equal_keras() -> None:
    images = jnp.asarray(pictures(2, 8, 8, 3))

    def gradient(transform: Any) -> jax.Array:
        return jax.grad(lambda images: (transform(images, transforms(2)) ** 2).sum())(images)

    np.testing.assert_allclose(
        gradient(keras.ops.image.affine_transform), gradient(ROW.before), atol=1e-5
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((2, 2), transforms(1)), "Invalid images rank"),
        (((1, 4, 4, 1), transforms(1)[None]), "Invalid transform rank"),
        (((1, 4, 4, 1), transforms(1), "cubic"), "interpolation=cubic"),
        (((1, 4, 4, 1), transforms(1), "nearest", "black"), "fill_mode"),
    ],
)
def test_errors_are_those_of_keras(arguments: tuple[Any, ...], message: str) -> None:
    shape, *others = arguments
    with pytest.raises(ValueError, match=message):
        keras.ops.image.affine_transform(pictures(*shape), *others)


def test_a_transform_has_eight_coefficients() -> None:
    with pytest.raises(TypeError, match="reshape"):
        keras.ops.image.affine_transform(pictures(2, 4, 4, 1), transforms(2).reshape(1, 16))


def test_fill_values_may_be_arrays() -> None:
    images = pictures(1, 4, 4, 1)
    ours, theirs = (
        keras.ops.image.affine_transform(images, transforms(1), fill_value=value)
        for value in (np.array(0.5), 0.5)
    )
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    "name", ["RandomRotation", "RandomZoom", "RandomTranslation", "RandomShear"]
)
def test_layers_use_it(name: str) -> None:
    arguments = (0.2, 0.2) if name in ("RandomTranslation", "RandomShear") else (0.2,)
    layer = getattr(keras.layers, name)(*arguments, seed=1)
    program = jax.make_jaxpr(lambda x: layer(x, training=True))(pictures(2, 8, 8, 3))
    assert "_transformed" in str(program)
