"""What a function of TensorFlow 1 builds when it is traced: variables by name, collections, deferred operations."""

from frontends.tf.graph.graph import Graph as Graph
from frontends.tf.graph.graph import condition as condition
from frontends.tf.graph.graph import current_graph as current_graph
from frontends.tf.graph.graph import default_graph as default_graph
from frontends.tf.graph.graph import nearest_graph as nearest_graph
from frontends.tf.graph.label_checks import LabelCheck as LabelCheck
from frontends.tf.graph.label_checks import label_checks as label_checks
from frontends.tf.graph.label_checks import note_check as note_check
from frontends.tf.graph.label_checks import range_of as range_of
from frontends.tf.graph.operation import Operation as Operation
from frontends.tf.graph.variable_store import VariableStore as VariableStore
