"""What is compared with what, and how many times as fast ours is to be."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

TENSORFLOW, TORCH, KERAS = "TensorFlow", "PyTorch", "Keras on JAX"
KERAS_3 = "TensorFlow, Keras 3"
# Another way to run a peer: what is measured of the better one of the two counts as the peer's.
ALTERNATIVES = {KERAS_3: TENSORFLOW}
OURS, BY_HAND = "jaxtribute", "hand-written"


@dataclass(frozen=True)
class Program:
    """One side of a comparison.

    Attributes:
        name: `module.function` in `tests.benchmarks.programs`.
        front_end: what it calls `tf`, see `tests.benchmarks.peer`.
    """

    name: str
    front_end: str = "none"

    @property
    def in_peers(self) -> bool:
        """Whether it needs the environment of the peers."""
        return self.front_end.startswith("tensorflow") or self.name.startswith("torch")

    def arguments(self, peers: str, devices: int, digits: str) -> list[str]:
        """Returns the command that runs it.

        Args:
            peers: the Python that has TensorFlow and PyTorch.
            devices: how many.
            digits: the file of MNIST digits.
        """
        python = peers if self.in_peers else sys.executable
        module = "tests.benchmarks.peer"
        return [python, "-m", module, self.name, self.front_end, str(devices), digits]


@dataclass(frozen=True)
class Workload:
    """Programs that do the same.

    Attributes:
        title: what they do.
        programs: names and programs; ours is the first.
        targets: how many times as fast ours is to be as each other one.
        devices: how many CPU devices; for each number a comparison of its own.
        processes: how many processes each program consists of.
        rounds: how often each takes its turn.
        only: numbers of devices on which a program takes part; without an entry, all.
        has_estimators: whether the peer is TensorFlow 2.15, the last one that has them.
        starts: whether the time from the start to the first step counts, on the first number of devices.
        first_start: how many times TensorFlow's time from the start to the first step ours is to take at most, if
            nothing is kept from an earlier run.
    """

    title: str
    programs: Mapping[str, Program]
    targets: Mapping[str, float]
    devices: Sequence[int] = (1,)
    processes: int = 1
    rounds: int = 9
    only: Mapping[str, Sequence[int]] = field(default_factory=dict)
    has_estimators: bool = False
    starts: bool = False
    first_start: float = 1.2


def _both(name: str) -> dict[str, Program]:
    """The same script with our import line and with TensorFlow's."""
    return {OURS: Program(name, "jaxtribute"), TENSORFLOW: Program(name, "tensorflow")}


def _model(
    title: str, name: str, *, loop: bool = False, first_start: float = 1.2, starts: bool = True
) -> Workload:
    """A model, with `Model.fit`, also of stock Keras on JAX, or with a custom loop."""
    programs = _both(name)
    if not loop:
        # Custom loops of Keras 3 fail under TensorFlow's MirroredStrategy.
        programs |= {KERAS_3: Program(name, "tensorflow-keras-3"), KERAS: Program(name)}
    return Workload(
        f"{title}, {'custom loop' if loop else 'Model.fit'}",
        programs,
        {TENSORFLOW: 1.2, KERAS: 1.0},
        devices=(1, 2),
        rounds=5,
        only={KERAS_3: (1,), KERAS: (1,)},
        starts=starts,
        first_start=first_start,
    )


MODELS = {
    "gpt": _model("GPT-style transformer, 4 layers of 256, 8 texts of 128", "attention.gpt"),
    "gpt_deep": _model(
        "GPT-style transformer, 12 layers of 256, 8 texts of 128", "attention.gpt_deep"
    ),
    "bert": _model(
        "BERT-style encoder with masks, 4 layers of 256, 16 texts of 64", "attention.bert"
    ),
    "vit": _model("ViT, 4 layers of 128, 32 pictures of 64 x 64", "attention.vit"),
    "series": _model(
        "Attention over 168 hours, 3 layers of 4 x 64, 32 series",
        "attention.series",
        starts=False,
    ),
    "lstm": _model("LSTM text classifier, 32 texts of 100", "recurrent.lstm"),
    "gru": _model("GRU sequence tagger, 32 texts of 50", "recurrent.gru"),
    "movies": _model(
        "Two ConvLSTM2D layers of 16, 8 films of 10 frames of 32 x 32",
        "recurrent.movies",
        starts=False,
    ),
    "two_tables": _model(
        "Recommender, two tables of 500,000 x 32, Adagrad, batch 512", "tables.recommender"
    ),
    "table_adagrad": _model(
        "Recommender, table of 1,000,000 x 64, Adagrad, batch 512", "tables.adagrad"
    ),
    "table_adam": _model("Recommender, table of 1,000,000 x 64, Adam, batch 512", "tables.adam"),
    "dcgan": _model("DCGAN, batch 64", "generators.dcgan", loop=True),
    "unet": _model("U-Net, 8 pictures of 64 x 64", "pictures.unet"),
    "augmented": _model(
        "Pictures of 180 x 180, turned and enlarged at random, three convolutions, batch 32",
        "pictures.augmented",
        starts=False,
    ),
    "efficientnet": _model(
        "EfficientNetB0, 8 pictures of 128 x 128", "pictures.efficientnet", first_start=1.5
    ),
    "densenet": _model("DenseNet121, 8 pictures of 96 x 96", "pictures.densenet", first_start=1.5),
    "autoencoder": _model("Autoencoder of dense layers, batch 128", "dense.autoencoder"),
    "accumulation": _model(
        "Gradients of 4 batches of 32 added, dense layers", "dense.accumulation", loop=True
    ),
}

# Nobody looked at these while the engine was made fast for those.
OTHERS = {
    name: _model(f"{title} (untuned)", f"others.{name}", starts=False)
    for name, title in {
        "translator": "Encoder and decoder, 2 + 2 layers of 128, 16 pairs of texts of 48",
        "letters": "Two LSTM layers of 128 for the next letter, 32 texts of 60",
        "signals": "Residual convolutions over time, 32 signals of 256 moments",
        "mobilenet_v3": "MobileNetV3Small, 16 pictures of 96 x 96",
        "mixer": "MLP-Mixer, 4 layers of 128, 16 pictures of 64 x 64",
    }.items()
}

WORKLOADS = {
    "mnist_loop": Workload(
        "MNIST CNN, custom loop, batch 128",
        {**_both("mnist.loop"), BY_HAND: Program("mnist.by_hand")},
        {TENSORFLOW: 1.2, BY_HAND: 0.97},
        devices=(1, 2, 8),
        only={TENSORFLOW: (1, 2)},
    ),
    "mnist_fit": Workload(
        "MNIST CNN, Model.fit, batch 128",
        {**_both("mnist.fit"), KERAS: Program("mnist.keras_alone")},
        {TENSORFLOW: 1.2, KERAS: 3},
        devices=(1, 2),
    ),
    "mnist_estimator": Workload(
        "MNIST CNN, Estimator.train, batch 128",
        _both("estimators.mnist"),
        {TENSORFLOW: 1.5},
        devices=(1, 2),
        rounds=5,
        has_estimators=True,
    ),
    "mlp_loop": Workload(
        "MLP 784-256-128-10, custom loop, 64 rows a replica",
        _both("mlp.loop"),
        {TENSORFLOW: 3},
        devices=(1, 2),
    ),
    "mobilenet": Workload(
        "MobileNetV2 at 224 x 224, Model.fit, batch 16",
        {**_both("applications.mobilenet"), KERAS: Program("applications.mobilenet")},
        {TENSORFLOW: 0.9, KERAS: 5},
        rounds=5,
    ),
    "resnet": Workload(
        "ResNet50 at 224 x 224, Model.fit, batch 16",
        {**_both("applications.resnet"), KERAS: Program("applications.resnet")},
        {TENSORFLOW: 0.9, KERAS: 1.5},
        rounds=5,
    ),
    "mnist_workers": Workload(
        "MNIST CNN, custom loop, batch 128, 2 processes",
        {**_both("mnist.workers"), TORCH: Program("torch_ddp.workers")},
        {TENSORFLOW: 1.2, TORCH: 1.2},
        processes=2,
    ),
    "mnist_four_workers": Workload(
        "MNIST CNN, custom loop, batch 128, 4 processes",
        {**_both("mnist.workers"), TORCH: Program("torch_ddp.workers")},
        {TENSORFLOW: 1.2, TORCH: 1.2},
        processes=4,
    ),
    "gradient_packs": Workload(
        "50 small layers, custom loop, 2 processes",
        {
            **_both("deep.in_packs"),
            "jaxtribute, each gradient alone": Program("deep.one_by_one", "jaxtribute"),
        },
        {},
        processes=2,
    ),
    "parameter_server": Workload(
        "MLP 784-256-10 on parameter servers, batch 64, 2 workers and 1 server",
        _both("servers.mlp"),
        {TENSORFLOW: 1.5},
    ),
    "recommender": Workload(
        "Recommender on parameter servers, tables of 1,100,000 x 64, batch 512, 2 workers and 1 server",
        _both("servers.recommender"),
        {TENSORFLOW: 1.2},
        rounds=5,
    ),
    "mnist_input": Workload(
        "Input alone: MNIST map, shuffle, batch 128, onto a device",
        _both("input.mnist"),
        {TENSORFLOW: 2},
    ),
    "picture_input": Workload(
        "Input alone: TFRecord of 600 JPEGs of 250 x 300, resized to 224, flipped, shuffle, batch 32, onto 2 devices",
        _both("input.pictures"),
        {TENSORFLOW: 1.0},
        devices=(2,),
        rounds=5,
    ),
    "text_input": Workload(
        "Input alone: 20,000 lines, shuffle, batch 128, TextVectorization, onto 2 devices",
        _both("input.lines"),
        {TENSORFLOW: 1.0},
        devices=(2,),
    ),
    "augmentation_input": Workload(
        "Input alone: 10,000 pictures of 32 x 32, shuffle, padded, cropped, flipped, brightness, contrast, batch 128, onto 2 devices",
        _both("input.augmentation"),
        {TENSORFLOW: 1.0},
        devices=(2,),
        rounds=5,
    ),
    "example_input": Workload(
        "Input alone: TFRecord of 50,000 examples, shuffle, batch 128, parse_example, hashed texts, onto 2 devices",
        _both("input.examples"),
        {TENSORFLOW: 1.0},
        devices=(2,),
    ),
    "record_input": Workload(
        "Input alone: TFRecord of 25,600 digits as raw bytes, parse_single_example, decode_raw, shuffle, batch 128, onto 2 devices",
        _both("input.records"),
        {TENSORFLOW: 1.0},
        devices=(2,),
    ),
    "table_input": Workload(
        "Input alone: 50,000 texts, shuffle, cleaned with tf.strings, table.lookup, batch 128, onto 2 devices",
        _both("input.table"),
        {TENSORFLOW: 1.0},
        devices=(2,),
    ),
    **MODELS,
    **OTHERS,
}
