"""docs/ignored.md lists what the code ignores."""

from tests import ignored


def test_the_page_lists_what_the_code_deletes() -> None:
    assert ignored.PAGE.read_text() == ignored.page(), "write it: python -m tests.ignored"


def test_known_cases_are_found() -> None:
    found = ignored.ignored_parameters()
    assert "use_locking" in found["tf.Variable.assign"]
    assert found["tf.while_loop"][:2] == ("shape_invariants", "parallel_iterations")
    assert "options" in found["tf.distribute.Strategy.run"]
