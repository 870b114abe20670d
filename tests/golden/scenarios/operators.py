"""`tf.linalg.LinearOperator` and its classes: what they multiply, solve and compute."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, f32, scenario

GROUP = "operators"
_M = f32([[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 2.0]])
_B = f32([[1.0, 2.0], [0.5, -1.0], [-2.0, 3.0]])
_SURE = {"is_self_adjoint": True, "is_positive_definite": True}


def _operators(tf: Any) -> dict[str, Callable[[], Any]]:
    linalg = tf.linalg
    full, diag = linalg.LinearOperatorFullMatrix, linalg.LinearOperatorDiag
    lower = linalg.LinearOperatorLowerTriangular
    two = f32([[2.0, 1.0], [0.5, 3.0]])
    u = f32([[1.0], [2.0], [-1.0]])
    return {
        "FullMatrix": lambda: full(_M),
        "FullMatrix/sure": lambda: full(_M, **_SURE),
        "FullMatrix/wide": lambda: full(_B.T),
        "FullMatrix/batch": lambda: full(np.stack([_M, 2 * _M])),
        "Diag": lambda: diag(f32([1.0, -2.0, 4.0])),
        "Diag/positive": lambda: diag(f32([1.0, 2.0, 4.0]), is_positive_definite=True),
        "Diag/batch": lambda: diag(f32([[1.0, -2.0, 4.0], [1.0, 3.0, 2.0]])),
        "Identity": lambda: linalg.LinearOperatorIdentity(3),
        "ScaledIdentity": lambda: linalg.LinearOperatorScaledIdentity(3, multiplier=2.5),
        "Zeros": lambda: linalg.LinearOperatorZeros(3),
        "LowerTriangular": lambda: lower(_M),
        "Circulant": lambda: linalg.LinearOperatorCirculant(
            np.asarray([6.0, 4 + 1j, 4 - 1j], np.complex64), input_output_dtype=tf.float32
        ),
        "Toeplitz": lambda: linalg.LinearOperatorToeplitz(
            f32([4.0, 1.0, 0.5]), f32([4.0, -1.0, 2.0])
        ),
        "Householder": lambda: linalg.LinearOperatorHouseholder(f32([1.0, 2.0, -1.0])),
        "Permutation": lambda: linalg.LinearOperatorPermutation([2, 0, 1]),
        "BlockDiag": lambda: linalg.LinearOperatorBlockDiag([full(two), diag(f32([3.0]))]),
        "Kronecker/two": lambda: linalg.LinearOperatorKronecker([full(two), lower(two)]),
        "Composition": lambda: linalg.LinearOperatorComposition([full(_M), lower(_M)]),
        "Adjoint": lambda: linalg.LinearOperatorAdjoint(lower(_M)),
        "Inversion": lambda: linalg.LinearOperatorInversion(full(_M)),
        "LowRankUpdate": lambda: linalg.LinearOperatorLowRankUpdate(
            diag(f32([1.0, 2.0, 4.0]), is_positive_definite=True), u
        ),
        "LowRankUpdate/v": lambda: linalg.LinearOperatorLowRankUpdate(
            full(_M), u, diag_update=f32([0.5]), v=f32([[0.5], [1.0], [2.0]])
        ),
    }


@scenario("operators.numbers", GROUP, NONE)
def numbers(s: Setting) -> Iterator[Case]:
    tf = s.tf
    calls: dict[str, Callable[[Any, Any], Any]] = {
        "dense": lambda o, b: o.to_dense(),
        "matmul": lambda o, b: o.matmul(b),
        "matmul/adjoint": lambda o, b: o.matmul(b, adjoint=True),
        "matvec": lambda o, b: o.matvec(b[:, 0]),
        "solve": lambda o, b: o.solve(b),
        "solve/adjoint": lambda o, b: o.solve(b, adjoint=True),
        "determinant": lambda o, b: o.determinant(),
        "log_abs_determinant": lambda o, b: o.log_abs_determinant(),
        "trace": lambda o, b: o.trace(),
        "diag_part": lambda o, b: o.diag_part(),
        "adjoint": lambda o, b: o.adjoint().to_dense(),
        "inverse": lambda o, b: o.inverse().to_dense(),
        "product": lambda o, b: o.matmul(o).to_dense(),
        "shape": lambda o, b: [
            *(o.shape.as_list(), o.batch_shape.as_list(), int(o.domain_dimension)),
            *(int(o.range_dimension), int(o.tensor_rank), o.dtype.name),
        ],
    }
    for kind, make in _operators(tf).items():
        rows = 4 if kind == "Kronecker/two" else 2 if kind.endswith("wide") else 3
        b = tf.constant(np.concatenate([_B, _B[:1] + 1])[:rows])
        skipped = {
            "Zeros": ("solve", "inverse", "log_abs"),
            "FullMatrix/wide": (
                "matmul",
                "matvec",
                "product",
                "log_abs",
                "solve",
                "determinant",
                "inverse",
            ),
        }
        for name, call in calls.items():
            if not name.startswith(skipped.get(kind, ("none",))):
                yield f"{kind}/{name}", lambda call=call, make=make, b=b: call(make(), b)


@scenario("operators.checks", GROUP, NONE)
def checks(s: Setting) -> Iterator[Case]:
    made = _operators(s.tf)
    for kind in ("FullMatrix/sure", "Diag/positive", "Identity"):
        make = made[kind]
        yield f"{kind}/cholesky", lambda make=make: make().cholesky().to_dense()
        yield f"{kind}/eigvals", lambda make=make: make().eigvals()
    for kind in ("FullMatrix/sure", "FullMatrix", "Diag", "LowRankUpdate"):
        yield f"{kind}/cond", lambda make=made[kind]: make().cond()
    yield "FullMatrix/cholesky", lambda: made["FullMatrix"]().cholesky()
    yield "FullMatrix/eigvals", lambda: made["FullMatrix"]().eigvals()
    yield "wide/determinant", lambda: made["FullMatrix/wide"]().determinant()
    yield "wide/solve", lambda: made["FullMatrix/wide"]().solve(f32([[1.0], [2.0]]))
    yield "fit", lambda: made["FullMatrix"]().matmul(f32([[1.0], [2.0]]))
    full = s.tf.linalg.LinearOperatorFullMatrix
    yield "self_adjoint", lambda: full(_M).assert_self_adjoint()
    yield "self_adjoint/no", lambda: full(np.triu(_M)).assert_self_adjoint()
    yield "non_singular", lambda: full(_M).assert_non_singular()
    yield "non_singular/no", lambda: full(np.ones([2, 2], np.float32)).assert_non_singular()
    yield "positive", lambda: full(_M, is_self_adjoint=True).assert_positive_definite()
    yield "positive/no", lambda: full(-_M, is_self_adjoint=True).assert_positive_definite()
    yield (
        "kinds",
        lambda: [
            type(one).__name__
            for one in (
                made["Diag/positive"]().inverse(),
                made["Diag/positive"]().cholesky(),
                made["FullMatrix/sure"]().cholesky(),
                made["FullMatrix"]().adjoint(),
                made["FullMatrix"]().inverse(),
                made["Diag"]().H,
            )
        ],
    )


@scenario("operators.circulant", GROUP, NONE)
def circulant(s: Setting) -> Iterator[Case]:
    tf = s.tf
    spectrum = f32([3.0, 1.0, 2.0])
    for name, dtype in (("real", tf.float32), ("complex", tf.complex64)):

        def make(dtype: Any = dtype) -> Any:
            return tf.linalg.LinearOperatorCirculant(spectrum, dtype, is_positive_definite=True)

        yield f"{name}/eigvals", lambda make=make: make().eigvals()
        yield f"{name}/cholesky", lambda make=make: make().cholesky().to_dense()
        yield f"{name}/cond", lambda make=make: make().cond()
        yield f"{name}/adjoint", lambda make=make: make().adjoint().to_dense()
        yield (
            f"{name}/known",
            lambda make=make: [
                [one.is_non_singular, one.is_self_adjoint, one.is_positive_definite]
                for one in (make(), make().inverse(), make().adjoint(), make().matmul(make()))
            ],
        )
    of_complex = spectrum.astype(np.complex64)
    yield "complex/unsaid", lambda: tf.linalg.LinearOperatorCirculant(of_complex).eigvals()
    yield (
        "real/no",
        lambda: tf.linalg.LinearOperatorCirculant(spectrum, is_self_adjoint=False),
    )


@scenario("operators.variables", GROUP, NONE)
def variables(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def trained(make: Callable[[Any], Any], values: Any) -> list[Any]:
        variable = tf.Variable(values)
        operator = make(variable)

        @tf.function
        def step() -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(operator.matvec([1.0, 3.0, 2.0]) ** 2)
                loss += tf.reduce_sum(operator.solvevec([1.0, 4.0, 0.5]))
            slope = tape.gradient(loss, variable)
            variable.assign_sub(0.01 * slope)
            return loss, slope

        return [*step(), *step(), operator.to_dense(), len(operator.trainable_variables)]

    linalg = s.tf.linalg
    yield "Diag", lambda: trained(linalg.LinearOperatorDiag, f32([1.0, -2.0, 4.0]))
    yield "FullMatrix", lambda: trained(linalg.LinearOperatorFullMatrix, _M)
    yield "LowerTriangular", lambda: trained(linalg.LinearOperatorLowerTriangular, _M)
    yield "Householder", lambda: trained(linalg.LinearOperatorHouseholder, f32([1.0, 2.0, -1.0]))


@scenario("operators.dispatch", GROUP, NONE)
def dispatch(s: Setting) -> Iterator[Case]:
    tf, linalg = s.tf, s.tf.linalg
    full = linalg.LinearOperatorFullMatrix(_B.T @ _B + np.triu(_M[:2, :2]))
    sure = linalg.LinearOperatorFullMatrix(_M, **_SURE)
    b = tf.constant(_B)
    yield "matmul", lambda: tf.matmul(sure, b)
    yield "matmul/adjoint", lambda: tf.matmul(full, b, adjoint_a=True, adjoint_b=True)
    yield "matmul/left", lambda: tf.matmul(b, full)
    yield "matmul/left/adjoint", lambda: tf.matmul(_B.T, full, adjoint_a=True, adjoint_b=True)
    yield "matmul/both", lambda: tf.matmul(full, full, adjoint_b=True).to_dense()
    yield "at", lambda: full @ tf.transpose(b)
    yield "at/left", lambda: b @ full
    yield "matvec", lambda: linalg.matvec(full, [1.0, 2.0], adjoint_a=True)
    yield "solve", lambda: linalg.solve(full, tf.transpose(b), adjoint=True)
    yield "inv", lambda: linalg.inv(full, adjoint=True).to_dense()
    yield "adjoint", lambda: linalg.adjoint(full).to_dense()
    yield "cholesky", lambda: linalg.cholesky(sure).to_dense()
    yield "det", lambda: linalg.det(full)
    yield "diag_part", lambda: linalg.diag_part(full)
    yield "trace", lambda: linalg.trace(full)
    yield "logdet", lambda: linalg.logdet(sure)
    yield "logdet/unsaid", lambda: linalg.logdet(full)
    yield "matmul/transpose", lambda: tf.matmul(full, b, transpose_a=True)
    yield "solve/left", lambda: linalg.solve(b, full)
    yield "transpose", lambda: tf.transpose(full)
    yield "v1", lambda: [tf.compat.v1.matrix_determinant(full), tf.compat.v1.trace(full)]


@scenario("operators.infinite", GROUP, NONE)
def infinite(s: Setting) -> Iterator[Case]:
    diag = s.tf.linalg.LinearOperatorDiag
    yield "dense", lambda: diag(f32([np.inf, 1.0])).to_dense()
    yield "inverse", lambda: diag(f32([0.0, 1.0])).inverse().to_dense()
    blocks = s.tf.linalg.LinearOperatorBlockDiag
    yield "blocks", lambda: blocks([diag(f32([np.inf])), diag(f32([1.0]))]).to_dense()
