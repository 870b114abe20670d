"""`tf.estimator`: model functions of TensorFlow 1, trained on this engine."""

from frontends.tf._names import attributes, exported_by
from frontends.tf.estimator.added_metrics import add_metrics as add_metrics
from frontends.tf.estimator.canned.baseline import BaselineClassifier as BaselineClassifier
from frontends.tf.estimator.canned.baseline import BaselineEstimator as BaselineEstimator
from frontends.tf.estimator.canned.baseline import BaselineRegressor as BaselineRegressor
from frontends.tf.estimator.canned.combined import (
    DNNLinearCombinedClassifier as DNNLinearCombinedClassifier,
)
from frontends.tf.estimator.canned.combined import (
    DNNLinearCombinedEstimator as DNNLinearCombinedEstimator,
)
from frontends.tf.estimator.canned.combined import (
    DNNLinearCombinedRegressor as DNNLinearCombinedRegressor,
)
from frontends.tf.estimator.canned.dnn import DNNClassifier as DNNClassifier
from frontends.tf.estimator.canned.dnn import DNNEstimator as DNNEstimator
from frontends.tf.estimator.canned.dnn import DNNRegressor as DNNRegressor
from frontends.tf.estimator.canned.heads import BinaryClassHead as BinaryClassHead
from frontends.tf.estimator.canned.heads import Head as Head
from frontends.tf.estimator.canned.heads import LogisticRegressionHead as LogisticRegressionHead
from frontends.tf.estimator.canned.heads import MultiClassHead as MultiClassHead
from frontends.tf.estimator.canned.heads import MultiHead as MultiHead
from frontends.tf.estimator.canned.heads import MultiLabelHead as MultiLabelHead
from frontends.tf.estimator.canned.heads import PoissonRegressionHead as PoissonRegressionHead
from frontends.tf.estimator.canned.heads import RegressionHead as RegressionHead
from frontends.tf.estimator.canned.linear import LinearClassifier as LinearClassifier
from frontends.tf.estimator.canned.linear import LinearEstimator as LinearEstimator
from frontends.tf.estimator.canned.linear import LinearRegressor as LinearRegressor
from frontends.tf.estimator.canned.parsing import (
    classifier_parse_example_spec as classifier_parse_example_spec,
)
from frontends.tf.estimator.canned.parsing import (
    regressor_parse_example_spec as regressor_parse_example_spec,
)
from frontends.tf.estimator.estimator import Estimator as Estimator
from frontends.tf.estimator.estimator_spec import EstimatorSpec as EstimatorSpec
from frontends.tf.estimator.exporters import BestExporter as BestExporter
from frontends.tf.estimator.exporters import Exporter as Exporter
from frontends.tf.estimator.exporters import FinalExporter as FinalExporter
from frontends.tf.estimator.exporters import LatestExporter as LatestExporter
from frontends.tf.estimator.hooks.basic import LoggingTensorHook as LoggingTensorHook
from frontends.tf.estimator.hooks.basic import (
    NanLossDuringTrainingError as NanLossDuringTrainingError,
)
from frontends.tf.estimator.hooks.basic import NanTensorHook as NanTensorHook
from frontends.tf.estimator.hooks.basic import StepCounterHook as StepCounterHook
from frontends.tf.estimator.hooks.basic import StopAtStepHook as StopAtStepHook
from frontends.tf.estimator.hooks.checkpoint_saver import CheckpointSaverHook as CheckpointSaverHook
from frontends.tf.estimator.hooks.checkpoint_saver import (
    CheckpointSaverListener as CheckpointSaverListener,
)
from frontends.tf.estimator.hooks.feed_fn import FeedFnHook as FeedFnHook
from frontends.tf.estimator.hooks.final_ops import FinalOpsHook as FinalOpsHook
from frontends.tf.estimator.hooks.global_step_waiter import (
    GlobalStepWaiterHook as GlobalStepWaiterHook,
)
from frontends.tf.estimator.hooks.profiler import ProfilerHook as ProfilerHook
from frontends.tf.estimator.hooks.session_run_hook import SessionRunArgs as SessionRunArgs
from frontends.tf.estimator.hooks.session_run_hook import SessionRunContext as SessionRunContext
from frontends.tf.estimator.hooks.session_run_hook import SessionRunHook as SessionRunHook
from frontends.tf.estimator.hooks.session_run_hook import SessionRunValues as SessionRunValues
from frontends.tf.estimator.hooks.summary_saver import SummarySaverHook as SummarySaverHook
from frontends.tf.estimator.hooks.timer import SecondOrStepTimer as SecondOrStepTimer
from frontends.tf.estimator.mode_keys import ModeKeys as ModeKeys
from frontends.tf.estimator.run_config import RunConfig as RunConfig
from frontends.tf.estimator.specs import EvalSpec as EvalSpec
from frontends.tf.estimator.specs import TrainSpec as TrainSpec
from frontends.tf.estimator.train_and_evaluate import train_and_evaluate as train_and_evaluate
from frontends.tf.estimator.warm_start import WarmStartSettings as WarmStartSettings

__getattr__, __dir__ = attributes(
    "tf.estimator",
    exported_by(__name__),
    {
        name: f"frontends.tf.estimator.{name}"
        for name in ("experimental", "export", "inputs", "tpu")
    },
)
