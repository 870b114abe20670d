"""`Step` and `CrossReplicaStep`: Python functions that run as one compiled program on all replicas.

A *step* is called like its function. The first call with new shapes traces the function and compiles
a *program*; later calls with the same shapes dispatch it. Models, optimizers, metrics, random streams
and variables that the function closes over, or receives, are its *state*: they are read before the
program runs, and hold their new values after it.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar

from jax.sharding import Mesh

from spmd.errors import MeshError
from spmd.replica import current_frame
from spmd.step.options import StepOptions
from spmd.step.runner import StepRunner
from spmd.step.stages import Lowered, Traced
from spmd.step.trace import StepCode
from spmd.topology import num_replicas
from spmd.typing import PyTree, Stateful

P = ParamSpec("P")
R = TypeVar("R")


class _CompiledFunction(Generic[P, R]):
    """What both kinds of step share: the calls, and the stages of the program behind them."""

    __name__: str
    _runner: StepRunner

    def _set_up(
        self,
        code: StepCode,
        mesh: Mesh | None,
        state: Sequence[Stateful],
        options: StepOptions | None,
    ) -> None:
        """Gives the step the name and docstring of its function, and what runs it."""
        function = code.function
        vars(self).update(
            __wrapped__=function, __name__=code.name, __doc__=getattr(function, "__doc__", None)
        )
        self._runner = StepRunner(code, mesh, state, options)

    @property
    def mesh(self) -> Mesh:
        """The mesh; asking for it starts the backend."""
        return self._runner.mesh

    @property
    def num_replicas(self) -> int:
        """How many replicas run the step."""
        return num_replicas(self.mesh)

    @property
    def trace_count(self) -> int:
        """How many programs were traced."""
        return self._runner.programs.made

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Runs the step; does not wait for the devices.

        Across hosts, every process must call it, with the same shapes and in the same order. Inside
        another step that is being traced, becomes a part of that one's program. Several threads may call
        steps; those that share variables take turns.

        Args:
            *args: arguments of the function. A `PerReplica` is split over the replicas; any other
                array, a batch on the host too, goes whole to every replica: `spmd.distribute` it first.
            **kwargs: keyword arguments of the function, likewise.

        Returns:
            The function's result, see above.

        Raises:
            MeshError: inside another step, which runs on other devices.
            BatchError: a batch was split over another mesh, an argument does not fit into the types
                that JAX keeps, or the call stands inside `jax.jit` or another transformation.
            PaddedBatchError: a batch is padded, and the state or a result would count its padding.
            ReplicaContextError: the step runs in a replica of another step.
            ReplicaDivergenceError: a variable, or what is returned as one value, would differ between
                replicas.
            StateError: a variable was not found, changes its shape, or lost its value in a step that
                failed. On several devices such a failure shows only when a result is read, as
                `jax.errors.JaxRuntimeError`, and the state is lost likewise.
            StepOutputError: the function returned something that is no array.

        Examples:
            >>> import numpy as np, spmd
            >>> mesh = spmd.make_mesh(["cpu:0", "cpu:1"])
            >>> rows = np.ones((8, 3), np.float32)
            >>> (batch,) = spmd.distribute(rows, mesh, batch_size=8)
            >>> step = spmd.Step(lambda x, y: x.shape[0] * 10 + y.shape[0], mesh)
            >>> int(step(batch, rows))
            48
        """
        frame = current_frame()
        if frame is None:
            return self._runner.call(args, kwargs)
        mesh = self._runner.chosen_mesh
        if mesh is not None and mesh != frame.mesh:
            raise MeshError(
                f"The step {self.__name__!r} runs on {list(mesh.devices.flat)}, but was called in "
                f"a program for {list(frame.mesh.devices.flat)}. A program runs on one mesh: make the "
                "step for that one."
            )
        return self._runner.code.inline(frame, args, kwargs)

    def call_again(self, args: tuple[PyTree, ...]) -> Any:
        """Runs the step the short way, if the arguments are batches like those of the last call.

        Args:
            args: positional arguments.

        Returns:
            The step's result, or `NO_SHORTCUT`: then call the step.
        """
        return self._runner.call_again(args)

    def trace(self, *args: P.args, **kwargs: P.kwargs) -> Traced:
        """Traces and checks the step, without compiling or running it; a later call uses the trace.

        Args:
            *args: as for a call; `jax.ShapeDtypeStruct` may stand for whole arrays, and
                `spmd.input.abstract_batch` for batches.
            **kwargs: likewise.

        Returns:
            The program: look at its `jaxpr`, `collectives` and `state_names`, or `lower()` it.

        Raises:
            SpmdError: what a call would raise, before anything runs: `BatchError`,
                `ReplicaDivergenceError`, `StateError`, `StepOutputError`.

        Examples:
            >>> import jax, jax.numpy as jnp, spmd
            >>> weight = spmd.Variable(jnp.zeros(3), name="weight")
            >>> step = spmd.Step(lambda x: weight.value @ x, spmd.make_mesh(["cpu:0"]))
            >>> traced = step.trace(jax.ShapeDtypeStruct((3,), jnp.float32))
            >>> traced.state_names, step.trace_count
            (('weight',), 1)
            >>> compiled = traced.lower().compile()
            >>> float(step(jnp.ones(3))), step.trace_count
            (0.0, 1)

        Source: `jax.jit(f).trace`.
        """
        return Traced(self._runner, self._runner.prepare(args, kwargs))

    def lower(self, *args: P.args, **kwargs: P.kwargs) -> Lowered:
        """Traces, checks and lowers the step, without running it: `trace(...).lower()`.

        Args:
            *args: as for `trace`.
            **kwargs: likewise.

        Returns:
            The program before XLA's optimisations, to look at or to `compile()`.

        Raises:
            SpmdError: as for `trace`.
        """
        return self.trace(*args, **kwargs).lower()

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        call: Any = self
        return self if instance is None else functools.partial(call, instance)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.__name__}, programs={len(self._runner.programs)})"


class Step(_CompiledFunction[P, R]):
    """A function of one replica, compiled for all devices of a mesh.

    The function sees one replica's block of every `PerReplica` argument, and all of any other. A
    result that is equal on all replicas (proven, not guessed) comes back as one array, any other as a
    `PerReplica`.

    The function is called once for each program. If a result may have an entry for each row of a batch,
    it is called once more, for blocks of one row more: what gets longer does have, and its padding is
    left out when it is read.

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
        code = StepCode(function, _name(function), in_replicas=True, merges_results=merges)
        self._set_up(code, mesh, state, options)


class CrossReplicaStep(_CompiledFunction[P, R]):
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
    ) -> None:
        """Makes a step; nothing is traced or compiled yet.

        Args:
            function: what is done between the replicas.
            mesh: where it runs; None takes all devices of the default platform.
            state: objects with state that the function reaches by ways that cannot be searched.
            options: how it is compiled.

        Raises:
            TypeError: `function` cannot be called.
        """
        code = StepCode(function, _name(function), in_replicas=False, merges_results=False)
        self._set_up(code, mesh, state, options)


def _name(function: Callable[..., Any]) -> str:
    """Returns what messages call a step of this function."""
    if not callable(function):
        raise TypeError(
            f"A step is made of a function, but got {function!r} of type {type(function).__name__}."
        )
    name: str = getattr(function, "__name__", type(function).__name__)
    return name
