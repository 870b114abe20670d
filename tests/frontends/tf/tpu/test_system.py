"""Starting a TPU."""

import pytest

from frontends import tf

EXPERIMENTAL = tf.tpu.experimental


@pytest.mark.parametrize("call", ["initialize_tpu_system", "shutdown_tpu_system"])
def test_there_has_to_be_one(call):
    with pytest.raises(tf.errors.NotFoundError, match=rf"{call} needs a TPU.*SIMULATE=tpu:8"):
        getattr(EXPERIMENTAL, call)()
    with pytest.raises(ValueError, match="TPUs not found"):  # scripts catch it to go on without
        getattr(EXPERIMENTAL, call)()


@pytest.mark.parametrize("call", ["initialize_tpu_system", "shutdown_tpu_system"])
def test_not_in_a_function(simulate, call):
    simulate("tpu:2")

    @tf.function
    def program(x):
        getattr(EXPERIMENTAL, call)()
        return x

    with pytest.raises(RuntimeError, match=rf"{call} is not supported within tf\.functions"):
        program(tf.constant(1.0))


def test_variables_outlive_both(simulate):
    simulate("tpu:2")
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("")
    topology = EXPERIMENTAL.initialize_tpu_system(resolver)
    variable = tf.Variable(3.0)
    assert EXPERIMENTAL.initialize_tpu_system(resolver).serialized() == topology.serialized()
    assert EXPERIMENTAL.shutdown_tpu_system(resolver) is None
    assert float(variable + 1) == 4.0
