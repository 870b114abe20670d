"""What a worker is asked, and what it answers."""

import pytest

from spmd.errors import PlanError
from spmd.plan import Request
from spmd.plan.request import read_answer, write_answer


def test_a_request_survives_its_file(tmp_path) -> None:
    request = Request("train.py", "v5e:2x2", ("--epochs", "1"), "train_step", True)
    request.write(tmp_path / "request.json")
    assert Request.read(tmp_path / "request.json") == request


@pytest.mark.parametrize(
    ("target", "factory"),
    [
        ("train.py", None),
        ("train.py:make", ("train.py", "make")),
        ("package.module:make", ("package.module", "make")),
        (r"C:\train.py", None),
    ],
)
def test_a_function_is_told_from_a_file(target, factory) -> None:
    assert Request(target, "cpu:1").factory == factory


def test_an_error_is_raised_where_the_answer_is_read(tmp_path) -> None:
    write_answer(tmp_path / "answer.json", PlanError("no step"))
    with pytest.raises(PlanError, match="no step"):
        read_answer(tmp_path / "answer.json")
