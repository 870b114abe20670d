"""Heads: the labels, loss, predictions and metrics of a task."""

from frontends.tf.estimator.canned.heads.binary import BinaryClassHead as BinaryClassHead
from frontends.tf.estimator.canned.heads.head import Head as Head
from frontends.tf.estimator.canned.heads.multi_class import MultiClassHead as MultiClassHead
from frontends.tf.estimator.canned.heads.multi_head import MultiHead as MultiHead
from frontends.tf.estimator.canned.heads.multi_label import MultiLabelHead as MultiLabelHead
from frontends.tf.estimator.canned.heads.regression import (
    LogisticRegressionHead as LogisticRegressionHead,
)
from frontends.tf.estimator.canned.heads.regression import (
    PoissonRegressionHead as PoissonRegressionHead,
)
from frontends.tf.estimator.canned.heads.regression import RegressionHead as RegressionHead
