"""`tf.summary`: curves, histograms, images and texts for TensorBoard.

    writer = tf.summary.create_file_writer("logs")
    with writer.as_default():
        tf.summary.scalar("loss", loss, step=step)

A *writer* appends to one event file. Functions such as `scalar` write to the *default writer*; without one they
write nothing and return False. The files are TensorFlow's, written with the package `tensorboard`, which is imported
when the first writer is made and needs no TensorFlow.

Compiled programs write no summaries: return a value from `tf.function` or `strategy.run`, and write it then.
"""

from frontends.tf._names import attributes
from frontends.tf.summary import experimental
from frontends.tf.summary.ops import histogram, image, scalar, text, write
from frontends.tf.summary.writer import (
    SummaryWriter,
    create_file_writer,
    create_noop_writer,
    flush,
    record_if,
    should_record_summaries,
)

__all__ = [
    "SummaryWriter",
    "create_file_writer",
    "create_noop_writer",
    "experimental",
    "flush",
    "histogram",
    "image",
    "record_if",
    "scalar",
    "should_record_summaries",
    "text",
    "write",
]

__getattr__, __dir__ = attributes("tf.summary", {}, present=__all__)
