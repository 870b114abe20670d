"""docs/ignored.md lists what the code ignores."""

import pytest

from tests import ignored


@pytest.fixture(scope="module")
def found() -> dict[str, tuple[str, ...]]:
    # Before each test's own fixtures: the packages that this imports set variables of the environment.
    return ignored.ignored_parameters()


def test_the_page_lists_what_the_code_deletes(found) -> None:
    assert ignored.PAGE.read_text() == ignored.page(found), "write it: python -m tests.ignored"


def test_known_cases_are_found(found) -> None:
    assert "use_locking" in found["tf.Variable.assign"]
    assert found["tf.while_loop"][:2] == ("parallel_iterations", "back_prop")
    assert "options" in found["tf.distribute.Strategy.run"]
