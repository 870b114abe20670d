"""Programs as old public repositories have them, as they are but for the import of `tf`: see the folder `programs`.

Each has a function `main(model_dir, warm_start_from)` that gives what it found. They initialize variables as they
like, so they start from the weights that `_SHAPES` names.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.golden.estimators.base import Log, folder, recorded, start_from, wave
from tests.golden.scenarios.base import Case, Setting

PROGRAMS = Path(__file__).parent / "programs"
_IMPORT = "import tensorflow.compat.v1 as tf\n"


def _dense(name: str, inputs: int, units: int) -> dict[str, list[int]]:
    return {f"{name}/kernel": [inputs, units], f"{name}/bias": [units]}


def _shared_body(inputs: int) -> dict[str, list[int]]:
    return _dense("shared_1", inputs, 8) | _dense("shared_2", 8, 6)


_EMBEDDED = "dnn/input_from_feature_columns/input_layer/occupation_embedding/embedding_weights"
_LAYER = "bert/encoder/layer_0"
_CROSSED = {"education_X_occupation": 30, "age_bucketized_X_education_X_occupation": 30}
_WIDE = {"education": 4, "marital_status": 3, "workclass": 3, "occupation": 20, "age_bucketized": 7}
# The trained variables of each program, but for those that it makes zero itself.
_SHAPES: dict[str, dict[str, list[int]]] = {
    "mnist_conv": {
        "conv2d/kernel": [5, 5, 1, 4],
        "conv2d/bias": [4],
        "conv2d_1/kernel": [3, 3, 4, 6],
        "conv2d_1/bias": [6],
        **_dense("dense", 54, 16),
        **_dense("dense_1", 16, 10),
    },
    "census_wide_deep": {
        "linear/linear_model/bias_weights": [1],
        **{f"linear/linear_model/{k}/weights": [n, 1] for k, n in (_WIDE | _CROSSED).items()},
        _EMBEDDED: [20, 4],
        **_dense("dnn/hiddenlayer_0", 17, 8),
        **_dense("dnn/hiddenlayer_1", 8, 4),
        **_dense("dnn/logits", 4, 1),
    },
    "text_cnn": {
        "word_embeddings": [11, 6],
        "conv-maxpool-2/conv/kernel": [2, 6, 4],
        "conv-maxpool-2/conv/bias": [4],
        "conv-maxpool-3/conv/kernel": [3, 6, 4],
        "conv-maxpool-3/conv/bias": [4],
        **_dense("output/dense", 8, 1),
    },
    "regression_hooks": _dense("dense", 2, 4) | _dense("dense_1", 4, 1),
    "warm_start": {
        **_dense("encoder/fc1", 3, 6),
        **_dense("encoder/fc2", 6, 4),
        **_dense("logits_3", 4, 3),
    },
    "custom_metric": _dense("dense", 3, 5) | _dense("dense_1", 5, 1),
    "exporters": _dense("dense", 2, 1),
    "multi_head": {
        **_shared_body(4),
        **_dense("click/dense", 6, 1),
        **_dense("price/dense", 6, 1),
        **_dense("click_logits", 6, 1),
        **_dense("price_logits", 6, 1),
    },
    "clip_global_norm": {
        "rnn/w_x": [2, 5],
        "rnn/w_h": [5, 5],
        "rnn/b": [5],
        **_dense("out", 5, 3),
    },
    "learning_rate_warm_up": {
        **_dense("pooler", 4, 8),
        "output_weights": [3, 8],
        "output_bias": [3],
    },
    "bert_classifier": {
        "bert/embeddings/word_embeddings": [12, 8],
        "bert/embeddings/position_embeddings": [16, 8],
        **_dense("bert/pooler/dense", 8, 8),
        **{
            key: shape
            for name in ("query", "key", "value", "dense")
            for key, shape in _dense(f"{_LAYER}/attention/{name}", 8, 8).items()
        },
        **_dense(f"{_LAYER}/intermediate", 8, 16),
        **_dense(f"{_LAYER}/output", 16, 8),
        "output_weights": [2, 8],
        "output_bias": [2],
    },
    "towers": {
        "resnet/conv1/kernel": [3, 3, 3, 4],
        "resnet/conv1/bias": [4],
        "resnet/local3/weights": [64, 8],
        "resnet/local3/biases": [8],
        "resnet/softmax_w": [8, 3],
        "resnet/softmax_b": [3],
    },
    "host_call": {
        "mnas/stem/kernel": [3, 3, 3, 4],
        "mnas/bn/gamma": [4],
        "mnas/bn/beta": [4],
        "mnas/depthwise_kernel": [3, 3, 4, 1],
        "mnas/se/kernel": [1, 1, 4, 4],
        "mnas/se/bias": [4],
        **_dense("mnas/dense", 4, 3),
    },
}


def _main(name: str, tf: Any) -> Any:
    """Runs a program's text with a module in the place of the one that it imports; gives its function `main`."""
    path = PROGRAMS / f"{name}.txt"
    text = path.read_text()
    if text.count(_IMPORT) != 1:
        raise ValueError(f"{path} is to have one line {_IMPORT!r}")
    names = {"__name__": name, "tf": tf}
    exec(compile(text.replace(_IMPORT, "\n"), str(path), "exec"), names)
    return names["main"]


@recorded("estimator.programs", "programs")
def programs(s: Setting) -> Iterator[Case]:
    for name, shapes in _SHAPES.items():

        @cache
        def found(name: str = name, shapes: dict[str, list[int]] = shapes) -> tuple[Any, Log]:
            weights = {k: wave(shape, i, 0.4) for i, (k, shape) in enumerate(shapes.items())}
            start = start_from(s.tf, weights)
            with Log() as log:
                results = _main(name, s.tf.compat.v1)(folder(), start)
            return results, log

        yield f"{name}/results", lambda found=found: found()[0]
        yield f"{name}/losses", lambda found=found: found()[1].losses()
