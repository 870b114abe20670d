"""Exceptions of the engine, and the remedies that their messages suggest.

Each exception is also a built-in, so `except ValueError` keeps working. Every message says what was
expected, what was found, where that came from, and the line that fixes it. The engine spells that line
with its own names and JAX's; a front end registers its spelling with `register_remedy`.
"""

import enum
from collections.abc import Sequence


class SpmdError(Exception):
    """Base class of all errors that jaxtribute raises on purpose."""


class MeshError(SpmdError, ValueError):
    """Devices that do not exist, cannot be combined, or were asked for too late."""


class StateError(SpmdError, RuntimeError):
    """State that a step uses in a way that would be lost or go stale."""


class ReplicaDivergenceError(SpmdError, RuntimeError):
    """A mirrored variable would leave the step with different values on different replicas."""


class ReplicaContextError(SpmdError, RuntimeError):
    """A call that belongs inside a step was made outside one, or the other way round."""


class PaddedBatchError(SpmdError, ValueError):
    """A padded batch reached a step whose result would count the padding rows.

    Attributes:
        reason: where padding would count, as a part of a sentence.
        suspected: whether padding may count, and need not.
    """

    def __init__(
        self, message: str, reason: str = "padding would count", suspected: bool = False
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.suspected = suspected


class StepOutputError(SpmdError, TypeError):
    """A step returned a value that is not an array."""


class ControlFlowError(SpmdError, TypeError):
    """A branch or loop that a traced value decides does something else each time, or has no gradient."""


class RecordedGradientError(SpmdError, RuntimeError):
    """A recording was asked to differentiate a gradient that was computed while it recorded."""


class BatchError(SpmdError, ValueError):
    """A batch that is missing, or whose structure or shape cannot be split over replicas."""


class ProcessMismatchError(SpmdError, RuntimeError):
    """Processes that must run the same program run different ones, or hold different values."""


class ClusterConfigError(SpmdError, ValueError):
    """An invalid description of a cluster, such as TF_CONFIG.

    Attributes:
        key: the offending key, such as `"cluster.worker[1]"`; empty for the whole description.
    """

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(message)
        self.key = key


class DamagedFileError(SpmdError, ValueError):
    """A file of data that is truncated, or whose content is not what its checksums say.

    Attributes:
        path: the file.
        offset: where in it, once decompressed, what is damaged begins.
    """

    def __init__(self, message: str, path: str = "", offset: int = 0) -> None:
        super().__init__(message)
        self.path, self.offset = path, offset


class ClusterStartError(SpmdError, RuntimeError):
    """Processes of a cluster did not find each other, or disagree about the cluster.

    Attributes:
        missing: the tasks that are missing, such as `("worker 1",)`.
        retryable: whether restarting this process may help; a wrong list of addresses stays wrong.
    """

    def __init__(
        self, message: str, *, missing: Sequence[str] = (), retryable: bool = False
    ) -> None:
        super().__init__(message)
        self.missing = tuple(missing)
        self.retryable = retryable


class ClusterWaitError(SpmdError, TimeoutError):
    """A task did not make a call in time that the others wait in.

    Attributes:
        missing: the tasks that did not make it, such as `("worker 1",)`.
    """

    def __init__(self, message: str, *, missing: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.missing = tuple(missing)


class StoreKeyError(SpmdError, ValueError):
    """A key of the cluster's store was used before."""


class UnavailableError(SpmdError, ConnectionError, RuntimeError):
    """What is asked for does not run, or can no longer be reached."""

    @property
    def loss(self) -> str:
        """What is unavailable and why, without what a program can do about it."""
        return str(self)


class ExportError(SpmdError, ValueError):
    """A program cannot be written to disk, or a directory holds no readable one."""


class LaunchError(SpmdError, ValueError):
    """`jaxtribute launch` was asked for a job that cannot be started or written."""


class PlanError(SpmdError, RuntimeError):
    """A step cannot be planned: no such hardware, a compiler that is missing, a script without a step."""


class TraceAbandoned(BaseException):
    """A front end gives up tracing a function as it is, to run it in another way.

    Not an Exception: code of the function's, such as a loop until the end of the data, must not catch it.
    """


class RecompilationWarning(UserWarning):
    """A step keeps being compiled again because its inputs keep changing."""


@enum.unique
class Remedy(enum.Enum):
    """Code that an error suggests; the value is the engine's spelling, with fields for `spelled`.

    Examples:
        >>> Remedy.SIMULATE_DEVICES.value.format(count=2)
        'spmd.simulate_devices(2)'
    """

    AVERAGE_LOSS = "spmd.average_loss(per_example_loss)"
    AVERAGE_WITHOUT_PADDING = (
        "spmd.average_loss(per_example_loss), which leaves padding out (Keras losses give per_example_loss "
        "with reduction='none')"
    )
    BATCH_ROWS = "spmd.distribute(source, mesh, batch_size=global_batch_size)"
    BOUND_LOOP = "a bound: spmd.step.while_loop(test, body, carry, bound=100)"
    COMBINE_VALUE = "spmd.all_reduce(value, 'mean')"
    COMBINE_WRITES = "in the same way"
    CONTROL_FLOW = "jnp.where, jax.lax.cond, while_loop and scan"
    DISTRIBUTE = "spmd.distribute(data, mesh)"
    JOIN_CLUSTER = "spmd.cluster.initialize()"
    LOAD_KERAS_FILE = "keras.saving.load_model('model.keras')"
    MAKE_LOCAL_VARIABLE = "spmd.Variable(values, kind='local') with one value for each replica"
    NAME_STATE = "Pass it as an argument, or name it: spmd.Step(fn, mesh, state=[{name}])"
    NEST_RECORDINGS = "with outer.recording(): with inner.recording(): ..."
    PRINT_TRACED = "jax.debug.print('{{}}', x)"
    REDUCE = "spmd.reduce({value}, 'sum')"
    RESTORE = "nnx.update(model, saved)"
    RUN_ON_REPLICAS = "spmd.Step(fn, mesh)({value})"
    SAVE_MODEL = "spmd.export.save(path, ...)"
    SCALE_PENALTY = "divide it by the number of replicas"
    SIMULATE_DEVICES = "spmd.simulate_devices({count})"
    SUM_GRADIENTS = (
        "gradients = spmd.all_reduce(gradients) before they are applied; in an Optax loop chain the sum in "
        "front, optax.chain(spmd.sum_over_replicas(), optax.adam(1e-3))"
    )

    def spelled(self, **fields: object) -> str:
        """Returns the spelling of the front end that registered one last, else the engine's.

        Args:
            fields: values of the spelling's fields.
        """
        return _spellings.get(self, self.value).format(**fields)


_spellings: dict[Remedy, str] = {}


def register_remedy(remedy: Remedy, spelling: str) -> None:
    """Has errors suggest a remedy in a front end's words from now on.

    Args:
        remedy: what is suggested.
        spelling: the text, with the same fields as the engine's. It should keep the engine's spelling beside its
            own, since the same process may run code that is written in either.
    """
    _spellings[remedy] = spelling


def some_of(names: Sequence[object], limit: int = 4) -> str:
    """Lists names for a message, as many as a person reads.

    Examples:
        >>> some_of(["a", "b", "c"], 2)
        'a, b and 1 more'
    """
    more = len(names) - limit
    return ", ".join(map(str, names[:limit])) + (f" and {more} more" if more > 0 else "")
