"""`tf.raw_ops`: the operations that scripts call by their names in graphs, with named arguments only."""

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any

import jax

from frontends.tf import _names
from frontends.tf._typing import TensorLike
from frontends.tf.image import projection, raw_suppression
from frontends.tf.ops import special
from frontends.tf.ops.convert import convert_to_tensor, named

# By operation: the function of `tf` that it is, and its arguments that have other names there.
_UNARY = (
    *("Abs", "Ceil", "Cos", "Erf", "Exp", "Floor", "Invert", "IsFinite", "IsInf", "IsNan", "Log"),
    *("LogicalNot", "Neg", "Reciprocal", "Round", "Rsqrt", "Sigmoid", "Sign", "Sin", "Sqrt"),
    *("Square", "Tanh"),
)
_BINARY = (
    *("Add", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "FloorDiv", "FloorMod", "Greater"),
    *("GreaterEqual", "LeftShift", "Less", "LessEqual", "LogicalAnd", "LogicalOr", "Maximum"),
    *("Minimum", "NotEqual", "Pow", "RightShift", "SquaredDifference", "TruncateDiv"),
    *("TruncateMod", "Xdivy", "Xlogy"),
)
_OTHER_NAMES = {
    "AddV2": "math.add",
    "BitwiseAnd": "bitwise.bitwise_and",
    "BitwiseOr": "bitwise.bitwise_or",
    "BitwiseXor": "bitwise.bitwise_xor",
    "FloorDiv": "math.floordiv",
    "FloorMod": "math.floormod",
    "Invert": "bitwise.invert",
    "IsFinite": "math.is_finite",
    "IsInf": "math.is_inf",
    "IsNan": "math.is_nan",
    "LeftShift": "bitwise.left_shift",
    "Mul": "math.multiply",
    "Neg": "math.negative",
    "RealDiv": "math.truediv",
    "RightShift": "bitwise.right_shift",
    "Sub": "math.subtract",
    "TruncateDiv": "truncatediv",
    "TruncateMod": "truncatemod",
}
_MORE: dict[str, tuple[str, Mapping[str, str]]] = {
    "AvgPool": ("nn.avg_pool2d", {"value": "input"}),
    "BatchMatMulV2": (
        "linalg.matmul",
        {"x": "a", "y": "b", "adj_x": "adjoint_a", "adj_y": "adjoint_b"},
    ),
    "BiasAdd": ("nn.bias_add", {}),
    "BroadcastTo": ("broadcast_to", {}),
    "Conv2D": ("nn.conv2d", {"filter": "filters"}),
    "Cumsum": ("math.cumsum", {}),
    "DepthToSpace": ("nn.depth_to_space", {}),
    "Elu": ("nn.elu", {}),
    "ExpandDims": ("expand_dims", {}),
    "Fill": ("fill", {}),
    "GatherNd": ("gather_nd", {}),
    "GatherV2": ("gather", {}),
    "L2Loss": ("nn.l2_loss", {}),
    "LeakyRelu": ("nn.leaky_relu", {}),
    "LogSoftmax": ("nn.log_softmax", {}),
    "MatMul": ("linalg.matmul", {}),
    "MatrixInverse": ("linalg.inv", {}),
    "MaxPool": ("nn.max_pool2d", {}),
    "Pad": ("pad", {"input": "tensor"}),
    "Relu": ("nn.relu", {}),
    "Relu6": ("nn.relu6", {}),
    "Reshape": ("reshape", {}),
    "ReverseV2": ("reverse", {}),
    "Roll": ("roll", {}),
    "Selu": ("nn.selu", {}),
    "Shape": ("shape", {}),
    "Softmax": ("nn.softmax", {}),
    "Softplus": ("nn.softplus", {}),
    "SpaceToDepth": ("nn.space_to_depth", {}),
    "Tile": ("tile", {}),
    "TopKV2": ("math.top_k", {}),
    "Transpose": ("transpose", {"x": "a"}),
    "ZerosLike": ("zeros_like", {"x": "input"}),
}
# Arguments that the functions of `tf` lack, and the only value of each that they stand for.
_FIXED: dict[str, Mapping[str, Any]] = {
    "BatchMatMulV2": {"grad_x": False, "grad_y": False},
    "Conv2D": {"explicit_paddings": []},
    "Equal": {"incompatible_shape_error": True},
    "GatherNd": {"bad_indices_policy": ""},
    "MatMul": {"grad_a": False, "grad_b": False},
    "MaxPool": {"explicit_paddings": []},
    "NotEqual": {"incompatible_shape_error": True},
}


def _operation(name: str, path: str, renamed: Mapping[str, str]) -> Callable[..., Any]:
    """Makes an operation of the function of `tf` at a path."""

    def call(**arguments: Any) -> Any:
        from frontends import tf

        if name == "Conv2D":  # the numbers are the same
            arguments.pop("use_cudnn_on_gpu", None)
        for key, only in _FIXED.get(name, {}).items():
            given = arguments.pop(key, only)
            if given != only and not (only == [] and len(given) == 0):
                raise ValueError(
                    f"tf.raw_ops.{name}: expected {key}={only!r}, got {given!r}.\nFix: leave {key} out"
                )
        function = operator.attrgetter(path)(tf)
        return function(**{renamed.get(key, key): value for key, value in arguments.items()})

    return named(name, f"As `tf.{path}`, with named arguments.", call)


def _bincount(
    *, arr: TensorLike, size: TensorLike, weights: TensorLike, name: str | None = None
) -> jax.Array:
    """Counts how often each number below `size` comes; as `tf.math.bincount`."""
    each = convert_to_tensor(weights)
    counted = each if each.size else None
    return special.bincount(arr, counted, minlength=size, maxlength=size, dtype=each.dtype)


def _snake(name: str) -> str:
    return "".join(f"_{one.lower()}" if one.isupper() else one for one in name).lstrip("_")


def _table() -> dict[str, Any]:
    simple = (*_UNARY, *_BINARY, *_OTHER_NAMES)
    paths = {name: _OTHER_NAMES.get(name, f"math.{_snake(name)}") for name in simple}
    return {
        **{name: _operation(name, path, {}) for name, path in paths.items()},
        **{name: _operation(name, *of) for name, of in _MORE.items()},
        **_names.defined_in(raw_suppression.__name__),
        "Bincount": _bincount,
        "ImageProjectiveTransformV2": functools.partial(
            projection.projective_transform, fill_value=0.0
        ),
        "ImageProjectiveTransformV3": projection.projective_transform,
    }


__getattr__, __dir__ = _names.attributes("tf.raw_ops", _table())
