"""Elements of classes, some left out so that the classes come as often as wanted."""

from collections.abc import Callable, Iterator

import numpy as np

from spmd.input.pipeline.element import Element
from spmd.input.pipeline.forms import Form
from spmd.input.pipeline.shuffling import ShuffleOrder
from spmd.input.pipeline.spec import ArraySpec
from spmd.input.pipeline.stream import Stream, ready


def resampled(
    form: Form,
    class_of: Callable[[Element], int],
    target: np.ndarray,
    initial: np.ndarray | None,
    order: ShuffleOrder,
) -> Stream:
    """Yields pairs of a class and an element, with the classes in the proportions of `target`.

    Args:
        form: the elements.
        class_of: returns an element's class, from 0.
        target: how often each class is to come; adds up to 1.
        initial: how often it comes in the elements; None to count them meanwhile.
        order: what to draw from; a pass of it begins.
    """

    def open_pass() -> Iterator[Element]:
        generator, _ = order.begin_pass()
        seen = np.ones(len(target)) if initial is None else initial
        for element in form.elements():
            number = class_of(element)
            if initial is None:
                seen[number] += 1
            # In the same ratio for all, so that the class that is too rare is kept whole.
            wanted = np.divide(target, seen, out=np.zeros(len(target)), where=seen > 0)
            if generator.random() * wanted.max() < wanted[number]:
                yield np.int32(number), element

    return ready(open_pass, lambda: (ArraySpec((), np.dtype(np.int32)), form.spec()), form)
