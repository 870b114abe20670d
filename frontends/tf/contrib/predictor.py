"""`tf.contrib.predictor`: functions that predict, of what an estimator has exported."""

import os
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

from frontends.tf._names import attributes, defined_in
from frontends.tf.estimator import Estimator
from frontends.tf.saved_model import DEFAULT_SERVING_SIGNATURE_DEF_KEY, load
from spmd.typing import StrPath

Predictor = Callable[[Mapping[str, Any]], dict[str, Any]]


def from_saved_model(
    export_dir: StrPath | bytes,
    signature_def_key: str | None = None,
    signature_def: object = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: object = None,
    graph: object = None,
    config: object = None,
) -> Predictor:
    """Loads a model that an estimator has exported.

    Args:
        export_dir: what `export_saved_model` returned.
        signature_def_key: which of its functions; None is `"serving_default"`.
        signature_def: must be None: functions have names here.
        input_names: must be None, likewise.
        output_names: must be None, likewise.
        tags: accepted, and not used.
        graph: accepted, and not used.
        config: accepted, and not used.

    Returns:
        A function of a dict of inputs, which returns a dict of NumPy's arrays.

    Raises:
        ValueError: there is no such function, or names of tensors are given.

    Source: `tf.contrib.predictor.from_saved_model`.
    """
    if signature_def is not None or input_names is not None or output_names is not None:
        raise ValueError(
            "signature_def=, input_names= and output_names= name tensors of a graph, and there are none here: "
            "give signature_def_key=."
        )
    signatures = load(os.fsdecode(export_dir)).signatures
    key = signature_def_key or DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if key not in signatures:
        raise ValueError(f"No signature {key} in {export_dir}. There are: {', '.join(signatures)}.")
    serve = signatures[key]

    def predict(input_dict: Mapping[str, Any]) -> dict[str, Any]:
        return jax.tree.map(np.asarray, dict(serve(**input_dict)))

    return predict


def from_estimator(
    estimator: Estimator,
    serving_input_receiver_fn: Callable[[], Any],
    output_key: str | None = None,
    graph: object = None,
    config: object = None,
) -> Predictor:
    """Makes a function of an estimator's latest checkpoint, which it keeps when the estimator trains on.

    Args:
        estimator: that was trained.
        serving_input_receiver_fn: as `estimator.export_saved_model` takes it.
        output_key: which of `export_outputs`; None is the default one.
        graph: accepted, and not used.
        config: accepted, and not used.

    Returns:
        See `from_saved_model`.

    Raises:
        ValueError: there is no such output, or no checkpoint.

    Source: `tf.contrib.predictor.from_estimator`.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = estimator.export_saved_model(folder, serving_input_receiver_fn)
        return from_saved_model(path, output_key)


__getattr__, __dir__ = attributes("tf.contrib.predictor", defined_in(__name__))
