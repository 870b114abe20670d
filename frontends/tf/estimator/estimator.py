"""`tf.estimator.Estimator`: a model function, trained, evaluated and asked for predictions."""

import contextlib
import copy
import functools
import itertools
import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from types import NoneType
from typing import Any

import jax
import numpy as np

from frontends.tf import nest
from frontends.tf.compat.v1 import logging
from frontends.tf.compat.v1.slots import name_of, value_of
from frontends.tf.distribute.scope import StrategyLike, default_strategy, in_force
from frontends.tf.distribute.strategies.parameter_server import ParameterServerStrategy
from frontends.tf.estimator import model_checkpoints
from frontends.tf.estimator.batch_texts import BatchTexts
from frontends.tf.estimator.batches import batches_of, call_with
from frontends.tf.estimator.estimator_spec import EstimatorSpec, check_hooks, missing
from frontends.tf.estimator.evaluation_record import log_metrics, write_metrics
from frontends.tf.estimator.export.writing import receive, timestamped, write
from frontends.tf.estimator.hooks.basic import StepCounterHook, StopAtStepHook
from frontends.tf.estimator.hooks.checkpoint_saver import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    savers_among,
)
from frontends.tf.estimator.hooks.own import LossHook, StopAfterHook, SummariesHook
from frontends.tf.estimator.kept_evaluation import KeptEvaluation, evaluation_key
from frontends.tf.estimator.mode_keys import ModeKeys
from frontends.tf.estimator.model_checkpoints import ModelCheckpoints
from frontends.tf.estimator.model_step import ModelStep
from frontends.tf.estimator.own_context import in_own_context
from frontends.tf.estimator.parameters import check_parameters, with_features
from frontends.tf.estimator.prediction_rows import rows_of, selected
from frontends.tf.estimator.run_config import RunConfig
from frontends.tf.estimator.running_loss import RunningLoss
from frontends.tf.estimator.server_training import coordinate, serve, serves, uses_servers
from frontends.tf.estimator.session import Session
from frontends.tf.estimator.step_loop import Loop, Run, run_steps, steps_of
from frontends.tf.estimator.warm_start import WarmStartSettings, warm_start
from frontends.tf.feature_column import Texts
from frontends.tf.graph import VariableStore
from frontends.tf.ops.random import set_seed
from frontends.tf.ops.random_stream import noting_draws, randomness_apart
from frontends.tf.train.checkpoint_reader import load_variable
from frontends.tf.train.tensor_bundle import is_bundle
from frontends.tf.variable import TracedInitialValueError
from spmd.files import path_of
from spmd.replica import is_per_replica
from spmd.topology import spans_processes
from spmd.typing import PyTree, StrPath

# TensorFlow's estimators give it to the graph of a model function.
_GRAPH_SEED = 1


class Estimator:
    """A model function, whose variables live in checkpoints of a folder.

    Each of `train`, `evaluate` and `predict` calls the model function for its mode, makes variables or takes their values from
    the latest checkpoint, and runs compiled steps on the batches of an `input_fn`.

    What differs here: the model function is traced by JAX, not put into a graph of TensorFlow. There are no sessions and no
    placeholders; what hooks fetch has a name, or is a tensor that the hook got in the model function.

    Attributes:
        config: a `RunConfig`.
        model_dir: folder of checkpoints and summaries, or its URL in an object store.
        params: what the model function is given.
        warm_start_from: where values for variables come from, without a checkpoint in the folder.

    Source: `tf.estimator.Estimator`.
    """

    def __init__(
        self,
        model_fn: Callable[..., EstimatorSpec],
        model_dir: StrPath | None = None,
        config: RunConfig | None = None,
        params: Any = None,
        warm_start_from: Any = None,
    ) -> None:
        """Describes an estimator; nothing is made yet.

        Args:
            model_fn: takes `features`, and of `labels`, `mode`, `params` and `config` what it has parameters for; returns a
                `tf.estimator.EstimatorSpec`.
            model_dir: folder or URL; None takes that of the configuration, or makes a temporary one.
            config: how to run.
            params: a dict, or an object such as `tf.contrib.training.HParams`, of which the model function gets a copy.
            warm_start_from: path of a checkpoint, or a `tf.estimator.WarmStartSettings`: values for variables, if the
                folder has no checkpoint.

        Raises:
            ValueError: the model function does not take the params, or takes something else; or an option is of another kind.
        """
        check_parameters(model_fn, params)
        if config is None:
            logging.info("Using default config.")
            config = RunConfig()
        elif not isinstance(config, RunConfig):
            raise ValueError(f"config must be an instance of `RunConfig`, but provided {config!r}.")
        if not isinstance(warm_start_from, (str, os.PathLike, WarmStartSettings, NoneType)):
            raise ValueError(
                "warm_start_from must be a string or a WarmStartSettings, instead got "
                f"{type(warm_start_from)}"
            )
        self.config = config.with_folder(model_dir).connected()
        self.model_dir: str = self.config.model_dir
        self.params: Any = copy.deepcopy(params or {})
        self._model_fn = model_fn
        self.warm_start_from = warm_start_from
        self._kept: KeptEvaluation | None = None
        self._keeps_evaluations = False
        logging.info(f"Using config: {self.config.shown()}")

    @property
    def model_fn(self) -> Callable[..., EstimatorSpec]:
        """The model function, of features, labels, mode and config."""

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            return self._call(features, labels, mode, config)

        return model_fn

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Sequence[Any] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[Any] | None = None,
    ) -> "Estimator":
        """Trains on the batches of an `input_fn`, from the latest checkpoint on, until they end.

        Args:
            input_fn: returns a `tf.data.Dataset` of features or of pairs of features and labels, for one worker: each replica
                gets one of its batches in each step.
            hooks: called around the steps.
            steps: how many at most.
            max_steps: at which global step to end; returns at once if that is reached.
            saving_listeners: called around saving.

        Returns:
            The estimator.

        Raises:
            ValueError: both limits are given, or one is not positive.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        for name, count in (("steps", steps), ("max_steps", max_steps)):
            if count is not None and count <= 0:
                raise ValueError(f"Must specify {name} > 0, given: {count}")
        has_ended = functools.partial(model_checkpoints.reaches, self.model_dir, max_steps)
        if has_ended():
            logging.info("Skipping training since max_steps has already saved.")
            return self
        check_hooks(hooks or ())
        if serves(self.config):
            serve(self.config, has_ended)
            return self
        limits = [StopAtStepHook(steps, max_steps)] if steps or max_steps else []

        def train(strategy: Any, loop: Loop, input_fn: Callable[..., Any]) -> None:
            if any(model_checkpoints.reaches(self.model_dir, one.last_step) for one in limits):
                return  # a parameter server was lost after the last checkpoint
            self._train(strategy, loop, input_fn, [*(hooks or ()), *limits], saving_listeners)

        if uses_servers(self.config):
            params = self._params_for(ModeKeys.TRAIN, of_model=False)
            coordinate(self.config, input_fn, params, train)
        else:
            train(self._strategy(self.config.train_distribute), run_steps, input_fn)
        return self

    def _train(
        self,
        strategy: Any,
        loop: Loop,
        input_fn: Callable[..., Any],
        hooks: Sequence[Any],
        saving_listeners: Sequence[Any] | None,
    ) -> None:
        """Trains under a strategy, by a loop that runs steps with hooks."""
        prepared = self._prepared(ModeKeys.TRAIN, strategy, input_fn, hooks)
        with prepared as (run, batches, session):
            spec, every = session.made.spec, self.config.log_step_count_steps
            # In TensorFlow's order, on which it depends what hooks find saved, and which see that the training is to stop.
            given = [*hooks, *spec.training_hooks, *spec.training_chief_hooks]
            own = self._saving_hooks(given, saving_listeners or ())
            if self.config.is_chief and every:
                own.append(StepCounterHook(every, output_dir=self.model_dir))
            if self.config.save_summary_steps:
                folder = self.model_dir if self.config.is_chief else None
                own.append(SummariesHook(self.config.save_summary_steps, folder))
            if self.config.is_chief:
                own += spec.training_chief_hooks
            else:
                # A checkpoint is saved by all processes together.
                own += savers_among(spec.training_chief_hooks)
            own += [*hooks, *([LossHook(every)] if every else ())]
            own += spec.training_hooks
            loop(run, batches, session, own)
            if session.outputs is not None:
                logging.info(f"Loss for final step: {np.float32(session.loss())!s}.")

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: StrPath | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluates a checkpoint on the batches of an `input_fn`.

        Args:
            input_fn: see `train`.
            steps: how many batches at most; None takes all.
            hooks: called around the steps.
            checkpoint_path: which checkpoint; None takes the latest, or initial values if there is none.
            name: of the folder for summaries: `eval_NAME`; None means `eval`.

        Returns:
            The metrics by name, with `"loss"`, the mean over batches, in alphabetical order; then `"global_step"`.

        Raises:
            ValueError: `steps` is not positive, or a metric is named `loss` or `global_step`.
        """
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        check_hooks(hooks or ())
        path = self._checkpoint_or_none(checkpoint_path, "evaluate")
        return self._evaluate(input_fn, steps, hooks or (), name, path)

    def evaluate_values(
        self,
        values: Mapping[str, Any],
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Sequence[Any] = (),
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluates values of variables, by name, that no checkpoint holds; not a name of TensorFlow.

        What is traced is kept for the next call. See `evaluate`.
        """
        return self._evaluate(input_fn, steps, hooks, name, None, values)

    @contextlib.contextmanager
    def keeping_evaluations(self) -> Generator[None]:
        """Has evaluations in a `with` block keep what they trace for the next one; not a name of TensorFlow.

        The model function is called once, so what it reads of its module must not change in the block.
        """
        before, self._keeps_evaluations = self._keeps_evaluations, True
        try:
            yield
        finally:
            self._keeps_evaluations = before
            if not before:
                self.forget_evaluations()

    def forget_evaluations(self) -> None:
        """Lets go of what evaluations have kept; not a name of TensorFlow."""
        self._kept = None

    def _evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None,
        hooks: Sequence[Any],
        name: str | None,
        path: str | None,
        values: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        strategy = self._strategy(self.config.eval_distribute)
        start = time.monotonic()
        losses = RunningLoss()
        prepared = self._prepared(ModeKeys.EVAL, strategy, input_fn, hooks, path, values)
        with prepared as (run, batches, session):
            spec = session.made.spec
            for key in ("loss", "global_step"):
                if key in spec.eval_metric_ops:
                    raise ValueError(
                        f'Metric with name "{key}" is not allowed, because Estimator already defines a default metric with '
                        "the same name."
                    )

            limits = [StopAfterHook(steps)] if steps else []
            own = [*hooks, *limits, *spec.evaluation_hooks]
            for outputs in steps_of(run, batches, session, own):
                losses.add(strategy.reduce("SUM", outputs["loss and count"], axis=None))
            metrics: dict[str, Any] = {
                key: np.asarray(session.metric(value))[()]
                for key, (value, _) in spec.eval_metric_ops.items()
            }
            metrics["loss"] = losses.mean()
            if np.isnan(metrics["loss"]):
                session.check_labels()
            metrics = dict(sorted(metrics.items()))
            metrics["global_step"] = np.int64(session.global_step)
        logging.info(f"Inference Time : {time.monotonic() - start:.5f}s")
        logging.info(f"Finished evaluation at {time.strftime('%Y-%m-%d-%H:%M:%S')}")
        log_metrics(metrics)
        if self.config.is_chief or self.config.task_type == "evaluator":
            write_metrics(self.eval_dir(name), metrics, path)
        return metrics

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Sequence[str] | str | None = None,
        hooks: Sequence[Any] | None = None,
        checkpoint_path: StrPath | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Computes predictions for the batches of an `input_fn`, on one device.

        Args:
            input_fn: see `train`; labels are left out.
            predict_keys: which of the predictions, by name; None takes all.
            hooks: called around the steps.
            checkpoint_path: which checkpoint; None takes the latest, or initial values if there is none.
            yield_single_examples: whether to yield rows, or batches.

        Yields:
            Arrays, or dicts of them by name; texts of the batch as bytes.

        Raises:
            ValueError: there are no such keys, or predictions have different numbers of rows.
        """
        check_hooks(hooks or ())
        found = in_own_context(
            self._predictions(input_fn, predict_keys, hooks or (), checkpoint_path)
        )
        with contextlib.closing(found):
            for batch in found:
                if yield_single_examples:
                    yield from rows_of(batch)
                else:
                    yield batch

    def _predictions(
        self,
        input_fn: Callable[..., Any],
        keys: Sequence[str] | str | None,
        hooks: Sequence[Any],
        checkpoint_path: StrPath | None,
    ) -> Generator[Any]:
        """Computes the predictions for each batch; see `predict`."""
        path = self._checkpoint_or_none(checkpoint_path, "predict")
        strategy = self._strategy(None)
        texts = BatchTexts()

        def on_host(value: Any) -> np.ndarray:
            if isinstance(value, Texts):
                return texts.behind(on_host(value.words))
            return np.asarray(strategy.experimental_local_results(value)[0])

        prepared = self._prepared(ModeKeys.PREDICT, strategy, input_fn, hooks, path, texts=texts)
        with prepared as (run, batches, session):
            spec = session.made.spec
            own = [*hooks, *spec.prediction_hooks]
            for outputs in steps_of(run, batches, session, own):
                found = nest.map_structure(on_host, outputs["predictions"])
                yield selected(found, keys, spec.predictions)

    def export_saved_model(
        self,
        export_dir_base: StrPath,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, StrPath] | None = None,
        as_text: bool = False,
        checkpoint_path: StrPath | None = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Writes what the model predicts to a new folder, which is named by the time. Blocks until it is there.

        What differs here: the folder is none of TensorFlow's SavedModels, but holds a program for each signature; see
        `tf.saved_model.save`. `tf.saved_model.load(path).signatures["serving_default"]` serves it. The
        `serving_input_receiver_fn` is called several times.

        Args:
            export_dir_base: the folder to make the new one in, or its URL in an object store.
            serving_input_receiver_fn: returns a `tf.estimator.export.ServingInputReceiver` of placeholders.
            assets_extra: files to copy, by their paths in the folder `assets.extra`.
            as_text: accepted, and not used.
            checkpoint_path: which checkpoint; None takes the latest.
            experimental_mode: must be that of predictions.

        Returns:
            The path of the new folder, as bytes.

        Raises:
            ValueError: there is no checkpoint or no function, or it lacks values of the model; or `export_outputs` name no
                default.
            TypeError: the function or the model function returns something else.
            NotImplementedError: another mode is named.
            ExportError: the model cannot be exported.
        """
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        if experimental_mode != ModeKeys.PREDICT:
            raise NotImplementedError(
                f"Only predictions are exported, but experimental_mode={experimental_mode!r} was given. Leave it out; to train "
                "or evaluate elsewhere, copy the model_dir."
            )
        path = self._checkpoint_to_export(checkpoint_path)
        target = timestamped(export_dir_base)
        strategy = default_strategy()
        with in_force(strategy):
            received = receive(serving_input_receiver_fn)
            with noting_draws() as drawn:
                store, step = self._traced(
                    ModeKeys.PREDICT, strategy, (received.receiver.features, None)
                )
            logging.info(f"Restoring parameters from {path}")
            try:
                checkpoints = ModelCheckpoints(store, self.model_dir, self.config)
                checkpoints.restore(path, _renamed(step))
            except KeyError as error:
                raise ValueError(
                    "Could not load all requested variables from checkpoint. Please make sure your model_fn does not expect "
                    f"variables that were not saved in the checkpoint {path}: {error}"
                ) from error
            write(target, step, serving_input_receiver_fn, received, drawn, assets_extra)
        logging.info(f"SavedModel written to: {target}")
        return os.fsencode(target)

    def export_savedmodel(
        self,
        export_dir_base: StrPath,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, StrPath] | None = None,
        as_text: bool = False,
        checkpoint_path: StrPath | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Exports as `export_saved_model` does, whose first name this was; `strip_default_attrs` is accepted, and not used.

        Source: `tf.compat.v1.estimator.Estimator.export_savedmodel`.
        """
        return self.export_saved_model(
            export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path
        )

    def _checkpoint_to_export(self, path: StrPath | None) -> str:
        found = self.latest_checkpoint() if path is None else os.fspath(path)
        if found is None and self.warm_start_from is not None:
            start = self.warm_start_from
            if isinstance(start, WarmStartSettings):
                start = start.ckpt_to_initialize_from
            found = os.fspath(start)
            if path_of(found).is_dir():
                found = model_checkpoints.latest(found) or found
        if found is None:
            raise ValueError(
                f"Couldn't find trained model at {self.model_dir}. Call train first, or give checkpoint_path."
            )
        return found

    def latest_checkpoint(self) -> str | None:
        """Returns the path of the latest checkpoint; None if there is none."""
        return model_checkpoints.latest(self.model_dir)

    def latest_step(self) -> int:
        """Returns the global step of the latest checkpoint; 0 without one. Not a name of TensorFlow."""
        return model_checkpoints.step_of(self.latest_checkpoint())

    def get_variable_names(self) -> list[str]:
        """Lists the names of the variables of the latest checkpoint.

        Raises:
            ValueError: there is no checkpoint.
        """
        return sorted(model_checkpoints.values_of(self._checkpoint_for(None)))

    def get_variable_value(self, name: str) -> Any:
        """Reads a variable of the latest checkpoint.

        Raises:
            ValueError: there is no checkpoint, or it has no such variable.
        """
        return load_variable(self._checkpoint_for(None), name.removesuffix(":0"))

    def eval_dir(self, name: str | None = None) -> str:
        """Returns the folder of an evaluation's summaries."""
        return os.path.join(self.model_dir, "eval" if not name else f"eval_{name}")

    def _params_for(self, mode: str, *, of_model: bool) -> Any:
        """Returns a copy of the parameters for the model function or an `input_fn`, which may change it."""
        return copy.deepcopy(self.params)

    def _scales_loss(self, mode: str) -> bool:
        """Tells whether gradients are those of the mean over replicas."""
        return mode == ModeKeys.TRAIN

    def _call(self, features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        params = self._params_for(mode, of_model=True)
        known: dict[str, Any] = {"mode": mode, "config": config, "params": params}
        # Predictions have none, even if the dataset does.
        known["labels"] = None if mode == ModeKeys.PREDICT else labels
        try:
            spec = call_with(with_features(self._model_fn, features), **known)
        except KeyError as error:
            for name, given in (("features", features), *known.items()):
                if isinstance(given, Mapping) and error.args and error.args[0] not in given:
                    keys = ", ".join(map(repr, given)) or "none"
                    error.add_note(f"If it is a key of {name}: the keys are {keys}.")
            raise
        if hasattr(spec, "as_estimator_spec"):
            spec = spec.as_estimator_spec()
        if not isinstance(spec, EstimatorSpec):
            raise ValueError(f"model_fn should return an EstimatorSpec, but returned {spec!r}.")
        if mode == ModeKeys.TRAIN and spec.train_op is None:
            raise ValueError(missing("train_op", mode))
        # What runs is what was asked for, whatever mode the function names.
        return spec._replace(mode=mode)

    def _strategy(self, strategy: Any) -> Any:
        """Returns what computes: not the strategy of a scope around, which a graph of TensorFlow's does not see."""
        if isinstance(strategy, ParameterServerStrategy) and not strategy.is_local:
            strategy = None  # only training uses the servers: one machine evaluates
        return default_strategy() if strategy is None else strategy

    @contextlib.contextmanager
    def _prepared(
        self,
        mode: str,
        strategy: Any,
        input_fn: Callable[..., Any],
        hooks: Sequence[Any],
        path: str | None = None,
        values: Mapping[str, Any] | None = None,
        texts: BatchTexts | None = None,
    ) -> Iterator[tuple[Run, Iterator[Any], Session]]:
        """Calls the model function for the first batch, and gives variables their values.

        Yields:
            What runs a step on a batch, the batches, and the session.
        """
        # In TensorFlow each has a graph, with a seed of its own. The reader of predictions draws in between.
        apart = contextlib.nullcontext() if mode == ModeKeys.PREDICT else randomness_apart()
        with apart, in_force(default_strategy()), strategy.scope(), contextlib.ExitStack() as stack:
            batches = batches_of(
                input_fn,
                strategy,
                texts,
                hooks,
                mode=mode,
                params=self._params_for(mode, of_model=False),
                config=self.config,
            )
            stack.callback(batches.close)  # the thread that makes them ends with the run
            first = next(batches, None)
            if first is None:
                raise ValueError(
                    "input_fn gives no batch. Let its dataset have at least one element."
                )
            path = path or self.latest_checkpoint()
            if mode == ModeKeys.TRAIN and path is not None and is_bundle(path):
                raise ValueError(
                    f"{path} is a checkpoint that TensorFlow wrote. It is read to evaluate and to predict; to train on, begin a new "
                    f"folder with its values: tf.estimator.Estimator(model_fn, NEW_FOLDER, warm_start_from={path!r})."
                )
            kept = None
            if mode == ModeKeys.EVAL:
                kept = self._kept_evaluation(strategy, first, path, values)
                store, step = kept.store, kept.step
                logging.info(f"Starting evaluation at {time.strftime('%Y-%m-%dT%H:%M:%S')}")
            else:
                store, step = self._traced(mode, strategy, first)
            saver = getattr(step.made.spec.scaffold, "saver", None)
            checkpoints = ModelCheckpoints(store, self.model_dir, self.config, saver)
            if values is not None:
                for key, variable in {**store.saved(), **_renamed(step)}.items():
                    if key in values:
                        variable.assign(values[key])
            elif path is not None:
                logging.info(f"Restoring parameters from {path}")
                checkpoints.restore(path, None if mode == ModeKeys.TRAIN else _renamed(step))
            else:
                graph = step.made.graph
                for variable, read in graph.starts.values():
                    variable.assign(read())
                if self.warm_start_from is not None and mode == ModeKeys.TRAIN:
                    warm_start(store, self.warm_start_from)
                for copy_, variable in graph.copies:
                    if name_of(copy_) not in graph.starts:
                        copy_.assign(value_of(variable))
            run = Run(strategy, step)
            try:
                yield (
                    run,
                    itertools.chain([first], batches),
                    Session(store, strategy, step.made, checkpoints, is_chief=self.config.is_chief),
                )
            finally:
                for writer in store.writers.values():
                    writer.flush()  # the process may end before it is collected
            keeps = self._keeps_evaluations or values is not None
            if kept is not None and kept.is_usable and keeps:
                kept.step = run.step  # hooks may have asked for more
                self._kept = kept

    def _kept_evaluation(
        self,
        strategy: StrategyLike,
        batch: PyTree,
        path: str | None,
        values: Mapping[str, Any] | None,
    ) -> KeptEvaluation:
        """Returns what the last evaluation has traced, if it was kept, and is of the same arguments; else traces it.

        See `_prepared` for the arguments.
        """
        key = evaluation_key(self._model_fn, self.params, strategy, batch)
        # Another thread may evaluate, too, and an error leaves nothing.
        kept, self._kept = self._kept, None
        if not self._keeps_evaluations and values is None:
            kept = None
        if kept is None or not kept.serves(key, path, values):
            store, step = self._traced(ModeKeys.EVAL, strategy, batch)
            return KeptEvaluation(key, store, step, strategy)
        self._begin_randomness()
        if values is None:
            # What TensorFlow's log says, whose evaluations of checkpoints build a graph each time.
            logging.info("Calling model_fn.")
            logging.info("Done calling model_fn.")
        kept.reset()
        return kept

    def _begin_randomness(self) -> None:
        seed = self.config.tf_random_seed
        set_seed(_GRAPH_SEED if seed is None else seed)

    def _traced(self, mode: str, strategy: Any, batch: Any) -> tuple[VariableStore, ModelStep]:
        """Calls the model function for a batch, which makes its variables."""
        store = VariableStore()
        step = ModelStep(
            lambda features, labels: self._call(features, labels, mode, self.config),
            mode,
            store,
            scales_loss=self._scales_loss(mode),
            # Tensors that nobody asks for cost memory. Processes run one program, whatever hooks each has.
            fetched=None if spans_processes(strategy.mesh) else frozenset(),
        )
        self._begin_randomness()
        logging.info("Calling model_fn.")
        try:
            strategy.trace(step, batch)
        except TracedInitialValueError:
            store.clear()
            features, labels = jax.tree.map(
                lambda leaf: strategy.experimental_local_results(leaf)[0],
                batch,
                is_leaf=is_per_replica,
            )
            step.make_variables(features, labels)
            strategy.trace(step, batch)
        logging.info("Done calling model_fn.")
        return store, step

    def _saving_hooks(
        self, hooks: Sequence[Any], listeners: Sequence[CheckpointSaverListener]
    ) -> list[Any]:
        """Makes the hook that saves, unless there is one; gives listeners to whichever saves first."""
        seconds, steps = self.config.save_checkpoints_secs, self.config.save_checkpoints_steps
        found = savers_among(hooks)
        made: list[CheckpointSaverHook] = []
        if not found and (seconds or steps):
            made.append(CheckpointSaverHook(self.model_dir, seconds, steps))
        if listeners:
            if not found and not made:
                raise ValueError(
                    "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
                    "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
                )
            (found or made)[0].listen(listeners)
        return made

    def _checkpoint_or_none(self, path: StrPath | None, act: str) -> str | None:
        found = self.latest_checkpoint() if path is None else os.fspath(path)
        if found is None:
            logging.info(
                f"Could not find trained model in model_dir: {self.model_dir}, running initialization to {act}."
            )
        return found

    def _checkpoint_for(self, path: StrPath | None) -> str:
        found = self.latest_checkpoint() if path is None else os.fspath(path)
        if found is None:
            raise ValueError(
                f"Could not find trained model in model_dir: {self.model_dir}. Call train first, or give model_dir the folder "
                "of a trained one."
            )
        return found


def _renamed(step: ModelStep) -> dict[str, Any]:
    """Returns the variables to which a saver gives what a checkpoint has under other names, such as averages."""
    return getattr(getattr(step.made.spec.scaffold, "saver", None), "names", {})
