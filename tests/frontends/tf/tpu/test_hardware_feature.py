"""What a TPU offers besides programs."""

from frontends.tf.tpu.experimental import HardwareFeature


def test_no_embedding_accelerators():
    found = HardwareFeature("proto")
    assert found.embedding_feature is HardwareFeature.EmbeddingFeature.UNSUPPORTED
    assert found.num_embedding_devices_per_chip == 0
    assert found.tpu_hardware_feature_proto == "proto"
