"""The strategy of the examples: over accelerators where there are some, else over simulated devices."""

from frontends import tf  # was: import tensorflow as tf

HELP = "how many devices (default: all GPUs or TPUs; without any, 2 simulated ones)"


def mirrored_strategy(count=None):
    """Mirrors a model over devices.

    Args:
        count: how many; None for all accelerators, or two devices that are simulated on the processor.
    """
    accelerators = tf.config.list_physical_devices("GPU") + tf.config.list_physical_devices("TPU")
    kind = accelerators[0].device_type if accelerators else "CPU"
    count = count or len(accelerators) or 2
    if not accelerators:
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(
            cpu, [tf.config.LogicalDeviceConfiguration()] * count
        )
    strategy = tf.distribute.MirroredStrategy([f"{kind}:{index}" for index in range(count)])
    note = "" if accelerators else " (simulated: no GPU or TPU here)"
    print(f"Devices: {strategy.num_replicas_in_sync} x {kind}{note}")
    return strategy
