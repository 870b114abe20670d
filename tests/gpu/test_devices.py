"""What is found on a machine with GPUs, and where things go."""

import numpy as np

from frontends import tf


def test_strategies_take_the_gpus():
    gpus = tf.config.list_physical_devices("GPU")
    assert gpus[0].name == "/physical_device:GPU:0"
    assert tf.config.list_logical_devices("GPU")[0].name == "/device:GPU:0"
    assert tf.test.is_gpu_available()
    for strategy in (
        tf.distribute.MirroredStrategy(),
        tf.distribute.MultiWorkerMirroredStrategy(),
    ):
        assert strategy.num_replicas_in_sync == len(gpus)
    one = tf.distribute.OneDeviceStrategy("/gpu:0")
    with one.scope():
        assert "GPU:0" in tf.Variable(np.ones(3, np.float32)).device


def test_a_device_scope_places_arrays():
    with tf.device("/CPU:0"):
        assert "CPU:0" in tf.constant([1.0]).device
    with tf.device("/GPU:0"):
        assert "GPU:0" in tf.constant([1.0]).device
    assert "GPU:0" in tf.constant([1.0]).device
    with tf.device("/CPU:0"):
        first = tf.constant([1.0, 2.0])
    assert (first + tf.constant([1.0, 1.0])).numpy().tolist() == [2, 3]


def test_details_and_memory_are_told():
    (gpu, *_) = tf.config.list_physical_devices("GPU")
    details = tf.config.experimental.get_device_details(gpu)
    assert details["device_name"]
    assert details["compute_capability"] >= (5, 0)
    before = tf.config.experimental.get_memory_info("GPU:0")
    held = tf.zeros([1024, 1024, 64])
    held.block_until_ready()
    after = tf.config.experimental.get_memory_info("GPU:0")
    assert after["current"] - before["current"] >= 256 * 2**20
    assert after["peak"] >= after["current"]


def test_random_numbers_are_those_of_a_processor():
    drawn = []
    for place in ("/CPU:0", "/GPU:0"):
        with tf.device(place):
            tf.random.set_seed(3)
            drawn.append(
                [
                    tf.random.uniform([7, 5]).numpy(),
                    tf.random.normal([7, 5]).numpy(),
                    tf.keras.initializers.GlorotUniform(seed=1)([7, 5]),
                ]
            )
    for on_cpu, on_gpu in zip(*drawn, strict=True):
        np.testing.assert_allclose(on_gpu, on_cpu, rtol=1e-5, atol=1e-6)
