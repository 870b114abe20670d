"""`tf.random.experimental`: generators, and functions of seeds."""

from frontends.tf._names import attributes
from frontends.tf.ops import generator, stateless
from frontends.tf.ops.convert import picked

__getattr__, __dir__ = attributes(
    "tf.random.experimental",
    {
        **picked(
            generator,
            *("Algorithm", "Generator", "create_rng_state", "index_shuffle"),
            *("get_global_generator", "set_global_generator"),
        ),
        "stateless_fold_in": stateless.fold_in,
        "stateless_shuffle": stateless.stateless_shuffle,
        "stateless_split": stateless.split,
    },
)
