"""`tf.contrib.estimator`: hooks that stop early, metrics and features to add, and estimators that take a head, under their first names."""

from frontends.tf._names import attributes

_HOOKS = (
    *("InMemoryEvaluatorHook", "make_early_stopping_hook", "stop_if_higher_hook"),
    *("stop_if_lower_hook", "stop_if_no_decrease_hook", "stop_if_no_increase_hook"),
)
_HEADS = (
    *("binary_classification_head", "logistic_regression_head", "multi_class_head", "multi_head"),
    *("multi_label_head", "poisson_regression_head", "regression_head"),
)
_ESTIMATORS = ("BaselineEstimator", "DNNEstimator", "DNNLinearCombinedEstimator", "LinearEstimator")
__getattr__, __dir__ = attributes(
    "tf.contrib.estimator",
    {},
    borrowed={
        **dict.fromkeys(_HOOKS, "frontends.tf.estimator.experimental"),
        **dict.fromkeys(_HEADS, "frontends.tf.contrib.heads"),
        **dict.fromkeys(_ESTIMATORS, "frontends.tf.compat.v1.estimator"),
        "add_metrics": "frontends.tf.estimator",
        "clip_gradients_by_norm": "frontends.tf.contrib.gradient_clipping",
        "forward_features": "frontends.tf.contrib.forwarding",
        "make_stop_at_checkpoint_step_hook": "frontends.tf.estimator.experimental",
        "read_eval_metrics": "frontends.tf.estimator.early_stopping",
    },
)
