"""Results of the host whose shape the script has not said yet."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from frontends.tf._typing import ShapeLike
from frontends.tf.data.tracing import run_as_python
from spmd.replica import ArrayLike


class HostCall:
    """A call of the host that is made once the shapes of all its results are known."""

    def __init__(
        self,
        caller: str,
        call: Callable[[Sequence[jax.ShapeDtypeStruct]], Sequence[Any]],
        shapes: Sequence[tuple[int, ...] | None],
        dtypes: Sequence[np.dtype],
    ) -> None:
        """Keeps what to call."""
        self.caller, self.dtypes = caller, list(dtypes)
        self.shapes: list[tuple[int, ...] | None] = list(shapes)
        self._call = call
        self._found: list[Any] | None = None

    def run_as_python(self) -> None:
        """Ends the trace of a function that can run as Python instead."""
        run_as_python(
            f"It needs the shape of what {self.caller} returns. Say it right after the call: y = tf.ensure_shape(y, "
            "[2, 3]), or y.set_shape([2, 3])."
        )

    def results(self) -> list[Any]:
        """Makes the call, if that was not done yet.

        Raises:
            ShapeUnknownDuringTrace: a shape is not known, and the function can run as Python.
            ValueError: a shape is not known in a replica.
        """
        if self._found is None:
            known = [
                jax.ShapeDtypeStruct(shape, dtype)
                for shape, dtype in zip(self.shapes, self.dtypes, strict=True)
                if shape is not None
            ]
            if len(known) < len(self.shapes):
                self.run_as_python()
                dtype = self.dtypes[self.shapes.index(None)]
                raise ValueError(
                    f"{self.caller} in a program needs the shape of what it returns, because XLA's arrays have "
                    "fixed sizes. Say it right after the call: y = tf.ensure_shape(y, [2, 3]), or "
                    f"y.set_shape([2, 3]); or before it: Tout=tf.TensorSpec([2, 3], tf.{dtype})."
                )
            self._found = list(self._call(known))
        return self._found


class ShapelessResult(ArrayLike):
    """A result of a host call: an array as soon as its shape is said."""

    def __init__(self, call: HostCall, index: int) -> None:
        """Stands for one of the results."""
        self._call, self._index = call, index

    def set_shape(self, shape: ShapeLike) -> None:
        """Says the shape.

        Raises:
            ValueError: a size in it is not known, or it is another one than was said before.
        """
        said = None if shape is None else tuple(shape)
        if said is None or None in said:
            self._call.run_as_python()
            raise ValueError(
                f"{self._call.caller} in a program needs the whole shape of what it returns, but got {shape}. "
                "Take sizes from another array: y.set_shape(x.shape)."
            )
        before = self._call.shapes[self._index]
        if before is not None and before != said:
            raise ValueError(f"The shape is {before} already, and cannot become {said}.")
        self._call.shapes[self._index] = tuple(map(int, said))
        if None not in self._call.shapes:
            self._call.results()  # now, while the tape records that is open

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape.

        Raises:
            ValueError: it was not said.
        """
        return self.__jax_array__().shape

    @property
    def dtype(self) -> np.dtype:
        """Type of the elements."""
        return self._call.dtypes[self._index]

    def __jax_array__(self) -> Any:
        return self._call.results()[self._index]

    def __getitem__(self, index: Any) -> Any:
        return self.__jax_array__()[index]
