"""`tf.train`: checkpoints, examples, the addresses of a cluster, moving averages, and the hooks that TensorFlow 1 had here."""

from frontends.tf import _names
from frontends.tf.train.checkpoint import Checkpoint as Checkpoint
from frontends.tf.train.checkpoint_manager import CheckpointManager as CheckpointManager
from frontends.tf.train.checkpoint_options import CheckpointOptions as CheckpointOptions
from frontends.tf.train.checkpoint_reader import NewCheckpointReader as NewCheckpointReader
from frontends.tf.train.checkpoint_reader import list_variables as list_variables
from frontends.tf.train.checkpoint_reader import load_checkpoint as load_checkpoint
from frontends.tf.train.checkpoint_reader import load_variable as load_variable
from frontends.tf.train.checkpoint_state import CheckpointState as CheckpointState
from frontends.tf.train.checkpoint_state import get_checkpoint_state as get_checkpoint_state
from frontends.tf.train.checkpoint_state import latest_checkpoint as latest_checkpoint
from frontends.tf.train.checkpoints_iterator import checkpoints_iterator as checkpoints_iterator
from frontends.tf.train.cluster_spec import ClusterSpec as ClusterSpec
from frontends.tf.train.coordinator import Coordinator as Coordinator
from frontends.tf.train.moving_averages import ExponentialMovingAverage as ExponentialMovingAverage

_HOOKS = (
    *("CheckpointSaverHook", "CheckpointSaverListener", "LoggingTensorHook", "NanTensorHook"),
    *("SecondOrStepTimer", "SessionRunArgs", "SessionRunContext", "SessionRunHook"),
    *("SessionRunValues", "StepCounterHook", "StopAtStepHook", "SummarySaverHook"),
    *("FeedFnHook", "FinalOpsHook", "GlobalStepWaiterHook", "NanLossDuringTrainingError"),
    "ProfilerHook",
)
_TF1 = (
    *("AdadeltaOptimizer", "AdagradOptimizer", "AdamOptimizer", "FtrlOptimizer"),
    *("GradientDescentOptimizer", "MomentumOptimizer", "Optimizer", "ProximalAdagradOptimizer"),
    *("ProximalGradientDescentOptimizer", "RMSPropOptimizer", "assert_global_step"),
    *("cosine_decay", "cosine_decay_restarts", "create_global_step", "exponential_decay"),
    *("Saver", "Scaffold", "init_from_checkpoint"),
    *("get_global_step", "get_or_create_global_step", "global_step", "inverse_time_decay"),
    *("linear_cosine_decay", "natural_exp_decay", "noisy_linear_cosine_decay"),
    *("piecewise_constant", "piecewise_constant_decay", "polynomial_decay"),
    "summary_iterator",
)
_EXAMPLES = (
    *("BytesList", "Example", "Feature", "FeatureList", "FeatureLists", "Features"),
    *("FloatList", "Int64List", "SequenceExample"),
)
__getattr__, __dir__ = _names.attributes(
    "tf.train",
    _names.exported_by(__name__),
    {"experimental": "frontends.tf.train.experimental"},
    borrowed=dict.fromkeys(_HOOKS, "frontends.tf.estimator")
    | dict.fromkeys(_EXAMPLES, "frontends.tf.train.example")
    | dict.fromkeys(_TF1, "frontends.tf.compat.v1.train"),
)
