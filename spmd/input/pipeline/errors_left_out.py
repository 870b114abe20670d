"""Elements whose computation fails, left out."""

import logging
from collections.abc import Iterator

from spmd.input.pipeline.element import Element
from spmd.input.pipeline.forms import Form
from spmd.input.pipeline.rows import Rows
from spmd.input.pipeline.stream import Stream, ready

_LOGGER = logging.getLogger(__name__)
# A source that fails for ever must not hang its reader.
_MOST_IN_A_ROW = 10_000


def without_errors(form: Form, log: bool) -> Stream:
    """Leaves out elements that raise an exception; of a damaged file, what follows the damage.

    Args:
        form: the elements.
        log: whether to log a warning for each.
    """

    def open_pass() -> Iterator[Element]:
        stream = form.as_stream() if isinstance(form, Rows) else form
        assert isinstance(stream, Stream)
        items, failed = iter(stream.open()), 0
        while failed < _MOST_IN_A_ROW:
            try:
                element = stream.step(next(items))
            except StopIteration:
                return
            except Exception as error:
                failed += 1
                if failed == _MOST_IN_A_ROW:
                    raise
                if log:
                    _LOGGER.warning("Left out an element: %s: %s", type(error).__name__, error)
                continue
            failed = 0
            yield element

    return ready(open_pass, form.spec, form)
