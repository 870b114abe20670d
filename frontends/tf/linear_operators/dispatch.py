"""Functions of `tf.linalg` on operators: those that TensorFlow has for them, such as `tf.matmul` and `tf.linalg.solve`."""

from collections.abc import Callable
from typing import Any

from frontends.tf._typing import TensorLike
from frontends.tf.linear_operators.operator import LinearOperator


def on_operators(name: str, function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Calls a function on an operator.

    Args:
        name: the last part of TensorFlow's name.
        function: what works on arrays; its own name is the same under all of TensorFlow's.
        arguments: by name.

    Returns:
        The result; NotImplemented for functions that have no meaning for operators.

    Raises:
        ValueError: `tf.matmul` is to transpose, `tf.linalg.solve` has an operator on the right only, or the operator of
            `tf.linalg.logdet` is not specified as self-adjoint and positive definite.
    """
    call = _FUNCTIONS.get(function.__name__)
    return NotImplemented if call is None else call(**arguments)


def _matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Any:
    if transpose_a or transpose_b:
        raise ValueError(
            "tf.matmul: operators cannot be transposed: expected transpose_a=False and transpose_b=False, got True. Write "
            "adjoint_a=True or adjoint_b=True; for real numbers it is the same."
        )
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint_a, adjoint_b)
    return b._multiply_left(a, adjoint_b, adjoint_a)


def _matvec(
    a: Any,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    name: str | None = None,
) -> Any:
    if not isinstance(a, LinearOperator):
        return NotImplemented  # the vector is no operator
    if transpose_a:
        raise ValueError(
            "tf.linalg.matvec: operators cannot be transposed: expected transpose_a=False, got True. Write adjoint_a=True; "
            "for real numbers it is the same."
        )
    return a.matvec(b, adjoint_a)


def _solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    if not isinstance(matrix, LinearOperator):
        raise ValueError(
            "tf.linalg.solve: expected an operator as `matrix`, since `rhs` is one, got an array. Make one of it: "
            "tf.linalg.LinearOperatorFullMatrix(matrix)."
        )
    return matrix.solve(rhs, adjoint)


def _inv(input: LinearOperator, adjoint: bool = False, name: str | None = None) -> LinearOperator:
    inverse = input.inverse()
    return inverse.adjoint() if adjoint else inverse


def _logdet(matrix: LinearOperator, name: str | None = None) -> Any:
    if not (matrix.is_positive_definite and matrix.is_self_adjoint):
        raise ValueError(
            "tf.linalg.logdet: Expected matrix to be self-adjoint positive definite. If it is, say so: "
            "is_self_adjoint=True, is_positive_definite=True."
        )
    return matrix.log_abs_determinant()


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "adjoint": lambda matrix, name=None: matrix.adjoint(),
    "cholesky": lambda input, name=None: input.cholesky(),
    "det": lambda input, name=None: input.determinant(),
    "diag_part": lambda input, name=None: input.diag_part(),
    "inv": _inv,
    "logdet": _logdet,
    "matmul": _matmul,
    "matvec": _matvec,
    "solve": _solve,
    "trace": lambda x, name=None: x.trace(),
}
