"""`tf.compat.v1.estimator`: canned estimators whose losses are sums over a batch, and all of `tf.estimator`."""

from frontends.tf._names import attributes, exported_by
from frontends.tf.compat.v1.estimator.baseline import BaselineClassifier as BaselineClassifier
from frontends.tf.compat.v1.estimator.baseline import BaselineEstimator as BaselineEstimator
from frontends.tf.compat.v1.estimator.baseline import BaselineRegressor as BaselineRegressor
from frontends.tf.compat.v1.estimator.combined import (
    DNNLinearCombinedClassifier as DNNLinearCombinedClassifier,
)
from frontends.tf.compat.v1.estimator.combined import (
    DNNLinearCombinedEstimator as DNNLinearCombinedEstimator,
)
from frontends.tf.compat.v1.estimator.combined import (
    DNNLinearCombinedRegressor as DNNLinearCombinedRegressor,
)
from frontends.tf.compat.v1.estimator.dnn import DNNClassifier as DNNClassifier
from frontends.tf.compat.v1.estimator.dnn import DNNEstimator as DNNEstimator
from frontends.tf.compat.v1.estimator.dnn import DNNRegressor as DNNRegressor
from frontends.tf.compat.v1.estimator.linear import LinearClassifier as LinearClassifier
from frontends.tf.compat.v1.estimator.linear import LinearEstimator as LinearEstimator
from frontends.tf.compat.v1.estimator.linear import LinearRegressor as LinearRegressor

# TensorFlow does not document these, but model functions import them.
_HEADS = (
    *("binary_logistic_or_multi_class_head", "poisson_regression_head", "regression_head"),
    "binary_logistic_head_with_sigmoid_cross_entropy_loss",
    "multi_class_head_with_softmax_cross_entropy_loss",
)
__getattr__, __dir__ = attributes(
    "tf.compat.v1.estimator",
    exported_by(__name__),
    borrowed={
        **{f"_{name}": f"frontends.tf.compat.v1.estimator.heads:{name}" for name in _HEADS},
        "_regression_head_with_mean_squared_error_loss": (
            "frontends.tf.compat.v1.estimator.heads:regression_head"
        ),
    },
    rest="frontends.tf.estimator",
)
