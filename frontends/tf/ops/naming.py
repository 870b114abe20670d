"""Names of the operations of a model function: those that it gives them, or else TensorFlow's."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from frontends.tf.graph import Graph
from frontends.tf.ops.name_scope import in_name_scope

# What TensorFlow calls an operation without a name, where that is not its function's name in capitals.
_DEFAULTS = {
    **{"add_n": "AddN", "argmax": "ArgMax", "argmin": "ArgMin", "bias_add": "BiasAdd"},
    **{"batch_normalization": "batchnorm", "boolean_mask": "boolean_mask", "concat": "concat"},
    **{"clip_by_norm": "clip_by_norm", "clip_by_value": "clip_by_value", "constant": "Const"},
    **{"conv2d": "Conv2D", "divide": "truediv", "dropout": "dropout", "gather": "GatherV2"},
    **{"embedding_lookup": "embedding_lookup", "in_top_k": "InTopKV2", "l2_loss": "L2Loss"},
    **{"l2_normalize": "l2_normalize", "matmul": "MatMul", "max_pool": "MaxPool"},
    **{"avg_pool": "AvgPool", "moments": "moments", "multiply": "Mul", "one_hot": "one_hot"},
    **{"ones": "ones", "ones_like": "ones_like", "range": "range", "reduce_all": "All"},
    **{"reduce_any": "Any", "reduce_max": "Max", "reduce_mean": "Mean", "reduce_min": "Min"},
    **{"reduce_prod": "Prod", "reduce_sum": "Sum", "split": "split", "stack": "stack"},
    **{"subtract": "Sub", "top_k": "TopKV2", "transpose": "transpose", "unstack": "unstack"},
    **{"where": "SelectV2", "zeros": "zeros", "zeros_like": "zeros_like"},
    "sigmoid_cross_entropy_with_logits": "logistic_loss",
    "softmax_cross_entropy_with_logits": "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits": "SparseSoftmaxCrossEntropyWithLogits",
}


class Naming:
    """How the operations of a function are named."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        """Finds out where a function takes a name.

        Args:
            name: TensorFlow's name of it, such as `"tf.nn.softmax"`.
            function: what computes it.
        """
        short = name.rpartition(".")[2]
        self._default = _DEFAULTS.get(short) or "".join(map(str.capitalize, short.split("_")))
        parameters = list(inspect.signature(function).parameters)
        self._position = parameters.index("name") if "name" in parameters else None

    def note(
        self, graph: Graph, made: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        """Notes in a graph what a call has made."""
        if self._position is None:
            return
        name = args[self._position] if len(args) > self._position else kwargs.get("name")
        given = isinstance(name, str)
        if not given and any(made is one for one in (*args, *kwargs.values())):
            return  # nothing was made
        graph.note(made, in_name_scope(name if given else self._default), is_given=given)
