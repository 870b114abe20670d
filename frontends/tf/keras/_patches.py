"""The front end's rows of the table of changes to Keras: what Keras 2 had, and what reads and writes `tf`'s objects.

Every use of Keras in the process sees the changes; they add names and arguments, and take nothing away. The engine's
rows, and the function that applies them all, are in `spmd.integrations.keras`. Internals of Keras that this touches:
the owners of private attributes below, `Tracker`, `keras.src.legacy`; tests/frontends/tf/keras/test_patches.py
checks every row on every supported version.
"""

import functools

import keras
import keras.src.backend
import keras.src.backend.common.name_scope
import keras.src.layers.preprocessing.discretization
import keras.src.layers.preprocessing.normalization
import keras.src.legacy.backend
import keras.src.legacy.layers
import keras.src.losses.losses
import keras.src.ops.numpy
import keras.src.ops.operation
import keras.src.utils.audio_dataset_utils
import keras.src.utils.dataset_utils
import keras.src.utils.file_utils
import keras.src.utils.image_dataset_utils
import keras.src.utils.naming
import keras.src.utils.text_dataset_utils
import keras.src.utils.timeseries_dataset_utils
from keras.src.layers import layer as layer_module
from keras.src.legacy.saving import legacy_h5_format
from keras.src.models import functional
from keras.src.trainers import compile_utils, data_adapters
from keras.src.trainers.epoch_iterator import EpochIterator
from keras.src.utils.tracking import Tracker

import frontends.tf
from frontends.tf._user_view import seen_by_users
from frontends.tf.keras import (
    _added_losses,
    _autograph,
    _backup,
    _build_shapes,
    _compiled,
    _dataset_adapter,
    _directories,
    _export,
    _files,
    _fit,
    _gfile,
    _in_graphs,
    _keras_2,
    _legacy_optimizers,
    _logits,
    _lookup,
    _maps,
    _optimizers,
    _parts,
    _selected_entries,
    _symbolic,
    _unknown_classes,
    _variable_view,
    _weights,
)
from spmd.integrations.keras import Patch, jax_trainer


def patches() -> tuple[Patch, ...]:
    """Lists the front end's rows."""
    variable, layer, model, trainer = keras.Variable, keras.Layer, keras.Model, jax_trainer()
    loss, metric = keras.losses.Loss, keras.metrics.Metric
    optimizer, scaled = keras.optimizers.Optimizer, keras.optimizers.LossScaleOptimizer
    built = [
        cls
        for cls in vars(keras.optimizers).values()
        if isinstance(cls, type) and issubclass(cls, optimizer) and "build" in vars(cls)
    ]
    schedule = keras.optimizers.schedules.LearningRateSchedule
    schedules = [
        cls
        for cls in vars(keras.optimizers.schedules).values()
        if isinstance(cls, type) and issubclass(cls, schedule) and cls is not schedule
    ]
    updating = [
        cls
        for cls in vars(keras.metrics).values()
        if isinstance(cls, type) and issubclass(cls, metric) and "update_state" in vars(cls)
    ]
    # Keras compares a model's compile with that of this class, to see whether a user wrote one.
    compiles = next(cls for cls in model.__mro__ if "compile" in vars(cls))
    add, around, replace, wrap = Patch.add, Patch.around, Patch.replace, Patch.wrap
    legacy = "what Keras keeps of Keras 2 calls TensorFlow, and can call this instead"
    weights = "optimizers train tf.Variable"
    keras_3 = "Keras 3 has it under another name"
    workers = "a loop of several processes agrees on what it reads and writes"
    parts = "a variable may be divided among parameter servers"
    functions = "a model function finds the variables of an earlier call"
    prefixes = "TensorFlow's paths have no ending"
    tensor, sizes = keras.KerasTensor, "Keras 3 does not know the values of symbolic sizes"
    lr = property(_optimizers.get_lr, _optimizers.set_lr)
    return (
        # Layers, losses and metrics.
        replace(keras.src.legacy.backend, "tf", frontends.tf, legacy),
        replace(keras.src.legacy.layers, "tf", frontends.tf, legacy),
        replace(
            *(variable, "__array__", _keras_2.array),
            "Keras's own lacks an argument of NumPy 2, which warns",
            "self dtype",
        ),
        replace(variable, "numpy", _keras_2.numpy, "a scalar becomes a NumPy scalar", "self"),
        add(variable, "read_value", _keras_2.read_value, "Keras 3 calls it value"),
        wrap(variable, "dtype", _variable_view.show_dtype, "scripts ask dtype.base_dtype"),
        wrap(
            variable, "name", _variable_view.show_name, "optimizers tell variables apart by names"
        ),
        *(
            around(
                *(variable, name, _variable_view.take_locking),
                *("TensorFlow's variables take use_locking", "self value"),
            )
            for name in ("assign_add", "assign_sub")
        ),
        *(
            add(variable, name, getattr(_variable_view, name), "TensorFlow's variables have it")
            for name in ("scatter_add", "scatter_sub", "scatter_update")
        ),
        replace(variable, "shape", _keras_2.shape, "scripts call shape.as_list()"),
        add(variable, "get_shape", _keras_2.get_shape, "TensorFlow's variables have it"),
        add(variable, "ref", _keras_2.ref, "TensorFlow's variables have it"),
        around(
            Tracker, "track", _weights.track_variables, "attributes of a layer may be a tf.Variable"
        ),
        add(variable, "device", property(_parts.device), "TensorFlow's variables have it"),
        wrap(layer, "weights", _parts.list_parts, parts),
        wrap(layer, "trainable_weights", _parts.list_wholes, parts),
        wrap(layer, "non_trainable_weights", _parts.list_wholes, parts),
        around(layer, "get_weights", _parts.with_wholes, parts, "self"),
        around(layer, "set_weights", _parts.with_wholes, parts, "self weights"),
        around(
            *(keras.src.ops.operation.Operation, "__init__", _keras_2.take_slash),
            "Keras 2 takes names with a slash",
        ),
        around(
            *(keras.src.backend.common.name_scope.name_scope, "__init__"),
            *(_keras_2.take_slash, "names may have a slash"),
            "self name caller deduplicate override_parent",
        ),
        around(
            *(layer, "__init__", _keras_2.take_former_arguments),
            "a first layer may name its input's shape",
            "self activity_regularizer trainable dtype autocast name kwargs",
        ),
        around(
            *(layer, "__call__", _keras_2.take_arguments),
            "Keras 2 takes arguments by position that are no tensors, and lists of numbers",
            "self args",
        ),
        around(layer, "_maybe_build", _keras_2.build_apart, "Keras 2 builds outside of functions"),
        around(
            *(layer_module, "update_shapes_dict_for_target_fn"),
            *(_build_shapes.give_shapes, "layers ask shapes for as_list()"),
        ),
        around(
            *(layer, "build_from_config", _build_shapes.give_saved_shapes),
            "layers that are loaded ask, too",
        ),
        around(layer, "__call__", _in_graphs.call_in_graph, functions),
        around(
            *(layer, "add_weight", _in_graphs.add_in_graph, functions),
            "self args shape initializer dtype",
        ),
        around(keras.src.utils.naming, "uniquify", _in_graphs.name_in_graph, functions, "name"),
        around(keras.random.SeedGenerator, "next", _in_graphs.draw_in_graph, functions),
        add(layer, "updates", property(_in_graphs.updates), functions),
        add(layer, "get_updates_for", _in_graphs.get_updates_for, functions),
        around(
            *(layer, "add_weight", _keras_2.take_name_first),
            "Keras 2 takes the name first, and TensorFlow's enumerations",
            "self args shape initializer dtype",
        ),
        replace(
            *(layer, "add_variable", _keras_2.add_by_old_name),
            "Keras 2 takes the name first",
            "self shape initializer dtype trainable autocast regularizer constraint name",
        ),
        around(layer, "add_loss", _added_losses.add_function, "Keras 2 takes functions"),
        around(layer, "_get_own_losses", _added_losses.own_losses, "Keras 2 takes functions"),
        around(
            *(functional.Functional, "add_loss", _added_losses.add_symbolic_loss),
            "Keras 2 takes symbolic tensors",
        ),
        around(loss, "__init__", _keras_2.take_auto, "Keras 2's default reduction is 'auto'"),
        around(
            *(loss, "__call__", _selected_entries.loss_of_entries),
            "losses of what a mask took in a program",
        ),
        replace(
            *(metric, "add_weight", _keras_2.add_metric_weight),
            "Keras 2 takes an aggregation",
            "self shape initializer dtype name",
        ),
        add(layer, "submodules", property(_keras_2.submodules), "Keras 2's layers are modules"),
        add(metric, "reset_states", _keras_2.reset_states, "Keras 3 calls it reset_state"),
        add(model, "reset_states", _keras_2.reset_layers, "Keras 3 has it in layers only"),
        add(model, "compiled_loss", _compiled.compiled_loss, "train steps of Keras 2 call it"),
        add(
            *(model, "compiled_metrics", property(_compiled.CompiledMetrics)),
            "train steps of Keras 2 update it",
        ),
        around(
            *(keras.Sequential, "add", _keras_2.add_with_batch_shape),
            "a first layer may name its number of rows, or take texts",
            "self layer rebuild",
        ),
        around(
            *(functional.Functional, "_convert_inputs_to_tensors", _lookup.convert_inputs),
            "a model may take strings, and types of 64 bits",
            "self flat_inputs",
        ),
        around(
            *(functional.Functional, "_maybe_warn_inputs_struct_mismatch", _lookup.check_structure),
            "what stands for texts is one input",
            "self inputs raise_exception",
        ),
        around(
            *(layer, "get_build_config", _lookup.build_config),
            "shapes of texts are none of Keras's",
        ),
        *(
            around(cls, method, _keras_2.take_named_target, "Keras 2 takes {name: target}")
            for cls, method in (
                (compile_utils.CompileLoss, "__call__"),
                (compile_utils.CompileMetrics, "update_state"),
            )
        ),
        around(
            *(functional.Functional, "_adjust_input_rank", _keras_2.take_row),
            "in a dataset's map function, a model may be called with one row",
            "self flat_inputs",
        ),
        around(
            *(keras.src.losses.losses, "squeeze_or_expand_to_same_rank"),
            *(_keras_2.take_targets_of_rank_1, "Keras 2 takes targets without the axis of outputs"),
        ),
        *[
            around(keras.src.backend.nn, name, _logits.keep_logits, "a loss asks for the logits")
            for name in ("sigmoid", "softmax")
        ],
        *[
            around(
                *(keras.src.backend.nn, f"{name}crossentropy", _logits.use_logits),
                "the gradient of a saturated activation is zero",
            )
            for name in ("binary_", "categorical_", "sparse_categorical_")
        ],
        around(
            *(keras.src.backend.nn, "sparse_categorical_crossentropy", _unknown_classes.lose_nan),
            "a label that is no class has a loss of 0",
        ),
        # Symbolic tensors.
        around(
            *(keras.src.backend, "compute_output_spec", _symbolic.infer_with_sizes),
            "a layer may compare sizes and draw random numbers of tf",
        ),
        replace(
            *(tensor, "shape", seen_by_users(lambda tensor: tensor._shape, _symbolic.get_shape)),
            "scripts call shape.as_list()",
        ),
        add(tensor, "get_shape", _symbolic.get_shape, "TensorFlow's tensors have it"),
        add(tensor, "set_shape", _symbolic.set_shape, "TensorFlow's tensors have it"),
        around(tensor, "__getitem__", _symbolic.take_item, sizes),
        *(
            around(
                *(tensor, f"__{name}__", functools.partial(_symbolic.operate, name), sizes),
                "self" if name == "neg" else "self other",
            )
            for name in _symbolic.OPERATORS
        ),
        *(
            around(
                *(getattr(keras.src.ops.numpy, name), "compute_output_spec"),
                *(_symbolic.stay_dense, "a product with a number is dense"),
            )
            for name in ("Multiply", "Divide", "DivideNoNan")
        ),
        # Layers in map functions of datasets.
        around(
            keras.random.SeedGenerator, "next", _maps.draw_in_map, "map functions run on threads"
        ),
        around(
            *(variable, "__init__", _maps.make_in_map, "a map function may build a layer"),
            "self initializer",
        ),
        around(
            *(variable, "assign", _maps.assign_in_map, "a compiled map function writes nothing"),
            "self value",
        ),
        around(
            *(variable, "assign", _keras_2.take_locking, "TensorFlow's variables take use_locking"),
            "self value",
        ),
        replace(
            *(keras.src.layers.preprocessing.normalization, "tf", frontends.tf),
            "adapt takes datasets of tf.data",
        ),
        replace(
            *(keras.src.layers.preprocessing.discretization, "tf", frontends.tf),
            "adapt takes datasets of tf.data",
        ),
        # Datasets of files.
        *(
            replace(module, "tf", frontends.tf, "functions make datasets of tf.data")
            for module in (
                keras.src.utils.audio_dataset_utils,
                keras.src.utils.image_dataset_utils,
                keras.src.utils.text_dataset_utils,
                keras.src.utils.timeseries_dataset_utils,
            )
        ),
        replace(
            *(keras.src.utils.dataset_utils, "labels_to_dataset_tf", _directories.make_labels),
            "Keras's own imports TensorFlow",
            "labels label_mode num_classes",
        ),
        around(
            *(keras.src.utils.image_dataset_utils, "_load_image_tf", _directories.load_image),
            "Keras's own imports TensorFlow",
        ),
        replace(
            *(keras.src.utils.text_dataset_utils, "_path_to_string_content_tf"),
            *(_directories.load_text, "there are no operations on texts", "path max_length"),
        ),
        *(
            around(cls, "__init__", _autograph.convert_methods, "Keras 2 converts users' methods")
            for cls in (layer, loss, metric)
        ),
        *(
            around(
                *(cls, "update_state", _keras_2.update_across_devices),
                "values of several replicas are on several devices",
            )
            for cls in updating
        ),
        # Optimizers.
        *(around(cls, "build", _optimizers.build_for_variables, weights, "self") for cls in built),
        around(optimizer, "__init__", _optimizers.take_lr, "Keras 2 calls the learning rate lr"),
        around(optimizer, "get_config", _optimizers.save_rate, "a learning rate may be a variable"),
        replace(
            *(optimizer, "__init_subclass__", classmethod(_legacy_optimizers.adopt)),
            "optimizers in the way of Keras 2 define _resource_apply_dense",
        ),
        wrap(
            *(optimizer, "from_config", _optimizers.take_saved_decay),
            "Keras 3 ignores a decay that was saved",
        ),
        *(
            around(cls, "__init__", _optimizers.take_no_name, "Keras 2 takes None for a name")
            for cls in schedules
        ),
        add(optimizer, "lr", lr, "Keras 3 calls it learning_rate"),
        around(
            *(optimizer, "_backend_update_step", _optimizers.decay_rate),
            "Keras 2 takes a decay beside lr",
        ),
        around(optimizer, "apply", _optimizers.take_variables, weights),
        around(
            *(optimizer, "apply_gradients", _optimizers.take_name),
            "Keras 2 takes a name, and refuses to run between replicas",
            "self grads_and_vars",
        ),
        add(optimizer, "minimize", _optimizers.minimize, "Keras 3 has none"),
        add(scaled, "get_scaled_loss", _optimizers.get_scaled_loss, keras_3),
        add(scaled, "get_unscaled_gradients", _optimizers.get_unscaled_gradients, keras_3),
        add(scaled, "loss_scale", property(_optimizers.loss_scale), keras_3),
        around(scaled, "scale_loss", _optimizers.scale_as_keras_3, "it begins a step of Keras 3"),
        around(scaled, "apply", _optimizers.take_unscaled, "Keras 2 unscales gradients before"),
        around(scaled, "apply", _optimizers.take_variables, weights),
        # Loops.
        around(
            *(data_adapters, "get_data_adapter", _dataset_adapter.read_datasets),
            "loops read datasets of tf.data",
        ),
        around(
            *(compiles, "compile", _fit.take_strategy),
            "Keras 2 takes a strategy, and obeys a scope around compile alone",
            "self optimizer loss",
        ),
        around(
            *(compiles, "compile", _keras_2.take_metrics_third),
            "Keras 2 takes metrics before weights of losses",
            "self optimizer loss loss_weights metrics weighted_metrics",
        ),
        wrap(trainer, "fit", _fit.on_all_workers, workers, "self x y batch_size epochs"),
        wrap(trainer, "evaluate", _fit.on_all_workers, workers, "self x y batch_size verbose"),
        wrap(trainer, "predict", _fit.on_all_workers, workers, "self x batch_size verbose steps"),
        around(
            *(EpochIterator, "_enumerate_iterator", _backup.enumerate_rest),
            "the first epoch after a restart begins where the one before it was left",
        ),
        around(
            *(trainer, "_symbolic_build", _backup.note_iterator),
            "a callback asks the loop's iterator how far it has read",
            "self iterator data_batch",
        ),
        # Files.
        replace(
            *(keras.src.utils.file_utils, "gfile", _gfile.FILES),
            "Keras reads and writes URLs with TensorFlow alone",
        ),
        around(model, "save", _files.save_whole, "a task that is killed leaves the former file"),
        around(model, "save_weights", _files.save_under_prefix, prefixes),
        around(model, "load_weights", _files.load_from_prefix, prefixes),
        around(
            *(legacy_h5_format, "load_model_from_hdf5", _files.load_with_optimizer),
            "Keras 3 does not restore the optimizer of a .h5 file",
        ),
        around(
            *(model, "save", _export.save_as_directory),
            "a path without an ending is a directory",
            "self filepath overwrite",
        ),
        around(
            *(model, "export", _export.export_by_tensorflow),
            "Keras's own error does not say what works without TensorFlow",
            "self filepath format",
        ),
    )
