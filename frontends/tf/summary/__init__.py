"""`tf.summary`: curves, histograms, images and texts for TensorBoard.

    writer = tf.summary.create_file_writer("logs")
    with writer.as_default():
        tf.summary.scalar("loss", loss, step=step)

A *writer* appends to one event file. Functions such as `scalar` write to the *default writer*; without one they
write nothing and return False. The files are TensorFlow's, written with the package `tensorboard`, which is imported
when the first writer is made and needs no TensorFlow.

In `tf.function` and `strategy.run` the program writes them whenever it runs, without waiting: to the writer that was
the default when the function was traced, and once in each process, from its first replica, as in TensorFlow. `flush`
and `close` wait for programs that run. Where there is no writer when a function is traced, the program writes none.

In a model function of TensorFlow 1, a summary without a step is collected, and its estimator writes it.
"""

from frontends.tf import _names
from frontends.tf.summary.either import histogram as histogram
from frontends.tf.summary.either import image as image
from frontends.tf.summary.either import scalar as scalar
from frontends.tf.summary.either import text as text
from frontends.tf.summary.ops import audio as audio
from frontends.tf.summary.ops import write as write
from frontends.tf.summary.trace import trace_export as trace_export
from frontends.tf.summary.trace import trace_off as trace_off
from frontends.tf.summary.trace import trace_on as trace_on
from frontends.tf.summary.writer import SummaryWriter as SummaryWriter
from frontends.tf.summary.writer import create_file_writer as create_file_writer
from frontends.tf.summary.writer import create_noop_writer as create_noop_writer
from frontends.tf.summary.writer import flush as flush
from frontends.tf.summary.writer import record_if as record_if
from frontends.tf.summary.writer import should_record_summaries as should_record_summaries

__getattr__, __dir__ = _names.attributes(
    "tf.summary",
    _names.exported_by(__name__),
    {"experimental": "frontends.tf.summary.experimental"},
    borrowed=dict.fromkeys(
        ("FileWriter", "FileWriterCache", "all_v2_summary_ops", "merge", "merge_all"),
        "frontends.tf.compat.v1.summary",
    ),
)
