"""Modules of TensorFlow that it does not document and scripts import all the same, and the public ones that have their names."""

_IN_PYTHON = {
    "tf.compat.v1": (
        *("framework.constant_op", "framework.ops", "framework.random_seed"),
        *("framework.sparse_tensor", "framework.tensor_shape"),
        *("ops.array_ops", "ops.check_ops", "ops.clip_ops", "ops.control_flow_ops"),
        *("ops.data_flow_ops", "ops.functional_ops", "ops.gradients", "ops.gradients_impl"),
        *("ops.init_ops", "ops.linalg_ops", "ops.logging_ops", "ops.math_ops"),
        *("ops.parsing_ops", "ops.partitioned_variables", "ops.random_ops", "ops.sparse_ops"),
        *("ops.standard_ops", "ops.state_ops", "ops.string_ops", "ops.variable_scope"),
        "ops.variables",
    ),
    "tf.compat.v1.app": ("platform.app",),
    "tf.compat.v1.feature_column": (
        *("feature_column.feature_column", "feature_column.feature_column_lib"),
        "feature_column.feature_column_v2",
    ),
    "tf.compat.v1.flags": ("platform.flags",),
    "tf.compat.v1.gfile": ("lib.io.file_io", "platform.gfile"),
    "tf.compat.v1.image": ("ops.image_ops",),
    "tf.compat.v1.layers": (
        *("layers.base", "layers.convolutional", "layers.core", "layers.layers"),
        *("layers.normalization", "layers.pooling"),
    ),
    "tf.compat.v1.logging": ("platform.tf_logging",),
    "tf.compat.v1.losses": ("ops.losses.losses", "ops.losses.losses_impl"),
    "tf.compat.v1.metrics": ("ops.metrics", "ops.metrics_impl"),
    "tf.compat.v1.nn": ("ops.embedding_ops", "ops.nn", "ops.nn_impl", "ops.nn_ops", "ops.rnn"),
    "tf.compat.v1.nn.rnn_cell": ("ops.rnn_cell", "ops.rnn_cell_impl"),
    "tf.compat.v1.summary": ("summary.summary",),
    "tf.compat.v1.train": (
        *("summary.summary_iterator", "training.adagrad", "training.adam"),
        *("training.basic_session_run_hooks", "training.checkpoint_management"),
        *("training.checkpoint_utils", "training.ftrl", "training.gradient_descent"),
        *("training.learning_rate_decay", "training.momentum", "training.monitored_session"),
        *("training.moving_averages", "training.optimizer", "training.rmsprop"),
        *("training.saver", "training.session_run_hook", "training.training"),
        "training.training_util",
    ),
    "tf.compat": ("util.compat",),
    "tf.config.device_lib": ("client.device_lib",),
    "tf.contrib.lookup": ("ops.lookup_ops",),
    "tf.data": ("data", "data.ops.dataset_ops"),
    "tf.data.experimental": ("data.experimental",),
    "tf.distribute": (
        *("distribute.collective_util", "distribute.cross_device_ops", "distribute.distribute_lib"),
        *("distribute.distribution_strategy_context", "distribute.mirrored_strategy"),
        *("distribute.one_device_strategy", "distribute.reduce_util"),
    ),
    "tf.distribute.cluster_resolver": (
        *("distribute.cluster_resolver", "distribute.cluster_resolver.cluster_resolver"),
        "distribute.cluster_resolver.tfconfig_cluster_resolver",
        "distribute.cluster_resolver.tpu_cluster_resolver",
    ),
    "tf.distribute.experimental.coordinator": ("distribute.coordinator.cluster_coordinator",),
    "tf.dtypes": ("framework.dtypes",),
    "tf.errors": ("framework.errors", "framework.errors_impl"),
    "tf.keras": ("keras",),
    "tf.keras.optimizers": tuple(
        f"keras.optimizer_v2.{name}"
        for name in (
            *("adadelta", "adagrad", "adam", "adamax", "ftrl", "gradient_descent", "nadam"),
            "rmsprop",
        )
    ),
    "tf.keras.optimizers.schedules": ("keras.optimizer_v2.learning_rate_schedule",),
    "tf.nest": ("data.util.nest", "util.nest"),
    "tf.saved_model": ("saved_model.signature_constants", "saved_model.tag_constants"),
    "tf.test": ("platform.test",),
    "tf.types.experimental.distributed": ("distribute.values",),
}
_OF_ESTIMATORS = {
    "tf.compat.v1.estimator": (
        *("canned.baseline", "canned.dnn", "canned.dnn_linear_combined", "canned.head"),
        "canned.linear",
        *("estimator", "estimator_lib", "exporter", "mode_keys", "model_fn", "run_config"),
        "training",
    ),
    "tf.compat.v1.estimator.export": ("export.export", "export.export_lib", "export.export_output"),
    "tf.compat.v1.estimator.inputs": ("inputs.inputs", "inputs.numpy_io", "inputs.pandas_io"),
    "tf.compat.v1.estimator.tpu": ("tpu.tpu_config", "tpu.tpu_estimator"),
}
_IN_CONTRIB = {
    "tf.contrib.framework": ("framework.python.ops.arg_scope", "framework.python.ops.variables"),
    "tf.contrib.layers": (
        *("layers.python.layers.initializers", "layers.python.layers.layers"),
        *("layers.python.layers.optimizers", "layers.python.layers.regularizers"),
    ),
    "tf.contrib.learn": (
        *("learn.python.learn", "learn.python.learn.experiment"),
        *(
            "learn.python.learn.export_strategy",
            "learn.python.learn.utils.saved_model_export_utils",
        ),
    ),
    "tf.contrib.learn.learn_runner": ("learn.python.learn.learn_runner",),
    "tf.contrib.lookup": ("lookup.lookup_ops",),
    "tf.contrib.metrics": ("metrics.python.ops.metric_ops",),
    "tf.contrib.tpu": (
        *("tpu.python.tpu.tpu_config", "tpu.python.tpu.tpu_estimator"),
        "tpu.python.tpu.tpu_optimizer",
    ),
    "tf.contrib.training": ("training.python.training.hparam",),
    "tf.keras": ("keras",),
}
_IN_CORE = {
    "tf.compat.v1": ("framework.summary_pb2", "protobuf.config_pb2", "util.event_pb2"),
    "tf.train": ("example.example_pb2", "example.feature_pb2"),
}

# By Python's name of a module: TensorFlow's name of the public one.
PUBLIC = {
    f"{package}.{module}": path
    for package, table in (
        ("tensorflow.python", _IN_PYTHON),
        ("tensorflow.python.estimator", _OF_ESTIMATORS),
        ("tensorflow_estimator.python.estimator", _OF_ESTIMATORS),
        ("tensorflow.contrib", _IN_CONTRIB),
        ("tensorflow.core", _IN_CORE),
    )
    for path, modules in table.items()
    for module in modules
}
