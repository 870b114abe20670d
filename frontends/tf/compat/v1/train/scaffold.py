"""`tf.compat.v1.train.Scaffold` and `Saver`: what model functions hand to an `EstimatorSpec`; estimators need neither."""

from collections.abc import Mapping
from typing import Any, NoReturn

_REMEDY = (
    "Estimators write and read their checkpoints themselves. Elsewhere write tf.train.Checkpoint(model=model).save(path), and "
    "restore(path)."
)


class Saver:
    """What would write checkpoints in a session.

    Of one that a `tf.train.Scaffold` holds, evaluations and predictions use the names under which they are to find
    variables in a checkpoint, such as those of `tf.train.ExponentialMovingAverage.variables_to_restore`. In training an
    estimator writes all variables; how many checkpoints stay is what the saver says, not `tf.estimator.RunConfig`.

    Attributes:
        names: variables by their names in a checkpoint, if `var_list` gives such; not a name of TensorFlow.
        max_to_keep: how many checkpoints stay; None or 0 keeps all.
        keep_checkpoint_every_n_hours: one in so many hours stays for ever.

    Source: `tf.compat.v1.train.Saver`.
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        **kwargs: object,
    ) -> None:
        """Takes all arguments of TensorFlow's.

        Args:
            var_list: variables by their names in a checkpoint; of a list each has its own name.
            reshape: accepted, and not used.
            sharded: accepted, and not used.
            max_to_keep: see `Saver`.
            keep_checkpoint_every_n_hours: see `Saver`.
            **kwargs: accepted, and not used.
        """
        self.max_to_keep = max_to_keep
        self.keep_checkpoint_every_n_hours = keep_checkpoint_every_n_hours
        self.names: dict[str, Any] = dict(var_list) if isinstance(var_list, Mapping) else {}

    def save(self, *args: object, **kwargs: object) -> NoReturn:
        """Raises an error that says what to write.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            f"tf.train.Saver.save writes variables of a session, of which there are none. {_REMEDY}"
        )

    def restore(self, *args: object, **kwargs: object) -> NoReturn:
        """Raises an error that says what to write.

        Raises:
            NotImplementedError: always.
        """
        raise NotImplementedError(
            "tf.train.Saver.restore reads variables of a session, of which there are none. In a model function write "
            f"tf.train.init_from_checkpoint(path, {{'/': '/'}}). {_REMEDY}"
        )


class Scaffold:
    """What a session would run before it trains. Operations have no effect: variables have their values when they are made.

    Attributes:
        saver: as given.

    Source: `tf.compat.v1.train.Scaffold`.
    """

    def __init__(
        self,
        init_op: object = None,
        init_feed_dict: object = None,
        init_fn: object = None,
        ready_op: object = None,
        ready_for_local_init_op: object = None,
        local_init_op: object = None,
        summary_op: object = None,
        saver: Saver | None = None,
        copy_from_scaffold: object = None,
        local_init_feed_dict: object = None,
    ) -> None:
        """Keeps the saver.

        Args:
            init_op: without effect, as are the other operations.
            init_feed_dict: without effect.
            init_fn: must be None.
            ready_op: without effect.
            ready_for_local_init_op: without effect.
            local_init_op: without effect.
            summary_op: without effect: summaries are written as the estimator's `RunConfig` says.
            saver: see `Saver`.
            copy_from_scaffold: without effect.
            local_init_feed_dict: without effect.

        Raises:
            NotImplementedError: there is an `init_fn`, which would get a session.
        """
        if init_fn is not None:
            raise NotImplementedError(
                "tf.train.Scaffold(init_fn=...) is called with a session, of which there are none. To begin with values of another "
                "checkpoint, write tf.train.init_from_checkpoint(path, {'/': '/'}) in the model function."
            )
        self.saver = saver
