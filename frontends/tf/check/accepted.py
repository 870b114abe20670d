"""Options of TensorFlow that are accepted as a whole and change nothing, and why."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Accepted:
    """An option.

    Attributes:
        names: those that take it.
        because: why it changes nothing.
        parameters: those that do; empty if the whole name does nothing.
        but: parameters that count.
        text: how the documentation writes it, where it does not list names and parameters.
    """

    names: tuple[str, ...]
    because: str
    parameters: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    text: str = ""

    def __str__(self) -> str:
        """The option as the documentation writes it."""
        parameters = ", ".join(f"{each}=" for each in self.parameters)
        return self.text or ", ".join(
            f"`{name}({parameters})`" if parameters else f"`{name}`" for name in self.names
        )


ACCEPTED = (
    Accepted(
        ("tf.function",),
        "programs are always compiled, for the shapes that come",
        (
            *("jit_compile", "experimental_compile", "experimental_relax_shapes"),
            *("experimental_implements", "experimental_autograph_options"),
            *("experimental_attributes", "experimental_follow_type_hints"),
        ),
        text="`tf.function(jit_compile=, experimental_...)`",
    ),
    Accepted(("tf.distribute.RunOptions",), "batches of any size are padded and masked"),
    Accepted(
        ("tf.distribute.InputOptions",),
        "batches are always placed on the devices ahead of use",
        but=("experimental_replication_mode",),
        text="`tf.distribute.InputOptions`, all but `experimental_replication_mode`",
    ),
    Accepted(
        ("tf.distribute.experimental.CommunicationOptions",),
        "XLA takes NCCL on GPUs and gloo on processors",
        ("implementation",),
    ),
    Accepted(
        ("tf.distribute.NcclAllReduce", "tf.distribute.ReductionToOneDevice"),
        "XLA chooses the algorithm",
        text="`tf.distribute.CrossDeviceOps`, all but `HierarchicalCopyAllReduce`",
    ),
    Accepted(
        ("tf.saved_model.SaveOptions", "tf.saved_model.LoadOptions"),
        "there is one way of saving and loading",
    ),
    Accepted(
        ("tf.train.CheckpointOptions",),
        "each process writes files of its own",
        ("experimental_io_device", "experimental_sharding_callback"),
    ),
    Accepted(
        (),
        "they steer TensorFlow's runtime",
        text="`tf.data.Options`, all but `experimental_distribute.auto_shard_policy`",
    ),
    Accepted(
        ("tf.config.LogicalDeviceConfiguration",),
        "JAX's devices have none",
        ("experimental_priority", "experimental_device_ordinal"),
    ),
    Accepted(
        ("tf.config.optimizer.set_jit", "tf.config.optimizer.set_experimental_options"),
        "XLA compiles and optimizes every program",
    ),
    Accepted(
        ("tf.config.threading.set_inter_op_parallelism_threads",),
        "XLA schedules the operations of a program",
    ),
    Accepted(("tf.config.experimental.set_synchronous_execution",), "reading a value waits for it"),
    Accepted(("tf.config.experimental.set_device_policy",), "operands on other devices are copied"),
    Accepted(
        (
            "tf.config.experimental.enable_mlir_bridge",
            "tf.config.experimental.disable_mlir_bridge",
        ),
        "programs are MLIR always",
        text="`tf.config.experimental.enable_mlir_bridge`, `disable_mlir_bridge`",
    ),
    Accepted((), "the strategy says where it runs", text="`tf.device` in a program"),
    Accepted(("tf.xla.experimental.jit_scope",), "XLA compiles every program"),
    Accepted(
        ("tf.profiler.experimental.ProfilerOptions",),
        "a trace begins when it is started",
        ("delay_ms",),
    ),
)
