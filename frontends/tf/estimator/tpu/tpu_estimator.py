"""`tf.estimator.tpu.TPUEstimator`: an estimator that trains on the cores of a TPU, or without one as others do."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from frontends.tf.distribute.strategies.tpu import TPUStrategy
from frontends.tf.estimator.estimator import Estimator
from frontends.tf.estimator.mode_keys import ModeKeys
from frontends.tf.estimator.tpu.config import RunConfig
from frontends.tf.estimator.warm_start import WarmStartSettings
from frontends.tf.tpu.system import require_tpu
from spmd.assigned import assigned
from spmd.typing import StrPath

_RESERVED = ("batch_size", "context")
# By mode, the option that says how many rows its batches have.
_SIZES = {
    ModeKeys.TRAIN: "train_batch_size",
    ModeKeys.EVAL: "eval_batch_size",
    ModeKeys.PREDICT: "predict_batch_size",
}
_EXPORTS: ContextVar[bool] = ContextVar("_EXPORTS", default=False)


class TPUEstimator(Estimator):
    """An estimator that knows the size of a batch, and gives each core of a TPU its part.

    `params["batch_size"]` says to an `input_fn`, and to the model function, how many rows a core takes: all of them without
    a TPU. The model function may return a `TPUEstimatorSpec` or an `EstimatorSpec`, and finds in `params["use_tpu"]`
    whether it runs on a TPU.

    What differs here: with a TPU, each core takes a batch of the dataset of its host, whatever
    `TPUConfig(per_host_input_for_training)` says, and predictions are computed on one core. Steps end when they end: no
    count is rounded to `iterations_per_loop`.

    Source: `tf.estimator.tpu.TPUEstimator`.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: StrPath | None = None,
        config: RunConfig | None = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        batch_axis: Sequence[int] | None = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: StrPath | WarmStartSettings | None = None,
        embedding_config_spec: object = None,
        export_saved_model_api_version: object = None,
    ) -> None:
        """Describes an estimator; with `use_tpu`, starts the TPU.

        Args:
            model_fn: see `tf.estimator.Estimator`.
            model_dir: likewise.
            config: a `tf.estimator.tpu.RunConfig`.
            params: for the model function and for each `input_fn`; `batch_size` is added.
            use_tpu: whether to train on all cores of a TPU; otherwise as a `tf.estimator.Estimator`.
            train_batch_size: rows of a step, over all cores.
            eval_batch_size: likewise, of an evaluation; one on a TPU needs it.
            predict_batch_size: likewise, of predictions.
            batch_axis: which axis of each tensor counts rows; must be None, or 0 for all.
            eval_on_tpu: whether evaluations use the TPU, too.
            export_to_tpu: accepted, and not used: an export serves on any device.
            export_to_cpu: accepted, and not used.
            warm_start_from: see `tf.estimator.Estimator`.
            embedding_config_spec: must be None.
            export_saved_model_api_version: accepted, and not used.

        Raises:
            ValueError: the configuration is of another class, a parameter has a reserved name, or a batch cannot be divided
                over the cores; or there is no TPU.
            NotImplementedError: tables are to be held by the TPU's own memory for them, or another axis counts rows.
        """
        if not isinstance(config, RunConfig):
            raise ValueError(
                "`config` must be provided with type `tpu_config.RunConfig`: write config=tf.estimator.tpu.RunConfig(...), or "
                f"tf.contrib.tpu.RunConfig(...). It is {config!r}."
            )
        taken = [key for key in _RESERVED if params is not None and key in params]
        if taken:
            raise ValueError(f"{list(_RESERVED)} are reserved keys but existed in params: {taken}.")
        if embedding_config_spec is not None:
            raise NotImplementedError(
                "Embeddings in memory of their own, embedding_config_spec, are not supported. Use "
                "tf.feature_column.embedding_column in the model function."
            )
        if batch_axis is not None and any(axis != 0 for axis in batch_axis):
            raise NotImplementedError(
                f"batch_axis={batch_axis!r}: rows are counted by axis 0 here. Transpose in the model function, and leave it out."
            )
        self._batch_sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        self._on_tpu: set[str] = set()
        replicas = 1
        if use_tpu:
            if train_batch_size is None:
                raise ValueError("`train_batch_size` cannot be `None`")
            require_tpu("TPUEstimator(use_tpu=True)")
            strategy = TPUStrategy(config.cluster)
            config = config.replace(train_distribute=strategy)
            self._on_tpu.add(ModeKeys.TRAIN)
            if eval_on_tpu:
                config = config.replace(eval_distribute=strategy)
                self._on_tpu.add(ModeKeys.EVAL)
            replicas = strategy.num_replicas_in_sync
        for mode in self._on_tpu:
            size = self._batch_sizes[mode]
            if size is None:
                continue
            if size < 1 or size % replicas:
                raise ValueError(
                    f"The batch of {mode} has {size} rows, which cannot be divided over {replicas} cores. Write a multiple of "
                    f"{replicas}."
                )
            self._batch_sizes[mode] = size // replicas
        super().__init__(model_fn, model_dir, config, params, warm_start_from)

    def _params_for(self, mode: str, *, of_model: bool) -> Any:
        params = super()._params_for(mode, of_model=of_model)
        added: dict[str, Any] = {}
        exports, size = _EXPORTS.get(), self._batch_sizes[mode]
        if size is None and mode in self._on_tpu and not exports:
            raise ValueError(
                "TPUEstimator.evaluate needs eval_batch_size=... to run on a TPU, and it is None. Write "
                "TPUEstimator(..., eval_batch_size=...), or eval_on_tpu=False."
            )
        if size is not None and not (of_model and exports):
            added["batch_size"] = size
        if of_model:
            added["use_tpu"] = mode in self._on_tpu
        if not isinstance(params, Mapping) and hasattr(params, "add_hparam"):
            for name, value in added.items():
                (params.set_hparam if name in params else params.add_hparam)(name, value)
            return params
        return {**params, **added}

    @contextlib.contextmanager
    def _prepared(self, mode: str, *args: Any, **kwargs: Any) -> Iterator[Any]:
        try:
            with super()._prepared(mode, *args, **kwargs) as found:
                yield found
        except KeyError as error:
            if error.args != ("batch_size",) or self._batch_sizes[mode] is not None:
                raise
            name = _SIZES[mode]
            raise ValueError(
                f'params["batch_size"] was asked for, but {name} is None. Write TPUEstimator(..., {name}=...).'
            ) from error

    def _scales_loss(self, mode: str) -> bool:
        # CrossShardOptimizer does.
        return mode not in self._on_tpu and super()._scales_loss(mode)

    def export_saved_model(self, *args: Any, **kwargs: Any) -> bytes:
        """Writes what the model predicts; see `tf.estimator.Estimator.export_saved_model`. Parameters have no batch size."""
        with assigned(_EXPORTS, True):
            return super().export_saved_model(*args, **kwargs)
