"""`tf.estimator.experimental`: hooks that stop training early, and that evaluate in between."""

from frontends.tf._names import attributes, exported_by
from frontends.tf.estimator.early_stopping import (
    make_early_stopping_hook as make_early_stopping_hook,
)
from frontends.tf.estimator.early_stopping import stop_if_higher_hook as stop_if_higher_hook
from frontends.tf.estimator.early_stopping import stop_if_lower_hook as stop_if_lower_hook
from frontends.tf.estimator.early_stopping import (
    stop_if_no_decrease_hook as stop_if_no_decrease_hook,
)
from frontends.tf.estimator.early_stopping import (
    stop_if_no_increase_hook as stop_if_no_increase_hook,
)
from frontends.tf.estimator.hooks.in_memory_evaluator import (
    InMemoryEvaluatorHook as InMemoryEvaluatorHook,
)
from frontends.tf.estimator.hooks.stop_at_checkpoint import (
    make_stop_at_checkpoint_step_hook as make_stop_at_checkpoint_step_hook,
)

__getattr__, __dir__ = attributes("tf.estimator.experimental", exported_by(__name__))
