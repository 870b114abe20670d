"""`tf.random`: the global seed, numbers drawn from it or from a seed of one's own, and generators."""

from frontends.tf._names import attributes, defined_in
from frontends.tf._symbolic import recordable
from frontends.tf.ops import random as _random
from frontends.tf.ops import sampled_losses, stateless
from frontends.tf.ops.convert import picked

_DRAWS = {name: one for name, one in defined_in(_random.__name__).items() if name != "draw_key"}
_STATELESS = {
    name: one for name, one in defined_in(stateless.__name__).items() if name != "stateless_shuffle"
}
_SAMPLERS = picked(sampled_losses, "log_uniform_candidate_sampler", "uniform_candidate_sampler")
__getattr__, __dir__ = attributes(
    "tf.random",
    recordable("tf.random", _DRAWS | _STATELESS | _SAMPLERS),
    {"experimental": "frontends.tf.random_experimental"},
    borrowed=dict.fromkeys(
        (
            *("Algorithm", "Generator", "create_rng_state"),
            *("get_global_generator", "set_global_generator"),
        ),
        "frontends.tf.ops.generator",
    ),
)
