"""`tf.GradientTape`: gradients of code that has run, eagerly or in a compiled step."""

import contextlib
import enum
import itertools
import math
import warnings
from collections.abc import Generator
from typing import Any

import jax
import jax.numpy as jnp

from frontends.tf._typing import Nested, TensorLike, VariableLike
from frontends.tf.distribute.variable_parts import whole_sources
from frontends.tf.gradient_sources import (
    LEAF,
    Sources,
    conjugates,
    is_below_plain,
    is_plain,
    is_variable,
    known_variables,
    leaves_of,
    value_of,
    weights_of,
)
from frontends.tf.ops.shapeless import ShapelessResult
from frontends.tf.selected import Selected, SelectionError, weights_of_entries
from spmd.recording import Recording
from spmd.replica import current_frame, is_per_replica


class UnconnectedGradients(enum.Enum):
    """The gradient of a source that the target does not depend on.

    Source: `tf.UnconnectedGradients`.
    """

    NONE = "none"
    ZERO = "zero"


class GradientTape:
    """Records operations, to compute gradients afterwards.

    In a replica the gradient is the replica's own, as in TensorFlow: an optimizer sums it over the
    replicas. The forward pass is computed once, with what its gradient needs.

    With respect to a complex array it is the conjugate of what `jax.grad` gives, and points uphill.

    A variable is one source: what was computed before an assignment, or before a step moved or changed it,
    counts like what was computed after.

    Examples:
        >>> import jax.numpy as jnp
        >>> x = jnp.float32(3.0)
        >>> with GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> float(tape.gradient(y, x))
        6.0

    Source: `tf.GradientTape`.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        """Makes a tape; it records inside of its `with` block.

        Args:
            persistent: whether gradients may be asked for more than once.
            watch_accessed_variables: whether variables are sources without being watched.
        """
        self._persistent = persistent
        self._watch_variables = watch_accessed_variables
        self._recording = Recording()
        self._watched: list[Any] = []
        self._open: contextlib.ExitStack | None = None
        self._used = False

    def __enter__(self) -> "GradientTape":
        if self._open is not None:
            raise ValueError("Tape is already recording. Use another tf.GradientTape inside of it.")
        self._open = contextlib.ExitStack()
        self._open.enter_context(self._recording.recording())
        return self

    def __exit__(self, *exception: object) -> None:
        if self._open is not None:
            stack, self._open = self._open, None
            stack.close()

    def watch(self, tensor: Nested) -> None:
        """Makes arrays sources of gradients; variables are sources anyway.

        Args:
            tensor: array, variable, or nested structure of them.

        Raises:
            ValueError: a leaf is neither an array nor a variable.
        """
        for leaf in leaves_of(tensor):
            if not isinstance(leaf, jax.Array) and not is_variable(leaf):
                raise ValueError(
                    f"Passed in object {leaf!r} of type {type(leaf).__name__}, which is not an array. "
                    "Make it one, and use that in the computation: x = tf.constant(...)."
                )
            if not jnp.issubdtype(value_of(leaf).dtype, jnp.inexact):
                warnings.warn(
                    f"The watched array is of type {value_of(leaf).dtype}; only floating-point ones have "
                    "gradients. Make it one: tf.cast(x, tf.float32).",
                    stacklevel=2,
                )
            self._watched.append(leaf)

    @contextlib.contextmanager
    def stop_recording(self) -> Generator[None]:
        """Runs a `with` block unrecorded: no gradient goes through what it computes.

        Raises:
            ValueError: the tape is not recording.
        """
        if self._open is None:
            raise ValueError("Tape is not recording. Call stop_recording inside of its with block.")
        with self._recording.paused():
            yield

    def reset(self) -> None:
        """Forgets everything recorded so far, and what was watched."""
        self._recording.forget()
        self._watched.clear()
        self._used = False

    def watched_variables(self) -> tuple[Any, ...]:
        """Lists the variables that are sources: those that were watched, and the trainable ones that were read.

        They come in the order in which they were first read, and in a step those of the step are looked through.
        Eagerly all objects of the process are, which takes a tenth of a second.

        Returns:
            The variables, of any library.
        """
        watched = [leaf for leaf in self._watched if is_variable(leaf)]
        uses = self._recording.first_uses()

        def first_use(variable: VariableLike) -> int | None:
            values = [value_of(variable), *self._recording.former(variable)]
            return min((uses[id(one)] for one in values if id(one) in uses), default=None)

        def is_source(variable: VariableLike) -> bool:
            inexact = jnp.issubdtype(value_of(variable).dtype, jnp.inexact)
            return inexact and getattr(variable, "trainable", True)

        read = filter(is_source, known_variables()) if self._watch_variables else ()
        found = {id(one): one for one in (*watched, *read)}.values()
        places = {id(one): first_use(one) for one in found}
        wanted = [
            one
            for one in found
            if places[id(one)] is not None or any(one is each for each in watched)
        ]
        return tuple(
            sorted(wanted, key=lambda one: (places[id(one)] is None, places[id(one)] or 0))
        )

    def gradient(
        self,
        target: Nested,
        sources: Nested,
        output_gradients: Nested = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """Computes the gradient of the sum of a target's elements.

        Args:
            target: array, or nested structure of arrays that are added up.
            sources: arrays or variables, in any nested structure, such as `nnx.state(model, nnx.Param)`.
            output_gradients: weights of the target's elements, in the target's structure; None means
                ones.
            unconnected_gradients: what stands for the gradient of a source that the target does not
                depend on: None, or zeros.

        Returns:
            Arrays in the structure of `sources`. Of an array or a variable of which only rows were looked up, a
            `tf.IndexedSlices` of these rows.

        Raises:
            RuntimeError: the tape was used before and is not persistent.
            TypeError: the target is no array.
            SelectionError: there are weights of what a mask took in a program; `tf.reduce_sum(weights * target)` has none.
        """
        zero = _is_zero(unconnected_gradients)
        targets = [
            leaf.__jax_array__() if isinstance(leaf, ShapelessResult) else value_of(leaf)
            for leaf in leaves_of(target)
        ]
        of_masks = any(isinstance(each, Selected) for each in targets)
        if of_masks and output_gradients is not None:
            raise SelectionError("output_gradients")
        weights = None if output_gradients is None else weights_of(targets, output_gradients)
        if of_masks:
            weights = [
                weights_of_entries(each) if isinstance(each, Selected) else jnp.ones_like(each)
                for each in targets
            ]
            targets = [
                each.marked.array if isinstance(each, Selected) else each for each in targets
            ]
        for each in targets:
            if not isinstance(each, jax.Array):
                raise TypeError(
                    f"The target of a gradient is an array, but got {each!r} of type "
                    f"{type(each).__name__}. Compute it from arrays inside of the tape."
                )
        # An integer has no gradient; TensorFlow leaves it out as well.
        kept = [jnp.issubdtype(each.dtype, jnp.inexact) for each in targets]
        targets = list(itertools.compress(targets, kept))
        weights = weights and list(itertools.compress(weights, kept))
        sources, of_parts = whole_sources(sources)
        found = self._sources(sources)
        with self._use() as recording:
            gradients = recording.gradient(
                targets, found.arrays(), weights and conjugates(weights), by_rows=True
            )
        gradients = found.collect(gradients)
        return of_parts(
            found.rebuild(
                [
                    jnp.zeros_like(value) if gradient is None and zero else gradient
                    for value, gradient in zip(found.values, gradients, strict=True)
                ]
            )
        )

    def jacobian(
        self,
        target: Nested,
        sources: Nested,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Computes the derivative of every element of a target by every element of the sources.

        Args:
            target: array.
            sources: as for `gradient`.
            unconnected_gradients: as for `gradient`.

        Returns:
            For each source, an array of shape `target.shape + source.shape`, in the structure of
            `sources`.

        Raises:
            RuntimeError: the tape was used before and is not persistent.
        """
        zero = _is_zero(unconnected_gradients)
        target, found = value_of(target), self._sources(sources)
        basis = jnp.eye(target.size, dtype=target.dtype).reshape(-1, *target.shape)
        rows = self._derivatives(target, found, basis)
        shapes = [target.shape + value.shape for value in found.values]
        return found.rebuild(
            [
                (jnp.zeros(shape, target.dtype) if zero else None)
                if row is None
                else row.reshape(shape)
                for row, shape in zip(rows, shapes, strict=True)
            ]
        )

    def batch_jacobian(
        self,
        target: Nested,
        source: Nested,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Computes the Jacobian of every row of a batch by the same row of the source.

        Args:
            target: array of shape `(rows, ...)`; each row depends on the same row of `source` only.
            source: array of shape `(rows, ...)`.
            unconnected_gradients: as for `gradient`.

        Returns:
            Array of shape `(rows,) + target.shape[1:] + source.shape[1:]`.

        Raises:
            ValueError: target and source differ in their number of rows.
            RuntimeError: the tape was used before and is not persistent.
        """
        target, found = value_of(target), self._sources(source)
        shapes = target.shape, found.values[0].shape
        if not (shapes[0] and shapes[1] and shapes[0][0] == shapes[1][0]):
            raise ValueError(
                "batch_jacobian needs a target with as many rows as the source, but got shapes "
                f"{shapes[0]} and {shapes[1]}."
            )
        zero = _is_zero(unconnected_gradients)
        shape = target.shape + shapes[1][1:]
        size = math.prod(target.shape[1:])
        basis = jnp.eye(size, dtype=target.dtype).reshape(size, 1, *target.shape[1:])
        weights = jnp.broadcast_to(basis, (size, *target.shape))
        (columns,) = self._derivatives(target, found, weights)
        if columns is None:
            return jnp.zeros(shape, target.dtype) if zero else None
        return jnp.moveaxis(columns, 0, 1).reshape(shape)

    def _derivatives(self, target: jax.Array, found: Sources, weights: jax.Array) -> list[Any]:
        """Differentiates by each source, once for each of several weights of the target's elements."""
        with self._use() as recording:
            rows = recording.gradients(target, found.arrays(), weights)
        return found.collect(rows)

    def keep_out(self, sources: Nested, gradients: Nested) -> None:
        """Refuses to differentiate gradients that a tape around this one computed; not a name of TensorFlow.

        Args:
            sources: arrays or variables.
            gradients: by them.
        """
        self._recording.keep_out(
            [value_of(leaf) for leaf in leaves_of(sources)], jax.tree.leaves(gradients)
        )

    @contextlib.contextmanager
    def _use(self) -> Generator[Recording]:
        """Uses the recording for one set of gradients; a tape that is not persistent allows only one."""
        if self._used and not self._persistent:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or "
                "jacobians). Make it tf.GradientTape(persistent=True), or ask for all at once: "
                "tape.gradient(loss, [a, b])."
            )
        self._used = True
        try:
            yield self._recording
        finally:
            if not self._persistent:
                self._recording.forget()

    def _sources(self, tree: Nested) -> Sources:
        """Flattens sources; in a structure of another library (`nnx.State`) all arrays are sources."""
        outer, structure = jax.tree.flatten(tree, is_leaf=is_below_plain)
        found = Sources([], [], [], structure, [], [])
        for leaf in outer:
            if is_variable(leaf) or isinstance(leaf, jax.Array):
                values, inner = [value_of(leaf)], LEAF
                connected = self._is_source(leaf)
            else:
                values, inner = jax.tree.flatten(leaf, is_leaf=is_per_replica)
                connected = self._watch_variables
            found.inner.append(inner)
            if connected and is_variable(leaf):
                here = len(found.values)
                former = (value for value in self._recording.former(leaf) if value is not values[0])
                found.former += [(here, value) for value in former]
            found.by_rows += [inner is LEAF and is_plain(leaf)] * len(values)
            found.values.extend(values)
            found.connected.extend(values if connected else [None] * len(values))
        return found

    def _is_source(self, leaf: TensorLike) -> bool:
        if any(leaf is watched for watched in self._watched):
            return True
        if is_variable(leaf):
            return self._watch_variables and getattr(leaf, "trainable", True)
        return self._recording.computed(leaf)


def _is_zero(unconnected_gradients: UnconnectedGradients | str) -> bool:
    frame = current_frame()
    # Variables that are being made have no value that a target could depend on.
    building = frame is not None and frame.building
    return building or UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
