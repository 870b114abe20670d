"""All changes to Keras's own classes and modules: one table, applied by one function.

A *patch* is a row: an attribute of one of Keras's classes or modules, what takes its place, why, what Keras's own is
assumed to look like, and the Keras releases that need it. `_engine_patches` lists the rows of this room; a front end hands
its own to `patch_keras`. Several rows may wrap one attribute, each what the row before it made. Importing this
module changes nothing.

tests/spmd/integrations/keras/test_patches.py checks every row against every supported version of Keras.
"""

import dataclasses
import functools
import inspect
import threading
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import keras
from keras.src.backend.jax import core as keras_core
from keras.src.backend.jax import image as keras_image
from keras.src.backend.jax import numpy as keras_numpy
from keras.src.backend.jax import random as keras_random
from keras.src.backend.jax.trainer import JAXEpochIterator
from keras.src.layers.rnn.conv_lstm import ConvLSTMCell
from keras.src.utils import jax_layer, traceback_utils

from spmd.integrations.keras import (
    batch_normalization,
    conv_lstm,
    copies,
    image_transforms,
    initial_values,
    losses,
    masking,
    optimizers,
    placement,
    recurrent,
    rematerialization,
    replica_steps,
    server_rules,
    traced_errors,
    trainer,
    variables,
)
from spmd.integrations.keras.typing import Method

# A class or a module of Keras's.
_Owner = Any
_SUPPORTED = ("3.15", None)


@dataclasses.dataclass(frozen=True)
class Patch:
    """One changed attribute of Keras's.

    Attributes:
        owner: the class or module.
        attribute: its name there.
        kind: whether the new value wraps Keras's own, replaces it, or adds what Keras lacks.
        make: makes the new value, from the one before.
        why: what Keras's own does not do.
        takes: the parameters that Keras's own is assumed to have, in order; None if it is no function.
        versions: the first Keras release with this row, and the first without it (None: none yet).
    """

    owner: _Owner
    attribute: str
    kind: Literal["wrap", "replace", "add"]
    make: Callable[[Any], Any]
    why: str
    takes: tuple[str, ...] | None = None
    versions: tuple[str, str | None] = _SUPPORTED

    @classmethod
    def wrap(
        cls, owner: _Owner, attribute: str, wrapper: Method, why: str, takes: str | None = None
    ) -> "Patch":
        """Makes a row whose `wrapper` is called with Keras's own value, and returns the new one."""
        return cls(owner, attribute, "wrap", wrapper, why, _parameters(takes))

    @classmethod
    def around(
        cls, owner: _Owner, attribute: str, function: Method, why: str, takes: str | None = None
    ) -> "Patch":
        """Makes a row whose `function` is called instead of Keras's own, with that and its arguments.

        Unless `takes` says otherwise, Keras's own is assumed to have the parameters that `function` names
        after its first.
        """
        if takes is None:
            parameters = inspect.signature(function).parameters.values()
            kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            named = [parameter.name for parameter in parameters if parameter.kind in kinds]
            takes = " ".join(named[1:])
        return cls.wrap(owner, attribute, functools.partial(_around, function), why, takes)

    @classmethod
    def replace(
        cls, owner: _Owner, attribute: str, value: object, why: str, takes: str | None = None
    ) -> "Patch":
        """Makes a row that puts `value` in place of Keras's own."""
        return cls(owner, attribute, "replace", lambda _: value, why, _parameters(takes))

    @classmethod
    def add(cls, owner: _Owner, attribute: str, value: object, why: str) -> "Patch":
        """Makes a row for an attribute that Keras lacks."""
        return cls(owner, attribute, "add", lambda _: value, why)

    @property
    def name(self) -> str:
        """The attribute's full name, such as `Layer.add_weight`."""
        return f"{self.owner.__name__}.{self.attribute}"

    def applies_to(self, version: str) -> bool:
        """Tells whether a Keras release needs this row."""
        first, end = self.versions
        number = _number(version)
        return _number(first) <= number and (end is None or number < _number(end))


@dataclasses.dataclass(frozen=True)
class AppliedPatch:
    """A patch that was made.

    Attributes:
        patch: the row.
        before: the value that it found, Keras's own or an earlier row's; None if there was none.
        after: the value that it put there.
    """

    patch: Patch
    before: Any
    after: Any


def _parameters(takes: str | None) -> tuple[str, ...] | None:
    return None if takes is None else tuple(takes.split())


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def _around(function: Method, original: Method) -> Method:
    @functools.wraps(original)
    def replacement(*args: object, **kwargs: object) -> object:
        try:
            return function(original, *args, **kwargs)
        except TypeError as error:
            if error.__traceback__ and not error.__traceback__.tb_next:
                # The call was wrong: say so of the function that the user called, not of ours.
                try:
                    inspect.signature(functools.partial(function, original)).bind(*args, **kwargs)
                except TypeError as reason:
                    raise TypeError(f"{original.__qualname__}() {reason}") from None
            raise

    # Keras reads the settings of a layer from its signature, without following __wrapped__.
    vars(replacement)["__signature__"] = inspect.signature(original)
    return replacement


@functools.cache
def _engine_patches() -> tuple[Patch, ...]:
    """Lists the engine's rows, of classes that Keras has on its JAX backend."""
    variable, loss, optimizer = keras.Variable, keras.losses.Loss, keras.optimizers.Optimizer
    scaled, norm = keras.optimizers.LossScaleOptimizer, keras.layers.BatchNormalization
    model = jax_trainer()
    no_tensorflow = types.SimpleNamespace(inside_function=lambda: False)
    around, replace, wrap = Patch.around, Patch.replace, Patch.wrap
    return (
        replace(
            jax_layer, "tf", no_tensorflow, "JaxLayer asks whether TensorFlow traces a function"
        ),
        *(
            around(keras_random, function.__name__, function, "JAX compiles a draw for each shape")
            for function in (
                initial_values.normal,
                initial_values.truncated_normal,
                initial_values.uniform,
            )
        ),
        *(
            around(
                *(keras_numpy, name, functools.partial(initial_values.filled, number)),
                "JAX compiles a constant for each shape",
                "shape dtype",
            )
            for name, number in (("zeros", 0), ("ones", 1))
        ),
        around(
            *(keras.initializers.Constant, "__call__", initial_values.constant),
            "JAX compiles a constant for each shape",
            "self shape dtype",
        ),
        around(
            *(keras.initializers.Orthogonal, "__call__", initial_values.orthogonal),
            "JAX compiles each operation for each shape",
            "self shape dtype",
        ),
        around(
            *(keras_numpy, "divide_no_nan", initial_values.divide_no_nan),
            "JAX compiles each operation by itself",
            "x1 x2",
        ),
        around(
            *(traceback_utils, "inject_argument_info_in_traceback", traced_errors.keep_errors),
            "errors of JAX about traced values are not made of a text",
        ),
        around(
            *(keras_core, "remat", rematerialization.rematerialized),
            "jax.checkpoint takes functions of arrays that write no variables",
            "f",
        ),
        around(
            variable, "__init__", variables.make_late, "variables made in a step get values later"
        ),
        around(
            *(variable, "_deferred_initialize", variables.initialize_at_once),
            "variables made in a step start from arrays",
        ),
        wrap(variable, "value", variables.guard_value, "a step must have found what it reads"),
        around(variable, "assign", variables.guard_assign, "a step must have found what it writes"),
        *(
            around(
                *(variable, name, functools.partial(variables.described_assign, verb)),
                "sums of several workers add up on parameter servers",
                "self value",
            )
            for name, verb in (("assign_add", "add"), ("assign_sub", "subtract"))
        ),
        around(loss, "__call__", masking.loss_of_valid_rows, "padding has no loss"),
        around(loss, "__call__", losses.loss_as_share, "losses of replicas add up to the batch's"),
        around(
            *(optimizer, "apply", server_rules.apply_on_servers),
            "gradients are sent to parameter servers",
        ),
        *(
            around(
                *(each, "apply", optimizers.build_in_step),
                "a step is traced once if it hears of the slots that are made in it",
                "self grads trainable_variables",
            )
            for each in (optimizer, scaled)
        ),
        around(
            *(optimizer, "add_variable_from_reference", server_rules.bind_slot),
            "slots live on the servers of their variables",
            "self reference_variable name initializer",
        ),
        around(
            *(optimizer, "apply_gradients", optimizers.take_aggregation),
            "callers say whether gradients are sums over the replicas already",
            "self grads_and_vars",
        ),
        replace(
            *(scaled, "_common_apply", optimizers.apply_if_finite),
            "JAX cannot write variables in a branch",
            "self grads trainable_variables",
        ),
        around(
            *(norm, "__init__", batch_normalization.take_synchronized),
            "Keras refuses synchronized=True without TensorFlow",
            "self axis momentum epsilon",
        ),
        around(
            *(norm, "_moments", batch_normalization.moments_of_valid_rows),
            "padding has no part in statistics, and replicas may share them",
        ),
        wrap(
            keras.layers.RNN,
            "variables",
            recurrent.with_states,
            "the states of stateful layers change",
        ),
        around(ConvLSTMCell, "call", conv_lstm.gates_together, "each gate convolves on its own"),
        around(
            *(keras_image, "affine_transform", image_transforms.affine_transform),
            "each channel of a pixel is looked up on its own",
        ),
        around(
            model, "__init__", placement.place_new_model, "a scope of a strategy places new models"
        ),
        *(
            around(
                *(model, f"{loop}_step", functools.partial(replica_steps.step_of_rows, of_rows)),
                "a replica's code calls it with a batch",
                "self state data",
            )
            for loop, of_rows in replica_steps.REPLICA_STEPS.items()
        ),
        *(
            around(
                *(model, f"make_{loop}_function", functools.partial(trainer.make_function, loop)),
                "fit, evaluate and predict run steps of the engine",
            )
            for loop in replica_steps.REPLICA_STEPS
        ),
        around(
            *(model, "_get_jax_state", trainer.state_in_variables),
            "the state of a placed model stays in its variables",
            "self trainable_variables non_trainable_variables optimizer_variables metrics_variables",
        ),
        around(
            *(model, "_symbolic_build", trainer.build_if_possible),
            "a model with a step of its own need not have a call",
            "self iterator data_batch",
        ),
        around(
            *(JAXEpochIterator, "_get_iterator", trainer.host_batches),
            "batches go from the host to where the step runs",
        ),
        around(
            *(keras.layers.Layer, "stateless_call", losses.losses_of_this_call),
            "a new loss may get the id of one of an earlier call",
            "self trainable_variables non_trainable_variables",
        ),
        around(
            *(model, "_aggregate_additional_loss", losses.additional_loss_as_share),
            "a penalty on weights counts once, not once for each replica",
        ),
        around(
            *(model, "_compute_loss", losses.own_loss_as_share),
            "a compute_loss that a user wrote becomes a share as a whole",
            "self x y y_pred sample_weight training",
        ),
    )


def jax_trainer() -> _Owner:
    """Returns the class with Keras's loops for JAX, a base of `keras.Model`."""
    return next(cls for cls in keras.Model.__mro__ if cls.__name__ == "JAXTrainer")


_LOCK = threading.Lock()


def patch_keras(more: Iterable[Patch] = ()) -> None:
    """Changes Keras as the engine's table and more rows say; rows that are in place already stay as they are.

    Steps with Keras's objects and `place_model` call it. Call it yourself before you make a
    `BatchNormalization(synchronized=True)` for either. Threads may call it at the same time.

    Args:
        more: rows of a front end, applied after the engine's.

    Raises:
        AttributeError: this Keras lacks an attribute that a row wraps or replaces. Then no row is applied.
    """
    with _LOCK:
        applied = _record()
        done = {_key(row.patch) for row in applied}
        new: list[AppliedPatch] = []
        latest: dict[tuple[_Owner, str], Any] = {}
        for patch in (*_engine_patches(), *more):
            if _key(patch) not in done and patch.applies_to(keras.__version__):
                before = None if patch.kind == "add" else _find(patch, latest)
                after = latest[patch.owner, patch.attribute] = patch.make(before)
                new.append(AppliedPatch(patch, before, after))
        for (owner, attribute), value in latest.items():
            setattr(owner, attribute, value)
        applied.extend(new)
        copies.register_reducers()


def applied_patches() -> Sequence[AppliedPatch]:
    """Lists the rows in place, in the order in which they were applied."""
    return tuple(_record())


def _record() -> list[AppliedPatch]:
    # In Keras itself, so that it outlives a reload of this module as the patches do.
    namespace: dict[str, Any] = keras.__dict__
    return namespace.setdefault("_spmd_patches", [])


def _key(patch: Patch) -> tuple[_Owner, str, str]:
    return patch.owner, patch.attribute, patch.why


def _find(patch: Patch, latest: dict[tuple[_Owner, str], Any]) -> Any:
    """Finds what an attribute is after the rows before this one."""
    for owner in inspect.getmro(patch.owner) if inspect.isclass(patch.owner) else (patch.owner,):
        if (owner, patch.attribute) in latest:
            return latest[owner, patch.attribute]
        if patch.attribute in vars(owner):
            return getattr(owner, patch.attribute)
    raise AttributeError(
        f"Keras {keras.__version__} has no {patch.name}, which jaxtribute changes because {patch.why}. Expected: "
        f"Keras {_SUPPORTED[0]}, or a newer release that has it. Keras was left as it is. Install one that has: "
        f"pip install 'keras~={_SUPPORTED[0]}.0'"
    )
