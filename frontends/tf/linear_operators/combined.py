"""Operators that are made of others."""

import abc
import functools
import itertools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from frontends.tf._typing import TensorLike
from frontends.tf.linear_operators.operator import CLASSES, LinearOperator, adjoint_of, kept
from frontends.tf.ops.convert import convert_to_tensor


class _OfOne(LinearOperator):
    """An operator that is made of another one."""

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        """Takes the operator."""
        self._operator = operator
        given = is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        said: Any = zip(given, _said(operator), strict=True)
        super().__init__(*(own if one is None else one for one, own in said))

    @property
    def operator(self) -> LinearOperator:
        """The other one."""
        return self._operator

    def _dtype(self) -> np.dtype:
        return self._operator._dtype()


def _said(operator: LinearOperator) -> tuple[Any, ...]:
    return (
        *(operator.is_non_singular, operator.is_self_adjoint, operator.is_positive_definite),
        *(operator.is_square, None),
    )


class LinearOperatorAdjoint(_OfOne):
    """The adjoint of an operator.

    Examples:
        >>> from frontends import tf
        >>> operator = tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 5.0])
        >>> tf.linalg.LinearOperatorAdjoint(operator).to_dense().tolist()
        [[1.0, 2.0], [5.0, 1.0]]

    Source: `tf.linalg.LinearOperatorAdjoint`.
    """

    def _sizes(self) -> tuple[int, ...]:
        *batch, rows, columns = self._operator._sizes()
        return (*batch, columns, rows)

    def _dense(self) -> jax.Array:
        return adjoint_of(self._operator.to_dense())

    def _matmul(self, x: jax.Array, adjoint: bool) -> jax.Array:
        return self._operator.matmul(x, not adjoint)

    def _solve(self, rhs: jax.Array, adjoint: bool) -> jax.Array:
        return self._operator.solve(rhs, not adjoint)

    def _determinant(self) -> jax.Array:
        return jnp.conj(self._operator.determinant())

    def _log_abs_determinant(self) -> jax.Array:
        return self._operator.log_abs_determinant()

    def _adjoint(self) -> LinearOperator:
        return self._operator


class LinearOperatorInversion(_OfOne):
    """The inverse of an operator, which multiplies by solving.

    Examples:
        >>> from frontends import tf
        >>> operator = tf.linalg.LinearOperatorDiag([2.0, 4.0])
        >>> tf.linalg.LinearOperatorInversion(operator).matvec([1.0, 1.0]).tolist()
        [0.5, 0.25]

    Source: `tf.linalg.LinearOperatorInversion`.
    """

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        """Takes the operator."""
        known = is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        super().__init__(operator, *known)

    def _sizes(self) -> tuple[int, ...]:
        return self._operator._sizes()

    def _dense(self) -> jax.Array:
        return self._operator.solve(jnp.eye(self.domain_dimension, dtype=self._dtype()))

    def _matmul(self, x: jax.Array, adjoint: bool) -> jax.Array:
        return self._operator.solve(x, adjoint)

    def _solve(self, rhs: jax.Array, adjoint: bool) -> jax.Array:
        return self._operator.matmul(rhs, adjoint)

    def _determinant(self) -> jax.Array:
        return 1 / self._operator.determinant()

    def _log_abs_determinant(self) -> jax.Array:
        return -self._operator.log_abs_determinant()

    def _inverse(self) -> LinearOperator:
        return self._operator


class _OfSeveral(LinearOperator):
    """An operator that is made of several."""

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        """Takes the operators."""
        self._operators = list(operators)
        if not self._operators:
            raise ValueError("Expected a non-empty list of operators.")
        super().__init__(is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)
        if self.is_non_singular is None and all(one.is_non_singular for one in operators):
            self._non_singular = True

    @property
    def operators(self) -> list[LinearOperator]:
        """The operators."""
        return self._operators

    def _dtype(self) -> np.dtype:
        return self._operators[0]._dtype()

    def _batch(self) -> tuple[int, ...]:
        return jnp.broadcast_shapes(*(one._sizes()[:-2] for one in self._operators))

    def _powers(self) -> list[int]:
        """How often the determinant of each operator is a factor."""
        return [1] * len(self._operators)

    def _determinant(self) -> jax.Array:
        pairs = zip(self._operators, self._powers(), strict=True)
        return functools.reduce(jnp.multiply, [one.determinant() ** power for one, power in pairs])

    def _log_abs_determinant(self) -> jax.Array:
        pairs = zip(self._operators, self._powers(), strict=True)
        return functools.reduce(
            jnp.add, [one.log_abs_determinant() * power for one, power in pairs]
        )


class _OfParts(_OfSeveral):
    """An operator of which each of the others multiplies and solves a part."""

    @abc.abstractmethod
    def _each(self, x: jax.Array, name: str, adjoint: bool) -> jax.Array:
        """Has each operator multiply or solve (`name`) its part."""

    def _matmul(self, x: jax.Array, adjoint: bool) -> jax.Array:
        return self._each(x, "matmul", adjoint)

    def _solve(self, rhs: jax.Array, adjoint: bool) -> jax.Array:
        return self._each(rhs, "solve", adjoint)


class LinearOperatorComposition(_OfSeveral):
    """The product of operators: the last one is applied first.

    Examples:
        >>> from frontends import tf
        >>> scale = tf.linalg.LinearOperatorDiag([1.0, 10.0])
        >>> swap = tf.linalg.LinearOperatorPermutation([1, 0])
        >>> tf.linalg.LinearOperatorComposition([scale, swap]).matvec([3.0, 4.0]).tolist()
        [4.0, 30.0]

    Source: `tf.linalg.LinearOperatorComposition`.
    """

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        """Takes the operators; ValueError if their sizes do not fit."""
        known = is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        super().__init__(operators, *known)
        for left, right in itertools.pairwise(operators):
            if left.domain_dimension != right.range_dimension:
                raise ValueError(
                    f"Operators are not compatible: the shapes {left.shape} and {right.shape} cannot be multiplied."
                )

    def _sizes(self) -> tuple[int, ...]:
        first, last = self._operators[0], self._operators[-1]
        return (*self._batch(), first.range_dimension, last.domain_dimension)

    def _dense(self) -> jax.Array:
        return functools.reduce(jnp.matmul, [one.to_dense() for one in self._operators])

    def _matmul(self, x: jax.Array, adjoint: bool) -> jax.Array:
        for one in self._operators if adjoint else self._operators[::-1]:
            x = one.matmul(x, adjoint)
        return x

    def _solve(self, rhs: jax.Array, adjoint: bool) -> jax.Array:
        for one in self._operators[::-1] if adjoint else self._operators:
            rhs = one.solve(rhs, adjoint)
        return rhs


class LinearOperatorKronecker(_OfParts):
    """The Kronecker product of operators, which is never made to multiply or solve.

    Examples:
        >>> from frontends import tf
        >>> small = tf.linalg.LinearOperatorDiag([1.0, 10.0])
        >>> tf.linalg.LinearOperatorKronecker([small, small]).diag_part().tolist()
        [1.0, 10.0, 10.0, 100.0]

    Source: `tf.linalg.LinearOperatorKronecker`.
    """

    def _sizes(self) -> tuple[int, ...]:
        rows = int(np.prod([one.range_dimension for one in self._operators]))
        columns = int(np.prod([one.domain_dimension for one in self._operators]))
        return (*self._batch(), rows, columns)

    def _dense(self) -> jax.Array:
        def product(x: jax.Array, y: jax.Array) -> jax.Array:
            both = x[..., :, None, :, None] * y[..., None, :, None, :]
            rows, columns = x.shape[-2] * y.shape[-2], x.shape[-1] * y.shape[-1]
            return both.reshape(*both.shape[:-4], rows, columns)

        return functools.reduce(product, [one.to_dense() for one in self._operators])

    def _each(self, x: jax.Array, name: str, adjoint: bool) -> jax.Array:
        """Applies each operator along its own axis."""
        batch = jnp.broadcast_shapes(self._batch(), x.shape[:-2])
        x = jnp.broadcast_to(x, (*batch, *x.shape[-2:]))
        own = [one.range_dimension if adjoint else one.domain_dimension for one in self._operators]
        array, before = x.reshape(*batch, *own, x.shape[-1]), len(batch)
        for place, one in enumerate(self._operators):
            moved = jnp.moveaxis(array, before + place, before)
            found = getattr(one, name)(moved.reshape(*batch, moved.shape[before], -1), adjoint)
            shape = (*batch, found.shape[-2], *moved.shape[before + 1 :])
            array = jnp.moveaxis(found.reshape(shape), before, before + place)
        return array.reshape(*batch, -1, x.shape[-1])

    def _powers(self) -> list[int]:
        return [self.domain_dimension // one.domain_dimension for one in self._operators]


class LinearOperatorBlockDiag(_OfParts):
    """Operators along the diagonal, and zeros elsewhere.

    Examples:
        >>> from frontends import tf
        >>> parts = [tf.linalg.LinearOperatorIdentity(1), tf.linalg.LinearOperatorDiag([2.0, 3.0])]
        >>> tf.linalg.LinearOperatorBlockDiag(parts).matvec([1.0, 1.0, 1.0]).tolist()
        [1.0, 2.0, 3.0]

    Source: `tf.linalg.LinearOperatorBlockDiag`.
    """

    def _sizes(self) -> tuple[int, ...]:
        rows = sum(one.range_dimension for one in self._operators)
        columns = sum(one.domain_dimension for one in self._operators)
        return (*self._batch(), rows, columns)

    def _dense(self) -> jax.Array:
        matrix, row, column = jnp.zeros(self._sizes(), self._dtype()), 0, 0
        for one in self._operators:
            below, right = row + one.range_dimension, column + one.domain_dimension
            matrix = matrix.at[..., row:below, column:right].set(one.to_dense())
            row, column = below, right
        return matrix

    def _each(self, x: jax.Array, name: str, adjoint: bool) -> jax.Array:
        batch = jnp.broadcast_shapes(self._batch(), x.shape[:-2])
        taken = adjoint if name == "matmul" else not adjoint
        sizes = [one.range_dimension if taken else one.domain_dimension for one in self._operators]
        parts = jnp.split(x, np.cumsum(sizes)[:-1].tolist(), axis=-2)
        found = [
            getattr(one, name)(part, adjoint)
            for one, part in zip(self._operators, parts, strict=True)
        ]
        wide = [jnp.broadcast_to(one, (*batch, *one.shape[-2:])) for one in found]
        return jnp.concatenate(wide, -2)


class LinearOperatorLowRankUpdate(LinearOperator):
    """`L + U D V^H`, of an operator and few columns: solving uses the lemma of Woodbury.

    Examples:
        >>> from frontends import tf
        >>> base = tf.linalg.LinearOperatorIdentity(2)
        >>> operator = tf.linalg.LinearOperatorLowRankUpdate(base, [[1.0], [2.0]])
        >>> operator.to_dense().tolist()
        [[2.0, 2.0], [2.0, 5.0]]

    Source: `tf.linalg.LinearOperatorLowRankUpdate`.
    """

    def __init__(
        self,
        base_operator: LinearOperator,
        u: TensorLike,
        diag_update: TensorLike = None,
        v: TensorLike = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        """Takes the operator, `u` of shape `[..., rows, k]`, and a diagonal and `v` if they are not ones and `u`."""
        self._base_operator, self._u = base_operator, kept(u)
        self._v = self._u if v is None else kept(v)
        self._diag_update = None if diag_update is None else kept(diag_update)
        if v is None and is_self_adjoint is None:
            is_self_adjoint = base_operator.is_self_adjoint
        if v is None and base_operator.is_positive_definite and is_positive_definite is None:
            is_positive_definite = True if diag_update is None else is_diag_update_positive
        super().__init__(is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def base_operator(self) -> LinearOperator:
        """The operator."""
        return self._base_operator

    @property
    def u(self) -> Any:
        """The columns on the left; the variable, if they were given as one."""
        return self._u

    @property
    def v(self) -> Any:
        """The columns on the right; the variable, if they were given as one."""
        return self._v

    @property
    def diag_update(self) -> Any:
        """The diagonal between them, None if it was not given; the variable, if it was given as one."""
        return self._diag_update

    def _sides(self, adjoint: bool = False) -> tuple[jax.Array, jax.Array]:
        left, right = convert_to_tensor(self._u), convert_to_tensor(self._v)
        return (right, left) if adjoint else (left, right)

    def _middle(self, adjoint: bool = False) -> jax.Array:
        if self._diag_update is None:
            left = convert_to_tensor(self._u)
            return jnp.ones(left.shape[-1:], left.dtype)
        middle = convert_to_tensor(self._diag_update)
        return jnp.conj(middle) if adjoint else middle

    def _sizes(self) -> tuple[int, ...]:
        *batch, rows, columns = self._base_operator._sizes()
        common: Any = np.broadcast_shapes(tuple(batch), self._sides()[0].shape[:-2])
        return (*common, rows, columns)

    def _dtype(self) -> np.dtype:
        return self._base_operator._dtype()

    def _dense(self) -> jax.Array:
        left, right = self._sides()
        update = jnp.matmul(left * self._middle()[..., None, :], adjoint_of(right))
        return self._base_operator.to_dense() + update

    def _matmul(self, x: jax.Array, adjoint: bool) -> jax.Array:
        left, right = self._sides(adjoint)
        update = jnp.matmul(
            left, self._middle(adjoint)[..., None] * jnp.matmul(adjoint_of(right), x)
        )
        return self._base_operator.matmul(x, adjoint) + update

    def _capacitance(self, adjoint: bool = False) -> jax.Array:
        left, right = self._sides(adjoint)
        inner = jnp.matmul(adjoint_of(right), self._base_operator.solve(left, adjoint))
        return inner + (1 / self._middle(adjoint))[..., None] * jnp.eye(
            left.shape[-1], dtype=left.dtype
        )

    def _solve(self, rhs: jax.Array, adjoint: bool) -> jax.Array:
        left, right = self._sides(adjoint)
        first = self._base_operator.solve(rhs, adjoint)
        inner = jnp.matmul(adjoint_of(right), first)
        found = jnp.linalg.solve(self._capacitance(adjoint), inner)
        return first - self._base_operator.solve(jnp.matmul(left, found), adjoint)

    def _determinant(self) -> jax.Array:
        inner = jnp.linalg.det(self._capacitance())
        return inner * jnp.prod(self._middle(), -1) * self._base_operator.determinant()

    def _log_abs_determinant(self) -> jax.Array:
        inner = jnp.linalg.slogdet(self._capacitance())[1]
        middle = jnp.sum(jnp.log(jnp.abs(self._middle())), -1)
        return inner + middle + self._base_operator.log_abs_determinant()


CLASSES |= {
    "Adjoint": LinearOperatorAdjoint,
    "Composition": LinearOperatorComposition,
    "Inversion": LinearOperatorInversion,
}
