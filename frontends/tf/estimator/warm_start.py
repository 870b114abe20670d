"""Values for variables from a checkpoint of another model."""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from frontends.tf.compat.v1 import logging
from frontends.tf.estimator.model_checkpoints import latest, values_of
from frontends.tf.graph import VariableStore
from frontends.tf.train.tensor_bundle import is_bundle
from spmd.checkpoint import is_checkpoint


class _Fields(NamedTuple):
    ckpt_to_initialize_from: Any
    vars_to_warm_start: str | Sequence[Any] | None
    var_name_to_vocab_info: Mapping[str, Any]
    var_name_to_prev_var_name: Mapping[str, str]


class WarmStartSettings(_Fields):
    """What to take from a checkpoint.

    Attributes:
        ckpt_to_initialize_from: its path, or a folder.
        vars_to_warm_start: regular expression, or list of them or of names; None takes no variable but those of vocabularies.
        var_name_to_vocab_info: must be empty: rows are not mapped.
        var_name_to_prev_var_name: names in the checkpoint, by the names here.

    Source: `tf.estimator.WarmStartSettings`.
    """

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: Any,
        vars_to_warm_start: str | Sequence[Any] | None = ".*",
        var_name_to_vocab_info: Mapping[str, Any] | None = None,
        var_name_to_prev_var_name: Mapping[str, str] | None = None,
    ) -> "WarmStartSettings":
        """Checks that there is a path.

        Raises:
            ValueError: there is none.
        """
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(
            cls,
            ckpt_to_initialize_from,
            vars_to_warm_start,
            var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )


def warm_start(store: VariableStore, settings: Any) -> None:
    """Gives variables the values that a checkpoint has.

    Args:
        store: the variables.
        settings: a `WarmStartSettings`, or a path.

    Raises:
        ValueError: there is no checkpoint, it lacks a variable, or a shape differs; or vocabularies are to be mapped.
    """
    if not isinstance(settings, WarmStartSettings):
        settings = WarmStartSettings(settings)
    if settings.var_name_to_vocab_info:
        raise ValueError(
            "WarmStartSettings(var_name_to_vocab_info=...) is not supported. Use the same vocabulary, or assign the rows "
            "in the model function."
        )
    folder = os.fspath(settings.ckpt_to_initialize_from)
    path = folder if is_checkpoint(folder) or is_bundle(folder) else latest(folder)
    if path is None:
        raise ValueError(f"There is no checkpoint in {folder} to start from.")
    logging.info(f"Warm-starting with WarmStartSettings: {settings}")
    logging.info(f"Warm-starting from: {folder}")
    if isinstance(settings.vars_to_warm_start, str):
        logging.info("Warm-starting variables only in TRAINABLE_VARIABLES.")
    values, renamed = values_of(path), settings.var_name_to_prev_var_name
    count = 0
    for name, variable in store.saved().items():
        if not variable.trainable or not _is_wanted(name, settings.vars_to_warm_start):
            continue
        source = renamed.get(name, name)
        if source not in values:
            raise ValueError(
                f"The checkpoint {path} has no variable {source!r} to start {name!r} from. It has: {', '.join(sorted(values))}."
            )
        value = np.asarray(values[source]())
        if value.shape != tuple(variable.shape):
            raise ValueError(
                f"The variable {name!r} has shape {tuple(variable.shape)}, but the checkpoint {path} has {value.shape}."
            )
        logging.debug(
            f"Warm-starting variable: {name}; prev_var_name: {source if source != name else 'Unchanged'}"
        )
        variable.assign(value)
        count += 1
    logging.info(f"Warm-started {count} variables.")


def _is_wanted(name: str, wanted: str | Sequence[Any] | None) -> bool:
    if wanted is None:
        return False
    if isinstance(wanted, str):
        return re.match(wanted, name) is not None
    names = [one if isinstance(one, str) else one.name.removesuffix(":0") for one in wanted]
    return any(re.fullmatch(one, name) for one in names)
