"""`tf.compat.v1.Variable`: `tf.Variable`, with the parameters of TensorFlow 1 in their order."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from frontends.tf import variable
from frontends.tf._typing import DTypeLike, ShapeLike, TensorLike
from frontends.tf.aggregation import VariableAggregation, VariableSynchronization


class _Version1(type(variable.Variable)):
    """Has the class make variables of `tf.Variable`, which are its instances: there is one kind of variable."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is not Variable:
            return super().__call__(*args, **kwargs)
        given = _SIGNATURE.bind(None, *args, **kwargs).arguments
        for name in ("self", "expected_shape", "use_resource"):
            given.pop(name, None)
        return variable.Variable(**given)

    def __instancecheck__(cls, instance: Any) -> bool:
        return (
            isinstance(instance, variable.Variable)
            if cls is Variable
            else super().__instancecheck__(instance)
        )


class Variable(variable.Variable, metaclass=_Version1):
    """Makes a `tf.Variable`; see there.

    Source: `tf.compat.v1.Variable`.
    """

    __slots__ = ()

    def __init__(
        self,
        initial_value: TensorLike = None,
        trainable: bool | None = None,
        collections: Sequence[str] | None = None,
        validate_shape: bool = True,
        caching_device: object = None,
        name: str | None = None,
        variable_def: object = None,
        dtype: DTypeLike = None,
        expected_shape: object = None,
        import_scope: object = None,
        constraint: Callable[[Any], Any] | None = None,
        use_resource: object = None,
        synchronization: VariableSynchronization | str = VariableSynchronization.AUTO,
        aggregation: VariableAggregation | str = VariableAggregation.NONE,
        shape: ShapeLike = None,
    ) -> None:
        """Makes a variable.

        Args:
            initial_value: see `tf.Variable`, as for what is not said here.
            trainable: whether optimizers train it.
            collections: of a model function, to add it to; None means that of all variables.
            validate_shape: accepted, and not used.
            caching_device: accepted, and not used.
            variable_def: accepted, and not used.
            expected_shape: accepted, and not used.
            import_scope: accepted, and not used.
            use_resource: accepted, and not used.
        """
        super().__init__(
            initial_value,
            trainable,
            name=name,
            dtype=dtype,
            constraint=constraint,
            synchronization=synchronization,
            aggregation=aggregation,
            shape=shape,
        )


_SIGNATURE = inspect.signature(Variable.__init__)
