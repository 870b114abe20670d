"""`tf.compat.v1.ConfigProto`: options of TensorFlow's runtime, which scripts fill and hand to a server."""

import dataclasses
from typing import ClassVar


class _Options:
    """Shows only what was set: logs hold it, and there are many fields."""

    __slots__ = ()

    def __repr__(self) -> str:
        unset = type(self)()
        names = [one.name for one in dataclasses.fields(self)]  # type: ignore[arg-type]
        shown = (
            f"{name}={getattr(self, name)!r}"
            for name in names
            if getattr(self, name) != getattr(unset, name)
        )
        return f"{type(self).__name__}({', '.join(shown)})"


@dataclasses.dataclass(slots=True, repr=False)
class GPUOptions(_Options):
    """Options for GPUs; without effect, for JAX has its own: XLA_PYTHON_CLIENT_MEM_FRACTION, CUDA_VISIBLE_DEVICES.

    Source: `tf.compat.v1.GPUOptions`.
    """

    per_process_gpu_memory_fraction: float = 0.0
    allow_growth: bool = False
    allocator_type: str = ""
    deferred_deletion_bytes: int = 0
    visible_device_list: str = ""
    polling_active_delay_usecs: int = 0
    polling_inactive_delay_msecs: int = 0
    force_gpu_compatible: bool = False


@dataclasses.dataclass(slots=True, repr=False)
class OptimizerOptions(_Options):
    """Options for TensorFlow's compiler; without effect, for XLA compiles every program.

    Source: `tf.compat.v1.OptimizerOptions`.
    """

    L1: ClassVar[int] = 0
    L0: ClassVar[int] = -1
    DEFAULT: ClassVar[int] = 0
    OFF: ClassVar[int] = -1
    ON_1: ClassVar[int] = 1
    ON_2: ClassVar[int] = 2

    do_common_subexpression_elimination: bool = False
    do_constant_folding: bool = False
    do_function_inlining: bool = False
    max_folded_constant_in_bytes: int = 0
    opt_level: int = 0
    global_jit_level: int = 0
    cpu_global_jit: bool = False


@dataclasses.dataclass(slots=True, repr=False)
class GraphOptions(_Options):
    """Options for TensorFlow's graphs; without effect.

    Source: `tf.compat.v1.GraphOptions`.
    """

    enable_recv_scheduling: bool = False
    optimizer_options: OptimizerOptions = dataclasses.field(default_factory=OptimizerOptions)
    build_cost_model: int = 0
    infer_shapes: bool = False
    place_pruned_graph: bool = False
    enable_bfloat16_sendrecv: bool = False
    timeline_step: int = 0
    rewrite_options: object = None


@dataclasses.dataclass(slots=True, repr=False)
class ConfigProto(_Options):
    """Options for servers and sessions; without effect, for XLA schedules programs, and there are no sessions.

    Source: `tf.compat.v1.ConfigProto`.
    """

    device_count: dict[str, int] = dataclasses.field(default_factory=dict[str, int])
    intra_op_parallelism_threads: int = 0
    inter_op_parallelism_threads: int = 0
    use_per_session_threads: bool = False
    session_inter_op_thread_pool: list[object] = dataclasses.field(default_factory=list[object])
    placement_period: int = 0
    device_filters: list[str] = dataclasses.field(default_factory=list[str])
    gpu_options: GPUOptions = dataclasses.field(default_factory=GPUOptions)
    allow_soft_placement: bool = False
    log_device_placement: bool = False
    graph_options: GraphOptions = dataclasses.field(default_factory=GraphOptions)
    operation_timeout_in_ms: int = 0
    isolate_session_state: bool = False
    share_cluster_devices_in_session: bool = False


@dataclasses.dataclass(slots=True, repr=False)
class RunOptions(_Options):
    """Options for one run of a session; without effect. Steps are traced by `tf.train.ProfilerHook`.

    Source: `tf.compat.v1.RunOptions`.
    """

    NO_TRACE: ClassVar[int] = 0
    SOFTWARE_TRACE: ClassVar[int] = 1
    HARDWARE_TRACE: ClassVar[int] = 2
    FULL_TRACE: ClassVar[int] = 3

    trace_level: int = 0
    timeout_in_ms: int = 0
    inter_op_thread_pool: int = 0
    output_partition_graphs: bool = False
    debug_options: object = None
    report_tensor_allocations_upon_oom: bool = False


@dataclasses.dataclass(slots=True, repr=False)
class RunMetadata(_Options):
    """What a run of a session tells of itself; it stays empty, for there are none.

    Source: `tf.compat.v1.RunMetadata`.
    """

    step_stats: object = None
    cost_graph: object = None
    partition_graphs: list[object] = dataclasses.field(default_factory=list[object])
    function_graphs: list[object] = dataclasses.field(default_factory=list[object])
