"""What `train_and_evaluate` trains and evaluates on."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from frontends.tf.estimator.estimator_spec import check_hooks


class _TrainFields(NamedTuple):
    input_fn: Callable[..., Any]
    max_steps: int | None
    hooks: Sequence[Any]
    saving_listeners: Sequence[Any]


class TrainSpec(_TrainFields):
    """How to train.

    Source: `tf.estimator.TrainSpec`.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        max_steps: int | None = None,
        hooks: Sequence[Any] | None = None,
        saving_listeners: Sequence[Any] | None = None,
    ) -> "TrainSpec":
        """Checks the parts.

        Args:
            input_fn: see `Estimator.train`.
            max_steps: the global step at which to end; None trains until the dataset ends.
            hooks: called around the steps.
            saving_listeners: called around saving.

        Raises:
            ValueError: `max_steps` is not positive.
            TypeError: `input_fn` is no function, or a hook is no `SessionRunHook`.
        """
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        check_hooks(hooks or ())
        return super().__new__(
            cls, _function(input_fn), max_steps, tuple(hooks or ()), tuple(saving_listeners or ())
        )


class _EvalFields(NamedTuple):
    input_fn: Callable[..., Any]
    steps: int | None
    name: str | None
    hooks: Sequence[Any]
    exporters: Sequence[Any]
    start_delay_secs: float
    throttle_secs: float


class EvalSpec(_EvalFields):
    """How to evaluate, and what to export then.

    Source: `tf.estimator.EvalSpec`.
    """

    __slots__ = ()

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: int | None = 100,
        name: str | None = None,
        hooks: Sequence[Any] | None = None,
        exporters: Any = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> "EvalSpec":
        """Checks the parts.

        Args:
            input_fn: see `Estimator.evaluate`.
            steps: how many batches at most; None takes all.
            name: see `Estimator.evaluate`.
            hooks: called around the steps.
            exporters: an exporter, or several.
            start_delay_secs: how long an evaluator waits before its first evaluation.
            throttle_secs: how long to wait between two evaluations, at least.

        Raises:
            ValueError: a number is out of range, or two exporters have one name.
            TypeError: `input_fn` is no function, or a part is of another kind than said above.
        """
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        for key, seconds in (
            ("start_delay_secs", start_delay_secs),
            ("throttle_secs", throttle_secs),
        ):
            if seconds < 0:
                raise ValueError(f"Must specify {key} >= 0, given: {seconds}")
        if exporters is None:
            exporters = ()
        elif not isinstance(exporters, (list, tuple)):
            exporters = (exporters,)
        check_hooks(hooks or ())
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be string, given: {name!r}")
        for exporter in exporters:
            if not hasattr(exporter, "export") or not hasattr(exporter, "name"):
                raise TypeError(f"`exporters` must be exporters, found {exporter!r}.")
        names = [exporter.name for exporter in exporters]
        if None in names or len(set(names)) < len(names):
            raise ValueError(
                f"`exporters` must have unique names. Such a name cannot be `None`. All exporter names: {names}"
            )
        return super().__new__(
            cls,
            _function(input_fn),
            steps,
            name,
            tuple(hooks or ()),
            tuple(exporters),
            start_delay_secs,
            throttle_secs,
        )


def _function(input_fn: Any) -> Callable[..., Any]:
    if not callable(input_fn):
        raise TypeError(f"input_fn must be a function that returns a dataset, given: {input_fn!r}")
    return input_fn
