"""`tf.data.Options`: settings that travel with a dataset.

The engine reads `experimental_distribute.auto_shard_policy`. The others are TensorFlow's own
runtime's; they are accepted without effect, so that a script need not change.
"""

import dataclasses
import enum
from typing import Any


class AutoShardPolicy(enum.IntEnum):
    """How a dataset is divided among the workers of a multi-worker strategy.

    Source: ``tf.data.experimental.AutoShardPolicy``.
    """

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


# slots: an option that TensorFlow does not have, misspelt say, raises AttributeError.
@dataclasses.dataclass(slots=True)
class DistributeOptions:
    """What happens to a dataset that is distributed.

    Args:
        auto_shard_policy: How it is divided among workers.
        num_devices: Accepted; the strategy knows.

    Source: ``tf.data.experimental.DistributeOptions``.
    """

    auto_shard_policy: AutoShardPolicy | None = None
    num_devices: int | None = None


@dataclasses.dataclass(slots=True)
class ThreadingOptions:
    """TensorFlow's thread pool; accepted and ignored.

    Source: ``tf.data.ThreadingOptions``.
    """

    max_intra_op_parallelism: int | None = None
    private_threadpool_size: int | None = None


@dataclasses.dataclass(slots=True)
class AutotuneOptions:
    """TensorFlow's autotuner; accepted and ignored.

    Source: ``tf.data.experimental.AutotuneOptions``.
    """

    autotune_algorithm: Any = None
    cpu_budget: int | None = None
    enabled: bool | None = None
    initial_parallelism: int | None = None
    min_parallelism: int | None = None
    ram_budget: int | None = None


@dataclasses.dataclass(slots=True)
class OptimizationOptions:
    """TensorFlow's graph rewrites; accepted and ignored.

    Source: ``tf.data.experimental.OptimizationOptions``.
    """

    apply_default_optimizations: bool | None = None
    filter_fusion: bool | None = None
    filter_parallelization: bool | None = None
    inject_prefetch: bool | None = None
    map_and_batch_fusion: bool | None = None
    map_and_filter_fusion: bool | None = None
    map_fusion: bool | None = None
    map_parallelization: bool | None = None
    noop_elimination: bool | None = None
    parallel_batch: bool | None = None
    seq_interleave_prefetch: bool | None = None
    shuffle_and_repeat_fusion: bool | None = None


@dataclasses.dataclass(slots=True)
class Options:
    """Settings of a dataset, given to it with `Dataset.with_options`.

    Args:
        autotune: See `AutotuneOptions`.
        dataset_name: Ignored.
        deterministic: Ignored: the order never depends on timing.
        experimental_deterministic: The old name of `deterministic`.
        experimental_distribute: See `DistributeOptions`.
        experimental_external_state_policy: Ignored.
        experimental_optimization: See `OptimizationOptions`.
        experimental_slack: Ignored.
        experimental_symbolic_checkpoint: Ignored.
        experimental_threading: The old name of `threading`.
        experimental_warm_start: Ignored.
        framework_type: Ignored.
        threading: See `ThreadingOptions`.

    Raises:
        AttributeError: On setting an option that does not exist.

    Examples:
        >>> from frontends.tf.data import Dataset, Options, experimental
        >>> options = Options()
        >>> options.experimental_distribute.auto_shard_policy = experimental.AutoShardPolicy.OFF
        >>> dataset = Dataset.range(4).with_options(options).batch(2)
        >>> dataset.options().experimental_distribute.auto_shard_policy.name
        'OFF'

    Source: ``tf.data.Options``.
    """

    autotune: AutotuneOptions = dataclasses.field(default_factory=AutotuneOptions)
    dataset_name: str | None = None
    deterministic: bool | None = None
    experimental_deterministic: bool | None = None
    experimental_distribute: DistributeOptions = dataclasses.field(
        default_factory=DistributeOptions
    )
    experimental_external_state_policy: Any = None
    experimental_optimization: OptimizationOptions = dataclasses.field(
        default_factory=OptimizationOptions
    )
    experimental_slack: bool | None = None
    experimental_symbolic_checkpoint: bool | None = None
    experimental_threading: ThreadingOptions = dataclasses.field(default_factory=ThreadingOptions)
    experimental_warm_start: bool | None = None
    framework_type: Any = None
    threading: ThreadingOptions = dataclasses.field(default_factory=ThreadingOptions)

    def merge(self, options: "Options") -> "Options":
        """Returns new options: these, except where `options` has one that is set.

        Args:
            options: The options that win.

        Returns:
            Options of its own.

        Raises:
            TypeError: `options` is not an `Options`.

        Examples:
            >>> from frontends.tf.data import Options
            >>> Options(deterministic=True).merge(Options(dataset_name="train")).deterministic
            True

        Source: ``tf.data.Options.merge``.
        """
        if not isinstance(options, Options):
            raise TypeError(
                f"with_options: expected a tf.data.Options, got {options!r} "
                f"({type(options).__name__}).\nFix: options = tf.data.Options()"
            )
        return _merged(self, options)


def _merged(base: Any, winner: Any) -> Any:
    """Merges two dataclasses of options, the nested ones too."""
    values = {}
    for field in dataclasses.fields(base):
        old, new = getattr(base, field.name), getattr(winner, field.name)
        values[field.name] = (
            _merged(old, new) if dataclasses.is_dataclass(old) else old if new is None else new
        )
    return type(base)(**values)
