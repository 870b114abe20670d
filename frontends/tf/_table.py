"""The functions and dtypes of `tf.*`, gathered in one table, and what is imported when it is used."""

from typing import Any

from frontends.tf import debugging
from frontends.tf._initializers import INITIALIZERS
from frontends.tf._moved import MOVED
from frontends.tf._names import defined_in
from frontends.tf._symbolic import recordable
from frontends.tf.dtypes import DTYPES
from frontends.tf.ops import (
    array,
    asking,
    branching,
    callbacks,
    checks,
    control_flow,
    creation,
    custom_gradient,
    device_scope,
    indexing,
    initial_values,
    loops,
    name_scope,
    scatter_nd,
    static_shapes,
    tables,
    uniques,
    vectorized_map,
    while_loop,
)
from frontends.tf.ops.convert import convert_to_tensor, picked
from frontends.tf.ops.devices import across_devices
from frontends.tf.ops.gradients import gradients, hessians
from frontends.tf.ops.on_elements import on_elements
from frontends.tf.ops.tensor_array import TensorArray
from frontends.tf.tensor import is_tensor

TABLE: dict[str, Any] = {
    **DTYPES,
    **recordable(
        "tf",
        {
            **on_elements(across_devices("tf", {"convert_to_tensor": convert_to_tensor})),
            **on_elements(defined_in(creation.__name__)),
            **on_elements(across_devices("tf", defined_in(array.__name__))),
            **on_elements(across_devices("tf", defined_in(indexing.__name__))),
            **across_devices("tf", defined_in(scatter_nd.__name__)),
            **defined_in(control_flow.__name__),
            **on_elements(across_devices("tf", tables.TF)),
        },
    ),
    "is_tensor": is_tensor,
    "device": device_scope.device,
    **defined_in(static_shapes.__name__),
    **picked(uniques, "unique", "unique_with_counts"),
    **defined_in(branching.__name__),
    **defined_in(callbacks.__name__),
    **defined_in(loops.__name__),
    **picked(vectorized_map, "vectorized_map"),
    **defined_in(while_loop.__name__),
    **defined_in(custom_gradient.__name__),
    "TensorArray": TensorArray,
    "gradients": gradients,
    "hessians": hessians,
    **picked(debugging, "Assert", "assert_equal", "assert_greater", "assert_less"),
    **INITIALIZERS,
    "init_scope": initial_values.init_scope,
    "name_scope": name_scope.name_scope,
    **picked(checks, "assert_rank", "assert_rank_at_least", "assert_rank_in"),
    **picked(asking, "AggregationMethod", "fingerprint", "get_current_name_scope"),
    **picked(asking, "inside_function", "is_symbolic_tensor", "timestamp"),
    "tuple": asking.tuple_,
    "newaxis": None,
}

# Submodules. `tf` itself imports all but the first ones, which take long to import, or need Keras.
LAZY = {
    name: f"frontends.tf.{name}"
    for name in (
        *(
            "audio",
            "experimental",
            "keras",
            "io",
            "profiler",
            "quantization",
            "lookup",
            "ragged",
            "raw_ops",
            "saved_model",
            "sets",
            "sparse",
            "strings",
            "summary",
            "sysconfig",
            "test",
            "tpu",
            "train",
            "types",
            "xla",
        ),
        *(
            "autograph",
            "bitwise",
            "compat",
            "config",
            "contrib",
            "data",
            "debugging",
            "distribute",
            "dtypes",
        ),
        *(
            "errors",
            "estimator",
            "feature_column",
            "image",
            "linalg",
            "losses",
            "metrics",
            "math",
            "nest",
            "nn",
            "random",
            "signal",
            "version",
        ),
    )
}
# In TensorFlow, too, these are Keras's.
LAZY |= {name: f"frontends.tf.keras.{name}" for name in ("initializers", "optimizers")}

# What TensorFlow 2 has in `tf.compat.v1` alone; scripts of TensorFlow 1 find it here.
BORROWED: dict[str, str] = dict.fromkeys(
    (
        *("ConfigProto", "GPUOptions", "GraphOptions", "OptimizerOptions"),
        *("app", "flags", "Print", "reset_default_graph"),
        *("disable_control_flow_v2", "disable_eager_execution", "disable_resource_variables"),
        *("disable_v2_behavior", "disable_v2_tensorshape", "enable_control_flow_v2"),
        *("enable_eager_execution", "enable_resource_variables", "enable_v2_behavior"),
        *(
            "enable_tensor_equality",
            "enable_v2_tensorshape",
            "orthogonal_initializer",
            "scatter_add",
            "scatter_div",
        ),
        *("scatter_max", "scatter_min", "scatter_mul", "scatter_nd_add", "scatter_nd_sub"),
        *("scatter_nd_update", "scatter_sub", "scatter_update"),
        *("Dimension", "executing_eagerly_outside_functions", "global_variables_initializer"),
        *("is_variable_initialized", "local_variables_initializer", "resource_variables_enabled"),
        *("tables_initializer", "variables_initializer"),
        *("AUTO_REUSE", "GraphKeys", "VariableScope", "add_to_collection", "add_to_collections"),
        *(
            "get_collection",
            "get_collection_ref",
            "get_default_graph",
            "gfile",
            "python_io",
            "get_local_variable",
        ),
        *("get_variable", "get_variable_scope", "global_variables", "layers", "local_variables"),
        *(
            "logging",
            "model_variables",
            "moving_average_variables",
            "setdiff1d",
            "trainable_variables",
        ),
        *("arg_max", "arg_min", "assign_add", "assign_sub", "div", "multinomial"),
        "distributions",
        "random_poisson",
        "fixed_size_partitioner",
        *("placeholder", "placeholder_with_default", "global_variables_initializer"),
        *("initialize_all_variables", "local_variables_initializer", "tables_initializer"),
        *("to_double", "to_float", "to_int32", "to_int64"),
        *("truncated_normal_initializer", "glorot_uniform_initializer"),
        *("glorot_normal_initializer", "variable_scope", "variance_scaling_initializer"),
    ),
    "frontends.tf.compat.v1",
)
BORROWED |= MOVED
BORROWED |= {
    "Operation": "frontends.tf.graph",
    "edit_distance": "frontends.tf.ops.edits",
    "make_ndarray": "frontends.tf.io.tensors",
    "make_tensor_proto": "frontends.tf.io.tensors",
    "variable_creator_scope": "frontends.tf.variable_creators",
}
BORROWED |= dict.fromkeys(
    ("SparseTensorSpec", "TypeSpec", "type_spec_from_value"), "frontends.tf.sparse.spec"
)
BORROWED["VERSION"] = "frontends.tf.version"
BORROWED["SparseTensor"] = "frontends.tf.sparse"
BORROWED |= dict.fromkeys(
    (
        *("SparseTensorValue", "sparse_add", "sparse_concat", "sparse_merge"),
        *("sparse_reduce_max", "sparse_reduce_sum", "sparse_to_dense"),
    ),
    "frontends.tf.compat.v1.sparse",
)
BORROWED |= dict.fromkeys(("RaggedTensor", "RaggedTensorSpec"), "frontends.tf.ragged")
BORROWED |= dict.fromkeys(
    ("string_split", "substr", "reduce_join"), "frontends.tf.compat.v1.strings"
)
