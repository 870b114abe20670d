"""`tf.compat.v1`: what model functions use, logging, a session's options, and switches to what is always on here.

All other names are those of `tf`, so that `from frontends.tf.compat import v1 as tf` serves for
`import tensorflow.compat.v1 as tf`.
"""

from frontends.tf._names import attributes, defined_in
from frontends.tf.compat.v1 import (
    assigning,
    collections,
    initializers,
    initializing,
    interactive_session,
    layers,
    logging,
    losses,
    metrics,
    name_scopes,
    operations,
    partitioners,
    placeholders,
    session_config,
    spellings,
    switches,
    variable,
    variable_scopes,
)
from frontends.tf.ops.convert import picked

__getattr__, __dir__ = attributes(
    "tf.compat.v1",
    {
        **defined_in(assigning.__name__),
        **defined_in(session_config.__name__),
        **defined_in(collections.__name__),
        **defined_in(initializing.__name__),
        **defined_in(interactive_session.__name__),
        **defined_in(name_scopes.__name__),
        **defined_in(operations.__name__),
        **picked(placeholders, "placeholder", "placeholder_with_default"),
        **defined_in(partitioners.__name__),
        **defined_in(spellings.__name__),
        **defined_in(switches.__name__),
        **defined_in(variable.__name__),
        **defined_in(variable_scopes.__name__),
        **initializers.TOP_INITIALIZERS,
        "initializers": initializers,
        "layers": layers,
        "logging": logging,
        "losses": losses,
        "metrics": metrics,
    },
    {
        "distributions": "frontends.tf.compat.v1.distributions",
        "app": "frontends.tf.compat.v1.app",
        "data": "frontends.tf.compat.v1.data",
        "flags": "frontends.tf.compat.v1.flags",
        "distribute": "frontends.tf.compat.v1.distribute",
        "estimator": "frontends.tf.compat.v1.estimator",
        "feature_column": "frontends.tf.compat.v1.feature_column",
        "mixed_precision": "frontends.tf.compat.v1.mixed_precision",
        "nn": "frontends.tf.compat.v1.nn",
        "gfile": "frontends.tf.compat.v1.gfile",
        "python_io": "frontends.tf.compat.v1.python_io",
        "image": "frontends.tf.compat.v1.image",
        "random": "frontends.tf.compat.v1.random",
        "sparse": "frontends.tf.compat.v1.sparse",
        "strings": "frontends.tf.compat.v1.strings",
        "summary": "frontends.tf.compat.v1.summary",
        "train": "frontends.tf.compat.v1.train",
    },
    borrowed=dict.fromkeys(
        ("Event", "Summary", "SummaryMetadata"), "frontends.tf.compat.v1.summary"
    )
    | {
        "Dimension": "frontends.tf.tensor_shape",
        "div_no_nan": "frontends.tf.math:divide_no_nan",
        "where_v2": "frontends.tf:where",
    },
    rest="frontends.tf",
)
