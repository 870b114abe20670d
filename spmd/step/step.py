"""`Step` and `CrossReplicaStep`: Python functions that run as one compiled program on all replicas.

A *step* is called like its function. The first call with new shapes traces the function and compiles
a *program*; later calls with the same shapes dispatch it. Models, optimizers, metrics, random streams
and variables that the function closes over, or receives, are its *state*: they are read before the
program runs, and hold their new values after it.
"""

from collections.abc import Callable, Sequence

from jax.sharding import Mesh

from spmd.step.options import StepOptions
from spmd.step.runner import P, R, StepRunner
from spmd.step.trace import OnMade
from spmd.typing import Stateful


class Step(StepRunner[P, R]):
    """A function of one replica, compiled for all devices of a mesh.

    The function sees one replica's block of every `PerReplica` argument, and all of any other. A
    result that is equal on all replicas (proven, not guessed) comes back as one array, any other as a
    `PerReplica`.

    The function is called once for each program. If a result may have an entry for each row of a batch,
    it is called once more, for blocks of one row more: what gets longer does have, and its padding is
    left out when it is read. When the first padded batch comes, it is called again, to see whether it
    counts the rows of a block. If padding would change a result, another program is made, for the rows
    that each replica has; `explain` tells which one ran.

    Examples:
        >>> import numpy as np, spmd
        >>> mesh = spmd.make_mesh(["cpu"])
        >>> step = spmd.Step(lambda x: spmd.all_reduce(x.sum()), mesh)
        >>> for batch in spmd.distribute(np.ones((8, 3), np.float32), mesh, batch_size=8):
        ...     print(float(step(batch)))
        24.0

    Source: `tf.distribute.Strategy.run`, `tf.function`.
    """

    def __init__(
        self,
        function: Callable[P, R],
        mesh: Mesh | None = None,
        *,
        state: Sequence[Stateful] = (),
        options: StepOptions | None = None,
        keep_per_replica: bool = False,
    ) -> None:
        """Makes a step; nothing is traced or compiled yet.

        Args:
            function: what one replica does.
            mesh: where it runs; None takes all devices of the default platform.
            state: objects with state that the function reaches by ways that cannot be searched.
            options: how it is compiled.
            keep_per_replica: return every result as a `PerReplica`, also where it is equal on all
                replicas.

        Raises:
            TypeError: `function` cannot be called.
        """
        merges = not keep_per_replica
        super().__init__(function, mesh, state, options, in_replicas=True, merges_results=merges)


class CrossReplicaStep(StepRunner[P, R]):
    """A function between the replicas, compiled with all the parts of it that replicas run.

    The function sees a `PerReplica` argument as a whole, and calls `spmd.run` for what each replica does,
    `spmd.reduce` and `spmd.gather` for what comes of it. All of that becomes one program.

    Examples:
        >>> import numpy as np, spmd
        >>> mesh = spmd.make_mesh(["cpu"])
        >>> def mean_of_squares(batch):
        ...     return spmd.reduce(spmd.run(lambda x: x * x, batch), "mean", axis=0)
        >>> step = spmd.step.CrossReplicaStep(mean_of_squares, mesh)
        >>> (batch,) = spmd.distribute(np.arange(4.0, dtype=np.float32), mesh, batch_size=4)
        >>> float(step(batch))
        3.5

    Source: `tf.function` around `tf.distribute.Strategy.run`.
    """

    def __init__(
        self,
        function: Callable[P, R],
        mesh: Mesh | None = None,
        *,
        state: Sequence[Stateful] = (),
        options: StepOptions | None = None,
        on_made: OnMade | None = None,
    ) -> None:
        """Makes a step; nothing is traced or compiled yet.

        Args:
            function: what is done between the replicas.
            mesh: where it runs; None takes all devices of the default platform.
            state: objects with state that the function reaches by ways that cannot be searched.
            options: how it is compiled.
            on_made: called when a trace has made variables, with them, and with whether each call would make
                them, because the function does not keep them. An error that it raises is the call's.

        Raises:
            TypeError: `function` cannot be called.
        """
        super().__init__(
            function, mesh, state, options, in_replicas=False, merges_results=False, on_made=on_made
        )
