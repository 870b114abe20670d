"""What is called around the steps of an estimator."""

from frontends.tf.estimator.hooks.session_run_hook import SessionRunArgs as SessionRunArgs
from frontends.tf.estimator.hooks.session_run_hook import SessionRunContext as SessionRunContext
from frontends.tf.estimator.hooks.session_run_hook import SessionRunHook as SessionRunHook
from frontends.tf.estimator.hooks.session_run_hook import SessionRunValues as SessionRunValues
