"""`tf.experimental.numpy`: NumPy's functions on arrays of different types."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import NONE, Case, Setting, f32, scenario
from tests.golden.scenarios.texts import table

GROUP = "numpys"
_X = f32([[1.5, -2.0, 0.25], [4.0, 0.5, -1.0]])
_I = np.array([[3, 7, 2], [5, 1, 4]], np.int32)


@scenario("numpys.each", GROUP, NONE)
def each(s: Setting) -> Iterator[Case]:
    n = s.tf.experimental.numpy
    unary = (
        *("abs", "absolute", "arctan", "arcsinh", "cbrt", "ceil", "conj", "cos", "cosh", "deg2rad"),
        *("exp", "exp2", "expm1", "fabs", "fix", "floor", "imag", "isfinite", "isnan"),
        *("negative", "positive", "rad2deg", "real", "reciprocal", "sign", "signbit", "sin"),
        *("sinc", "sinh", "square", "tan", "tanh", "sum", "mean", "std", "var", "max", "min"),
        *("amax", "amin", "prod", "argmax", "argmin", "cumsum", "cumprod", "ravel", "flatten"),
        *("transpose", "fliplr", "flipud", "rot90", "tril", "triu", "diag", "trace", "ptp"),
        *("nansum", "nanmean", "count_nonzero", "sort", "argsort", "ndim", "size"),
        *("atleast_3d", "copy", "ones_like", "zeros_like", "diff"),
    )
    binary = (
        *("add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "mod", "power"),
        *("maximum", "minimum", "greater", "less_equal", "equal", "not_equal", "arctan2"),
        *("hypot", "logaddexp", "heaviside", "inner", "kron", "outer", "allclose", "isclose"),
        *("array_equal", "remainder", "float_power"),
    )
    for name in unary:
        yield name, lambda name=name: getattr(n, name)(_X)
    for name in ("sum", "mean", "cumsum", "argmax", "sort", "negative", "square"):
        yield f"{name}/int", lambda name=name: getattr(n, name)(_I)
    for name in binary:
        yield name, lambda name=name: getattr(n, name)(_X, _X[::-1])
    for name in ("gcd", "lcm", "bitwise_and", "bitwise_or", "bitwise_xor", "floor_divide", "add"):
        yield f"{name}/int", lambda name=name: getattr(n, name)(_I, _I[::-1])


@scenario("numpys.others", GROUP, NONE)
def others(s: Setting) -> Iterator[Case]:
    tf, n = s.tf, s.tf.experimental.numpy
    variable = tf.Variable(_X)
    rows: dict[str, Any] = {
        "arange": lambda: n.arange(2, 9, 3),
        "array": lambda: n.array([[1.0, 2.0]]),
        "array/dtype": lambda: n.array([1, 2], dtype=n.float32),
        "asarray/variable": lambda: n.asarray(variable),
        "average": lambda: n.average(_X, axis=0),
        "broadcast_to": lambda: n.broadcast_to(_X[0], [2, 3]),
        "clip": lambda: n.clip(_X, -1.0, 1.0),
        "concatenate": lambda: n.concatenate([_X, _X], axis=1),
        "cross": lambda: n.cross(_X, _X[::-1]),
        "diagflat": lambda: n.diagflat([1, 2], 1),
        "divmod": lambda: n.divmod(_I, 3),
        "dot": lambda: n.dot(_X, _X.T),
        "dstack": lambda: n.dstack([_X, _X]),
        "einsum": lambda: n.einsum("ij,kj->ik", _X, _X),
        "empty": lambda: list(n.empty([2, 3]).shape),
        "expand_dims": lambda: n.expand_dims(_X, 1),
        "eye": lambda: n.eye(2, 3, k=1),
        "finfo": lambda: float(n.finfo(n.float32).max),
        "flip": lambda: n.flip(_X, 1),
        "full": lambda: n.full([2], 7),
        "full_like": lambda: n.full_like(_I, 2),
        "geomspace": lambda: n.geomspace(1.0, 8.0, 4),
        "hsplit": lambda: n.hsplit(_I, [1]),
        "hstack": lambda: n.hstack([[1], [2]]),
        "identity": lambda: n.identity(2),
        "iinfo": lambda: int(n.iinfo(n.int32).max),
        "isscalar": lambda: n.isscalar(3.0),
        "ix_": lambda: n.ix_([0, 1], [2]),
        "linspace": lambda: n.linspace(0.0, 1.0, 5),
        "logspace": lambda: n.logspace(0.0, 2.0, 3),
        "matmul": lambda: n.matmul(_X, _X.T),
        "matmul/variable": lambda: n.matmul(variable, _X.T),
        "mean/variable": lambda: n.mean(variable, axis=1, keepdims=True),
        "mean/list": lambda: n.mean([1.0, 2.0, 6.0]),
        "meshgrid": lambda: n.meshgrid([1, 2], [3, 4, 5]),
        "moveaxis": lambda: n.moveaxis(_X, 0, 1),
        "nonzero": lambda: list(n.nonzero(_X)),
        "shape": lambda: list(n.shape(_X)),
        "ones": lambda: n.ones([2], dtype=n.int32),
        "pad": lambda: n.pad(_I, [[1, 0], [0, 1]], "constant"),
        "polyval": lambda: n.polyval([1.0, 2.0], 3.0),
        "repeat": lambda: n.repeat(_I, 2, axis=1),
        "reshape": lambda: n.reshape(_X, [3, -1]),
        "roll": lambda: n.roll(_X, 1, axis=1),
        "select": lambda: n.select([_I > 4, _I > 2], [_I, -_I], 0),
        "split": lambda: n.split(_I, 3, axis=1),
        "squeeze": lambda: n.squeeze(_X[:1]),
        "stack": lambda: n.stack([_X, _X], axis=1),
        "swapaxes": lambda: n.swapaxes(_X, 0, 1),
        "take": lambda: n.take(_X, [0, 2], axis=1),
        "take_along_axis": lambda: n.take_along_axis(_X, np.array([[0], [2]]), axis=1),
        "tensordot": lambda: n.tensordot(_X, _X.T, 1),
        "tile": lambda: n.tile(_I, [1, 2]),
        "tri": lambda: n.tri(2, 3),
        "vander": lambda: n.vander([1, 2, 3]),
        "vdot": lambda: n.vdot(_X, _X),
        "vstack": lambda: n.vstack([_X, _X]),
        "where": lambda: n.where(_X > 0, _X, 0.0),
        "zeros": lambda: n.zeros([2, 2]),
        "pi": lambda: [n.pi, n.e, n.inf],
        "behavior": lambda: n.experimental_enable_numpy_behavior(),
        "promote": lambda: n.add(n.ones([1], n.int32), n.ones([1], n.float32)),
        "ndarray": lambda: isinstance(n.ones([1]), n.ndarray),
        "function": lambda: tf.function(lambda x: n.sum(n.square(x), axis=0))(_X),
    }
    yield from table(rows)
