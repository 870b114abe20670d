"""Arguments by the names that TensorFlow 1 had for them: `keep_dims`, `reduction_indices`, `keep_prob`.

A function that does not know an argument raises TypeError before it does anything. Only then are the arguments renamed, so
that other calls cost nothing.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

# By the name of a parameter: what it was called.
_FORMER = {
    "axis": ("reduction_indices", "dimension", "dim", "squeeze_dims", "split_dim", "concat_dim"),
    "keepdims": ("keep_dims",),
    "filters": ("filter",),
    "input": ("value", "input_tensor"),
    "axes": ("axis", "reduction_indices"),
    "epsilon": ("eps",),
    "diagonal": ("diag",),
    "true_fn": ("fn1",),
    "false_fn": ("fn2",),
    "lengths": ("seq_lengths",),
    "seq_lengths": ("seq_length",),
    "seq_axis": ("seq_dim",),
    "batch_axis": ("batch_dim",),
}
# What had no effect on results.
_WITHOUT_EFFECT = {
    *("use_cudnn_on_gpu", "validate_indices", "partition_strategy", "_sentinel", "strict"),
    *("parallel_iterations", "swap_memory", "back_prop"),
}


def renamed(function: Callable[..., Any], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
    """Renames arguments of a call; returns None if there is nothing to rename.

    Args:
        function: what is called.
        kwargs: the arguments that are named.
    """
    known = inspect.signature(function).parameters
    given = dict(kwargs)
    for name in [name for name in given if name not in known]:
        if name == "keep_prob" and "rate" in known:
            kept = given.pop(name)
            given["rate"] = 0.0 if kept is None else 1 - kept
        elif name in _WITHOUT_EFFECT:
            del given[name]
        else:
            now = next((new for new, old in _FORMER.items() if name in old and new in known), None)
            if now is None or given.get(now) is not None:
                return None
            given[now] = given.pop(name)
    return None if given == kwargs else given
