"""Optimizers of canned estimators: by name, of `tf.compat.v1.train`, and of Keras."""

from frontends.tf.estimator.canned.optimizers.given import optimizer_of as optimizer_of
from frontends.tf.estimator.canned.optimizers.given import optimizer_of_v1 as optimizer_of_v1
