"""`tf.contrib.slim`: the layers of `tf.contrib.layers`, and what of `tf.contrib.framework` goes with them."""

from frontends.tf._names import attributes

_FRAMEWORK = (
    *("add_arg_scope", "arg_scope", "filter_variables", "get_model_variables", "get_variables"),
    *("get_or_create_global_step", "get_trainable_variables", "get_variables_to_restore"),
    *("get_global_step", "model_variable"),
)
__getattr__, __dir__ = attributes(
    "tf.contrib.slim",
    {},
    borrowed=dict.fromkeys(_FRAMEWORK, "frontends.tf.contrib.framework")
    | {"losses": "frontends.tf.compat.v1", "variable": "frontends.tf.compat.v1:get_variable"},
    rest="frontends.tf.contrib.layers",
)
