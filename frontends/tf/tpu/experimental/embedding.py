"""`tf.tpu.experimental.embedding`: does not exist here; each name is an error that says what to write instead."""

from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module tf.tpu.experimental.embedding has no attribute {name}")
    raise AttributeError(
        f"tf.tpu.experimental.embedding.{name} is not part of jaxtribute: tables in host memory and the SparseCores of a TPU "
        "cannot be reached from JAX programs. Use a layer, whose table lies in the devices' memory: "
        "tf.keras.layers.Embedding(vocabulary_size, dimension), with the optimizer of the model."
    )
