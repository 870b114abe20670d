"""Summaries of model functions."""

import jax
import numpy as np
import pytest

from frontends import tf
from frontends.tf.graph import Graph
from frontends.tf.summary.collected import ALL_SUMMARIES, Summary, collect, is_collected, tag

SUMMARIES = tf.compat.v1.GraphKeys.SUMMARIES


def test_summaries_without_a_step_are_collected_in_a_model_function():
    def model(x):
        with Graph().as_default() as graph, tf.name_scope("tower"):
            found = [
                tf.summary.scalar("loss", x.sum()),
                tf.summary.histogram("x", x),
                tf.summary.image("picture", x.reshape(4, 1, 1, 1), max_outputs=2),
                tf.summary.text("words", "some"),
            ]
            assert tf.summary.scalar("loss", x.sum(), step=3) is True
            assert graph.collections[SUMMARIES] == found
            kinds.extend((one.name, one.kind, one.tensor.shape) for one in found)
        return found[0].tensor

    kinds = []
    with tf.summary.create_noop_writer().as_default(step=1):
        assert float(jax.jit(model)(np.float32([1, 2, 3, 4]))) == 10
    assert kinds == [
        ("tower/loss", "scalar", ()),
        ("tower/x", "histogram", (4,)),
        ("tower/picture", "image", (2, 1, 1, 1)),
        ("tower/words", "text", ()),
    ]


def test_outside_of_a_model_function_nothing_is_collected():
    assert not is_collected()
    with Graph().as_default():
        assert is_collected()
        assert not is_collected(step=0)


@pytest.mark.parametrize(
    ("name", "family", "expected"),
    [
        ("loss", None, ["loss", "loss_1"]),
        ("my loss: 1", None, ["my_loss__1", "my_loss__1_1"]),
        ("/loss", None, ["loss", "loss_1"]),
        ("loss", "train", ["train/train/loss", "train/train/loss_1"]),
    ],
)
def test_tags_are_tensorflows(name, family, expected):
    with Graph().as_default():
        assert [tag(name, family) for _ in range(2)] == expected


def test_collections_are_those_that_are_named():
    with Graph().as_default() as graph:
        summary = collect("x", "scalar", 1.5, ["mine"])
        assert graph.collections == {"mine": [summary], ALL_SUMMARIES: [summary]}
        assert summary == Summary("x", "scalar", 1.5)
