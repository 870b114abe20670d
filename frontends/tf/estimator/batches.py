"""What an `input_fn` returns, as batches for the replicas of a strategy."""

import inspect
from collections.abc import Callable, Generator, Sequence
from typing import Any

from frontends.tf import data
from frontends.tf.data.fed_inputs import feeding
from frontends.tf.data.one_shot import input_of
from frontends.tf.estimator.batch_texts import BatchTexts
from frontends.tf.estimator.dense_batches import with_arrays
from frontends.tf.feature_column import prepared


def call_with(function: Callable[..., Any], **known: Any) -> Any:
    """Calls a function with those of some arguments that it takes."""
    parameters = inspect.signature(function).parameters
    takes_all = any(one.kind is one.VAR_KEYWORD for one in parameters.values())
    return function(
        **{name: value for name, value in known.items() if takes_all or name in parameters}
    )


def batches_of(
    input_fn: Callable[..., Any],
    strategy: Any,
    texts: BatchTexts | None = None,
    hooks: Sequence[Any] = (),
    **known: Any,
) -> Generator[Any, None, None]:
    """Iterates over batches for all replicas: each of them gets what one call of the dataset's iterator gives.

    Args:
        input_fn: returns a dataset, or what an iterator's `get_next` gave, or features and labels that are the same for each step.
        strategy: of the replicas.
        texts: takes the texts of each batch, of which steps get fingerprints; None if nobody needs them.
        hooks: one of which may feed placeholders of `input_fn`.
        **known: what `input_fn` may take.

    Returns:
        Iterator over pairs of features and labels; labels may be None. Of texts it has `Texts`, which steps take, of sparse
        tensors arrays.
    """

    def dataset(context: Any) -> Any:
        found = input_of(
            lambda: call_with(input_fn, input_context=context, **known), feeding(hooks)
        )
        if found is None:
            raise ValueError(
                "input_fn should return a tf.data.Dataset, or features and labels, but returned None."
            )
        if not isinstance(found, data.Dataset):
            pair = tuple(found) if isinstance(found, list) else found
            found = data.Dataset.from_tensors(pair).repeat()
        found = with_arrays(found)
        return prepared(found) if texts is None else texts.beside(found)

    elements = strategy.distribute_datasets_from_function(dataset)
    for element in elements if texts is None else texts.taken_from(elements):
        if not isinstance(element, tuple):
            yield element, None
        elif len(element) == 2:
            yield element
        else:
            raise ValueError(
                f"input_fn should return (features, labels) as a len 2 tuple, not {len(element)} values."
            )
