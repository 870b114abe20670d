"""A lazy value is computed once, and not at all if that failed."""

import pytest

from spmd.input.pipeline.lazy import Lazy


def test_computes_once():
    calls = []
    lazy = Lazy(lambda: calls.append(1) or "value")
    assert (lazy(), lazy(), calls) == ("value", "value", [1])


def test_an_error_is_not_kept():
    answers = iter([ValueError("no"), "value"])

    def compute():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    lazy = Lazy(compute)
    with pytest.raises(ValueError, match="no"):
        lazy()
    assert lazy() == "value"
