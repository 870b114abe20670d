"""A Python function of one replica becomes a compiled program for all of them."""

from spmd.step.between import check_axis as check_axis
from spmd.step.between import gather as gather
from spmd.step.between import local_values as local_values
from spmd.step.between import reduce as reduce
from spmd.step.between import run as run
from spmd.step.cache import StepCache as StepCache
from spmd.step.function_key import Inlined as Inlined
from spmd.step.function_key import function_key as function_key
from spmd.step.lift import PureFunction as PureFunction
from spmd.step.lift import lift as lift
from spmd.step.loop import Repetition as Repetition
from spmd.step.loop import are_alike as are_alike
from spmd.step.loop import for_each as for_each
from spmd.step.options import StepOptions as StepOptions
from spmd.step.runner import NO_SHORTCUT as NO_SHORTCUT
from spmd.step.stages import Compiled as Compiled
from spmd.step.stages import Lowered as Lowered
from spmd.step.stages import Traced as Traced
from spmd.step.state_views import fold_key as fold_key
from spmd.step.state_views import run_in_replicas as run_in_replicas
from spmd.step.step import CrossReplicaStep as CrossReplicaStep
from spmd.step.step import Step as Step
