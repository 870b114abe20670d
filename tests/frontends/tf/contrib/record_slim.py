"""A tool: records what tf_slim, which TensorFlow 1 had as `tf.contrib.slim`, computes of the layers in `results`.

PYTHONPATH=$PWD:FOLDER_OF_TF_SLIM .venv-peers/bin/python -m tests.frontends.tf.contrib.record_slim
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data" / "slim.json"
PICTURES = np.sin(np.arange(2 * 5 * 6 * 3) * 0.7).reshape(2, 5, 6, 3).astype(np.float32)


def waves(shape: Any, dtype: Any = None, partition_info: object = None) -> np.ndarray:
    """Initializes a variable."""
    sizes = [int(size) for size in shape]
    return np.cos(np.arange(np.prod(sizes)) * 0.3).reshape(sizes).astype(np.float32)


def results(slim: Any) -> dict[str, Any]:
    """Makes layers in the graph that is the default one, by name."""
    same = {
        "activation_fn": None,
        "weights_initializer": waves,
        "biases_initializer": waves,
    }
    separable, transposed = slim.separable_conv2d, slim.conv2d_transpose
    first = separable(PICTURES, 4, 3, scope="a", **same)
    return {
        "separable": first,
        "separable_relu": separable(
            PICTURES, 4, [3, 2], 2, **same | {"activation_fn": abs}, scope="b"
        ),
        "separable_stride": separable(PICTURES, 2, 3, 1, 2, "VALID", scope="c", **same),
        "separable_rate": separable(PICTURES, 2, 2, rate=2, scope="d", **same),
        "depthwise": separable(PICTURES, None, 3, 2, scope="e", **same),
        "no_biases": separable(PICTURES, 2, 3, scope="f", **same | {"biases_initializer": None}),
        "transposed": transposed(PICTURES, 4, 3, scope="g", **same),
        "transposed_same": transposed(PICTURES, 2, [3, 2], 2, scope="h", **same),
        "transposed_valid": transposed(PICTURES, 2, [4, 1], [2, 3], "VALID", scope="i", **same),
        "repeated": slim.repeat(PICTURES, 2, separable, 3, 2, scope="j", **same),
        "stacked": slim.stack(PICTURES, transposed, [(2, 2), [1, 3]], scope="k", **same),
        "softmax": slim.softmax(first),
    }


def main() -> None:
    """Records."""
    import tensorflow.compat.v1 as tf
    import tf_slim

    with tf.Graph().as_default(), tf.Session() as session:
        layers = results(tf_slim)
        names = [one.op.name for one in tf.trainable_variables()]
        session.run(tf.global_variables_initializer())
        found = session.run(layers)
    values = {name: one.astype(float).round(5).tolist() for name, one in found.items()}
    DATA.write_text(json.dumps({"names": names, "values": values}) + "\n")


if __name__ == "__main__":
    main()
