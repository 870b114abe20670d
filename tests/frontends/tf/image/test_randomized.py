"""Augmentation: in maps, eagerly and in programs, with TensorFlow's distributions."""

import numpy as np
import pytest

from frontends import tf

IMAGE = np.random.RandomState(0).rand(4, 5, 3).astype(np.float32)
BOTH = (IMAGE, IMAGE[:, ::-1])


def in_a_map(augment, count):
    """Images that a map function makes of one."""
    return list(tf.data.Dataset.from_tensors(IMAGE).repeat(count).map(augment))


def flips(images):
    """How many of the images are mirrored; all others are the image itself."""
    same = [[np.array_equal(each, one) for one in BOTH] for each in images]
    assert all(map(any, same))
    return sum(mirrored for _, mirrored in same)


def test_half_of_the_images_of_a_map_are_flipped():
    assert 60 < flips(in_a_map(tf.image.random_flip_left_right, 200)) < 140


def test_each_image_of_a_batch_is_flipped_or_not():
    batch = np.stack([IMAGE] * 60)
    assert 10 < flips(np.asarray(tf.image.random_flip_left_right(batch))) < 50
    compiled = tf.function(tf.image.random_flip_left_right)
    assert 10 < flips(np.asarray(compiled(tf.constant(batch)))) < 50


def test_a_step_flips_anew_every_time():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

    @tf.function
    def step():
        return strategy.run(lambda: tf.image.random_flip_left_right(tf.constant(IMAGE)))

    found = [
        np.asarray(each) for _ in range(20) for each in strategy.experimental_local_results(step())
    ]
    assert 6 < flips(found) < 34


@pytest.mark.parametrize("of", [in_a_map, lambda f, n: [f(IMAGE) for _ in range(n)]])
def test_crops_are_anywhere(of):
    found = [np.asarray(each) for each in of(lambda x: tf.image.random_crop(x, [3, 3, 3]), 80)]
    places = {(top, left) for top in range(2) for left in range(3)}
    seen = {
        place
        for place in places
        for each in found
        if np.array_equal(each, IMAGE[place[0] : place[0] + 3, place[1] : place[1] + 3])
    }
    assert seen == places


def test_crops_in_a_program():
    compiled = tf.function(lambda x: tf.image.random_crop(x, [3, 3, 3]))
    assert compiled(tf.constant(IMAGE)).shape == (3, 3, 3)
    with pytest.raises(ValueError, match=r"need value.shape >= size"):
        tf.image.random_crop(IMAGE, [5, 5, 3])


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("brightness", (0.3,)),
        ("contrast", (0.2, 1.8)),
        ("hue", (0.4,)),
        ("saturation", (0.2, 1.8)),
        ("jpeg_quality", (10, 90)),
    ],
)
def test_amounts_vary_and_stateless_ones_do_not(name, arguments):
    random = getattr(tf.image, f"random_{name}")
    found = [np.asarray(each) for each in in_a_map(lambda x: random(x, *arguments), 4)]
    assert all(each.shape == IMAGE.shape and each.dtype == np.float32 for each in found)
    assert len({each.tobytes() for each in found}) > 1
    stateless = getattr(tf.image, f"stateless_random_{name}")
    one, again, other = (
        stateless(IMAGE, *arguments, seed=seed) for seed in ([1, 2], [1, 2], [9, 4])
    )
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def test_stateless_crops_and_flips_follow_the_seed_wherever_they_run():
    def augment(x):
        cropped = tf.image.stateless_random_crop(x, [3, 3, 3], seed=[4, 5])
        return tf.image.stateless_random_flip_up_down(cropped, seed=[4, 6])

    here = augment(IMAGE)
    np.testing.assert_array_equal(tf.function(augment)(tf.constant(IMAGE)), here)
    np.testing.assert_array_equal(in_a_map(augment, 1)[0], here)


def test_brightness_is_uniform():
    dark = np.zeros((1, 1, 1), np.float32)
    found = [float(np.asarray(tf.image.random_brightness(dark, 0.5)).item()) for _ in range(200)]
    assert -0.5 <= min(found) < -0.4
    assert 0.4 < max(found) < 0.5
    assert abs(np.mean(found)) < 0.1
