"""How errors of the engine spell their remedies for a script that uses TensorFlow's names."""

from spmd.errors import Remedy, register_remedy

_SPELLINGS = {
    Remedy.AVERAGE_LOSS: (
        "spmd.average_loss(per_example_loss), or "
        "tf.nn.compute_average_loss(per_example_loss, global_batch_size=...)"
    ),
    Remedy.AVERAGE_WITHOUT_PADDING: (
        "tf.nn.compute_average_loss(per_example_loss), per_example_loss from a Keras loss with "
        "reduction='none' (in JAX code with spmd.average_loss(per_example_loss)), which leaves padding out"
    ),
    Remedy.BATCH_ROWS: (
        "tf.data.Dataset.from_tensor_slices(source).batch(global_batch_size), or "
        "spmd.distribute(source, mesh, batch_size=global_batch_size)"
    ),
    Remedy.BOUND_LOOP: (
        "a bound: tf.while_loop(..., maximum_iterations=100), in a Python loop "
        "tf.autograph.experimental.set_loop_options(maximum_iterations=100)"
    ),
    Remedy.COMBINE_VALUE: (
        "spmd.all_reduce(value, 'mean'), or strategy.reduce('MEAN', value, axis=None)"
    ),
    Remedy.COMBINE_WRITES: (
        "in the same way, or have the variable combine what replicas assign: "
        "tf.Variable(..., aggregation=tf.VariableAggregation.MEAN)"
    ),
    Remedy.CONTROL_FLOW: (
        "jnp.where, jax.lax.cond, while_loop and scan (in a TensorFlow script tf.where, tf.cond and tf.while_loop; "
        "tf.function and strategy.run rewrite Python's own, but not in comprehensions, in libraries, and in code "
        "whose source cannot be had)"
    ),
    Remedy.DISTRIBUTE: (
        "strategy.experimental_distribute_dataset(dataset), or spmd.distribute(data, mesh)"
    ),
    Remedy.JOIN_CLUSTER: "spmd.cluster.initialize(), or the line that makes the strategy: tf.distribute.MultiWorkerMirroredStrategy()",
    Remedy.LOAD_KERAS_FILE: "tf.keras.models.load_model('model.keras')",
    Remedy.MAKE_LOCAL_VARIABLE: "tf.Variable(...) in the scope of the strategy",
    Remedy.NAME_STATE: (
        "Pass it as an argument, to the tf.function and in it to strategy.run(fn, args=({name},)); in JAX code name it: "
        "spmd.Step(fn, mesh, state=[{name}])"
    ),
    Remedy.NEST_RECORDINGS: "with tf.GradientTape() as outer: with tf.GradientTape() as inner: ...",
    Remedy.PRINT_TRACED: "tf.print(x)",
    Remedy.REDUCE: "spmd.reduce({value}, 'sum'), or strategy.reduce('SUM', {value}, axis=None)",
    Remedy.RESTORE: (
        "tf.train.Checkpoint(model=model, optimizer=optimizer).restore(path) or nnx.update(model, saved)"
    ),
    Remedy.RUN_ON_REPLICAS: "strategy.run(fn, args=({value},)), or spmd.Step(fn, mesh)({value})",
    Remedy.SAVE_MODEL: "tf.saved_model.save(model, path)",
    Remedy.SCALE_PENALTY: (
        "tf.nn.scale_regularization_loss(penalty), or divide by the number of replicas"
    ),
    Remedy.SIMULATE_DEVICES: (
        'tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], '
        "[tf.config.LogicalDeviceConfiguration()] * {count}), or spmd.simulate_devices({count})"
    ),
    Remedy.SUM_GRADIENTS: (
        "gradients = spmd.all_reduce(gradients) before they are applied; in an Optax loop chain the sum in "
        "front, optax.chain(spmd.sum_over_replicas(), optax.adam(1e-3)); in a TensorFlow script write "
        "tf.distribute.get_replica_context().all_reduce('SUM', gradients)"
    ),
}


def register() -> None:
    """Registers the spellings."""
    for remedy, spelling in _SPELLINGS.items():
        register_remedy(remedy, spelling)
