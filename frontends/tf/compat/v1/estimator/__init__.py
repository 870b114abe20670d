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

__getattr__, __dir__ = attributes(
    "tf.compat.v1.estimator", exported_by(__name__), rest="frontends.tf.estimator"
)
