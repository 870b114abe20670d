"""`tf.compat.v1.random`: `tf.random`, and what only TensorFlow 1 has."""

from frontends.tf._names import attributes

__getattr__, __dir__ = attributes(
    "tf.compat.v1.random",
    {},
    borrowed={
        "multinomial": "frontends.tf.compat.v1.operations",
        "set_random_seed": "frontends.tf.random:set_seed",
    },
    rest="frontends.tf.random",
)
