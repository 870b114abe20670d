"""`tf.contrib.training`: hyperparameters as attributes, and operations that train."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from frontends.tf._names import attributes, defined_in
from frontends.tf._typing import VariableLike
from frontends.tf.compat.v1.collections import GraphKeys, get_collection
from frontends.tf.compat.v1.train.steps import get_or_create_global_step
from frontends.tf.contrib.fetching import fetched_with
from frontends.tf.ops.control_flow import control_dependencies

_GIVEN: Any = object()


class HParams:
    """Hyperparameters: attributes with values whose types stay.

    Examples:
        >>> from frontends import tf
        >>> params = tf.contrib.training.HParams(rate=0.1, layers=[8, 4])
        >>> params.parse("rate=0.5,layers=[16]").values()
        {'rate': 0.5, 'layers': [16]}

    Source: `tf.contrib.training.HParams`.
    """

    def __init__(self, **kwargs: Any) -> None:
        """Adds all of them."""
        self._types: dict[str, tuple[type, bool]] = {}
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def __getattr__(self, name: str) -> Any:
        """Says which hyperparameters there are; this is called for others."""
        known = ", ".join(vars(self).get("_types", ()))
        raise AttributeError(f"There is no hyperparameter {name}. There are: {known}.")

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds one.

        Args:
            name: of the attribute.
            value: a number, a text, a bool, or a list of such that is not empty.

        Raises:
            ValueError: there is one of this name, or the list is empty.

        Source: `tf.contrib.training.HParams.add_hparam`.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        is_list = isinstance(value, (list, tuple))
        if is_list and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._types[name] = (type(value[0]) if is_list else type(value)), is_list
        setattr(self, name, list(value) if is_list else value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Changes one.

        Raises:
            KeyError: there is none of this name.
            ValueError: it is of another type, or a list in place of a single value.

        Source: `tf.contrib.training.HParams.set_hparam`.
        """
        kind, is_list = self._types[name]
        if isinstance(value, (list, tuple)) != is_list:
            raise ValueError(
                f"{name} {'is' if is_list else 'is not'} a list, but was given {value!r}."
            )
        setattr(
            self,
            name,
            [_cast(name, kind, one) for one in value] if is_list else _cast(name, kind, value),
        )

    def del_hparam(self, name: str) -> None:
        """Removes one, if there is one of this name.

        Source: `tf.contrib.training.HParams.del_hparam`.
        """
        if name in self._types:
            delattr(self, name)
            del self._types[name]

    def parse(self, values: str) -> "HParams":
        """Changes some, as a flag says: `"rate=0.1,layers=[8,4],layers[1]=2"`.

        Raises:
            ValueError: a name is unknown, or a value cannot be read as its type.

        Source: `tf.contrib.training.HParams.parse`.
        """
        for name, index, text in _assignments(values):
            if name not in self._types:
                raise ValueError(
                    f"Unknown hyperparameter type for {name}. There are: {', '.join(self._types)}."
                )
            kind, _ = self._types[name]
            found = (
                [_read(name, kind, one) for one in text]
                if isinstance(text, list)
                else _read(name, kind, text)
            )
            if index is None:
                self.set_hparam(name, found)
            else:
                items = list(getattr(self, name))
                items[index] = found
                self.set_hparam(name, items)
        return self

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> "HParams":
        """Changes some.

        Raises:
            KeyError: there is none of a name.
            ValueError: a value is of another type, or a list in place of a single value.

        Source: `tf.contrib.training.HParams.override_from_dict`.
        """
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def parse_json(self, values_json: str) -> "HParams":
        """Changes some, as an object of JSON says.

        Raises:
            KeyError: there is none of a name.
            ValueError: it is no JSON, or a value is of another type, or a list in place of a single value.

        Source: `tf.contrib.training.HParams.parse_json`.
        """
        return self.override_from_dict(json.loads(values_json))

    def to_json(
        self, indent: int | None = None, separators: Any = None, sort_keys: bool = False
    ) -> str:
        """Writes all as an object of JSON.

        Source: `tf.contrib.training.HParams.to_json`.
        """
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def values(self) -> dict[str, Any]:
        """Returns all by name.

        Source: `tf.contrib.training.HParams.values`.
        """
        return {name: getattr(self, name) for name in self._types}

    def get(self, key: str, default: Any = None) -> Any:
        """Returns one, or something else if there is none of this name.

        Source: `tf.contrib.training.HParams.get`.
        """
        return getattr(self, key) if key in self._types else default

    def __contains__(self, key: str) -> bool:
        return key in self._types

    def __repr__(self) -> str:
        return f"HParams({', '.join(f'{k}={v!r}' for k, v in sorted(self.values().items()))})"


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: VariableLike | None = _GIVEN,
    update_ops: Iterable[Any] | None = None,
    variables_to_train: Any = None,
    transform_grads_fn: Callable[[Any], Any] | None = None,
    summarize_gradients: bool = False,
    gate_gradients: int = 1,
    aggregation_method: object = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Any:
    """Makes an operation that trains, after the updates of averages; in a model function.

    Args:
        total_loss: a number.
        optimizer: of `tf.compat.v1.train`.
        global_step: to which 1 is added; None counts none.
        update_ops: what runs before; None takes those of `UPDATE_OPS`.
        variables_to_train: None takes all.
        transform_grads_fn: changes the pairs of gradients and variables.
        summarize_gradients: accepted, and not used.
        gate_gradients: accepted, and not used.
        aggregation_method: accepted, and not used.
        colocate_gradients_with_ops: accepted, and not used.
        check_numerics: accepted, and not used: an estimator ends training when the loss is not a number.

    Returns:
        The loss, which trains when it is fetched.

    Source: `tf.contrib.training.create_train_op`.
    """
    step = get_or_create_global_step() if global_step is _GIVEN else global_step
    updates = get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else list(update_ops)
    pairs = optimizer.compute_gradients(total_loss, variables_to_train)
    if transform_grads_fn is not None:
        pairs = transform_grads_fn(pairs)
    with control_dependencies(updates):
        train = optimizer.apply_gradients(pairs, global_step=step)
    return fetched_with(train, total_loss, "train_op")


def _assignments(values: str) -> Iterable[tuple[str, int | None, Any]]:
    """Splits what a flag says into names, indices and texts."""
    rest = values.strip()
    while rest:
        name, sign, rest = rest.partition("=")
        if not sign:
            raise ValueError(
                f"Malformed hyperparameter value: {name!r}. Write name=value,name=[value,value]."
            )
        name, bracket, index = name.strip().lstrip(",").strip().partition("[")
        text: Any
        if rest.startswith("["):
            inside, _, rest = rest[1:].partition("]")
            text = [one.strip() for one in inside.split(",") if one.strip()]
            rest = rest.lstrip(" ,")
        else:
            text, _, rest = rest.partition(",")
        yield name, int(index.rstrip("]")) if bracket else None, text


def _read(name: str, kind: type, text: str) -> Any:
    if kind is bool:
        if text.lower() not in ("true", "false", "1", "0"):
            raise ValueError(f"Could not parse hparam {name!r} of type 'bool' with value {text!r}.")
        return text.lower() in ("true", "1")
    try:
        return kind(text) if kind in (int, float) else text
    except ValueError:
        raise ValueError(
            f"Could not parse hparam {name!r} of type {kind.__name__!r} with value {text!r}."
        ) from None


def _cast(name: str, kind: type, value: Any) -> Any:
    """Makes a value one of a type, if nothing is lost."""
    if (
        value is None
        or kind is type(None)
        or (isinstance(value, kind) and not isinstance(value, bool))
    ):
        return value
    if (kind is bool and value in (0, 1)) or (kind is float and isinstance(value, int)):
        return kind(value)
    raise ValueError(
        f"Could not cast hparam {name!r} of type {kind.__name__!r} from value {value!r}."
    )


__getattr__, __dir__ = attributes(
    "tf.contrib.training",
    defined_in(__name__),
    borrowed={"checkpoints_iterator": "frontends.tf.train"},
)
