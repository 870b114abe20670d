"""Collections of `tf.compat.v1`: lists by name of what a model function has made."""

from typing import Any

from frontends.tf.graph import Graph, default_graph


class GraphKeys:
    """Names of collections.

    Source: `tf.compat.v1.GraphKeys`.
    """

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    LOSSES = "losses"
    UPDATE_OPS = "update_ops"
    SUMMARIES = "summaries"
    GLOBAL_STEP = "global_step"
    TRAIN_OP = "train_op"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    # Nothing here fills these.
    ASSET_FILEPATHS = "asset_filepaths"
    CONCATENATED_VARIABLES = "concatenated_variables"
    COND_CONTEXT = "cond_context"
    EVAL_STEP = "eval_step"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    LOCAL_RESOURCES = "local_resources"
    QUEUE_RUNNERS = "queue_runners"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    READY_OP = "ready_op"
    RESOURCES = "resources"
    SAVEABLE_OBJECTS = "saveable_objects"
    SAVERS = "savers"
    SUMMARY_OP = "summary_op"
    TABLE_INITIALIZERS = "table_initializer"
    VARIABLES = "variables"
    WHILE_CONTEXT = "while_context"


def get_default_graph() -> Graph:
    """Returns the graph of the model function that runs; outside of one, that of the program."""
    return default_graph()


def add_to_collection(name: str, value: Any) -> None:
    """Appends to a collection.

    Args:
        name: of the collection; see `tf.GraphKeys`.
        value: anything.
    """
    default_graph().collections[name].append(value)


def add_to_collections(names: Any, value: Any) -> None:
    """Appends to several collections; `names` is a name, a list of names, or None."""
    for name in [names] if isinstance(names, str) else names or ():
        add_to_collection(name, value)


def get_collection(key: str, scope: str | None = None) -> list[Any]:
    """Lists a collection.

    Args:
        key: its name.
        scope: a regular expression; only what has a name that begins so.
    """
    return default_graph().get_collection(key, scope)


def get_collection_ref(key: str) -> list[Any]:
    """Returns a collection itself, which changes with what is appended."""
    return default_graph().collections[key]


def trainable_variables(scope: str | None = None) -> list[Any]:
    """Lists the variables that optimizers train; see `get_collection`."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def global_variables(scope: str | None = None) -> list[Any]:
    """Lists the variables that checkpoints hold; see `get_collection`."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def all_variables() -> list[Any]:
    """An older name of `global_variables`.

    Source: `tf.compat.v1.all_variables`.
    """
    return global_variables()


def local_variables(scope: str | None = None) -> list[Any]:
    """Lists the variables of metrics and their like; see `get_collection`."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    """Lists the collection `tf.GraphKeys.MODEL_VARIABLES`; see `get_collection`."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    """Lists the collection `tf.GraphKeys.MOVING_AVERAGE_VARIABLES`; see `get_collection`."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)
