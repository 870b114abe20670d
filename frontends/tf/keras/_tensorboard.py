"""`tf.keras.callbacks.TensorBoard` without TensorFlow: Keras's own, which writes with `tf.summary` of ours.

Internals of Keras that it touches: the property `summary`, where the callback finds TensorFlow's module,
and `_write_keras_model_summary`, `_start_trace` and `_stop_trace`, which call TensorFlow beyond that;
tests/frontends/tf/keras/test_tensorboard.py runs them on every supported version.
"""

from typing import Any

import keras

from frontends.tf import summary
from frontends.tf.summary.writer import require_tensorboard


class TensorBoard(keras.callbacks.TensorBoard):
    """Writes what TensorBoard shows: curves of losses and metrics, the model, histograms of weights.

    The curves are those of TensorFlow's callback: `epoch_loss` and the like in `log_dir/train` and
    `log_dir/validation`, and `batch_loss` with `update_freq`. What differs: `write_graph` writes the
    graph of a Sequential or Functional model's layers only, since programs of XLA are none of TensorFlow's
    graphs; and `profile_batch` runs JAX's profiler, on Python 3.12 and newer, whose pages need the package
    `xprof` beside TensorBoard.

    Args:
        log_dir: a folder, or its URL in an object store.
        **options: `histogram_freq`, `write_graph`, `write_images`, `write_steps_per_second`,
            `update_freq`, `profile_batch`, `embeddings_freq` and `embeddings_metadata`, as in Keras.

    Raises:
        ImportError: when training starts, if the package `tensorboard` is not installed.

    Examples:
        >>> from frontends import tf
        >>> callback = tf.keras.callbacks.TensorBoard("logs", update_freq=100)
        >>> callback.log_dir
        'logs'

    Source: `tf.keras.callbacks.TensorBoard`.
    """

    @property
    def summary(self) -> Any:
        """The module that Keras writes with."""
        return summary

    def _write_keras_model_summary(self) -> None:
        model: Any = self.model
        if not isinstance(model, keras.Sequential) and type(model).__name__ != "Functional":
            return
        require_tensorboard()
        from tensorboard.compat.proto import summary_pb2

        # The names of a protocol buffer's module are made when it is imported: no type checker sees them.
        metadata_of: Any = vars(summary_pb2)["SummaryMetadata"]
        with self._train_writer.as_default():
            metadata = metadata_of(
                plugin_data={"plugin_name": "graph_keras_model", "content": b"1"}
            )
            summary.write("keras", model.to_json(), step=0, metadata=metadata)

    def _start_trace(self) -> None:
        self._start_profiler(logdir=self._train_dir)
        self._is_tracing = True

    def _stop_trace(self, batch: Any = None) -> None:
        self._stop_profiler()
        self._is_tracing = False
