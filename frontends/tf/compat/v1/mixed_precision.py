"""`tf.compat.v1.mixed_precision`: the scale of a loss, for scripts that had TensorFlow rewrite their graph."""

from typing import Any, Literal

import keras

from frontends.tf.compat.v1.train.optimizer import Optimizer

# Steps after which a fixed scale would grow.
_NEVER = 2**31 - 1


def enable_mixed_precision_graph_rewrite(
    opt: Any, loss_scale: float | Literal["dynamic"] = "dynamic"
) -> Any:
    """Lets an optimizer scale its loss.

    What differs here: no graph is rewritten, so a model computes in the dtypes of its layers, which are float32 unless a policy says
    otherwise. `tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")` before the model is made is how it computes in
    16 bits. A fixed scale is halved where gradients are not finite, too.

    Args:
        opt: an optimizer of Keras, or of `tf.compat.v1.train`.
        loss_scale: `"dynamic"`, or a number.

    Returns:
        For an optimizer of Keras a `LossScaleOptimizer`, which has `get_scaled_loss` and `get_unscaled_gradients`, and whose
        `apply_gradients` takes gradients without the scale. One of `tf.compat.v1.train` as it is: in float32 a loss needs no scale.

    Raises:
        ValueError: `opt` is not an optimizer, or scales its loss already; or `loss_scale` is not a positive number.

    Source: `tf.compat.v1.mixed_precision.enable_mixed_precision_graph_rewrite`.
    """
    if isinstance(opt, Optimizer):
        return opt
    if isinstance(opt, keras.optimizers.LossScaleOptimizer):
        raise ValueError(
            "`opt` must not already be an instance of a LossScaleOptimizer. Pass the optimizer that it was made of, or leave "
            "the call out."
        )
    if not isinstance(opt, keras.optimizers.Optimizer):
        raise ValueError(
            f"`opt` must be an instance of a tf.train.Optimizer or a tf.keras.optimizers.Optimizer, got {opt!r}. "
            'tf.keras.optimizers.get("adam") makes one from a name.'
        )
    if loss_scale != "dynamic" and not (isinstance(loss_scale, int | float) and loss_scale > 0):
        raise ValueError(
            f"`loss_scale` must be 'dynamic' or a positive number, got {loss_scale!r}. Leave it out for 'dynamic'."
        )
    if loss_scale == "dynamic":
        scaled: Any = keras.optimizers.LossScaleOptimizer(opt)
    else:
        scaled = keras.optimizers.LossScaleOptimizer(opt, float(loss_scale), _NEVER)
    scaled.get_unscaled_gradients([])  # until a loss is scaled, gradients come without a scale
    return scaled


def disable_mixed_precision_graph_rewrite() -> None:
    """Does nothing: no graph is rewritten.

    Source: `tf.compat.v1.mixed_precision.disable_mixed_precision_graph_rewrite`.
    """
