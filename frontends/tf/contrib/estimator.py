"""`tf.contrib.estimator`: hooks that stop early, metrics and features to add, and estimators that take a head, under their first names."""

from frontends.tf._names import attributes

_HOOKS = (
    *("InMemoryEvaluatorHook", "make_early_stopping_hook", "stop_if_higher_hook"),
    *("stop_if_lower_hook", "stop_if_no_decrease_hook", "stop_if_no_increase_hook"),
)
_HEADS = {
    "binary_classification_head": "BinaryClassHead",
    "logistic_regression_head": "LogisticRegressionHead",
    "multi_class_head": "MultiClassHead",
    "multi_head": "MultiHead",
    "multi_label_head": "MultiLabelHead",
    "poisson_regression_head": "PoissonRegressionHead",
    "regression_head": "RegressionHead",
}
_ESTIMATORS = ("BaselineEstimator", "DNNEstimator", "DNNLinearCombinedEstimator", "LinearEstimator")
__getattr__, __dir__ = attributes(
    "tf.contrib.estimator",
    {},
    borrowed={
        **dict.fromkeys(_HOOKS, "frontends.tf.estimator.experimental"),
        **{name: f"frontends.tf.estimator:{head}" for name, head in _HEADS.items()},
        **dict.fromkeys(_ESTIMATORS, "frontends.tf.compat.v1.estimator"),
        "add_metrics": "frontends.tf.estimator",
        "clip_gradients_by_norm": "frontends.tf.contrib.gradient_clipping",
        "forward_features": "frontends.tf.contrib.forwarding",
        "make_stop_at_checkpoint_step_hook": "frontends.tf.estimator.experimental",
        "read_eval_metrics": "frontends.tf.estimator.early_stopping",
    },
)
