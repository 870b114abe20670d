"""The options of TensorFlow 1's sessions, as scripts fill them."""

import pytest

from frontends import tf


def test_a_server_takes_the_options_that_a_script_fills():
    config = tf.compat.v1.ConfigProto(allow_soft_placement=True, device_count={"GPU": 0})
    config.inter_op_parallelism_threads = 3
    config.gpu_options.allow_growth = True
    config.graph_options.optimizer_options.global_jit_level = 1
    server = tf.distribute.Server(
        {"worker": ["localhost:20999"]}, job_name="worker", task_index=0, config=config
    )
    assert server.job_name == "worker"
    assert config.gpu_options == tf.compat.v1.GPUOptions(allow_growth=True)


def test_configurations_share_no_options():
    tf.compat.v1.ConfigProto().device_count["CPU"] = 1
    assert tf.compat.v1.ConfigProto().device_count == {}


def test_an_option_that_tensorflow_lacks_is_an_error():
    with pytest.raises(AttributeError):
        tf.compat.v1.ConfigProto().inter_op_threads = 3


def test_only_what_was_set_is_shown():
    config = tf.compat.v1.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    assert repr(config) == (
        "ConfigProto(gpu_options=GPUOptions(allow_growth=True), allow_soft_placement=True)"
    )


def test_constants_are_those_of_tensorflow():
    options = tf.compat.v1.OptimizerOptions
    assert (options.L1, options.L0, options.OFF, options.ON_1, options.ON_2) == (0, -1, -1, 1, 2)
    made = options(global_jit_level=options.ON_1)
    assert (made.ON_1, repr(made)) == (1, "OptimizerOptions(global_jit_level=1)")


def test_options_of_a_run_are_accepted():
    run = tf.compat.v1.RunOptions(trace_level=tf.compat.v1.RunOptions.FULL_TRACE)
    assert run.trace_level == 3
    assert tf.compat.v1.RunMetadata().step_stats is None
